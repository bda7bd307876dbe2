package textfile

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// Number reads a decimal number, with nothing around it, rounded to the nearest
// float64. Where the text is not a finite number, reason says why; otherwise it is
// empty.
func Number(text []byte) (value float64, reason string) {
	if v, ok := short(text); ok {
		return v, ""
	}
	v, err := strconv.ParseFloat(string(text), 64) // the conversion stays on the stack
	switch {
	case err == nil && decimal(text):
		return v, ""
	case len(text) == 0:
		return 0, "is empty, expected a number (fill in or leave out rows with missing values)"
	case errors.Is(err, strconv.ErrRange):
		return 0, Quote(text) + " is beyond the range of a double, expected a finite number"
	case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
		return 0, Quote(text) + " found, expected a finite number"
	}
	return 0, Quote(text) + " found, expected a number"
}

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// short reads numbers like -12.25 of at most 15 digits without exponent. The digits
// as an integer and the power of ten are exact then, so that their quotient is
// the nearest float64.
func short(text []byte) (float64, bool) {
	if len(text) > 17 { // 15 digits, sign and point
		return 0, false
	}
	var digits int64
	count, point := 0, -1
	negative := false
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits = 10*digits + int64(c-'0')
			count++
			if count > 15 {
				return 0, false
			}
		case c == '.' && point < 0:
			point = count
		case i == 0 && (c == '-' || c == '+'):
			negative = c == '-'
		default:
			return 0, false
		}
	}
	if count == 0 {
		return 0, false
	}
	v := float64(digits)
	if point >= 0 {
		v /= pow10[count-point]
	}
	if negative {
		v = -v
	}
	return v, true
}

// decimal says whether a text that strconv takes is in plain decimal notation. The
// others start with a letter ("inf", "nan") or with 0x, or have underscores.
func decimal(text []byte) bool {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	switch {
	case len(text) == 0:
		return false
	case text[0] != '.' && (text[0] < '0' || text[0] > '9'):
		return false
	}
	return (len(text) < 2 || text[1]|0x20 != 'x') && bytes.IndexByte(text, '_') < 0
}

// IsNumber says whether the text, without the blanks around it, is a finite number.
func IsNumber(text []byte) bool {
	_, reason := Number(bytes.TrimSpace(text))
	return reason == ""
}

// Grow returns values with room for n more entries. Where it must allocate, it
// makes room for the rest of the file too, estimated from how far s has come, so
// that the memory stays near the size of the result and is seldom copied.
func Grow[E any](s *Source, values []E, n int) []E {
	if cap(values)-len(values) >= n {
		return values
	}
	// Where the share is unknown or too small to tell, double.
	room := max(n, len(values))
	if share := s.Fraction(); share > 0 && share < 1 && len(values) > 0 {
		total := float64(len(values)) / share
		if rest := 1.05*total - float64(len(values)); rest < 8*float64(room) {
			room = max(n, int(rest))
		}
	}
	grown := make([]E, len(values), len(values)+room)
	copy(grown, values)
	return grown
}

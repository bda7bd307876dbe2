package textfile

import (
	"bytes"
	"errors"
	"fmt"
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

// LargestEntry bounds the size of the numbers in a table to which a model is fitted. The largest that is made of
// them before anything is scaled are squares of gradients X'r, sums over rows of products of two entries, summed over
// columns: n^2 p v^4 is below the largest double for v = 1e70 and up to 2^31 rows and columns.
const LargestEntry = 1e70

// NumberUpTo reads a number as [Number] does, at most largest in size where that is positive.
func NumberUpTo(text []byte, largest float64) (value float64, reason string) {
	value, reason = Number(text)
	if largest > 0 && math.Abs(value) > largest {
		return 0, fmt.Sprintf("%s found, expected numbers up to %g in size: sums of squares of larger ones overflow (take another unit)", Quote(text), largest)
	}
	return value, reason
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
	_, reason := Number(Trim(text))
	return reason == ""
}

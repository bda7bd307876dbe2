// Package fields reads and writes the numbers of optimisation files.
package fields

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// Number reads a finite number as [textfile.Number] does, also with the exponent
// letter D of Fortran. Where it cannot, reason says why.
func Number(text []byte) (value float64, reason string) {
	value, reason = textfile.Number(text)
	if reason == "" || len(text) == 0 {
		return value, reason
	}
	if at := bytes.IndexAny(text, "dD"); at > 0 {
		changed := bytes.Clone(text)
		changed[at] = 'e'
		if v, again := textfile.Number(changed); again == "" {
			return v, ""
		}
	}
	return 0, reason
}

// IsInfinity says whether the text is one of the words inf and infinity, with or
// without a sign, in any case, and which sign.
func IsInfinity(text []byte) (sign float64, ok bool) {
	sign = 1
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if len(text) != 3 && len(text) != 8 {
		return 0, false
	}
	word := strings.ToLower(string(text))
	return sign, word == "inf" || word == "infinity"
}

// Int reads a whole number from -MaxInt32 to MaxInt32.
func Int(text []byte) (value int, ok bool) {
	digits := text
	negative := false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		digit := int(c - '0')
		if value > math.MaxInt32/10 || 10*value > math.MaxInt32-digit { // an int may have 32 bits
			return 0, false
		}
		value = 10*value + digit
	}
	if negative {
		value = -value
	}
	return value, true
}

// AppendNumber appends the shortest text that reads back as the same double.
func AppendNumber(line []byte, v float64) []byte {
	return strconv.AppendFloat(line, v, 'g', -1, 64)
}

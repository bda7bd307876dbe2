// Package program is what the readers of programs share: numbers and entries of sparse matrices as they come
// from a file, and what they take of memory.
package program

import (
	"bytes"
	"math"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// Number reads a finite number as [textfile.Number] does, also with the exponent letter D of Fortran. Where it cannot,
// reason says why.
func Number(text []byte) (value float64, reason string) {
	value, reason = textfile.Number(text)
	if reason == "" {
		return value, ""
	}
	if at := bytes.IndexAny(text, "dD"); at > 0 {
		changed := bytes.Clone(text)
		changed[at] = 'e'
		if v, again := textfile.Number(changed); again == "" {
			return v, ""
		}
	}
	return value, reason
}

// IsInfinity says whether the text is one of the words inf and infinity, with or without a sign, in any case, and which
// sign.
func IsInfinity(text []byte) (sign float64, ok bool) {
	if len(text) > len("-infinity") {
		return 0, false
	}
	switch strings.ToLower(string(text)) {
	case "inf", "+inf", "infinity", "+infinity":
		return 1, true
	case "-inf", "-infinity":
		return -1, true
	}
	return 0, false
}

// Int reads a whole number from -MaxInt32 to MaxInt32.
func Int(text []byte) (value int, ok bool) {
	digits := text
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
	}
	for _, c := range digits {
		if c -= '0'; c > 9 || value > (math.MaxInt32-int(c))/10 {
			return 0, false
		}
		value = 10*value + int(c)
	}
	if len(digits) > 0 && text[0] == '-' {
		value = -value
	}
	return value, len(digits) > 0
}

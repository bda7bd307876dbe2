// Package program is what the readers of programs share: numbers and entries of sparse matrices as they come
// from a file, and what they take of memory.
package program

import (
	"bytes"
	"math"
	"strconv"

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
	v, err := strconv.ParseFloat(string(text), 64)
	return math.Copysign(1, v), err == nil && math.IsInf(v, 0)
}

// Int reads a whole number of 32 bits.
func Int(text []byte) (value int, ok bool) {
	n, err := strconv.ParseInt(string(text), 10, 32)
	return int(n), err == nil
}

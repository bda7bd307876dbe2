// Package program is what the readers and writers of programs share: numbers and entries of sparse matrices as they come
// from a file, what they take of memory, and lines of output.
package program

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// Number reads a finite number as [textfile.Number] does, also with the exponent letter D of Fortran. Where it cannot,
// reason says why.
func Number(text []byte) (value float64, reason string) {
	value, reason = textfile.Number(text)
	if at := bytes.IndexAny(text, "dD"); reason != "" && at > 0 {
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
	v, err := strconv.ParseInt(string(text), 10, 32)
	return int(v), err == nil && v >= -math.MaxInt32
}

// Finite says that a number is neither infinite nor NaN.
func Finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

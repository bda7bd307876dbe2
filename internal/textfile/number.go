package textfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Number reads a decimal number, with nothing around it, rounded to the nearest
// float64. Where the text is not a finite number, reason says why; otherwise it is
// empty.
func Number(text []byte) (value float64, reason string) {
	if v, n := Decimal(text); n > 0 && n == len(text) {
		return v, ""
	}
	v, err := strconv.ParseFloat(string(text), 64) // the conversion stays on the stack
	switch {                                       // words and other notations, which strconv takes, are no numbers here
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
		return 0, fmt.Sprintf(
			"%s found, expected numbers up to %g in size: sums of squares of larger ones overflow (take another unit)",
			Quote(text), largest)
	}
	return value, reason
}

// IsNumber says whether the text, without the blanks around it, is a finite number.
func IsNumber(text []byte) bool {
	_, reason := Number(Trim(text))
	return reason == ""
}

package scaling

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// negligibleShare is the part of the largest entry below which an entry of a
// certificate may be rounding.
const negligibleShare = 1e-9

// Clean returns v without the entries that are small enough, next to its largest,
// to be the rounding of a first-order method. A certificate whose zeros are not
// quite zero can fail on rows with large coefficients only because of them.
func Clean(v []float64) []float64 {
	return Drop(v, negligibleShare*dense.MaxAbs(v))
}

// Drop returns v without the entries of at most that size.
func Drop(v []float64, size float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		if math.Abs(x) > size {
			out[i] = x
		}
	}
	return out
}

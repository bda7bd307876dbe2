package dca

import (
	"errors"
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/memory"
)

// rescueMemory bounds a conic program that takes the place of fits, in bytes. Most of them are the factors of matrices
// of the rows and columns in use; larger ones take minutes for each solve, and then there is more to be gained by other
// settings.
const rescueMemory int64 = 1 << 30

// bound returns the options of conic programs, which are to be small where they take the place of fits. j may be nil.
func (j *joint) bound(o convex.SolverOptions) convex.SolverOptions {
	if j != nil && (o.Options.Memory == 0 || o.Options.Memory > rescueMemory) {
		o.Options.Memory = rescueMemory
	}
	return o
}

// refused says whether an error is that a conic program in the place of fits is too large, which is how its solve ended
// then. j may be nil.
func (j *joint) refused(err error) (c conic, yes bool) {
	var large *backends.MemoryError
	if j == nil || !errors.As(err, &large) {
		return c, false
	}
	note := fmt.Sprintf("not solved by the fit, and the conic program in its place needs %s of memory, %s at most are spent on it", memory.Format(large.Need), memory.Format(large.Limit))
	j.debug("dca: " + note)
	return conic{status: backends.NumericalError, residual: math.NaN(), note: note}, true
}

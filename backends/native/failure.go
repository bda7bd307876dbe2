package native

import "github.com/conetune/conetune/backends/internal/ldl"

// failure says why a step, or a run of steps, came to nothing.
type failure string

func (f failure) Error() string { return string(f) }

// The failures. What the context or the time has ended is errStopped instead.
const (
	errOutside    failure = "the point is at the boundary of a cone"
	errUnsolved   failure = "a Newton system could not be solved"
	errOffPath    failure = "no step stays near the central path"
	errShort      failure = "the steps became too short"
	errStruggling failure = "the Newton systems are too badly conditioned"
	errStalled    failure = "no further progress"
	errSlow       failure = "little progress"
	errNoStart    failure = "the starting point could not be computed"
	errNotPivots  failure = "the numbers do not allow the elimination of columns"
)

// errStopped is what ends because stop was reached.
var errStopped = ldl.ErrStopped

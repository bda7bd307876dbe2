package tune

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
)

// Numbers that are none.
//
// An error can be infinite or no number where the fit itself looks well, for targets whose squares overflow for
// example. Such a point is never selected: searches count it among the lower levels that could not be solved, and
// VF-iDCA ends before it. What a run returns in the end is looked at once more, whatever the method, so that none with
// such a number is called converged.

// notFinite is the message of a run without a finite error.
const notFinite = "the validation error is not a finite number; are there targets or features too large to square?"

// score evaluates values of the lower-level variables. It is not ok if they or the validation error are not finite.
func (t *task) score(x [][]float64) (e problems.Errors, ok bool) {
	if !finite.Every(x) {
		return problems.Errors{Validation: math.NaN()}, false
	}
	e = t.Model.Evaluate(x)
	return e, finite.All(e.Validation)
}

// settle takes what is not finite for what was not found: a refit is none then, and a run with such a number, or
// without a refit, has not converged.
func (out *Result) settle() {
	if out.Refit != nil && (!finite.All(out.Refit.Validation) || !out.RefitFit.Finite()) {
		out.Refit, out.LowerLevel, out.RefitFit, out.Selection = nil, nil, problems.Fit{}, nil
	}
	fine := out.Refit != nil && out.Refit.Finite() && (out.LowerLevel == nil || out.LowerLevel.Finite()) &&
		out.Errors.Finite() && out.Iterate.Finite() &&
		finite.All(out.Alpha) && (!out.measured || finite.All(out.LowerGap, out.Stationarity)) && finite.All(out.Radii...) &&
		finite.All(out.Lambda...) && finite.All(slices.Collect(maps.Values(out.Hyperparameters))...)
	switch out.Status {
	case outcome.Converged, dca.Inaccurate, outcome.IterationLimit:
		if !fine {
			out.Status = outcome.NumericalError
			out.Message = cmp.Or(out.Message, "a result is not a finite number")
		}
	}
}

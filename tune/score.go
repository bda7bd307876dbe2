package tune

import (
	"math"

	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/problems"
)

// rates says that solutions are compared by a score, see [problems.Advice].
func (t *task) rates() bool { return t.Advice.Score != nil && t.Config.Preset != PresetPaper }

// rate gives a trial with a solution its errors and its score, unless it has them.
func (t *task) rate(tr *trial) {
	if tr.X == nil {
		return
	}
	if tr.Errors == nil {
		errors, _ := t.score(tr.X)
		tr.Errors = &errors
	}
	if t.rates() && tr.score == nil {
		v := t.Advice.Score(tr.X)
		tr.score = &v
	}
}

// finite says that all numbers are by which a trial with a solution is chosen.
func (tr *trial) finite() bool {
	return finite.All(tr.value(), tr.Errors.Validation) && finite.All(tr.Lambda...) && finite.All(tr.Upper...)
}

// value is what trials with errors are compared by.
func (tr *trial) value() float64 {
	if tr.score != nil {
		return *tr.score
	}
	return tr.Errors.Validation
}

// tied is the share of an error by which another is lower from rounding alone.
const tied = 1e-12

// below says whether a trial is better than another one by more than rounding: of equal ones the first is kept, which
// in lists has the largest weights.
func (tr *trial) below(other *trial) bool {
	return tr.value() < other.value()-tied*math.Abs(other.value())
}

// rate gives a result the score of its selection.
func (out *Result) rate(t *task) {
	if t.rates() && out.Refit != nil && out.Selection != nil && out.Selection.X != nil {
		if v := t.Advice.Score(out.Selection.X); finite.All(v) {
			out.Score = &v
		}
	}
}

// Value is what lower-level solutions are compared by, the less the better: the score, the validation error where there
// is none, and +Inf where there is no solution.
func (e *Event) Value() float64 {
	return valueOf(e.Refit, e.Score)
}

// Value is what results of the same model and configuration are compared by, the less the better: the score, the
// validation error of the refit where there is none, and +Inf without a refit.
func (out *Result) Value() float64 {
	return valueOf(out.Refit, out.Score)
}

// valueOf is the score of a solution, its validation error where there is none, and +Inf without a solution.
func valueOf(refit *problems.Errors, score *float64) float64 {
	switch {
	case refit == nil || math.IsNaN(refit.Validation):
		return math.Inf(1)
	case score != nil:
		return *score
	}
	return refit.Validation
}

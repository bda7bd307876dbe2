package tune

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// The exponent of caution.
//
// How far the weights found may be from the common one depends on the data: many coefficients that count little want them near it, few that stand out
// want them as they are. So the run is done once more without some validation rows, in turn, of a cross-validation without some of its folds, and the exponent is that of a few
// between 0, the common weight, and 1, the weights found, whose solutions have the least error on the rows held back.

// exponents are those tried, and exponentFolds the number of folds.
var exponents = []float64{0, 0.1, 0.2, 0.4, 0.7, 1}

const exponentFolds = 3

// exponent returns the one that rows held back choose for a run with settings s and caution c; that of c, and false, where there are too few rows, or no fold has an answer.
func (t *Task) exponent(ctx context.Context, s dca.Settings, c *problems.Caution, start func(*dca.Program)) (float64, bool, error) {
	holder, ok := t.Model.(Holder)
	if !ok || c.Temper == 1 {
		return c.Temper, false, nil
	}
	var held []HeldBack
	if m, ok := t.Model.(FoldHolder); ok {
		held = m.HoldFolds(exponentFolds)
	}
	if held == nil && t.Program.Build != nil { // of a split
		held = holder.HoldBack(exponentFolds)
	}
	sums := make([]float64, len(exponents))
	some, rows := false, 0.0
	for k, back := range held {
		held[k] = HeldBack{} // with its rows
		s.Begin = t.at(s, k+1, len(held))
		errs, err := t.drawnErrors(ctx, back, s, c, start)
		if errors.Is(err, errStopped) || ctx.Err() != nil {
			return c.Temper, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		if errs != nil {
			some, rows = true, rows+float64(back.Different)
			floats.AddScaled(sums, back.Weight, errs)
		}
	}
	best := slices.Min(sums)
	if !some || math.IsInf(best, 1) {
		return c.Temper, false, nil
	}
	if best == 0 {
		return exponents[slices.Index(sums, 0)], true, nil
	}
	mean, all := 0.0, 0.0
	for i, v := range sums {
		w := math.Exp(-exponents[i]/(2*c.Temper) - rows/2*math.Log(v/best))
		mean, all = mean+w*exponents[i], all+w
	}
	return mean / all, true, nil
}

// drawnErrors are the errors on the rows that are held back of the solutions for the weights of a run on the others, drawn towards the common one by each exponent; nil where the run
// has nothing to draw.
func (t *Task) drawnErrors(ctx context.Context, back HeldBack, s dca.Settings, c *problems.Caution, start func(*dca.Program)) ([]float64, error) {
	model := back.Model()
	p := model.Program()
	start(&p)
	if err := t.solvers(&p, func() (lower.Penalised, error) { return fitOf(ctx, model) }); err != nil {
		return nil, err
	}
	r, err := dca.Solve(ctx, p, s)
	if err != nil {
		return nil, err
	}
	t.AddStats(r.Stats)
	if !drawable(r) || ctx.Err() != nil {
		return nil, nil
	}
	if back.Held != nil {
		model = back.Held()
		p = model.Program()
		if err := t.solvers(&p, func() (lower.Penalised, error) { return fitOf(ctx, model) }); err != nil {
			return nil, err
		}
	}
	form, err := dca.NewPenalized(p, nil, s)
	if err != nil {
		return nil, err
	}
	defer form.Close()
	var out []float64
	for _, exponent := range exponents {
		solution, err := form.Solve(ctx, drawn(r, exponent, c.Floor), nil)
		if err != nil {
			return nil, err
		}
		e := math.Inf(1)
		if solution.X != nil {
			if v := back.Error(solution.X); !math.IsNaN(v) {
				e = v
			}
		}
		out = append(out, e)
	}
	t.AddStats(form.Stats())
	return out, nil
}

// drawable says whether a run has weights that can be drawn towards a common one.
func drawable(r *dca.Result) bool {
	return r.Refit != nil && r.StartWeights != nil && r.Screened != nil
}

// drawn are the weights of a run, drawn towards the common one.
func drawn(r *dca.Result, exponent, floor float64) []float64 {
	weights := make([]float64, len(r.StartWeights))
	for j, w := range r.StartWeights {
		weights[j] = w
		if !r.Screened[j] {
			weights[j] = math.Pow(w, 1-exponent) * math.Pow(math.Max(r.Lambda[j], floor*w), exponent)
		}
	}
	return weights
}

// leastApart is the share of the common weight below which the weights found are as good as it.
const leastApart = 1e-3

// apart says whether the weights of a run differ from the common one, so that the exponent counts.
func apart(r *dca.Result, floor float64) bool {
	for j, v := range drawn(r, 1, floor) {
		if w := r.StartWeights[j]; math.Abs(v-w) > leastApart*w {
			return true
		}
	}
	return false
}

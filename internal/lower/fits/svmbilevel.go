package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/machine"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// Shape implements [bilevel.Fit].
func (m *SVM) Shape() []int { return []int{m.Dim() - 1, 1} }

// Values implements [bilevel.Fit], with the penalties |w|^2/2 and |w_j|.
func (m *SVM) Values(x [][]float64) bilevel.Values {
	w, c := x[0], x[1][0]
	out := bilevel.Values{Train: m.train.Loss(w, c), Penalties: make([]float64, m.Dim())}
	out.Validation, _ = m.validation(w, c)
	out.Penalties[0] = floats.Dot(w, w) / 2
	for j, v := range w {
		out.Penalties[1+j] = math.Abs(v)
	}
	return out
}

// validation is the loss on the validation rows, and its derivatives in their decision values.
func (m *SVM) validation(w []float64, c float64) (loss float64, rate []float64) {
	rate = make([]float64, len(m.val.Y))
	m.val.X.Mul(rate, w)
	for i, u := range m.val.Weights {
		short := 1 - m.val.Y[i]*(rate[i]-c)
		rate[i] = 0
		if short > 0 {
			loss += u * short
			rate[i] = -u * m.val.Y[i]
		}
	}
	return loss, rate
}

// coarseGap is that of machines on wide rows: of the validation loss it leaves four digits, more than the validation
// rows know of it.
const coarseGap = 1e-5

// svmWithin solves the lower levels of one fold.
type svmWithin struct {
	fit  *SVM
	last *machine.Solution // nil before the first
}

// Within implements [bilevel.Fit].
func (m *SVM) Within() bilevel.WithinSolver { return &svmWithin{fit: m} }

// Begin implements [bilevel.WithinSolver]. The penalised form has a bound for each feature, which x is no solution of.
func (s *svmWithin) Begin(context.Context, []float64, [][]float64) error { return nil }

// Solve implements [bilevel.WithinSolver].
func (s *svmWithin) Solve(ctx context.Context, radii []float64, tol float64) (*bilevel.Within, error) {
	f := s.fit
	if len(radii) != f.Dim() {
		return nil, fmt.Errorf("fits: %d radii of the support vector machine, expected that of the norm and %d bounds",
			len(radii), f.Dim()-1)
	}
	w, err := f.train.Within(ctx, radii[0], radii[1:], f.train.Relative(tol), s.last)
	if err != nil {
		return nil, err
	}
	out := &bilevel.Within{X: [][]float64{w.W, {w.C}}, Lambda: append([]float64{w.Lambda}, w.Bound...), Loss: w.Loss,
		Gap: w.Gap}
	if w.Status == outcome.Converged || w.Status == numerics.Exhausted {
		out.Solved = true
		s.last = w.Solution
	}
	return out, nil
}

// Subproblem implements [bilevel.Fit]. It stacks the rows when it is first asked for a solution.
func (m *SVM) Subproblem(parts []bilevel.Fit, workers int) bilevel.Subproblem {
	var solver *machine.Subproblem
	return func(ctx context.Context, c *bilevel.Centre) (*bilevel.Subsolution, error) {
		if solver == nil {
			solver = machine.NewSubproblem(each(parts, (*SVM).stack), workers)
		}
		return solver.Solve(ctx, c)
	}
}

// stack has the rows of training and of validation.
func (m *SVM) stack() machine.Stack {
	return machine.Stack{X: design.Stack(m.rows.X, m.val.X), Y: slices.Concat(m.rows.Y, m.val.Y),
		Weights: slices.Concat(m.rows.Weights, m.val.Weights), Train: len(m.rows.Y)}
}

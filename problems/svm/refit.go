package svm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/machine"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// finalGap is the relative gap of the final training.
const finalGap = 1e-8

// train trains the machine on some rows with the hyperparameters h = (r, wbar): with the native backend by package internal/lower/machine, and with the others, or where that
// does not come to its end, as a conic program.
func (m *Model) train(ctx context.Context, s problems.Solver, h []float64, rows []int) ([]float64, float64, error) {
	if s.Fits && h[0] > 0 {
		part := m.rows.part(rows, m.weights)
		g, err := machine.New(part.X, part.Y, part.Weights)
		if err != nil {
			return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
		}
		within, end := limited(ctx, s.Options)
		w, err := g.Within(within, h[0], h[1:], machine.Options{Tol: finalGap})
		end()
		if err != nil {
			return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
		}
		switch w.Status {
		case lower.Optimal, lower.Exhausted:
			return w.W, w.C, nil
		case lower.Cancelled:
			return nil, 0, ended(within)
		}
	}
	return m.trainConic(ctx, s, h, rows)
}

// trainConic is train by a conic program.
func (m *Model) trainConic(ctx context.Context, s problems.Solver, h []float64, rows []int) ([]float64, float64, error) {
	model := convex.NewModel()
	w, c := model.Variable("w", len(h)-1), model.Variable("c", 1)
	model.Minimize(m.rows.design(rows, m.weights).hinge(w, c))
	for _, b := range bounds(w, convex.Const(h...)) {
		model.Constrain(convex.LessEqual(b, convex.Const(0)))
	}
	return conic(ctx, s, model, w, c)
}

// conic solves a program for the machine (w, c).
func conic(ctx context.Context, s problems.Solver, model *convex.Model, w, c *convex.Variable) ([]float64, float64, error) {
	prog, err := model.Compile()
	if err != nil {
		return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
	}
	solver, err := prog.Solver(convex.SolverOptions{Backend: s.Backend, Options: s.Options, WorkingSets: true})
	if err != nil {
		return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
	}
	defer solver.Close()
	res, err := solver.Solve(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
	}
	if res.Value(w) == nil || res.Status != backends.Optimal && !(res.Residuals.Max() <= 1e-4) {
		return nil, 0, &problems.TrainingError{Status: res.Status}
	}
	return res.Value(w), res.Value(c)[0], nil
}

// retrainWeighted trains the machine on all rows of the cross-validation with h = (lambda, wbar), lambda the weight of the squared norm that the folds share, and returns it with its error rate on
// the test rows, nil where there are none.
func (m *Model) retrainWeighted(ctx context.Context, s problems.Solver, h []float64) (problems.Fit, *float64, error) {
	h = slices.Clone(h)
	h[0] = lower.Positive(h[:1])[0]
	w, c, err := m.trainWeighted(ctx, s, h)
	if err != nil {
		return problems.Fit{}, nil, err
	}
	fit := m.fit(w, c)
	return fit, m.TestError(fit), nil
}

// trainWeighted is train on all rows with h = (lambda, wbar).
func (m *Model) trainWeighted(ctx context.Context, s problems.Solver, h []float64) ([]float64, float64, error) {
	all := m.all()
	if s.Fits {
		part := m.rows.part(all, m.weights)
		g, err := machine.New(part.X, part.Y, part.Weights)
		if err != nil {
			return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
		}
		within, end := limited(ctx, s.Options)
		s, err := g.Solve(within, h[0], h[1:], machine.Options{Tol: finalGap})
		end()
		if err != nil {
			return nil, 0, fmt.Errorf("svm: training on all rows: %w", err)
		}
		if s.Status == lower.Optimal || s.Status == lower.Exhausted {
			return s.W, s.C, nil
		}
		if s.Status == lower.Cancelled {
			return nil, 0, ended(within)
		}
	}
	model := convex.NewModel()
	w, c := model.Variable("w", len(h)-1), model.Variable("c", 1)
	model.Minimize(m.rows.design(all, m.weights).hinge(w, c).Plus(convex.SumSquares(w.Expr()).Scale(h[0] / 2)))
	model.Constrain(convex.LessEqual(convex.Abs(w.Expr()), convex.Const(h[1:]...)))
	return conic(ctx, s, model, w, c)
}

// limited is a context with the time limit of a solve.
func limited(ctx context.Context, o backends.Options) (context.Context, context.CancelFunc) {
	if o.TimeLimit > 0 {
		return context.WithTimeout(ctx, o.TimeLimit)
	}
	return ctx, func() {}
}

// ended says that a context did.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &problems.TrainingError{Status: backends.TimeLimit}
	}
	return &problems.TrainingError{Status: backends.Cancelled}
}

// all are the numbers of all rows.
func (m *Model) all() []int {
	all := make([]int, len(m.rows.y))
	for i := range all {
		all[i] = i
	}
	return all
}

// retrain trains the machine on all rows of the cross-validation with the hyperparameters h = (r, wbar), and
// returns it with its error rate on the test rows, nil where there are none.
func (m *Model) retrain(ctx context.Context, s problems.Solver, h []float64) (problems.Fit, *float64, error) {
	w, c, err := m.train(ctx, s, h, m.all())
	if err != nil {
		return problems.Fit{}, nil, err
	}
	fit := m.fit(w, c)
	return fit, m.TestError(fit), nil
}

// TestError is the share of test rows whose label a predictor misses, nil where there are none.
func (m *Model) TestError(f problems.Fit) *float64 {
	if m.cv.Test == nil {
		return nil
	}
	wrong := m.errorRate(m.cv.Test, f)
	return &wrong
}

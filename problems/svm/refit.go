package svm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/machine"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
)

// finalGap is the relative gap of the final training.
const finalGap = 1e-8

// training is a form of the training problem: solved by package internal/lower/machine, nil where that does not take
// it, and as what a convex model with the loss has besides.
type training struct {
	fit   func(context.Context, *machine.Problem) (*machine.Solution, error)
	model func(m *convex.Model, loss convex.Expr, w *convex.Variable)
}

// within has the radius and the bounds h = (r, wbar).
func within(h []float64) training {
	t := training{model: func(m *convex.Model, loss convex.Expr, w *convex.Variable) {
		m.Minimize(loss)
		for _, b := range bounds(w, convex.Const(h)) {
			m.Le("", b, 0)
		}
	}}
	if h[0] > 0 {
		t.fit = func(ctx context.Context, g *machine.Problem) (*machine.Solution, error) {
			s, err := g.Within(ctx, h[0], h[1:], finalGap, nil)
			if err != nil {
				return nil, err
			}
			return &machine.Solution{W: s.W, C: s.C, Status: s.Status}, nil
		}
	}
	return t
}

// weighted has the weight of the squared norm, which the folds share, and the bounds h = (lambda, wbar).
func weighted(h []float64) training {
	h = slices.Concat(lower.Positive(h[:1]), h[1:])
	return training{
		fit: func(ctx context.Context, g *machine.Problem) (*machine.Solution, error) {
			return g.Solve(ctx, h[0], h[1:], finalGap, nil)
		},
		model: func(m *convex.Model, loss convex.Expr, w *convex.Variable) {
			m.Minimize(convex.Add(loss, convex.Scale(h[0]/2, convex.SumSquares(w))))
			m.Le("", convex.Abs(w), h[1:])
		},
	}
}

// train trains the machine on all rows of the cross-validation: with the native backend by a fit, and with the others,
// or where that does not come to its end, as a conic program.
func (m *Model) train(ctx context.Context, s problems.Solver, t training) (w []float64, c float64, err error) {
	defer func() {
		if end := (*problems.TrainingError)(nil); err != nil && !errors.As(err, &end) {
			err = fmt.Errorf("svm: training on all rows: %w", err)
		}
	}()
	all := indices.Range(0, len(m.rows.Y))
	if s.Fits && t.fit != nil {
		part := part(m.rows, all)
		g, err := machine.New(part.X, part.Y, part.Weights)
		if err != nil {
			return nil, 0, err
		}
		if m.squared {
			g = g.Squared()
		}
		limited, end := ctx, context.CancelFunc(func() {})
		if s.Options.TimeLimit > 0 {
			limited, end = context.WithTimeout(ctx, s.Options.TimeLimit)
		}
		defer end()
		at, err := t.fit(limited, g)
		switch {
		case err != nil:
			return nil, 0, err
		case at.Status == outcome.Converged || at.Status == numerics.Exhausted:
			return at.W, at.C, nil
		case at.Status == outcome.Cancelled && errors.Is(limited.Err(), context.DeadlineExceeded):
			return nil, 0, &problems.TrainingError{Status: backends.TimeLimit}
		case at.Status == outcome.Cancelled:
			return nil, 0, &problems.TrainingError{Status: backends.Cancelled}
		}
	}
	model := convex.NewModel()
	vars := [2]*convex.Variable{model.Vector("w", len(m.h0)-1), model.Vector("c", 1)}
	t.model(model, newDesign(m.rows, all).hinge(vars[0], vars[1], m.squared), vars[0])
	prog, err := model.Compile()
	if err != nil {
		return nil, 0, err
	}
	solver, err := prog.Solver(convex.SolverOptions{Backend: s.Backend, Options: s.Options, WorkingSets: true})
	if err != nil {
		return nil, 0, err
	}
	defer solver.Close()
	res, err := solver.Solve(ctx)
	if err != nil {
		return nil, 0, err
	}
	if res.Value(vars[0]) == nil || res.Status != backends.Optimal && !(res.Residuals.Max() <= 1e-4) {
		return nil, 0, &problems.TrainingError{Status: res.Status}
	}
	return res.Value(vars[0]), res.Value(vars[1])[0], nil
}

// training trains the machine on all rows of the cross-validation in a form, and returns it with its error rate on the
// test rows, nil where there are none.
func (m *Model) training(form func(h []float64) training) problems.Training {
	return func(ctx context.Context, s problems.Solver, h []float64) (problems.Fit, *float64, error) {
		w, c, err := m.train(ctx, s, form(h))
		if err != nil {
			return problems.Fit{}, nil, err
		}
		fit := m.fit(w, c)
		return fit, m.TestError(fit), nil
	}
}

// TestError is the share of test rows, by their weights, whose label a predictor misses, nil where there are none.
func (m *Model) TestError(f problems.Fit) *float64 {
	d := m.cv.Test
	if d == nil {
		return nil
	}
	wrong := make([]float64, len(d.Y))
	for i, y := range d.Y {
		if f.Label(f.Intercept+d.Dot(i, f.Coefficients)) != y {
			wrong[i] = 1
		}
	}
	share := d.Mean(wrong)
	return &share
}

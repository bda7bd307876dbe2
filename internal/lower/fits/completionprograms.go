package fits

import (
	"context"
	"slices"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/outcome"
)

// Shape implements [bilevel.Fit].
func (m *completionFit) Shape() []int {
	if m.small != nil {
		return m.small.Shape()
	}
	return m.both.Shape()
}

// Values implements [bilevel.Fit].
func (m *completionFit) Values(x [][]float64) bilevel.Values {
	if m.small == nil {
		return m.both.Values(x)
	}
	v := m.small.Values(x)
	v.Penalties = lastToFirst(v.Penalties)
	return v
}

// The nuclear norm is the first penalty here, and the last one of package separable; the groups are in order.
func firstToLast(v []float64) []float64 { return append(slices.Clone(v[1:]), v[0]) }

func lastToFirst(v []float64) []float64 {
	last := len(v) - 1
	return append([]float64{v[last]}, v[:last]...)
}

// Joint implements [bilevel.Joint].
func (m *completionFit) Joint() bilevel.JointSolver { return m.both.Joint() }

// Subproblem implements [bilevel.Fit].
func (m *completionFit) Subproblem(parts []bilevel.Fit, workers int) bilevel.Subproblem {
	if m.small == nil {
		return joint(parts, workers)
	}
	solver := separable.NewSubproblem(each(parts, func(p *completionFit) *separable.Regression { return p.small }),
		workers)
	return func(ctx context.Context, c *bilevel.Centre) (*bilevel.Subsolution, error) {
		other := *c
		other.R, other.Gamma, other.Low, other.High = firstToLast(c.R), firstToLast(c.Gamma), firstToLast(c.Low),
			firstToLast(c.High)
		out, err := solver.Solve(ctx, &other)
		if err != nil || out.X == nil {
			return out, err
		}
		out.R = lastToFirst(out.R)
		for t := range out.M {
			out.M[t] = lastToFirst(out.M[t])
		}
		return out, nil
	}
}

// Within implements [bilevel.Fit].
func (m *completionFit) Within() bilevel.WithinSolver {
	if m.small != nil {
		return interiorWithin{m}
	}
	return multipliers.NewLower(m)
}

// interiorWithin solves each lower level afresh.
type interiorWithin struct{ *completionFit }

// Begin implements [bilevel.WithinSolver].
func (interiorWithin) Begin(context.Context, []float64, [][]float64) error { return nil }

// Solve implements [bilevel.WithinSolver].
func (s interiorWithin) Solve(ctx context.Context, radii []float64, tol float64) (*bilevel.Within, error) {
	at, lambda, err := s.completion.Within(ctx, radii, s.completion.Relative(tol))
	if err != nil {
		return nil, err
	}
	return &bilevel.Within{
		X: s.point(at), Lambda: lambda, Loss: at.Objective, Gap: at.Gap,
		Solved: at.Status == outcome.Converged,
	}, nil
}

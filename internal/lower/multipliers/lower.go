package multipliers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/lower/bilevel"
)

// Lower solves the lower level within radii, each time from the solve before. It is for one goroutine at a time.
type Lower struct {
	*program
	begun bool // at a start that may be the solution
}

const (
	// firstShare of LambdaMax is the first multiplier: far too large for most radii, so that few columns are in use.
	firstShare = 0.5
	// idleShare is the share of the tolerance that multipliers do at their floors at most.
	idleShare = 0.1
)

// NewLower begins at large multipliers.
func NewLower(fit bilevel.Joint) *Lower {
	s := &Lower{program: newProgram([]bilevel.Joint{fit}, 1, true)}
	s.m = slices.Repeat([]float64{firstShare * fit.LambdaMax()}, 1+s.dims)
	return s
}

// Begin implements [bilevel.WithinSolver].
func (s *Lower) Begin(ctx context.Context, m []float64, x [][]float64) error {
	if len(m) != s.dims {
		return fmt.Errorf("multipliers: %d multipliers to begin at, expected %d", len(m), s.dims)
	}
	s.m, s.begun = slices.Concat([]float64{1}, m), true
	return s.solvers[0].Model(ctx, x)
}

// Solve implements [bilevel.WithinSolver].
func (s *Lower) Solve(ctx context.Context, radii []float64, tol float64) (*bilevel.Within, error) {
	if len(radii) != s.dims {
		return nil, fmt.Errorf("multipliers: %d radii, expected %d", len(radii), s.dims)
	}
	s.m[0] = 1
	floor := make([]float64, len(s.m))
	for j, r := range radii {
		floor[1+j] = idleShare * tol / (r * float64(s.dims))
	}
	s.c = &bilevel.Centre{R: radii, Low: radii, High: radii, Gamma: make([]float64, s.dims), Tol: tol,
		X: [][][]float64{s.solvers[0].X()}}
	var best *reached
	var err error
	if s.begun {
		best, err = s.reached(ctx, false, true)
	}
	if s.begun = false; err == nil && (best == nil || !best.solved) {
		from := state{s.c.X, radii, []bilevel.Values{s.fits[0].Values(s.c.X[0])}}
		best, err = s.solve(ctx, from, floor, math.Inf(1))
	}
	if best == nil || err != nil {
		return &bilevel.Within{Gap: math.Inf(1)}, err
	}
	out := &bilevel.Within{X: best.x[0], Lambda: slices.Clone(best.m[1:]), Loss: best.values[0].Train, Gap: best.gap,
		Solved: best.solved}
	for j, p := range best.values[0].Penalties {
		out.Loss -= best.m[1+j] * (radii[j] - p)
	}
	return out, nil
}

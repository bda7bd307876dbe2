package dca

import (
	"context"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// LowerSolution is a solution of the lower level at fixed hyperparameters.
type LowerSolution struct {
	// Status is that of the conic solve, of the first block that is not optimal where there are several.
	Status backends.Status
	// Residual is the largest residual of the conic solves, NaN where [Program.Fit] was taken; Gap is the gap of that, NaN
	// where conic programs were.
	Residual, Gap float64
	// X are the values of the lower-level variables, nil where the solve was of no use.
	X [][]float64
	// Lambda are the multipliers of the radii, and Value is v(h); nil and NaN without X.
	Lambda []float64
	Value  float64
	// Stats are what the conic solver did.
	Stats convex.Stats

	at *lowerSolution
}

// LowerLevel solves the lower level at H0. Of the settings, those of the conic solver count.
func LowerLevel(ctx context.Context, p Program, s Settings) (*LowerSolution, error) {
	s = s.withDefaults()
	if err := p.validate(); err != nil {
		return nil, err
	}
	if err := s.validate(&p); err != nil {
		return nil, err
	}
	low, err := newLower(&p, &s)
	if err != nil {
		return nil, err
	}
	defer low.close()
	sol, err := low.solve(ctx, p.H0)
	if err != nil {
		return nil, err
	}
	out := &LowerSolution{Status: sol.conic.status, Residual: sol.conic.residual, Gap: sol.gap, Value: math.NaN(), Stats: low.stats()}
	if sol.x != nil {
		out.X, out.Lambda, out.Value, out.at = sol.x, sol.lambda(p.Radii), sol.value, sol
	}
	return out, nil
}

// SubproblemSolution is a solution of a subproblem; its fields are those of a [LowerSolution]. Objective is computed by
// the functions of the model, NaN where the solve was of no use.
type SubproblemSolution struct {
	Status              backends.Status
	Residual, Objective float64
	Stats               convex.Stats
}

// Subproblem solves the second program of the first iteration, whose centre is the solution l of the lower level of p,
// as a conic program. Of the settings, those of the conic solver count, Rho and Alpha0.
func (l *LowerSolution) Subproblem(ctx context.Context, p Program, s Settings) (*SubproblemSolution, error) {
	s = s.withDefaults()
	if l.at == nil {
		return nil, p.errorf("subproblem: there is no solution of the lower level")
	}
	lo, hi := p.bounds()
	b, err := newSubproblem(&p, &s, lo, hi, nil)
	if err != nil {
		return nil, err
	}
	if err := b.set(iterate{l.X, l.at.h}, l.at, s.Alpha0); err != nil {
		return nil, err
	}
	defer b.solver.Close()
	at, z, err := b.solve(ctx)
	if err != nil {
		return nil, err
	}
	out := &SubproblemSolution{Status: at.status, Residual: at.residual, Objective: math.NaN()}
	out.Stats.Add(b.solver.Stats())
	if z.h != nil {
		out.Objective = b.evaluate(z).objective
	}
	return out, nil
}

package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
)

// The constant of a square |x - y|^2 is dropped in 1/2 x'Px + q'x, and the rest may be as large as it while their sum
// is small: a gap that is small next to the rest is then large next to the objective. Counted from the least point y
// of the squares, e = x - y, the same program
//
//	minimize 1/2 e'Pe + (Py + q)'e subject to Ae + s = b - Ay, s in K
//
// has the residuals of the squares as its variables, and nothing cancels. The pattern and the multipliers stay what
// they are.

// posed returns the program as the backend gets it: in x, or, where the session is centred, in x - y.
func (s *Session) posed(in *Instance) *backends.Problem {
	p := in.Problem()
	in.origin = nil
	if s.centred {
		in.origin = in.Assembled.Centre(s.State.Values)
		p.Q, p.B = in.Moved(in.origin)
	}
	return p
}

// recentre gives the solver the program in x, or in x - y.
func (s *Session) recentre(in *Instance, centred bool) error {
	s.centred = centred
	p := s.posed(in)
	if err := in.Solver.Update(backends.Update{Q: p.Q, B: p.B}); err != nil {
		return fmt.Errorf("convex: %w", err)
	}
	if s.Capabilities.UpdateVectors {
		s.Stats.Updates++
	} else {
		s.Stats.Setups++
	}
	return nil
}

// cancels says that the constants of squares are larger than an objective.
func (s *Session) cancels(in *Instance, objective float64) bool {
	_, squares := in.Assembled.Program.Offset(s.State.Values)
	return squares > max(1, math.Abs(objective))
}

// uncancelled solves a program, to which sol is a solution in x, in x - y where its gap misses eps because constants
// cancel. It returns the better solution.
func (s *Session) uncancelled(ctx context.Context, in *Instance, sol *backends.Solution) (*backends.Solution, error) {
	switch sol.Status {
	case backends.Optimal, backends.Inaccurate, backends.NumericalError:
	default:
		return sol, nil
	}
	gap, objective := math.Inf(1), 0.0
	if HasPoint(sol) {
		v := in.valuesOf(sol)
		gap, objective = backends.RelativeGap(v.Objective, v.DualObjective), v.Objective
	}
	switch {
	case s.centred:
		s.centred = s.cancels(in, objective) // the next time
		return sol, nil
	case gap <= in.eps && sol.Status == backends.Optimal, !s.cancels(in, objective):
		return sol, nil
	}
	if err := s.recentre(in, true); err != nil {
		return nil, err
	}
	if HasPoint(sol) && s.Capabilities.WarmStart {
		if err := in.Solver.WarmStart(backends.Point{X: shifted(sol.X, -1, in.origin), S: sol.S, Z: sol.Z}); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	better, err := s.Attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if HasPoint(better) {
		v := in.valuesOf(better)
		if better.Status == backends.Optimal || backends.RelativeGap(v.Objective, v.DualObjective) < gap {
			return better, nil
		}
	}
	if !HasPoint(sol) {
		return better, nil
	}
	return sol, nil
}

// tightened goes on from a solution whose gap misses eps next to the objective of the model, which is smaller than that
// of the backend, to the eps that the backend's objective asks for. What ends short of that stays what it was.
func (s *Session) tightened(ctx context.Context, in *Instance, sol *backends.Solution) (*backends.Solution, error) {
	if sol.Status != backends.Optimal || in.Tightener == nil {
		return sol, nil
	}
	v := *in.valuesOf(sol)
	if backends.RelativeGap(v.Objective, v.DualObjective) <= in.eps {
		return sol, nil
	}
	scale := func(a, b float64) float64 { return max(1, min(math.Abs(a), math.Abs(b))) }
	share := scale(v.Objective, v.DualObjective) / scale(sol.Objective, sol.DualObjective)
	if err := in.Tightener.SetEps(in.eps * min(1, share) / 2); err != nil {
		return nil, fmt.Errorf("convex: %w", err)
	}
	better, err := s.Attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := in.Tightener.SetEps(in.eps); err != nil {
		return nil, fmt.Errorf("convex: %w", err)
	}
	if better.Status == backends.Optimal {
		return better, nil
	}
	return sol, nil
}

// shifted returns v + sign origin, v itself where there is no origin.
func shifted(v []float64, sign float64, origin []float64) []float64 {
	if v == nil || origin == nil {
		return v
	}
	out := make([]float64, len(v))
	for j, x := range v {
		out[j] = x + sign*origin[j]
	}
	return out
}

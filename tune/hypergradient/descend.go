package hypergradient

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// IGJO is gradient descent with backtracking on exact lower-level solutions, with hypergradients by implicit
// differentiation on the support.
func IGJO(ctx context.Context, m Model, o Settings) (*Result, error) {
	return descend(ctx, m, o)
}

// IFDM is the same descent with hypergradients from the forward-differentiated coordinate
// descent, 50 steps by default.
func IFDM(ctx context.Context, m Model, o Settings) (*Result, error) {
	if o.Mode == "" {
		o.Mode = Forward
	}
	if o.MaxIter == 0 {
		o.MaxIter = 50
	}
	return descend(ctx, m, o)
}

const (
	// armijo is the share of the decrease promised by the gradient that a step must give.
	armijo = 1e-3
	// shrink and grow change the rate after a failed and after an accepted first trial.
	shrink, grow = 0.25, 2
	// firstMove and mostMove bound the largest change of a hyperparameter in the first
	// step and in any: of its logarithm, or relative to the largest one.
	firstMove, mostMove = 0.5, 1.5
	// leastMove is the step at which a line search gives up.
	leastMove = 1e-7
	// patience is the number of steps in a row without progress that end a search.
	patience = 3
)

// descend is gradient descent with a backtracking line search whose first trial is longer
// after each success.
func descend(ctx context.Context, m Model, o Settings) (*Result, error) {
	o, err := o.withDefaults(m)
	if err != nil {
		return nil, err
	}
	s := &search{Settings: o, model: m}
	at, err := s.solve(ctx, o.Start, o.LowerTol, nil)
	if at == nil {
		return &s.out, err
	}
	s.observe(at, true)
	rate, idle := 0.0, 0
	for s.out.Iterations < o.MaxIter {
		g, err := s.gradient(ctx, at, 0)
		if err != nil {
			return nil, err
		}
		unit := 1.0
		if o.Scale == Plain {
			unit = floats.Max(at.Lambda)
		}
		size := floats.Norm(g, math.Inf(1))
		if size*unit <= o.Tol*at.Validation {
			s.out.Status = Stationary
			return &s.out, nil
		}
		if rate == 0 {
			rate = firstMove * unit / size
		}
		rate = math.Min(rate, mostMove*unit/size)
		next, accepted := (*Point)(nil), false
		for trial := 0; !accepted; trial++ {
			if rate*size < leastMove*unit {
				s.out.Status = Stationary
				return &s.out, nil
			}
			lambda := s.step(at.Lambda, g, rate)
			if next, err = s.solve(ctx, lambda, o.LowerTol, at); next == nil {
				return &s.out, err
			}
			promised := armijo * rate * floats.Dot(g, g)
			if o.Scale == Plain { // the step may be cut at the least value
				promised = armijo * (floats.Dot(g, at.Lambda) - floats.Dot(g, lambda))
			}
			accepted = next.Validation <= at.Validation-promised
			if accepted {
				s.out.Iterations++
			}
			s.observe(next, accepted)
			switch {
			case !accepted:
				rate *= shrink
			case trial == 0:
				rate *= grow
			}
		}
		if at.Validation-next.Validation <= o.Tol*at.Validation {
			idle++
		} else {
			idle = 0
		}
		at = next
		if idle == patience {
			s.out.Status = Stationary
			return &s.out, nil
		}
	}
	s.out.Status = IterationLimit
	return &s.out, nil
}

package hypergradient

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// IGJO descends with a line search on exact lower-level solutions, with hypergradients by implicit
// differentiation on the support. The method of the paper, as its authors' program has it, has Settings.Backtracking.
func IGJO(ctx context.Context, m lower.Fit, o Settings) (*Result, error) {
	if o.Backtracking != nil {
		return descend(ctx, m, o, lower.Truncated)
	}
	return descend(ctx, m, o, lower.Adjoint)
}

// IFDM is the same descent with hypergradients from the forward-differentiated coordinate descent, 50 steps by default.
func IFDM(ctx context.Context, m lower.Fit, o Settings) (*Result, error) {
	o.MaxIter = cmp.Or(o.MaxIter, 50)
	return descend(ctx, m, o, lower.Forward)
}

const (
	// armijo is the share of the decrease promised by the gradient that a step must give, wolfe
	// the share of the slope that must be gone (the weak condition of Wolfe: for a loss with kinks the strong one has no
	// points; Lewis, Overton, Mathematical Programming 2013).
	armijo, wolfe = 1e-4, 0.9
	// firstMove and mostMove bound the largest change of a hyperparameter in the first step and in any, in the logarithm.
	firstMove, mostMove = 0.5, 2
	// leastMove is the step at which a line search gives up.
	leastMove = 1e-7
	// mostTrials bounds the points of a line search.
	mostTrials = 30
	// patience is the number of steps in a row without progress that end a search.
	patience = 3
)

// descend minimises the validation loss by the steps that are asked for, or else along a direction of descent.
func descend(ctx context.Context, m lower.Fit, o Settings, mode lower.Mode) (*Result, error) {
	s, err := newSearch(o, m, mode)
	if err != nil {
		return nil, err
	}
	down := s.descend
	switch {
	case s.Backtracking != nil:
		down = s.backtrack
	case s.Normalised != nil:
		down = s.normalised
	}
	return &s.out, s.each(ctx, s.LowerTol, down)
}

// descend goes down from one start.
func (s *search) descend(ctx context.Context, first *lower.Point) error {
	at := first
	g, err := s.gradient(ctx, at, gradientTol)
	memory, d := optimize.LBFGS{Store: pairs}, make([]float64, len(g))
	bent, rate := false, 0.0 // whether the direction is by curvature
	straight := func() {
		memory.InitDirection(&optimize.Location{X: difference(at.Lambda, first.Lambda), Gradient: g}, d)
		bent = false
	}
	if g != nil {
		straight()
	}
	for !s.over(at, g) {
		rate = cmp.Or(rate, firstMove/floats.Norm(g, math.Inf(1)))
		next, nextG, used, err := s.along(ctx, at, g, d, rate)
		if err != nil {
			return err
		}
		if next == nil {
			if s.out.Status == "" && bent { // the direction may be bad: once more along the gradient
				straight()
				rate = 0
				continue
			}
			if s.out.Status == "" {
				s.out.Status = outcome.Converged
			}
			break
		}
		step, bend := difference(next.Lambda, at.Lambda), floats.SubTo(make([]float64, len(g)), nextG, g)
		s.progress(at, at.Validation-next.Validation)
		at, g, rate = next, nextG, 2*used
		switch {
		case s.Project != nil: // the set would have to be projected onto in the metric of the Hessian
			straight()
		case floats.Dot(step, bend) > 1e-12*floats.Norm(step, 2)*floats.Norm(bend, 2):
			memory.NextDirection(&optimize.Location{X: difference(at.Lambda, first.Lambda), Gradient: g}, d)
			bent, rate = true, 1
		default: // no curvature, or a negative one, says nothing
			straight()
			rate = 0
		}
	}
	return err
}

// pairs is the number of steps that the approximation of the Hessian remembers.
const pairs = 20

// difference is a - b in the logarithms.
func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = math.Log(a[i] / b[i])
	}
	return out
}

// along searches along d from a point with gradient g, and returns a point of sufficient decrease, its gradient and its
// rate, or nil where there is none. It brackets the rates that meet both conditions between one that is too short and
// one that is too long.
func (s *search) along(ctx context.Context, at *lower.Point, g, d []float64, rate float64) (*lower.Point, []float64,
	float64, error) {
	size := floats.Norm(d, math.Inf(1))
	rate = math.Min(rate, mostMove/size)
	short, long := 0.0, math.Inf(1)
	var found *lower.Point
	var foundG []float64
	var foundRate float64
	for range mostTrials {
		if rate*size < leastMove {
			break
		}
		lambda, err := s.move(ctx, at.Lambda, d, rate)
		if err != nil {
			return nil, nil, 0, err
		}
		step := difference(lambda, at.Lambda) // not rate d where it is cut or projected
		slope := floats.Dot(g, step)
		if slope >= 0 {
			long, rate = rate, (short+rate)/2
			continue
		}
		start := at
		if found != nil {
			start = found
		}
		next, err := s.solve(ctx, lambda, s.LowerTol, start)
		if next == nil {
			return nil, nil, 0, err
		}
		if !(next.Validation <= at.Validation+armijo*slope) || found != nil && next.Validation > found.Validation {
			if found != nil {
				break
			}
			long, rate = rate, short+(rate-short)/2
			continue
		}
		there, err := s.gradient(ctx, next, gradientTol)
		if there == nil {
			return found, foundG, foundRate, err
		}
		if found == nil {
			s.out.Iterations++
		}
		found, foundG, foundRate = next, there, rate
		if floats.Dot(there, step) >= wolfe*slope || rate*size >= mostMove {
			break
		}
		short = rate
		if math.IsInf(long, 1) {
			rate = math.Min(2*rate, mostMove/size)
		} else {
			rate = (short + long) / 2
		}
	}
	return found, foundG, foundRate, nil
}

package hypergradient

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

const (
	// firstTol and tolShrink give the tolerances of the lower levels, firstTol tolShrink^k down to LowerTol, and of
	// the linear systems. They bound the error of the coefficients; the duality gap goes with its square.
	firstTol, tolShrink = 1e-2, 0.8
	// rateUp and rateDown change the rate after sufficient and after insufficient decrease.
	rateUp, rateDown = 1.3, 0.7
	// slack and decrease are those of the test.
	slack, decrease = 1e-3, 0.05
	// worse is the growth of the validation loss that takes a step back.
	worse = 1.2
	// returnMove is the first step of the return to the best point, as firstMove.
	returnMove = firstMove / 8
)

// HOAG is gradient descent without a line search: lower levels and linear systems are solved to a tolerance e_k that
// falls from step to step, and the rate t_k of step k, which is -t_k times the hypergradient g_k, grows where
//
//	f(lambda_k+1) <= f(lambda_k) + slack e_k f(lambda_0) - decrease t_k |g_k|^2
//
// holds, and shrinks where it does not. Losses with several minima may let it end elsewhere than near the best point on
// its way: it then returns to that one, with smaller steps that have to go down. The best point is solved to
// Settings.LowerTol at the end.
func HOAG(ctx context.Context, m lower.Fit, o Settings) (*Result, error) {
	s, err := newSearch(o, m, lower.Adjoint)
	if err != nil {
		return nil, err
	}
	first := firstTol * firstTol
	switch s.MaxSolves {
	case 0:
	case 1:
		first = s.LowerTol
	default:
		s.MaxSolves-- // one is for the end
	}
	err = s.each(ctx, math.Max(s.LowerTol, first), func(ctx context.Context, at *lower.Point) error {
		last, err := s.approximate(ctx, at, firstTol, firstMove, worse)
		if err == nil && s.running() && s.out.Best.Validation < last.Validation*(1-s.Tol) {
			s.enter()
			_, err = s.approximate(ctx, s.out.Best, math.Sqrt(s.out.Best.Gap), returnMove, 1)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.polish(ctx)
}

// approximate is HOAG from one start, with a first tolerance and step, and what growth of the loss takes a step back.
// It returns where it ended.
func (s *search) approximate(ctx context.Context, at *lower.Point, tol, first, back float64) (*lower.Point, error) {
	scale, rate := at.Validation, 0.0
	g, err := s.gradient(ctx, at, tol)
	for !s.over(at, g) {
		size := floats.Norm(g, math.Inf(1))
		rate = math.Min(cmp.Or(rate, first/size), mostMove/size)
		if rate*size < leastMove {
			s.out.Status = outcome.Converged
			break
		}
		tol *= tolShrink
		to, failed := s.move(ctx, at.Lambda, g, -rate)
		if failed != nil {
			return at, failed
		}
		var next *lower.Point
		if next, err = s.solve(ctx, to, math.Max(s.LowerTol, tol*tol), at); next == nil {
			break
		}
		s.out.Iterations++
		promised := -floats.Dot(g, difference(to, at.Lambda)) // t_k |g_k|^2 but where the step is cut or projected
		if next.Validation <= at.Validation+slack*tol*scale-decrease*promised {
			rate *= rateUp
		} else {
			rate *= rateDown
		}
		if next.Validation > back*at.Validation {
			continue
		}
		s.progress(at, math.Abs(at.Validation-next.Validation))
		if at = next; s.out.Status == outcome.Converged {
			break
		}
		g, err = s.gradient(ctx, at, tol)
	}
	return at, err
}

// polish solves the lower level at the best point to the full accuracy. The result is the best of the
// points with that accuracy.
func (s *search) polish(ctx context.Context) (*Result, error) {
	best := s.out.Best
	if best == nil || best.Gap <= s.LowerTol {
		return &s.out, nil
	}
	status := s.out.Status
	if s.running() || status == SolveLimit {
		if s.MaxSolves > 0 {
			s.MaxSolves++
		}
		pt, err := s.solve(ctx, best.Lambda, s.LowerTol, best)
		if err != nil {
			return nil, err
		}
		if pt != nil {
			s.out.Status = status
		}
	}
	if s.exact != nil {
		s.out.Best = s.exact
	}
	return &s.out, nil
}

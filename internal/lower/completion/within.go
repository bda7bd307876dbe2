package completion

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// Within solves the constrained form,
//
//	minimize over b, G (and b0)   1/(2N) |y - X b - G_known - b0|^2   subject to   |G|_* <= r_0,   |b^(g)|_2 <= r_g,
//
// by the interior-point method, for completions that are [Problem.Small]. The multipliers of the bounds are weights at
// which the penalty form has the same solution, each the rate at which the objective falls as its bound grows. The
// tolerance is that of [Problem.Solve].
// The status is Optimal or, where the gap stayed above the tolerance, Exhausted: the method is not for bounds so large
// that the known entries are interpolated.
func (c *Problem) Within(ctx context.Context, radii []float64, tol float64) (s *Solution, multipliers []float64,
	err error) {
	if c.interior == nil {
		return nil, nil, fmt.Errorf("completion: %d known entries of a matrix of %d x %d are too many for the constrained "+
			"form, at most %d and one dimension of at most %d are not", len(c.row), c.m, c.n, interiorMost, interiorOrder)
	}
	if err := c.check("bound", radii, tol); err != nil {
		return nil, nil, err
	}
	p := newInterior(c, radii, radii)
	N, scale := float64(len(c.row)), c.groups.Scale
	out := &Solution{Status: outcome.Converged, B: make([]float64, c.groups.X.Columns())}
	target := interiorShare * tol * scale * N
	if !p.beginWithin() { // y is zero
		c.finish(out)
		return out, make([]float64, len(radii)), nil
	}
	gap := p.run(ctx, target)
	out.Gap, out.Newton = math.Max(0, gap)/N, p.steps
	switch {
	case ctx.Err() != nil:
		out.Status = outcome.Cancelled
	case !(out.Gap <= tol*scale):
		out.Status = numerics.Exhausted
	}
	p.within(out)
	multipliers = append([]float64{p.tau / N}, p.taus...)
	floats.Scale(1/N, multipliers[1:])
	return out, multipliers, nil
}

// withinShare is the share of y that is the first u, withinRoom what t_g is there relative to its least value: of a few
// values those with the fewest iterations on the paper's data.
const withinShare, withinRoom = 0.2, 1.1

// beginWithin takes u along y, and t and t_g above their least values. It says whether y is not zero.
func (s *interior) beginWithin() bool {
	y := s.c.groups.Y
	size := floats.Norm(y, 2)
	if size == 0 {
		return false
	}
	floats.AddScaled(s.u, withinShare, y)
	for g := range s.taus {
		sum := 0.0
		for j := s.c.interior.start[g]; j < s.c.interior.start[g+1]; j++ {
			sum += math.Pow(floats.Dot(s.column(j), s.u), 2)
		}
		s.taus[g] = withinRoom*math.Sqrt(sum) + 1e-3*size
	}
	for s.tau = 0.1 * size; s.tau <= math.MaxFloat64 && !s.look(); {
		s.tau *= 1.4
	}
	s.tau *= 1.4
	s.look()
	s.centre()
	return true
}

// within sets the solution to the iterate, shortened to the bounds.
func (s *interior) within(out *Solution) {
	for g := range s.taus {
		b := s.group(s.cones.beta, g)
		a := -s.shorten(1+g, floats.Norm(b, 2))
		for j, v := range b {
			at := s.c.interior.order[s.c.interior.start[g]+j]
			out.B[at] = a * v
		}
	}
	a, b := s.factors(0)
	if a != nil {
		root := math.Sqrt(s.shorten(0, s.nuclear()))
		a.Scale(root, a)
		b.Scale(root, b)
		if s.c.interior.transposed {
			a, b = b, a
		}
		out.Left, out.Right = a, b
	}
	s.c.finish(out)
	out.Objective = floats.Dot(out.Residual, out.Residual) / (2 * float64(len(out.Residual)))
}

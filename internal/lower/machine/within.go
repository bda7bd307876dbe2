package machine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// Within is a machine of least loss in a ball and a box.
type Within struct {
	// Status is that of a [Solution].
	Status outcome.Stop
	// W and C give the decision value x.w - c.
	W []float64
	C float64
	// Loss is that of W and C, and at most Gap above the least one.
	Loss, Gap float64
	// Lambda is the multiplier of the ball, with which [Problem.Solve] has the same solution, and Bound are those of the
	// bounds.
	Lambda float64
	Bound  []float64
	// Solution is that of the penalised form at Lambda.
	Solution *Solution
}

const (
	// mostRoots bounds the fits of a search for the multiplier of the ball.
	mostRoots = 60
	// ballShare of the tolerance is what a multiplier at the end of the search may be worth.
	ballShare = 0.25
	// withinShare of the tolerance is that of the fits.
	withinShare = 0.25
	// slack is how far above the least multiplier, in its logarithm, one is still worth less than the tolerance where the
	// solution is inside the ball.
	slack = 1
	// mostRaised bounds the fits of larger multipliers that are tried where the first ones are not solved, raised is the
	// logarithm of the step from one to the next: at 1e-11 of the others the paths lose the digits that one of 1e-10
	// leaves them.
	mostRaised, raised = 8, 1.0
	// onBall is the logarithm of |w|^2 / (2 radius) at which a search by paths ends: their solutions are exact, and a gap
	// that is small enough leaves the multipliers of the bounds few digits.
	onBall = 1e-10
)

// Within minimises the loss subject to |w|^2/2 <= radius and |w_j| <= bound_j, one bound for all features or one for
// each, positive or +Inf. The dual function of the ball,
//
//	m -> min over |w_j| <= bound_j of  loss + m (|w|^2/2 - radius),
//
// is concave, and its maximum is where |w|^2/2 is the radius: each value is a fit, from the one before. As the loss at
// w = 0 is the scale of the tolerance, m is at most that over the radius. The solution is on the way between two fits,
// where it leaves the ball, and the gap is the distance of its loss from the dual value. Tolerance and start are as in
// [Problem.Solve], the start the Solution of a [Within].
func (g *Problem) Within(ctx context.Context, radius float64, bound []float64, tol float64, start *Solution) (*Within,
	error) {
	if !(radius > 0) || math.IsInf(radius, 1) {
		return nil, fmt.Errorf("machine: the radius is %g, expected a positive number", radius)
	}
	top := g.scale / radius
	low, high := math.Log(ballShare*tol*top), math.Log(top)
	at := (low + 3*high) / 4
	if start != nil && start.lambda > 0 {
		at = math.Log(start.lambda)
	}
	at = math.Max(low, math.Min(high, at))
	// the logarithms of |w|^2 / (2 radius) at low and high, NaN before they are known
	atLow, atHigh := math.NaN(), math.NaN()
	var out *Within
	var outside, inside *Solution // of the ball, the last ones
	stride := 0.0                 // of the search while it has the zero on one side
	for n := range mostRoots {
		s, err := g.Solve(ctx, math.Exp(at), bound, withinShare*tol, start)
		if err != nil {
			return nil, err
		}
		if s.Status == outcome.NumericalError && out != nil && out.Gap <= tol*g.scale {
			break // it was only to come nearer to the ball
		}
		if s.Status == outcome.NumericalError && out == nil && n < mostRaised {
			at = math.Min(high, at+raised)
			continue
		}
		if s.Status == outcome.Cancelled || s.Status == outcome.NumericalError {
			return &Within{Status: s.Status, W: s.W, C: s.C, Gap: math.Inf(1), Lambda: s.lambda,
				Bound: make([]float64, len(s.W)), Solution: s}, nil
		}
		start = s
		size := math.Log(floats.Dot(s.W, s.W) / (2 * radius))
		if size > 0 {
			outside = s
		} else {
			inside = s
		}
		if next := g.bounded(s, outside, inside, radius); out == nil || next.Gap < out.Gap {
			out = next
		}
		near := g.Many() || math.Abs(size) <= onBall
		if out.Gap <= tol*g.scale && (near || size < 0 && at <= low+slack) || size == 0 || size < 0 && at == low {
			break
		}
		if size > 0 {
			low, atLow = at, size
		} else {
			high, atHigh = at, size
		}
		switch {
		case !math.IsNaN(atLow) && !math.IsNaN(atHigh):
			at = between(low, atLow, high, atHigh, n)
			if n%3 != 2 && !g.Many() {
				t := onSurface(inside.W, outside.W, radius)
				at = -math.Log(1/inside.lambda + t*(1/outside.lambda-1/inside.lambda))
			}
		case size > 0:
			stride = math.Max(2*stride, math.Max(size, 0.05))
			at = math.Min(high, at+stride)
		default:
			stride = math.Max(2*stride, math.Max(-size, 0.05))
			at = math.Max(low, at-stride)
		}
		if !(at > low && at < high || at == low && math.IsNaN(atLow) || at == high && math.IsNaN(atHigh)) {
			break
		}
	}
	out.Status = outcome.Converged
	if out.Gap > tol*g.scale {
		out.Status = numerics.Exhausted
		if out.Gap > exhaustedGap*g.scale {
			out.Status = outcome.Stalled
		}
	}
	return out, nil
}

// between is the next point of the search for a zero of a falling function, of which the values at both ends are known:
// on the line through these and a little beyond where that is near an end, so that this comes near the zero from both
// sides, and every third time in the middle.
func between(low, atLow, high, atHigh float64, n int) float64 {
	t := 0.5
	if n%3 != 2 && !math.IsInf(atHigh, -1) {
		t = atLow / (atLow - atHigh)
		switch {
		case t < nearEnd:
			t = math.Max(nearEnd/100, 2*t)
		case t > 1-nearEnd:
			t = math.Min(1-nearEnd/100, 2*t-1)
		}
	}
	return low + t*(high-low)
}

// nearEnd is the share of an interval within which a point is near its end.
const nearEnd = 0.05

// bounded is a point in the ball from a solution s of the penalised form: the point between the last ones outside and
// inside the ball that is on its surface, so that it is near the optimum even where w is not known well enough to have
// the right length, and else s, made shorter where it has to be.
func (g *Problem) bounded(s, outside, inside *Solution, radius float64) *Within {
	out := &Within{W: slices.Clone(s.W), C: s.C, Lambda: s.lambda, Bound: make([]float64, len(s.W)), Solution: s}
	if outside != nil && inside != nil {
		t := onSurface(inside.W, outside.W, radius)
		copy(out.W, inside.W)
		floats.AddScaled(out.W, t, floats.SubTo(make([]float64, len(out.W)), outside.W, inside.W))
		out.C = inside.C + t*(outside.C-inside.C)
	}
	if norm := floats.Dot(out.W, out.W) / 2; norm > radius {
		floats.Scale(math.Sqrt(radius/norm), out.W)
	}
	out.Loss = g.Loss(out.W, out.C)
	for j, v := range s.v {
		out.Bound[j] = math.Max(0, math.Abs(v)-s.lambda*s.bound[j])
	}
	out.Gap = math.Max(0, out.Loss-(s.Objective-s.Gap-s.lambda*radius))
	return out
}

// onSurface is the t with |in + t (far - in)|^2 = 2 radius.
func onSurface(in, far []float64, radius float64) float64 {
	way := floats.SubTo(make([]float64, len(in)), far, in)
	a, b, c := floats.Dot(way, way), floats.Dot(way, in), math.Max(0, 2*radius-floats.Dot(in, in))
	if length := b + math.Sqrt(b*b+a*c); length > 0 {
		return math.Min(1, c/length)
	}
	return 0
}

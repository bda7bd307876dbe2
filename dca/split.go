package dca

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// The subproblem without second-order cones.
//
// V_k(x, h) <= t has the squares of l in a constraint, which is a second-order cone. For a solver of quadratic programs
// alone its multiplier eta is looked for from outside. With W = max{0, constraints}, and l, V_k and W convex,
//
//	min_z  F(z) + alpha max{V_k(z), W(z)}  =  max_{0 <= eta <= alpha}  D(eta),
//	D(eta) = min_z  F(z) + eta V_k(z) + (alpha - eta) W(z),      F = L + rho/2 |z - z_k|^2,
//
// where D is concave, its minimiser z(eta) is unique as F is strongly convex, and D'(eta) = V_k(z(eta)) - W(z(eta)).
// One quadratic program gives D and D'; the root of D' is found by safeguarded secants from the eta of the subproblem
// before. D falls short of the minimum and phi_k is above it, so that their difference, of the largest D and the
// smallest phi_k so far, says when to stop. With a large penalty D' is steep, and phi_k(z(eta)) is far off before eta
// is near: the point between two z(eta) at which D' vanishes on a straight line is tried, too.
//
// Weights of P and q change from one program to the next, the constraints never.

// split is the search for eta.
type split struct {
	// Parameters: eta, -eta s_k, alpha - eta.
	weight, slope, rest *convex.Parameter
	eta                 float64 // with the largest D
	share               float64 // eta / alpha where the last subproblem ended
}

const (
	// maxSplits bounds the programs of one subproblem.
	maxSplits = 60
	// firstShare is the first eta, as a share of alpha.
	firstShare = 0.9
	// Where all eta so far are on one side of the root, the next goes that share of the way to the end of the interval:
	// programs at the ends, where V_k or W has no weight, take the longest. nearEnd of alpha is the end.
	towardsEnd, nearEnd = 0.8, 1e-6
	// A gap that has not fallen for more than patience programs, so that it is where their accuracy leaves it, is taken up
	// to enough times the tolerance.
	patience, enough = 4, 2
)

// splits says whether the subproblem has to do without second-order cones.
func (s *Settings) splits() bool {
	return !s.Backend.Capabilities().Supports(backends.SecondOrderCone)
}

// lagrangian is eta V_k + (alpha - eta) t without the constant of V_k; train is l.
func (b *subproblem) lagrangian(m *convex.Model, train convex.Expr) convex.Expr {
	n := b.h.Len()
	b.split = &split{weight: m.Parameter("eta", []float64{0}), slope: m.Parameter("-eta s_k", make([]float64, n)),
		rest: m.Parameter("alpha - eta", []float64{0}), share: firstShare}
	return convex.Add(convex.Scale(b.split.weight, train), convex.Dot(b.split.slope, b.h), convex.Dot(b.split.rest, b.t))
}

// splitPoint is z(eta) with D'(eta).
type splitPoint struct {
	z          iterate
	eta, slope float64
}

// search is where the root of D' is looked for.
type search struct {
	penalty float64
	ends    [2]*splitPoint // where D' > 0, and where D' <= 0
	weight  [2]float64     // the Illinois rule halves that of an end which stays twice
}

// take takes a point into the ends. It returns the point between these at which D' vanishes on a straight line, if
// there are both.
func (s *search) take(p *splitPoint) (z iterate, both bool) {
	side := 0
	if p.slope <= 0 {
		side = 1
	}
	if s.ends[side] != nil {
		s.weight[1-side] /= 2
	}
	s.ends[side], s.weight[side] = p, 1
	if s.ends[0] == nil || s.ends[1] == nil {
		return z, false
	}
	share := s.ends[0].slope / (s.ends[0].slope - s.ends[1].slope)
	return between(s.ends[0].z, s.ends[1].z, share), true
}

// next is the eta after p; false where there is none.
func (s *search) next(p *splitPoint) (eta float64, more bool) {
	lo, hi := s.ends[0], s.ends[1]
	if lo == nil || hi == nil {
		end := 0.0
		if hi == nil {
			end = s.penalty
		}
		eta = p.eta + towardsEnd*(end-p.eta)
		if math.Abs(end-p.eta) <= nearEnd*s.penalty {
			eta = end
		}
		return eta, eta != p.eta // else the root is the end of the interval
	}
	d, f := lo.slope*s.weight[0], hi.slope*s.weight[1]
	eta = lo.eta + (hi.eta-lo.eta)*d/(d-f)
	if !(eta > lo.eta && eta < hi.eta) {
		eta = (lo.eta + hi.eta) / 2
	}
	return eta, eta != lo.eta && eta != hi.eta
}

// solveSplit finds the root of D' between 0 and alpha. It returns the result with the largest D, whose multipliers are
// those of the subproblem, and the point with the smallest phi_k. It is inaccurate where the search has left a gap
// between these two.
func (b *subproblem) solveSplit(ctx context.Context) (*convex.Result, iterate, error) {
	tol := b.settings.Solver.WithDefaults().Eps
	var best *convex.Result
	var z iterate
	at, stall := search{penalty: b.penalty, weight: [2]float64{1, 1}}, numerics.Stall{}
	phi, iterations, eta := math.Inf(1), 0, b.split.share*b.penalty
	try := func(p iterate) {
		b.clip(p.h)
		if v := b.evaluate(p).objective; v < phi {
			phi, z = v, p
		}
	}
	for range maxSplits {
		res, err := b.solveAt(ctx, eta)
		if err != nil {
			return nil, iterate{}, err
		}
		iterations += res.Iterations
		if !usable(res) {
			if best == nil {
				best = res
			}
			break
		}
		if best == nil || res.DualObjective > best.DualObjective {
			best, b.split.eta = res, eta
		}
		p := &splitPoint{z: iterate{values(res, b.level.X), slices.Clone(res.Value(b.h))}, eta: eta}
		e := b.evaluate(p.z)
		p.slope = e.value - e.worst
		try(p.z)
		if middle, both := at.take(p); both {
			try(middle)
		}
		gap, small := phi-best.DualObjective, tol*math.Max(1, math.Abs(phi))
		if idle := stall.Idle(gap); gap <= small || idle > patience && gap <= enough*small {
			break
		}
		more := false
		if eta, more = at.next(p); !more {
			break
		}
	}
	if gap := (phi - best.DualObjective) / math.Max(1, math.Abs(phi)); best.Status == backends.Optimal &&
		gap > enough*tol {
		best.Status, best.Residuals.Gap = backends.Inaccurate, math.Max(best.Residuals.Gap, gap)
	}
	best.Iterations = iterations
	b.split.share = b.split.eta / b.penalty
	return best, z, nil
}

// between is (1 - share) a + share b.
func between(a, b iterate, share float64) iterate {
	m := iterate{h: mixed(a.h, b.h, share)}
	for i := range a.x {
		m.x = append(m.x, mixed(a.x[i], b.x[i], share))
	}
	return m
}

// mixed is a + share (b - a).
func mixed(a, b []float64, share float64) []float64 {
	out := floats.SubTo(make([]float64, len(a)), b, a)
	return floats.AddScaledTo(out, a, share, out)
}

// solveAt solves the quadratic program at eta, whose optimal value is D.
func (b *subproblem) solveAt(ctx context.Context, eta float64) (*convex.Result, error) {
	s := b.split
	scaled := make([]float64, len(b.lower.slope))
	for j, v := range b.lower.slope {
		if v != 0 {
			scaled[j] = -eta * v
		}
	}
	if !finite.All(scaled...) {
		return nil, errOverflow
	}
	for _, o := range []struct {
		p *convex.Parameter
		v []float64
	}{{s.weight, []float64{eta}}, {s.slope, scaled}, {s.rest, []float64{b.penalty - eta}}} {
		if err := b.solver.Set(o.p, o.v); err != nil {
			return nil, err
		}
	}
	res, err := b.solver.Solve(ctx)
	if err != nil {
		return nil, err
	}
	res.Objective -= eta * b.constant // of V_k
	res.DualObjective -= eta * b.constant
	return res, nil
}

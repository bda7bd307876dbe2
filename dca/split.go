package dca

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// The subproblem without second-order cones.
//
// V_k(x, h) <= t has the squares of l in a constraint, which is a second-order cone. For a solver of quadratic
// programs alone its multiplier eta is looked for from outside. With W = max{0, constraints}, and l, V_k and W
// convex,
//
//	min_z  F(z) + alpha max{V_k(z), W(z)}  =  max_{0 <= eta <= alpha}  D(eta),
//	D(eta) = min_z  F(z) + eta V_k(z) + (alpha - eta) W(z),      F = L + rho/2 |z - z_k|^2,
//
// where D is concave, its minimiser z(eta) is unique as F is strongly convex, and
// D'(eta) = V_k(z(eta)) - W(z(eta)). One quadratic program gives D and D'; the root of D' is found by safeguarded
// secants from the eta of the subproblem before. D falls short of the minimum and phi_k is above it, so that their
// difference, of the largest D and the smallest phi_k so far, says when to stop. With a large penalty D' is steep, and
// phi_k(z(eta)) is far off before eta is near: the point between two z(eta) at which D' vanishes on a straight
// line is tried, too.
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
	firstShare = 0.5
)

// splits says whether the subproblem has to do without second-order cones.
func (s *Settings) splits() bool {
	return !s.Backend.Capabilities().Supports(backends.SecondOrderCone)
}

// sequence are the cones that the solver takes by a sequence of programs. Where V_k has the only one, the search is the cheaper way.
func (s *Settings) sequence() []backends.ConeKind { return s.Backend.Capabilities().BySequence }

// lagrangian is eta V_k + (alpha - eta) t without the constant of V_k; train is l.
func (b *subproblem) lagrangian(m *convex.Model, train convex.Convex) convex.Convex {
	n := b.h.Len()
	b.split = &split{weight: m.Parameter("eta", 1), slope: m.Parameter("-eta s_k", n), rest: m.Parameter("alpha - eta", 1), share: firstShare}
	return train.Weight(b.split.weight).PlusAffine(b.split.slope.Dot(b.h.Expr())).PlusAffine(b.split.rest.Dot(b.t.Expr()))
}

// splitPoint is z(eta) with D'(eta).
type splitPoint struct {
	z          iterate
	eta, slope float64
}

// solveSplit finds the root of D' between 0 and alpha. It returns the result with the largest D, whose
// multipliers are those of the subproblem, and the point with the smallest phi_k.
func (b *subproblem) solveSplit(ctx context.Context) (*convex.Result, iterate, error) {
	tol := b.settings.Solver.WithDefaults().Eps
	var best *convex.Result
	var z iterate
	var ends [2]*splitPoint    // where D' > 0, and where D' <= 0
	weight := [2]float64{1, 1} // the Illinois rule halves that of an end which stays twice
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
		p.slope = e.top - e.worst
		try(p.z)
		side := 0
		if p.slope <= 0 {
			side = 1
		}
		if ends[side] != nil {
			weight[1-side] /= 2
		}
		ends[side], weight[side] = p, 1
		if ends[0] != nil && ends[1] != nil {
			share := ends[0].slope / (ends[0].slope - ends[1].slope)
			try(between(ends[0].z, ends[1].z, share))
		}
		if phi-best.DualObjective <= tol*math.Max(1, math.Abs(phi)) {
			break
		}
		next := b.penalty * float64(1-side) // nothing is known beyond: the end of the interval
		if ends[0] != nil && ends[1] != nil {
			lo, hi := ends[0], ends[1]
			d, f := lo.slope*weight[0], hi.slope*weight[1]
			next = lo.eta + (hi.eta-lo.eta)*d/(d-f)
			if !(next > lo.eta && next < hi.eta) {
				next = (lo.eta + hi.eta) / 2
			}
			if next == lo.eta || next == hi.eta {
				break // no number between
			}
		} else if next == eta {
			break // the root is the end of the interval
		}
		eta = next
	}
	best.Iterations = iterations
	b.split.share = b.split.eta / b.penalty
	return best, z, nil
}

// between is (1 - share) a + share b.
func between(a, b iterate, share float64) iterate {
	mix := func(a, b []float64) []float64 {
		out := make([]float64, len(a))
		for j := range a {
			out[j] = a[j] + share*(b[j]-a[j])
		}
		return out
	}
	m := iterate{h: mix(a.h, b.h)}
	for i := range a.x {
		m.x = append(m.x, mix(a.x[i], b.x[i]))
	}
	return m
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
	if !finite(scaled...) {
		return nil, errOverflow
	}
	for _, o := range []struct {
		p *convex.Parameter
		v []float64
	}{{s.weight, []float64{eta}}, {s.slope, scaled}, {s.rest, []float64{b.penalty - eta}}} {
		if err := o.p.Set(o.v); err != nil {
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

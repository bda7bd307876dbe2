package completion

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

const (
	// interiorTol is the least tolerance to which [interior] goes: Newton's method on the factors goes on from there.
	interiorTol = 1e-10
	// interiorShare of the tolerance is the gap at which the iterate is made a solution with exact zeros, interiorTries how often
	// that may fail, after which the gap falls by interiorCloser.
	interiorShare, interiorTries, interiorCloser = 0.5, 3, 0.1
	// interiorZero and interiorPower bound what is zero: a multiplier below min(interiorZero, (|y|^2 / (2 mu))^interiorPower) mu
	// over t or t_g. A constraint whose slack is a share f of t has the multiplier mu / (f t).
	interiorZero, interiorPower = 1e3, 1. / 3
)

// solve is one run of [interior]: the linear part, and the matrix.
type solve struct {
	leastsquares.GroupPoint
	tol   float64
	alive []int // groups

	objective, gap float64
	newtons        int

	known       *Problem
	nuclear     float64
	left, right *mat.Dense // nil: zero
	gamma       []float64  // G at the known entries
}

// interiorSolve solves by [interior]. The solution is not optimal where rounding ended the iterations before.
func (s *solve) interiorSolve(ctx context.Context) lower.Status {
	p := newInterior(s.known, s.nuclear, s.Norm)
	if !p.begin() {
		clear(s.B)
		s.left, s.right = nil, nil
		s.look()
		s.gap = 0
		return lower.Optimal
	}
	tol := math.Max(s.tol, interiorTol)
	bound := math.Inf(-1)
	target := interiorShare * tol * s.Scale * s.N
	for range interiorTries {
		reached := p.run(ctx, target)
		s.newtons = p.steps
		s.take(p)
		s.look()
		bound = math.Max(bound, (floats.Dot(s.Y, p.u)-floats.Dot(p.u, p.u)/2)/s.N)
		s.gap = math.Max(0, s.objective-bound)
		switch {
		case s.gap <= tol*s.Scale && tol > s.tol:
			return lower.Exhausted
		case s.gap <= tol*s.Scale:
			return lower.Optimal
		case ctx.Err() != nil:
			return lower.Cancelled
		case reached > target:
			return lower.Exhausted
		}
		target *= interiorCloser
	}
	return lower.Exhausted
}

// look computes the residual and the objective.
func (s *solve) look() {
	s.refresh()
	s.objective = s.Loss(s.R, 0) + s.Penalty(s.alive) + s.nuclearNorm()
}

// refresh computes G at the known entries and the residual, whose mean is 0 if there is an intercept.
func (s *solve) refresh() {
	s.Residual()
	clear(s.gamma)
	if s.left != nil {
		for k := range s.gamma {
			s.gamma[k] = floats.Dot(s.left.RawRowView(s.known.row[k]), s.right.RawRowView(s.known.col[k]))
		}
	}
	floats.Sub(s.R, s.gamma)
	if s.Mean != nil {
		floats.AddConst(-floats.Sum(s.R)/s.N, s.R)
	}
}

// nuclearNorm is w_0 (|A|^2 + |B|^2) / 2, the penalty of balanced factors.
func (s *solve) nuclearNorm() float64 {
	if s.left == nil {
		return 0
	}
	a, b := mat.Norm(s.left, 2), mat.Norm(s.right, 2)
	return s.nuclear * (a*a + b*b) / 2
}

// take sets the coefficients and the factors to those of an interior iterate, without what is zero in the limit.
func (s *solve) take(p *interior) {
	y := p.c.groups.Y
	zero := math.Min(interiorZero, math.Pow(floats.Dot(y, y)/(2*p.mu), interiorPower)) * p.mu
	clear(s.B)
	for g, t := range p.taus {
		if p.z[g] <= zero/t {
			continue
		}
		for j, v := range p.group(p.q, g) {
			s.B[p.c.interior.order[p.c.interior.start[g]+j]] = 2 * p.z[g] / t * v
		}
	}
	s.left, s.right = p.factors(zero / p.tau)
	if p.c.interior.transposed {
		s.left, s.right = s.right, s.left
	}
}

// factors returns A and B with A B' = G and |A|^2 + |B|^2 = 2 (tr Z + tr(Z R R') / t^2): A = 2^(1/2) L and B = 2^(1/2) R'L / t
// for L L' = Z. L comes from a factorisation by columns with pivots, which ends where all that is left of the diagonal is at most least.
func (p *interior) factors(least float64) (a, b *mat.Dense) {
	m := p.e.m
	rest := make([]float64, m)
	for i := range rest {
		rest[i] = p.multiplier[i+i*m]
	}
	var columns [][]float64
	for len(columns) < m {
		i := floats.MaxIdx(rest)
		if !(rest[i] > least) {
			break
		}
		l := make([]float64, m)
		copy(l, p.multiplier[i*m:(i+1)*m])
		for _, c := range columns {
			dense.Axpy(-c[i], c, l)
		}
		floats.Scale(1/math.Sqrt(rest[i]), l)
		for k, v := range l {
			rest[k] -= v * v
		}
		rest[i] = 0
		columns = append(columns, l)
	}
	rank := len(columns)
	if rank == 0 {
		return nil, nil
	}
	a, b = mat.NewDense(m, rank, nil), mat.NewDense(p.e.n, rank, nil)
	left, right := a.RawMatrix().Data, b.RawMatrix().Data
	for k, l := range columns {
		for i, v := range l {
			left[i*rank+k] = math.Sqrt2 * v
		}
	}
	for k, v := range p.u {
		i, j := p.e.row[k], p.e.col[k]
		dense.Axpy(v/p.tau, left[i*rank:(i+1)*rank], right[j*rank:(j+1)*rank])
	}
	return a, b
}

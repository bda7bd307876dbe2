package completion

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

const (
	// interiorTol is the least tolerance to which [interior] goes: Newton's method on the factors goes on from there.
	interiorTol = 1e-10
	// interiorShare of the tolerance is the gap at which the iterate is made a solution with exact zeros, interiorTries
	// how often that may fail, after which the gap falls by interiorCloser.
	interiorShare, interiorTries, interiorCloser = 0.5, 3, 0.1
	// interiorZero and interiorPower bound what is zero: a multiplier below min(interiorZero, (|y|^2 / (2
	// mu))^interiorPower) mu over t or t_g. A constraint whose slack is a share f of t has the multiplier mu / (f t).
	interiorZero, interiorPower = 1e3, 1. / 3
)

// interiorSolve solves by [interior]. The solution is not optimal where rounding ended the iterations before.
func (c *Problem) interiorSolve(ctx context.Context, w []float64, tol float64) *Solution {
	g := c.groups
	out := &Solution{Status: numerics.Exhausted, B: make([]float64, g.X.Columns())}
	p := newInterior(c, w, nil)
	if !p.begin() {
		c.finish(out)
		out.Objective, out.Status = c.penalised(out, w), outcome.Converged
		return out
	}
	least := math.Max(tol, interiorTol)
	bound, n := math.Inf(-1), float64(len(g.Y))
	target := interiorShare * least * g.Scale * n
	for range interiorTries {
		reached := p.run(ctx, target)
		out.Newton = p.steps
		p.write(out)
		c.finish(out)
		out.Objective = c.penalised(out, w)
		bound = math.Max(bound, (floats.Dot(g.Y, p.u)-floats.Dot(p.u, p.u)/2)/n)
		out.Gap = math.Max(0, out.Objective-bound)
		switch {
		case out.Gap <= least*g.Scale:
			if least == tol {
				out.Status = outcome.Converged
			}
			return out
		case ctx.Err() != nil:
			out.Status = outcome.Cancelled
			return out
		case reached > target:
			return out
		}
		target *= interiorCloser
	}
	return out
}

// penalised is the objective of a solution with balanced factors.
func (c *Problem) penalised(s *Solution, w []float64) float64 {
	sum := floats.Dot(s.Residual, s.Residual) / (2 * float64(len(s.Residual)))
	for k, v := range w[1:] {
		sum += v * c.groups.Size(k, s.B)
	}
	if s.Left != nil { // |G|_* is (|A|^2 + |B|^2) / 2
		a, b := mat.Norm(s.Left, 2), mat.Norm(s.Right, 2)
		sum += w[0] * (a*a + b*b) / 2
	}
	return sum
}

// write sets coefficients and factors to those of the iterate, without what is zero in the limit.
func (p *interior) write(s *Solution) {
	y := p.c.groups.Y
	zero := math.Min(interiorZero, math.Pow(floats.Dot(y, y)/(2*p.mu), interiorPower)) * p.mu
	clear(s.B)
	for g, t := range p.taus {
		if p.cones.rho[g] <= zero/t {
			continue
		}
		for j, v := range p.group(p.cones.beta, g) {
			s.B[p.c.interior.order[p.c.interior.start[g]+j]] = -v
		}
	}
	s.Left, s.Right = p.factors(zero / p.tau)
	if p.c.interior.transposed {
		s.Left, s.Right = s.Right, s.Left
	}
}

// factors returns A and B with A B' = G and |A|^2 + |B|^2 = 2 (tr Z + tr(Z R R') / t^2): A = 2^(1/2) L and B = 2^(1/2)
// R'L / t for L L' = Z. L comes from a factorisation by columns with pivots, which ends where all that is left of the
// diagonal is at most least.
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

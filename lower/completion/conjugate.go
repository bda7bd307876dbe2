package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// precondition returns M^-1 t, with M the diagonal blocks of the Hessian without the terms of the residual.
func (f *surface) precondition(t tangent) tangent {
	if !f.formed {
		f.formBlocks()
	}
	out, k := f.zero(), f.rank
	apply := func(blocks, to, from []float64) {
		for at := 0; at < len(to); at += k {
			v := from[at : at+k]
			for p := range k {
				sum := 0.0
				for q, w := range blocks[(at+p)*k : (at+p+1)*k] {
					sum += w * v[q]
				}
				to[at+p] = sum
			}
		}
	}
	apply(f.blocksA, out.A, t.A)
	apply(f.blocksB, out.B, t.B)
	copy(out.S, t.S)
	if f.diagonal == nil {
		f.coefficients.Solve(out.S)
	} else {
		floats.Div(out.S, f.diagonal)
	}
	return out
}

func (f *surface) formBlocks() {
	c, n, k := f.c, float64(len(f.r)), f.rank
	form := func(rows int, other []float64, place, opposite []int) []float64 {
		h := make([]float64, rows*k*k)
		for e, i := range place {
			v, block := f.row(other, opposite[e]), h[i*k*k:(i+1)*k*k]
			for p := range k {
				floats.AddScaled(block[p*k:(p+1)*k], v[p]/n, v)
			}
		}
		for i := range rows {
			var chol factor.Cholesky
			block := h[i*k*k : (i+1)*k*k]
			chol.Factor(k, func(p, q int) float64 { // positive definite, as the weight is
				if p == q {
					return block[p*k+q] + f.nuclear
				}
				return block[p*k+q]
			})
			clear(block)
			for p := range k { // symmetric: rows are columns
				block[p*k+p] = 1
				chol.Solve(block[p*k : (p+1)*k])
			}
		}
		return h
	}
	f.blocksA = form(c.m, f.b, c.row, c.col)
	f.blocksB = form(c.n, f.a, c.col, c.row)
	f.formed = true
	if len(f.set) == 0 {
		return
	}
	if len(f.set) <= blockMost {
		h := c.groups.NormHessian(f.set, f.x, f.norm)
		ridge := blockRidge * mat.Trace(h)
		if f.coefficients.Factor(len(f.set), func(p, q int) float64 {
			if p == q {
				return h.At(p, q) + ridge
			}
			return h.At(p, q)
		}) {
			return
		}
	}
	f.diagonal = make([]float64, len(f.set))
	for i, j := range f.set {
		g := c.groups.Of[j]
		size := c.groups.Size(g, f.x)
		f.diagonal[i] = c.groups.Norm2[j]/n + f.norm[g]/size*(1-f.x[j]*f.x[j]/(size*size))
	}
}

const (
	// blockMost bounds the coefficients whose block of the preconditioner is factored.
	blockMost = 500
	// blockRidge, relative to the trace, keeps that block positive definite.
	blockRidge = 1e-12
)

// conjugate returns t with H t = q by preconditioned conjugate gradients, for q orthogonal to the kernel of the Hessian H, the
// rotations of A and B, and t too, as a term that penalises them is added to H. It
// stops when the residual is below tol relative to q, after a number of steps, or at a direction of
// no positive curvature, with what it has: at least the preconditioned q. end, which may be nil, ends it.
func (f *surface) conjugate(q tangent, tol float64, steps int, end *stop.Stop) tangent {
	t, res := f.zero(), q.copy()
	z := f.precondition(res)
	d := z.copy()
	rz := res.dot(z)
	first := rz
	for step := range steps {
		if rz <= tol*tol*first || end.Look() {
			break
		}
		hd := f.hessian(d)
		f.hold(hd, d)
		curvature := d.dot(hd)
		if !(curvature > 1e-14*math.Abs(d.dot(res))) {
			if step == 0 {
				t.add(1, d)
			}
			break
		}
		alpha := rz / curvature
		t.add(alpha, d)
		res.add(-alpha, hd)
		z = f.precondition(res)
		next := res.dot(z)
		d.scale(next / rz)
		d.add(1, z)
		rz = next
	}
	return t
}

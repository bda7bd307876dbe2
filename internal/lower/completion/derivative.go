package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
)

// Derivative returns the derivatives of <v, X b + G + b0>, over the rows of x and the places row, col of any
// entries, in the weights, at a solution for them: in w_0 and in each w_g.
//
// Where the interior-point method is used, the end of its central path is differentiated, by one direct solve; else the
// smooth objective on the matrices of G's rank, that of [Joint], with a linear system that is solved to tol.
func (c *Problem) Derivative(w []float64, s *Solution, v []float64, x *design.Matrix, row, col []int,
	tol float64) []float64 {
	if s.Left == nil && floats.Norm(s.B, math.Inf(1)) == 0 {
		return make([]float64, len(w))
	}
	if c.interior != nil {
		if f := newLimit(newInterior(c, w, nil), s); f != nil {
			return f.derivative(v, x, row, col)
		}
	}
	return c.differentiate(w, s, v, x, row, col, tol)
}

// differentiateSteps bounds the steps of conjugate gradients for a derivative.
const differentiateSteps = 2000

// differentiate is [Problem.Derivative] by the factors: minus the derivatives of |G|_* and |b_g| along the solution t
// of H t = q, with q the derivative of <v, X b + G + b0>.
func (c *Problem) differentiate(w []float64, s *Solution, v []float64, x *design.Matrix, row, col []int,
	tol float64) []float64 {
	f := c.joint.at(s)
	f.weigh(&bilevel.JointWeights{Train: 1, Penalties: w})
	if f.k > 0 { // the preconditioner wants columns at right angles
		if d := f.decompose(); !math.IsNaN(d.values[0]) {
			f.balance(d)
		}
	}
	f.refresh()
	f.use()
	f.prepare()
	q, k := f.zero(), f.k
	for e, i := range row {
		l := col[e]
		addScaled(q.A[i*k:(i+1)*k], v[e], f.b[l*k:(l+1)*k])
		addScaled(q.B[l*k:(l+1)*k], v[e], f.a[i*k:(i+1)*k])
	}
	for i, l := range f.set {
		q.S[i] = x.Dot(l, v)
	}
	if f.j.intercept {
		q.S[len(f.set)] = floats.Sum(v)
	}
	t := f.conjugate(q, tol, differentiateSteps)
	out := make([]float64, len(w))
	out[0] = -floats.Dot(t.A, f.a) - floats.Dot(t.B, f.b)
	for i, l := range f.set {
		g := f.j.of[l]
		out[1+g] -= t.S[i] * f.x[l] / f.size(g)
	}
	return out
}

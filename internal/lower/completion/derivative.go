package completion

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/lower"
)

// Derivative returns the derivatives of <v, X b + G + b0>, over the rows of x and the places row, col of any
// entries, in the weights, at a solution for them: in w_0 and in each w_g.
//
// What is differentiated is the smooth objective on the matrices of G's rank, that of [Joint], with a linear system that
// is solved to tol or, of small completions, to derivativeTol where that is less.
func (c *Problem) Derivative(w Weights, s *Solution, v []float64, x *design.Matrix, row, col []int, tol float64) (nuclear float64, groups []float64, err error) {
	if n, p := x.Dims(); n != len(v) || p != c.groups.X.Columns() || len(row) != n || len(col) != n {
		return 0, nil, fmt.Errorf("completion: %d numbers, %d and %d indices for a design of %d x %d, expected as many as its rows, and %d columns", len(v), len(row), len(col), n, p, c.groups.X.Columns())
	}
	norm, _, err := c.groups.Weights(w.Norm, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("completion: %w", err)
	}
	if s.Left == nil && len(s.Support) == 0 {
		return 0, make([]float64, len(norm)), nil
	}
	nuclear, groups = c.differentiate(w.Nuclear, norm, s, v, x, row, col, tol)
	return nuclear, groups, nil
}

const (
	// differentiateSteps bounds the steps of conjugate gradients for a derivative.
	differentiateSteps = 2000
	// derivativeTol bounds the accuracy of derivatives of small completions, and polished is the tolerance to which
	// Newton's method goes on before: the Hessian at what the interior-point method leaves may have negative curvature.
	derivativeTol, polished = 1e-6, 1e-5
)

// differentiate is [Problem.Derivative] by the factors: minus the derivatives of |G|_* and |b_g| along the solution t
// of H t = q, with q the derivative of <v, X b + G + b0>.
func (c *Problem) differentiate(nuclear float64, norm []float64, s *Solution, v []float64, x *design.Matrix, row, col []int, tol float64) (float64, []float64) {
	f := c.startAt(s)
	f.weigh(&lower.JointWeights{Train: 1, Penalties: append([]float64{nuclear}, norm...)})
	if f.k > 0 { // the preconditioner wants columns at right angles
		if _, values, scaled := f.decompose(); !math.IsNaN(values[0]) {
			f.takeFactors(scaled)
		}
	}
	f.refresh()
	if c.interior != nil {
		f.descend(polished, false)
		tol = math.Min(tol, derivativeTol)
	}
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
	groups := make([]float64, len(norm))
	for i, l := range f.set {
		g := f.j.of[l]
		groups[g] -= t.S[i] * f.x[l] / f.size(g)
	}
	return -floats.Dot(t.A, f.a) - floats.Dot(t.B, f.b), groups
}

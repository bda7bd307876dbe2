package sparse

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// ConjugateGradient solves (X_S'X_S / n + diag(w2)) v = q, the matrix of [Regression.Hessian], by
// conjugate gradients with the diagonal as preconditioner. v, of the length of S, is the start and gets the result. It stops when the residual is
// below tol relative to q, both in the norm of the preconditioner, or when the context ends, and returns the number of steps.
func (g *Regression) ConjugateGradient(ctx context.Context, set []int, w2, q, v []float64, tol float64, steps int) int {
	if len(q) != len(set) || len(v) != len(set) {
		panic("sparse: right-hand side and start need the length of the set")
	}
	k, n := len(set), float64(g.data.X.Rows())
	inverse := make([]float64, k)
	for i, j := range set {
		l := g.data.Norm2[j] / n
		if w2 != nil {
			l += w2[j]
		}
		if l > 0 {
			inverse[i] = 1 / l
		}
	}
	multiply := g.Product(set, w2)
	res, z, d, hd := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	multiply(res, v)
	floats.SubTo(res, q, res)
	floats.MulTo(z, inverse, res)
	copy(d, z)
	rz, qq := floats.Dot(res, z), 0.0
	for i, a := range q {
		qq += a * a * inverse[i]
	}
	for step := range steps {
		if rz <= tol*tol*qq || ctx.Err() != nil {
			return step
		}
		multiply(hd, d)
		curvature := floats.Dot(d, hd)
		if !(curvature > 0) || math.IsInf(curvature, 1) {
			return step // a direction in the kernel: q has no part there but rounding
		}
		a := rz / curvature
		floats.AddScaled(v, a, d)
		floats.AddScaled(res, -a, hd)
		floats.MulTo(z, inverse, res)
		next := floats.Dot(res, z)
		floats.AddScaledTo(d, z, next/rz, d)
		rz = next
	}
	return steps
}

// Product returns the function that sets out to (X_S'X_S / n + diag(w2)) v.
func (g *Regression) Product(set []int, w2 []float64) func(out, v []float64) {
	image, n := make([]float64, g.data.X.Rows()), float64(g.data.X.Rows())
	return func(out, v []float64) {
		clear(image)
		mean := 0.0
		for i, j := range set {
			g.data.X.Axpy(v[i], j, image)
			mean += g.data.Shift(j) * v[i]
		}
		for i, j := range set {
			out[i] = g.data.X.Dot(j, image)/n - g.data.Shift(j)*mean
			if w2 != nil {
				out[i] += w2[j] * v[i]
			}
		}
	}
}

// ValidationGradient is the gradient of |y - X b - b0|^2 / (2m) over other rows, m x p, in the coefficients S, where b0
// is the best intercept of the training rows for b: its derivatives are minus their means.
func (g *Regression) ValidationGradient(x *design.Matrix, y []float64, s *Solution) (value float64, gradient []float64) {
	m := float64(x.Rows())
	r := make([]float64, x.Rows())
	for i, v := range y {
		r[i] = s.B0[0] - v
	}
	for _, j := range s.Support {
		x.Axpy(s.B[j], j, r)
	}
	gradient = make([]float64, len(s.Support))
	sum := floats.Sum(r)
	for i, j := range s.Support {
		gradient[i] = (x.Dot(j, r) - g.data.Shift(j)*sum) / m
	}
	return floats.Dot(r, r) / (2 * m), gradient
}

// Mean is that of column j if there is an intercept, and 0 else.
func (g *Regression) Mean(j int) float64 { return g.data.Shift(j) }

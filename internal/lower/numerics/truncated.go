package numerics

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// truncatedTol is the relative size of the residual H v - q, and of its product with H, at which [Truncated] ends.
const truncatedTol = 1e-6

// Truncated sets v to an approximate solution of H v = q, for a positive semidefinite H given by its products, by at
// most some steps of the conjugate residual method on H^2 v = H q, from v = 0. In exact arithmetic these are the points
// of LSMR (Fong, Saunders, SIAM J. Sci. Comput. 2011), by which the experiments of the paper solve these systems, with
// as many steps as unknowns at most. The parts of v along eigenvectors of H with small eigenvalues come last, and
// rounding delays them: where H is badly conditioned, the limit leaves them out.
func Truncated(ctx context.Context, multiply func(out, v []float64), q, v []float64, steps int) {
	k := len(q)
	clear(v)
	// The residual rest = q - H v and image = H rest, which is the residual of H^2 v = H q; along d, hd = H d and hhd =
	// H^2 d.
	rest, image, d, hd, hhd := append([]float64(nil), q...), make([]float64, k), make([]float64, k), make([]float64, k),
		make([]float64, k)
	square, next := make([]float64, k), make([]float64, k) // H image, H^2 image
	multiply(image, rest)
	multiply(square, image)
	multiply(next, square)
	copy(d, image)
	copy(hd, square)
	copy(hhd, next)
	size := floats.Dot(square, square) // image' H^2 image
	scale, norm := floats.Norm(q, 2), 0.0
	for range steps {
		if ctx.Err() != nil {
			return
		}
		length := floats.Dot(hhd, hhd)
		if !(length > 0) || math.IsInf(length, 1) {
			return
		}
		norm = math.Max(norm, floats.Norm(hd, 2)/floats.Norm(d, 2)) // a lower bound of |H|
		a := size / length
		floats.AddScaled(v, a, d)
		floats.AddScaled(rest, -a, hd)
		floats.AddScaled(image, -a, hhd)
		left := floats.Norm(rest, 2)
		if left <= truncatedTol*(scale+norm*floats.Norm(v, 2)) || floats.Norm(image, 2) <= truncatedTol*norm*left {
			return
		}
		multiply(square, image)
		multiply(next, square)
		before := size
		size = floats.Dot(square, square)
		b := size / before
		floats.AddScaledTo(d, image, b, d)
		floats.AddScaledTo(hd, square, b, hd)
		floats.AddScaledTo(hhd, next, b, hhd)
	}
}

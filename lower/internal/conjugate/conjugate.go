// Package conjugate has the method of conjugate gradients with a preconditioner (Hestenes, Stiefel 1952).
package conjugate

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
)

// System is A x = b, with a symmetric positive definite A that is known by its products.
type System struct {
	// Multiply sets out to A v; false ends the solve.
	Multiply func(out, v []float64) bool
	// Divide sets out to an approximation of A^-1 r, symmetric and positive definite, too.
	Divide func(out, r []float64)

	z, way, image []float64
}

// Solve goes from x to the solution, with the residual r = b - A x, which it changes, until the norm of the residual in
// the preconditioner is the accuracy times that at the begin at most, or for so many steps. It returns the number of
// steps, and false where it was ended or met numbers that are none.
func (s *System) Solve(x, r []float64, accuracy float64, most int) (steps int, ok bool) {
	for _, v := range []*[]float64{&s.z, &s.way, &s.image} {
		*v = slices.Grow((*v)[:0], len(x))[:len(x)]
	}
	clear(s.way)
	first, last := 0.0, 1.0
	for ; steps < most; steps++ {
		s.Divide(s.z, r)
		now := dense.Dot(r, s.z)
		if steps == 0 {
			first = now
		}
		if !(now > accuracy*accuracy*first) {
			break
		}
		turn := now / last
		if steps == 0 {
			turn = 0
		}
		for i, z := range s.z {
			s.way[i] = z + turn*s.way[i]
		}
		last = now
		if !s.Multiply(s.image, s.way) {
			return steps, false
		}
		curve := dense.Dot(s.way, s.image)
		if !(curve > 0) {
			break
		}
		dense.Axpy(now/curve, s.way, x)
		dense.Axpy(-now/curve, s.image, r)
	}
	for _, v := range x {
		if math.IsNaN(v) {
			return steps, false
		}
	}
	return steps, true
}

package numerics

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
)

// System is A x = b, with a symmetric A that is known by its products.
type System struct {
	// Multiply sets out to A v; false ends the solve.
	Multiply func(out, v []float64) bool
	// Divide sets out to an approximation of A^-1 r, symmetric and positive definite, too.
	Divide func(out, r []float64)

	// Way is the last direction d, and Curve is d'A d. Bent says that it is not positive, and ended the solve.
	Way   []float64
	Curve float64
	Bent  bool

	z, image []float64
}

// flat is the curvature, relative to what a step gains, that is none.
const flat = 1e-14

// Solve goes from x to the solution by conjugate gradients (Hestenes, Stiefel 1952), with the residual r = b - A x,
// which it changes, until the norm of the residual in the preconditioner is the accuracy times that at the begin at
// most, for so many steps, or until the direction has no positive curvature (Nocedal and Wright, Numerical
// Optimization, algorithm 7.1). It returns the number of steps, and false where it was ended or met numbers that are
// none.
func (s *System) Solve(x, r []float64, accuracy float64, most int) (steps int, ok bool) {
	for _, v := range []*[]float64{&s.z, &s.Way, &s.image} {
		*v = slices.Grow((*v)[:0], len(x))[:len(x)]
	}
	clear(s.Way)
	first, last := 0.0, 1.0
	s.Bent = false
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
			s.Way[i] = z + turn*s.Way[i]
		}
		last = now
		if !s.Multiply(s.image, s.Way) {
			return steps, false
		}
		if s.Curve = dense.Dot(s.Way, s.image); !(s.Curve > flat*now) {
			s.Bent = true
			break
		}
		dense.Axpy(now/s.Curve, s.Way, x)
		dense.Axpy(-now/s.Curve, s.image, r)
	}
	for _, v := range x {
		if math.IsNaN(v) {
			return steps, false
		}
	}
	return steps, true
}

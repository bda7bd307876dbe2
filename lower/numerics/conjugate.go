package numerics

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Linear is a system with a symmetric matrix H that is known by its products.
type Linear struct {
	// Multiply sets out to H v, Precondition to an approximation of H^-1 v.
	Multiply, Precondition func(out, v []float64)
	// Ended says that the caller wants no more steps.
	Ended func() bool
}

// flat is the curvature, relative to what a step gains, that is none.
const flat = 1e-14

// ConjugateGradient returns an x with H x = q, by conjugate gradients from 0 (Hestenes and Stiefel 1952). It stops
// where the residual, in the norm of the preconditioner, is at most tol relative to q, and after so many steps. A
// direction d without positive curvature, at which it stops, too, is returned with d'H d; it is x itself where it is
// the first one (Nocedal and Wright, Numerical Optimization, algorithm 7.1).
func (l *Linear) ConjugateGradient(q []float64, tol float64, steps int) (x, d []float64, curvature float64) {
	n := len(q)
	x, d = make([]float64, n), make([]float64, n)
	z, hd := make([]float64, n), make([]float64, n)
	rest := append([]float64(nil), q...)
	l.Precondition(z, rest)
	copy(d, z)
	size := floats.Dot(rest, z)
	least := tol * tol * size
	for step := range steps {
		if !(size > least) || l.Ended() {
			break
		}
		l.Multiply(hd, d)
		if curvature = floats.Dot(d, hd); !(curvature > flat*math.Abs(size)) {
			if step == 0 {
				copy(x, d)
			}
			return x, d, curvature
		}
		along := size / curvature
		floats.AddScaled(x, along, d)
		floats.AddScaled(rest, -along, hd)
		l.Precondition(z, rest)
		next := floats.Dot(rest, z)
		floats.AddScaledTo(d, z, next/size, d)
		size = next
	}
	return x, nil, 0
}

package completion

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// factorNewton takes steps of Newton's method, with backtracking, until the decrease of F that
// a step promised is below tol^2 relative to the objective at zero.
func (s *solve) factorNewton(tol float64) {
	const (
		steps   = 30
		cg      = 500
		forcing = 0.01 // the accuracy of the first systems
	)
	for range steps {
		if s.Stop.Look() {
			return
		}
		f := s.known.newSurface(s.nuclear, s.Norm, s.left, s.right, s.B, s.R)
		if f.rank == 0 && len(f.set) == 0 {
			return
		}
		g := f.gradient()
		steep := g.dot(f.precondition(g))
		s.newtons++
		d := f.conjugate(g, math.Min(forcing, math.Sqrt(steep/s.Scale)), cg, &s.Stop)
		promise := g.dot(d)
		if !(promise > 0) || !s.factorStep(f, d, promise, steep) {
			return
		}
		if s.left != nil {
			s.balance()
			s.refresh()
		}
		if promise <= tol*tol*s.Scale {
			return
		}
	}
}

// factorStep goes to (A, B, b) - t d with the first t of 1, 1/2, .. at which F is smaller by a share of what its slope
// promises, or, at the limit of rounding, its gradient. It says whether there is one.
func (s *solve) factorStep(f *surface, d tangent, slope, steep float64) bool {
	before := s.Loss(s.R, 0) + s.Penalty(s.alive) + s.nuclearNorm()
	left, right := s.left, s.right
	old := slices.Clone(s.B)
	for t := 1.0; t > 1e-6; t /= 2 {
		if left != nil {
			s.left, s.right = mat.DenseCopyOf(left), mat.DenseCopyOf(right)
			floats.AddScaled(s.left.RawMatrix().Data, -t, d.A)
			floats.AddScaled(s.right.RawMatrix().Data, -t, d.B)
		}
		for i, j := range f.set {
			s.B[j] = old[j] - t*d.S[i]
		}
		s.refresh()
		after := s.Loss(s.R, 0) + s.Penalty(s.alive) + s.nuclearNorm()
		if after <= before-1e-4*t*slope && before-after > 1e-14*before {
			return true
		}
		if t == 1 && after <= before*(1+1e-14) {
			next := s.known.newSurface(s.nuclear, s.Norm, s.left, s.right, s.B, s.R)
			if g := next.gradient(); g.dot(next.precondition(g)) < steep/4 {
				return true
			}
		}
	}
	s.left, s.right = left, right
	copy(s.B, old)
	s.refresh()
	return false
}

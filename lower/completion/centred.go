package completion

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// centred is an iterate of [interior] on the way, from which a solve within other bounds may start: what is feasible does not depend on the bounds, and far
// from the end of the central path the iterates for bounds that are close are close, too.
type centred struct {
	tau                            float64
	taus, u, multiplier, rho, beta []float64
}

// keptShare of the objective at zero is the gap from which on an iterate is kept. A solve from there that takes more than resumedSteps begins anew: its bounds are far
// from the ones before.
const keptShare, resumedSteps = 1e-1, 20

// atZero is the objective at zero.
func (s *interior) atZero() float64 {
	y := s.c.groups.Y
	return floats.Dot(y, y) / 2
}

// keep returns the iterate, in the constrained form.
func (s *interior) keep() *centred {
	if s.cones == nil {
		return nil
	}
	return &centred{s.tau, slices.Clone(s.taus), slices.Clone(s.u), slices.Clone(s.multiplier), slices.Clone(s.cones.rho), slices.Clone(s.cones.beta)}
}

// resume takes an iterate that was kept.
func (s *interior) resume(from *centred) {
	s.resumed, s.tau = true, from.tau
	copy(s.taus, from.taus)
	copy(s.u, from.u)
	copy(s.multiplier, from.multiplier)
	copy(s.cones.rho, from.rho)
	copy(s.cones.beta, from.beta)
	s.look()
	s.mu = s.meanAfter(&s.corrector, 0)
}

package native

import "slices"

// This file holds what matrices and nonsymmetric cones add to the iteration.

// pathRows is a nonsymmetric cone with its rows.
type pathRows struct {
	c        pathCone
	from, to int
}

// startCentred starts at the centre of all cones with x = 0. With nonsymmetric cones
// s and z cannot be moved inside one by one: the pair would be far from the central path.
func (it *iterate) startCentred() bool {
	clear(it.x)
	clear(it.d)
	it.tau, it.kappa = 1, 1
	return true
}

// withoutTerm takes the complementarity term of the semidefinite cones in their
// inverse form, H^-1 d, from the right-hand side of the rows to that of the columns:
//
//	-H dz + A dx = d - weight rz  is  -H (dz + H^-1 d) + A dx = -weight rz.
func (it *iterate) withoutTerm(weight float64) {
	for _, p := range it.k.matrices {
		if p.form == eliminateRows {
			for i := p.from; i < p.to; i++ {
				it.rhsZ[i] = -weight * it.rz[i]
			}
			p.mulTransposed(it.rhsX, it.d[p.from:p.to])
		}
	}
}

// withTerm takes H^-1 d off the dz that withoutTerm has led to.
func (it *iterate) withTerm() {
	for _, p := range it.k.matrices {
		if p.form == eliminateRows {
			axpy(-1, it.d[p.from:p.to], it.dz[p.from:p.to])
		}
	}
}

// central shortens the step a until the nonsymmetric cones are near the
// central path, and returns 0 if that does not happen.
func (it *iterate) central(a float64) float64 {
	if len(it.nonsymmetric) == 0 || a == 0 {
		return a
	}
	sz := dot(it.s, it.z) + it.tau*it.kappa
	cross := dot(it.s, it.dz) + dot(it.ds, it.z) + it.tau*it.dkap + it.dtau*it.kappa
	square := dot(it.ds, it.dz) + it.dtau*it.dkap
	outside := func(p pathRows) bool {
		s, z := it.trialS[:p.to-p.from], it.trialZ[:p.to-p.from]
		for k := range s {
			r := p.from + k
			s[k], z[k] = it.s[r]+a*it.ds[r], it.z[r]+a*it.dz[r]
		}
		mu := (sz + a*cross + a*a*square) / (it.degree + 1)
		return !p.c.central(s, z, mu)
	}
	for a >= minStep && !it.f.stop.Reached(200*len(it.nonsymmetric)) {
		if !slices.ContainsFunc(it.nonsymmetric, outside) {
			return a
		}
		a *= backtrack
	}
	return 0
}

const backtrack = 0.8

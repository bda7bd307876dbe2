package native

import "math"

// Direct is the method without the embedding, for linear programs with semidefinite
// cones: tau stays 1, the residuals are reduced by full Newton steps, and x, s on
// one side and z on the other move by steps of their own, as in CSDP (Borchers
// 1999) and SDPT3 (Toh, Todd and Tutuncu 1999).
//
// In the embedding the residuals fall no faster than mu. Where one side has no
// interior, as with <ee', X> = 0, the smallest eigenvalue of its matrix falls with
// its residual, and the path there is long and badly conditioned. The direct method reaches
// feasibility while the systems are still well conditioned. It has no certificate of its own: what stalls here goes to the embedding.

// canDirect says whether the problem is one for the direct method.
func (it *iterate) canDirect() bool {
	return len(it.k.matrices) > 0 && len(it.nonsymmetric) == 0 && len(it.f.p.ind) == 0
}

// startDirect takes multiples of the unit as large as the data suggest (Toh, Todd and Tutuncu 1999).
func (it *iterate) startDirect() {
	f := it.f
	clear(it.x)
	clear(it.d)
	clear(it.s)
	clear(it.z)
	it.tau, it.kappa = 1, 0
	norms := make([]float64, f.n) // of the columns in the rows of a cone
	for i, c := range it.cones {
		from, to := it.starts[i], it.starts[i+1]
		clear(norms)
		for j := range f.n {
			if f.stop.Reached(vectorWork + int(f.a.ptr[j+1]-f.a.ptr[j])) {
				return
			}
			for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
				if r := int(f.a.ind[e]); r >= from && r < to {
					norms[j] += f.a.val[e] * f.a.val[e]
				}
			}
		}
		root := math.Sqrt(float64(c.degree()))
		s, z := max(startMin, root), max(startMin, root)
		for j, v := range norms {
			if v > 0 {
				v = math.Sqrt(v)
				s = max(s, v)
				z = max(z, root*(1+math.Abs(f.q[j]))/(1+v))
			}
		}
		s = max(s, norm2(f.b[from:to]))
		c.unit(it.of(i, it.s), it.of(i, it.z))
		scaleBy(it.of(i, it.s), s)
		scaleBy(it.of(i, it.z), z)
	}
}

// directDirection solves the Newton system with dtau = 0, the right-hand sides being
// -wx and -wz times the residuals.
func (it *iterate) directDirection(wx, wz float64, target accuracy) bool {
	f := it.f
	for j, v := range it.rx {
		it.rhsX[j] = -wx * v
	}
	for i, v := range it.rz {
		it.rhsZ[i] = it.d[i] - wz*v
	}
	it.withoutTerm(wz)
	if f.stop.Reached(f.n+f.m) || !it.k.solve(it.dx, it.dz, it.rhsX, it.rhsZ, target) {
		return false
	}
	it.withTerm()
	clear(it.ds)
	f.a.addMul(it.ds, it.dx)
	for i, v := range it.rz {
		it.ds[i] = -wz*v - it.ds[i]
	}
	clear(it.ds[:f.zero])
	return true
}

// longestApart returns the largest steps at most 1 for s and for z.
func (it *iterate) longestApart() (primal, dual float64) {
	primal, dual = 1, 1
	for i, c := range it.cones {
		if it.f.stop.Reached(4 * (it.starts[i+1] - it.starts[i])) {
			return 0, 0
		}
		zero := it.zeros[:it.starts[i+1]-it.starts[i]]
		s, z := it.of(i, it.s), it.of(i, it.z)
		primal = c.step(s, z, it.of(i, it.ds), zero, primal)
		dual = c.step(s, z, zero, it.of(i, it.dz), dual)
	}
	return primal, dual
}

// advanceDirect makes one predictor-corrector step and returns the longer of its two
// lengths, 0 when no direction could be computed. eps is the tolerance.
func (it *iterate) advanceDirect(eps float64) float64 {
	if !it.rescale() {
		return 0
	}
	primal, dual := 0.0, 0.0
	if !it.rooted {
		it.k.refactor()
		it.k.outer.used = 0
		primal, dual = it.stepsDirect(eps)
		if max(primal, dual) < shortStep || it.k.outer.used > outerStruggle {
			it.takeRoot()
		}
	}
	if it.rooted {
		it.root.form(it)
		primal, dual = it.stepsDirect(eps)
	}
	if it.f.stop.Reached(0) { // the direction is unfinished
		return 0
	}
	axpy(primal, it.dx, it.x)
	axpy(primal, it.ds[it.f.zero:], it.s[it.f.zero:])
	axpy(dual, it.dz, it.z)
	return max(primal, dual)
}

// stepsDirect computes the direction and the steps to take along it, 0 if there is none.
func (it *iterate) stepsDirect(eps float64) (primal, dual float64) {
	f := it.f
	if !it.newtonDirect(1, 1, 0, false) {
		return 0, 0
	}
	primal, dual = it.longestApart()
	// sigma = (mu after the predictor / mu)^e (Toh, Todd and Tutuncu 1999)
	now := dot(it.s[f.zero:], it.z[f.zero:])
	next := now + primal*dot(it.ds, it.z) + dual*dot(it.s, it.dz) + primal*dual*dot(it.ds, it.dz)
	mu := now / it.degree
	exponent := 1.0
	if mu > smallMu {
		exponent = max(1, 3*min(primal, dual)*min(primal, dual))
	}
	sigma := min(1, math.Pow(max(0, next/now), exponent))
	// A residual that is small beside the gap, in the objective too, need not fall faster than
	// the gap, and one that meets the tolerance need not fall: that would only push a matrix without interior
	// to its boundary.
	wx, wz := 1.0, 1.0
	p, product := it.measure(), now/f.scaling.c
	enough := settled * eps
	objective := enough * max(1, math.Abs(p.objective))
	hiddenX, hiddenZ := it.hidden(it.rx, it.x), it.hidden(it.rz, it.z)
	if p.dual <= p.gap && hiddenX <= product {
		wx = 1 - sigma
	}
	if p.primal <= p.gap && hiddenZ <= product {
		wz = 1 - sigma
	}
	switch {
	case p.dual <= enough && hiddenX <= objective:
		wx = 0
	case p.primal <= enough && hiddenZ <= objective:
		wz = 0
	}
	fraction := 0.9 + 0.09*min(primal, dual)
	longest := min(primal, dual)
	if primal, dual = it.correctDirect(wx, wz, sigma*mu, true); min(primal, dual) < shortStep && longest > 2*shortStep {
		// the second-order term is wrong by more than it helps
		primal, dual = it.correctDirect(wx, wz, max(sigma, shortStep)*mu, false)
	}
	return min(1, fraction*primal), min(1, fraction*dual)
}

// correctDirect computes the direction to mu = target, with the second-order term of the
// direction at hand if wanted, and returns the longest steps along it.
func (it *iterate) correctDirect(wx, wz, target float64, second bool) (primal, dual float64) {
	if !it.newtonDirect(wx, wz, target, second) {
		return 0, 0
	}
	return it.longestApart()
}

// newtonDirect solves the Newton system for mu = target, 0 for the predictor, with or without
// the second-order term of the direction at hand.
func (it *iterate) newtonDirect(wx, wz, target float64, second bool) bool {
	if it.rooted {
		return it.root.direction(it, wx, wz, target, second)
	}
	to := accuracy{refineTarget, refineTarget}
	if target == 0 {
		to = accuracy{predictorColumns, predictorRows}
		for i, c := range it.cones {
			c.affine(it.of(i, it.d), it.of(i, it.s))
		}
	} else {
		if !second {
			clear(it.ds)
			clear(it.dz)
		}
		for i, c := range it.cones {
			if it.f.stop.Reached(4 * (it.starts[i+1] - it.starts[i])) {
				return false
			}
			c.combined(it.of(i, it.d), it.of(i, it.s), it.of(i, it.z), it.of(i, it.ds), it.of(i, it.dz), target)
		}
	}
	return it.directDirection(wx, wz, to)
}

// hidden bounds what a residual can hide of the objective, in the caller's units.
func (it *iterate) hidden(residual, v []float64) float64 {
	sum := 0.0
	for i, r := range residual {
		sum += math.Abs(r * v[i])
	}
	return sum / it.f.scaling.c
}

// progressDirect is the size of what the direct method reduces.
type progressDirect struct{ rx, rz, mu float64 }

// leftDirect returns the largest part that is left of the residuals and of mu at the
// start, which is taken down at the first call.
func (it *iterate) leftDirect(first *progressDirect) float64 {
	now := progressDirect{maxAbs(it.rx), maxAbs(it.rz), it.mu}
	if first.mu == 0 {
		*first = now
	}
	part := func(now, first float64) float64 {
		if first == 0 {
			return 0
		}
		return now / first
	}
	return max(part(now.rx, first.rx), part(now.rz, first.rz), part(now.mu, first.mu))
}

const (
	// The smallest multiple of the unit at the start.
	startMin = 10
	// A residual below this part of the tolerance is not reduced further.
	settled = 0.1
	// A solve that needs more than outerStruggle directions of refineMatrices is the sign to take root.
	outerStruggle = 6
	// The mu below which sigma is the plain quotient.
	smallMu = 1e-6
)

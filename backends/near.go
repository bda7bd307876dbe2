package backends

import (
	"math"
	"slices"
)

// This file lets solvers ask, while they run, whether a vector is a certificate, at the price of a product with the
// matrices.

// NearPrimalInfeasible returns about what [CheckPrimalInfeasible] would find for z, in plain arithmetic: +Inf where
// b'z - beta(z) is not negative, and at least the part of it that A'z can make up for within the bounds of the
// variables. It panics unless z has length m.
func (j *Judge) NearPrimalInfeasible(z []float64) float64 {
	p := j.problem()
	mustHave(len(z) == len(p.B))
	z = slices.Clone(z)
	j.check.intoDual(p, z)
	known := j.check.known.about(p)
	size, bounds := known.ofX(), known.single()
	value := 0.0
	for i, b := range p.B {
		value += b * z[i]
	}
	for row, c := range Rows(p.Cones) {
		if c.Kind == BoxCone {
			value -= c.boxTerms(z[row : row+c.Dim])
		}
	}
	if !(value < 0) {
		return math.Inf(1)
	}
	free, bounded := 0.0, 0.0
	if p.A != nil {
		a := p.A.RawMatrix()
		for k := range size {
			dot, terms := 0.0, 0.0
			for at := a.Indptr[k]; at < a.Indptr[k+1]; at++ {
				term := a.Data[at] * z[a.Ind[at]]
				dot += term
				terms += math.Abs(term)
			}
			rest := max(0, math.Abs(dot)-nearRounding*terms)
			if rest == 0 {
				continue
			}
			if within := bounds.most(k, rounded{value: math.Copysign(rest, dot)}); within < rest*size[k]/tightBound {
				bounded += within
			} else {
				free += rest * size[k]
			}
		}
	}
	if bounded >= -value {
		return bounded / -value
	}
	return free / -(value + bounded)
}

// NearDualInfeasible does the same for x and [CheckDualInfeasible]. It panics unless x has length n.
func (j *Judge) NearDualInfeasible(x []float64) float64 {
	p := j.problem()
	n, m := p.Dims()
	mustHave(len(x) == n)
	value := 0.0
	for k, q := range p.Q {
		value += q * x[k]
	}
	if !(value < 0) {
		return math.Inf(1)
	}
	sizeU, sizeZ := j.check.known.about(p).ofDual()
	bend, direction := make([]float64, n), make([]float64, m) // Px and -Ax
	entries(p.P, func(i, k int, v float64) {
		bend[i] += v * x[k]
		if i != k {
			bend[k] += v * x[i]
		}
	})
	entries(p.A, func(i, k int, v float64) { direction[i] -= v * x[k] })
	weighed := 0.0
	for k, v := range bend {
		weighed += math.Abs(v) * sizeU[k]
	}
	left, exact := make([]float64, m), make([]float64, m)
	for row, c := range Rows(p.Cones) {
		c.awayFromRecession(direction[row:row+c.Dim], exact[row:row+c.Dim], left[row:row+c.Dim])
	}
	for i, v := range left {
		weighed += v * sizeZ[i]
	}
	return weighed / -value
}

// The rounding of a sum is at most this part of its terms, where these are not very many.
const nearRounding = 16 * unitRoundoff

// ProvePrimalInfeasible looks near z for a vector that proves better than z does that no x satisfies the constraints,
// and returns the best one met, in K*, with its residual by [CheckPrimalInfeasible]. It makes A'z zero by the least
// change, relative to the entries of z, and moves z back into K*, in turn, until the residual is at most eps or does
// not fall further. The error says that nothing near z proves anything. It panics unless z has length m.
func (j *Judge) ProvePrimalInfeasible(z []float64, eps float64) (better []float64, residual float64, err error) {
	found, err := j.check.provePrimal(j.problem(), z, eps)
	return found.v, found.residual, err
}

// ProveDualInfeasible does the same for x and [CheckDualInfeasible], by making Px and Ax + s zero, with s in
// the recession cone of K. It panics unless x has length n.
func (j *Judge) ProveDualInfeasible(x []float64, eps float64) (better []float64, residual float64, err error) {
	found, err := j.check.proveDual(j.problem(), x, eps)
	return found.v, found.residual, err
}

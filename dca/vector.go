package dca

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// accept bounds the residuals with which a solve that missed its tolerances is
// still used; the result then says "inaccurate".
const accept = 1e-4

// Nearly times Eps is the residual up to which a solve that missed its tolerance counts as accurate. Near the end
// subproblems with a large penalty are degenerate, and their last digit may be out of reach.
const Nearly = 10

// usable says whether a conic result has a point to go on with.
func usable(res *convex.Result) bool {
	switch res.Status {
	case backends.Optimal:
		return true
	case backends.Inaccurate, backends.IterationLimit:
		return res.Residuals.Max() <= accept // false for NaN
	}
	return false
}

func dot(a, b []float64) float64 { return floats.Dot(a, b) }

// squaredDistance is |a - b|^2 over x and h.
func (j *joint) squaredDistance(a, b iterate) float64 {
	return j.squaredX(a.x, b.x) + squared(a.h, b.h)
}

// squaredX is |a - b|^2 over x.
func (j *joint) squaredX(a, b [][]float64) float64 {
	sum := 0.0
	if j.compact() {
		first, second := j.each(a), j.each(b)
		for t, f := range j.parts {
			sum += f.Traits().Distance(first[t], second[t])
		}
		return sum
	}
	for i := range a {
		sum += squared(a[i], b[i])
	}
	return sum
}

func squared(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		d := v - b[i]
		sum += d * d
	}
	return sum
}

// relativeStep is |z - zk| / sqrt(1 + |zk|^2).
func (j *joint) relativeStep(z, zk iterate) float64 {
	return math.Sqrt(j.squaredDistance(z, zk) / j.size(zk))
}

// size is 1 + |z|^2.
func (j *joint) size(z iterate) float64 {
	sum := 1 + dot(z.h, z.h)
	if j.compact() {
		return sum + j.squaredX(z.x, j.zeros())
	}
	for _, x := range z.x {
		sum += dot(x, x)
	}
	return sum
}

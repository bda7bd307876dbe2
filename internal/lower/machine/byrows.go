package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// byRows is solve where the rows are few for the features, by a system of their order. With A the rows in the band, W
// their weights, D the diagonal part of the features, r the right side, all in the free coordinates, and
// s = W (A w - y c),
//
//	(W^-1 + A D^-1 A') s + y c = A D^-1 r_w,   y's - curve_c c = -r_c,   w = D^-1 (r_w - A's).
func (h *curvature) byRows(free []int, right, x []float64) bool {
	n, p := len(h.band), len(right)-1
	free = free[:len(free)-1] // c is the last one
	for _, j := range free {
		x[j] = right[j] / h.curve[j]
	}
	s, y := make([]float64, n), make([]float64, n)
	for k, i := range h.band {
		s[k], y[k] = h.rows.dot(i, x[:p]), h.rows.y[i]
	}
	h.full = zeros(h.full, n*n)
	if !h.products(free, h.full) {
		return false
	}
	for k, w := range h.weight {
		h.full[k*n+k] += 1 / w
	}
	h.chol.End = h.end
	if !h.chol.Factor(n, func(k int, column []float64) { copy(column[k:], h.full[k*n+k:(k+1)*n]) }) {
		return false
	}
	z := slices.Clone(y)
	h.chol.Solve(s)
	h.chol.Solve(z)
	c := (floats.Dot(y, s) + right[p]) / (floats.Dot(y, z) + h.curve[p])
	floats.AddScaled(s, -c, z)
	v := make([]float64, p)
	for k, i := range h.band {
		h.rows.add(i, s[k], v)
	}
	for _, j := range free {
		x[j] -= v[j] / h.curve[j]
	}
	x[p] = c
	return !math.IsNaN(floats.Sum(x)) && !math.IsInf(floats.Sum(x), 0)
}

// products adds the lower triangle of A D^-1 A' in some features, by columns; false where it was ended.
func (h *curvature) products(features []int, to []float64) bool {
	n, at := len(h.band), make([]int32, len(h.curve))
	for part := range slices.Chunk(features, blockRows) {
		h.columns, h.scaled = zeros(h.columns, n*len(part)), zeros(h.scaled, n*len(part))
		h.rows.features(h.band, part, at, h.columns)
		for e, j := range part {
			floats.ScaleTo(h.scaled[e*n:(e+1)*n], -1/h.curve[j], h.columns[e*n:(e+1)*n])
		}
		dense.SyrkNT(n, len(part), h.columns, n, h.scaled, n, to, n)
		if h.end.Reached(n * n * len(part) / 8) {
			return false
		}
	}
	return true
}

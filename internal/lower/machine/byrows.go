package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
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
	h.full = dense.Cleared(h.full, n*n)
	if !h.rows.addProducts(h.full, h.band, free, func(j int) float64 { return 1 / h.curve[j] }, h.end) {
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

// addProducts adds weight_j a_ij a_kj of the rows in features j to a lower triangle, by columns, some features at a
// time; false where it was ended.
func (r *signedRows) addProducts(to []float64, rows, features []int, weight func(j int) float64, end *stop.Stop) bool {
	n, at := len(rows), make([]int32, r.p)
	var columns, scaled []float64
	for part := range slices.Chunk(features, blockRows) {
		columns, scaled = dense.Cleared(columns, n*len(part)), dense.Cleared(scaled, n*len(part))
		r.features(rows, part, at, columns)
		for e, j := range part {
			floats.ScaleTo(scaled[e*n:(e+1)*n], -weight(j), columns[e*n:(e+1)*n])
		}
		dense.SyrkNT(n, len(part), columns, n, scaled, n, to, n)
		if end.Reached(n * n * len(part) / 8) {
			return false
		}
	}
	return true
}

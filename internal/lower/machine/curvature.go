package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/stop"
)

// curvature is the matrix of a Newton step in z = (w, c),
//
//	H = diag(curve) + sum_i weight_i b_i b_i',  b_i = (a_i, -y_i),  over the rows in the band,
//
// stored where p is at most mostStored, and else only its products. Where there are few rows, systems are of their
// order.
type curvature struct {
	rows   *signedRows
	end    *stop.Stop
	band   []int     // rows
	weight []float64 // of each of them
	curve  []float64 // of length p+1
	full   []float64 // H, or nil
	few    bool      // systems are solved by rows
	least  float64   // the accuracy of solves by products
	diag   []float64 // of H, if it is not stored
	work   float64   // multiplications in products, about

	chol            factor.Definite
	columns, scaled []float64
	row             []int32 // the entries of a row in some coordinates, see gram
	part            []float64
	local           local // of solves by conjugate gradients
}

const (
	// mostStored is the largest number of features for which H is stored and factored, or of rows for their systems.
	mostStored = 1000
	// sparseRow is the ratio of the entries of a matrix to those that a row has in it from which on these are added one
	// by one.
	sparseRow = 10
	// blockRows is how many rows of the band are added to H at a time.
	blockRows = 256
)

// stored says whether H is, or systems of another form of it are, so that they are solved to rounding.
func (h *curvature) stored() bool { return h.few || len(h.curve)-1 <= mostStored }

// set makes H of a band; false where it was ended.
func (h *curvature) set() bool {
	n := len(h.curve)
	if h.few {
		return true
	}
	if !h.stored() {
		h.diag = append(h.diag[:0], h.curve...)
		return h.diagonal(h.diag)
	}
	h.full = dense.Cleared(h.full, n*n)
	if !h.gram(h.full, n, nil) {
		return false
	}
	for j := range n {
		h.full[j*n+j] += h.curve[j]
		for i := j + 1; i < n; i++ {
			h.full[i*n+j] = h.full[j*n+i]
		}
	}
	return true
}

// diagonal adds that of the rows in the band; false where it was ended.
func (h *curvature) diagonal(to []float64) bool {
	for k, i := range h.band {
		index, value := h.rows.stored(i)
		for q, j := range index {
			to[j] += h.weight[k] * value[q] * value[q]
		}
		to[len(to)-1] += h.weight[k]
		if h.end.Reached(len(value)) {
			return false
		}
	}
	return true
}

// gram adds the lower triangle of sum_i weight_i b_i b_i', by columns, in some of the coordinates: in says of each of
// them which one it is, from 1 on, in increasing order, and 0 of the others; nil stands for all. It is false where it
// was ended.
func (h *curvature) gram(to []float64, order int, in []int32) bool {
	h.columns = slices.Grow(h.columns[:0], order*blockRows)[:order*blockRows]
	h.scaled = slices.Grow(h.scaled[:0], order*blockRows)[:order*blockRows]
	count := 0
	add := func() {
		dense.SyrkNT(order, count, h.columns, order, h.scaled, order, to, order)
		count = 0
	}
	for k, i := range h.band {
		column, entries := h.columns[count*order:(count+1)*order], order
		if in == nil && h.rows.dense {
			column[copy(column, h.rows.values(i))] = -h.rows.y[i]
		} else if entries = h.gather(i, in); entries*entries*sparseRow > order*order {
			clear(column)
			for e, q := range h.row {
				column[q] = h.part[e]
			}
			entries = order
		}
		if entries == order {
			floats.ScaleTo(h.scaled[count*order:(count+1)*order], -h.weight[k], column)
			if count++; count == blockRows {
				add()
			}
		} else {
			for e, q := range h.row {
				w, to := h.weight[k]*h.part[e], to[int(q)*order:(int(q)+1)*order]
				for o := e; o < entries; o++ {
					to[h.row[o]] += w * h.part[o]
				}
			}
		}
		work := entries * entries
		h.work += float64(work)
		if h.end.Reached(work / 8) {
			return false
		}
	}
	add()
	return true
}

// gather makes the entries of b_i in some of the coordinates, see gram, and returns their number.
func (h *curvature) gather(i int, in []int32) int {
	h.row, h.part = h.row[:0], h.part[:0]
	last := int32(len(h.curve) - 1)
	index, value := h.rows.stored(i)
	for q, v := range value {
		j := int32(index[q])
		if in != nil {
			j = in[j] - 1
		}
		if j >= 0 && v != 0 {
			h.row, h.part = append(h.row, j), append(h.part, v)
		}
	}
	if in != nil {
		last = in[last] - 1
	}
	h.row, h.part = append(h.row, last), append(h.part, -h.rows.y[i])
	return len(h.row)
}

// times sets out to H v; false where it was ended.
func (h *curvature) times(out, v []float64) bool {
	n := len(v)
	if h.full != nil && !h.few {
		clear(out)
		for j, x := range v {
			if x != 0 {
				dense.Axpy(x, h.full[j*n:(j+1)*n], out)
			}
		}
		return true
	}
	floats.MulTo(out, h.curve, v)
	for k, i := range h.band {
		x := h.weight[k] * (h.rows.product(i, v[:n-1]) - h.rows.y[i]*v[n-1])
		h.rows.add(i, x, out[:n-1])
		out[n-1] -= h.rows.y[i] * x
		work := 2 * h.rows.length(i)
		h.work += float64(work)
		if h.end.Reached(work) {
			return false
		}
	}
	return true
}

// solve sets x to the solution of H x = right in the free coordinates, in increasing order, and to 0 in the others. It
// says whether there is one, to rounding or, where products are all that is known of H, to an accuracy.
func (h *curvature) solve(free []int, right, x []float64, accuracy float64) bool {
	clear(x)
	if h.few {
		return h.byRows(free, right, x)
	}
	if h.full == nil {
		return h.byProducts(free, right, x, accuracy)
	}
	n, k := len(right), len(free)
	h.chol.End = h.end
	ok := h.chol.Factor(k, func(q int, column []float64) {
		j := free[q]
		from := h.full[j*n : (j+1)*n]
		for s := q; s < k; s++ {
			column[s] = from[free[s]]
		}
		// What rounding takes from a pivot, of rows whose weights are large, is put back.
		column[q] += 1e-15 * from[j]
	})
	if !ok {
		return false
	}
	way := indices.Pick(right, free)
	h.chol.Solve(way)
	for q, j := range free {
		x[j] = way[q]
		if math.IsNaN(x[j]) || math.IsInf(x[j], 0) {
			return false
		}
	}
	return true
}

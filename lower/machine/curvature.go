package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower/internal/factor"
)

// curvature is the matrix of a Newton step in z = (w, c),
//
//	H = diag(curve) + sum_i weight_i b_i b_i',  b_i = (a_i, -y_i),  over the rows in the band,
//
// stored where p is at most mostStored, and else only its products.
type curvature struct {
	rows   *signedRows
	end    *stop.Stop
	band   []int     // rows
	weight []float64 // of each of them
	curve  []float64 // of length p+1
	full   []float64 // H, or nil
	diag   []float64 // of H, if it is not stored

	chol                      factor.Definite
	columns, scaled           []float64
	residual, way, image, pre []float64
}

const (
	// mostStored is the largest number of features for which H is stored and factored.
	mostStored = 1000
	// blockRows is how many rows of the band are added to H at a time.
	blockRows = 256
	// mostProducts bounds the products of one solve without a factor.
	mostProducts = 400
	// productsTol is the accuracy of such a solve, in the norm of the diagonal.
	productsTol = 1e-3
)

// set makes H of a band; false where it was ended.
func (h *curvature) set() bool {
	n := len(h.curve)
	if n-1 > mostStored {
		h.diag = append(h.diag[:0], h.curve...)
		for k, i := range h.band {
			index, value := h.rows.stored(i)
			for q, v := range value {
				j := q
				if index != nil {
					j = index[q]
				}
				h.diag[j] += h.weight[k] * v * v
			}
			h.diag[n-1] += h.weight[k]
			if h.end.Reached(len(value)) {
				return false
			}
		}
		return true
	}
	if h.full == nil {
		h.full = make([]float64, n*n)
		h.columns, h.scaled = make([]float64, n*blockRows), make([]float64, n*blockRows)
	}
	clear(h.full)
	for from := 0; from < len(h.band); from += blockRows {
		part := h.band[from:min(len(h.band), from+blockRows)]
		for k, i := range part {
			column := h.columns[k*n : (k+1)*n]
			index, value := h.rows.stored(i)
			if index == nil {
				copy(column, value)
			} else {
				clear(column)
				for q, j := range index {
					column[j] = value[q]
				}
			}
			column[n-1] = -h.rows.y[i]
			floats.ScaleTo(h.scaled[k*n:(k+1)*n], -h.weight[from+k], column)
		}
		dense.SyrkNT(n, len(part), h.columns, n, h.scaled, n, h.full, n)
		if h.end.Reached(len(part) * n * n / 8) {
			return false
		}
	}
	for j := range n {
		h.full[j*n+j] += h.curve[j]
		for i := j + 1; i < n; i++ {
			h.full[i*n+j] = h.full[j*n+i]
		}
	}
	return true
}

// times sets out to H v.
func (h *curvature) times(out, v []float64) {
	n := len(v)
	if h.full != nil {
		clear(out)
		for j, x := range v {
			if x != 0 {
				dense.Axpy(x, h.full[j*n:(j+1)*n], out)
			}
		}
		return
	}
	floats.MulTo(out, h.curve, v)
	for k, i := range h.band {
		x := h.weight[k] * (h.rows.dot(i, v[:n-1]) - h.rows.y[i]*v[n-1])
		h.rows.add(i, x, out[:n-1])
		out[n-1] -= h.rows.y[i] * x
	}
}

// solve sets x to the solution of (H + diag(extra)) x = right in the free coordinates, in increasing order, and to 0 in the others. It says
// whether there is one, to rounding.
func (h *curvature) solve(free []int, extra, right, x []float64) bool {
	clear(x)
	if h.full == nil {
		return h.conjugate(free, extra, right, x)
	}
	n, k := len(right), len(free)
	h.chol.End = h.end
	ok := h.chol.Factor(k, func(q int, column []float64) {
		j := free[q]
		from := h.full[j*n : (j+1)*n]
		if k == n {
			copy(column[q:], from[q:])
		} else {
			for s := q; s < k; s++ {
				column[s] = from[free[s]]
			}
		}
		// What rounding takes from a pivot, of rows whose weights are large, is put back.
		column[q] += extra[j] + 1e-15*from[j]
	})
	if !ok {
		return false
	}
	h.way = slices.Grow(h.way[:0], k)[:k]
	for q, j := range free {
		h.way[q] = right[j]
	}
	h.chol.Solve(h.way)
	for q, j := range free {
		x[j] = h.way[q]
		if math.IsNaN(x[j]) || math.IsInf(x[j], 0) {
			return false
		}
	}
	return true
}

// conjugate is solve by conjugate gradients, scaled by the diagonal.
func (h *curvature) conjugate(free []int, extra, right, x []float64) bool {
	n := len(right)
	if len(h.image) < n {
		h.residual, h.way, h.image, h.pre = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
	r, way := h.residual, h.way[:n]
	clear(r)
	clear(way)
	first := 0.0
	for _, j := range free {
		r[j] = right[j]
		h.pre[j] = 1 / (h.diag[j] + extra[j])
		first += r[j] * r[j] * h.pre[j]
	}
	entries := 0
	for _, i := range h.band {
		entries += len(h.rows.values(i))
	}
	last := 0.0
	for step := range mostProducts {
		now := 0.0
		for _, j := range free {
			now += r[j] * r[j] * h.pre[j]
		}
		if now <= productsTol*productsTol*first {
			break
		}
		turn := 0.0
		if step > 0 {
			turn = now / last
		}
		for _, j := range free {
			way[j] = r[j]*h.pre[j] + turn*way[j]
		}
		last = now
		h.times(h.image, way)
		curve := 0.0
		for _, j := range free {
			h.image[j] += extra[j] * way[j]
			curve += way[j] * h.image[j]
		}
		if !(curve > 0) || h.end.Reached(2*entries+n) {
			break
		}
		t := now / curve
		for _, j := range free {
			x[j] += t * way[j]
			r[j] -= t * h.image[j]
		}
	}
	return !h.end.Reached(0)
}

package machine

import (
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

const (
	// mostProducts bounds the products of one solve without a factor of H.
	mostProducts = 2000
	// loosest and tightest bound the accuracy of such a solve, in the norm of the preconditioner.
	loosest, tightest = 1e-3, 1e-10
)

// local is a system of [curvature.solve] in the free coordinates that rows in the band have entries in; c is the last
// one.
type local struct {
	at    []int32 // of each coordinate, its number here + 1, or 0
	of    []int   // of each number here, the coordinate
	start []int   // the rows in the band, compressed, with the column of c in no one
	index []int32
	value []float64

	x, r   []float64
	system numerics.System
}

// byProducts is solve by conjugate gradients, whose preconditioner is the diagonal of H.
func (h *curvature) byProducts(free []int, right, x []float64, accuracy float64) bool {
	l := &h.local
	h.localise(free)
	for _, j := range free {
		if l.at[j] == 0 {
			x[j] = right[j] / h.curve[j]
		}
	}
	m := len(l.of)
	l.x, l.r = dense.Cleared(l.x, m), dense.Cleared(l.r, m)
	for k, j := range l.of {
		l.r[k] = right[j]
	}
	h.work += float64(4*len(l.index) + m)
	ok := !h.end.Reached(len(l.index))
	if ok {
		l.system.Multiply, l.system.Divide = h.multiply, h.divide
		_, ok = l.system.Solve(l.x, l.r, accuracy, mostProducts)
	}
	for k, j := range l.of {
		x[j] = l.x[k]
		l.at[j] = 0
	}
	return ok
}

// localise finds the coordinates, and the entries of the rows in them.
func (h *curvature) localise(free []int) {
	l, n := &h.local, len(h.curve)
	if l.at == nil {
		l.at = make([]int32, n)
	}
	for _, j := range free {
		l.at[j] = -1
	}
	l.of, l.start, l.index, l.value = l.of[:0], append(l.start[:0], 0), l.index[:0], l.value[:0]
	for _, i := range h.band {
		index, value := h.rows.stored(i)
		for q, v := range value {
			j := index[q]
			if l.at[j] == 0 || v == 0 {
				continue
			}
			if l.at[j] < 0 {
				l.of = append(l.of, j)
				l.at[j] = int32(len(l.of))
			}
			l.index, l.value = append(l.index, l.at[j]-1), append(l.value, v)
		}
		l.start = append(l.start, len(l.index))
	}
	for _, j := range free {
		l.at[j] = max(0, l.at[j])
	}
	l.of = append(l.of, n-1)
	l.at[n-1] = int32(len(l.of))
}

// divide sets z to r over the diagonal.
func (h *curvature) divide(z, r []float64) {
	for k, j := range h.local.of {
		z[k] = r[k] / h.diag[j]
	}
}

// multiply sets image to H way; false where it was ended.
func (h *curvature) multiply(image, way []float64) bool {
	l := &h.local
	last := len(l.of) - 1
	for k, j := range l.of {
		image[k] = h.curve[j] * way[k]
	}
	for k, i := range h.band {
		index, value := l.index[l.start[k]:l.start[k+1]], l.value[l.start[k]:l.start[k+1]]
		y := h.rows.y[i]
		sum := -y * way[last]
		for e, j := range index {
			sum += value[e] * way[j]
		}
		sum *= h.weight[k]
		for e, j := range index {
			image[j] += sum * value[e]
		}
		image[last] -= y * sum
	}
	work := 2*len(l.index) + 8*len(l.of)
	h.work += float64(work)
	return !h.end.Reached(work)
}

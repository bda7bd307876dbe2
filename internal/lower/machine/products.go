package machine

import (
	"cmp"
	"slices"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/numerics"
)

const (
	// mostProducts bounds the products of one solve without a factor of H.
	mostProducts = 2000
	// loosest and tightest bound the accuracy of such a solve, in the norm of the preconditioner.
	loosest, tightest = 1e-3, 1e-10
	// mostHeavy is the largest order of the block of the preconditioner.
	mostHeavy = 128
)

// local is a system of [curvature.solve] in the free coordinates that rows in the band have entries in; c is the last
// one.
type local struct {
	at    []int32 // of each coordinate, its number here + 1, or 0
	of    []int   // of each number here, the coordinate
	start []int   // the rows in the band, compressed, with the column of c in no one
	index []int32
	value []float64

	diagonal, heavy []float64 // the part of H that is diagonal, and the diagonal of the rest
	order           []int     // the coordinates of the block
	block           []float64 // that of H
	in              []int32   // of each coordinate, its number in the block + 1, or 0
	chol            factor.Definite
	part            []float64
	x, r            []float64
	system          numerics.System
}

// byProducts is solve by conjugate gradients. The preconditioner is H in the coordinates in which the band weighs most,
// c among them, and the diagonal of H in the others: where columns are of very different lengths, as those of words
// are, little else is left.
func (h *curvature) byProducts(free []int, right, x []float64, accuracy float64) bool {
	l := &h.local
	h.localise(free)
	for _, j := range free {
		if l.at[j] == 0 {
			x[j] = right[j] / h.curve[j]
		}
	}
	m := len(l.of)
	l.x, l.r = dense.Cleared(l.x, m), indices.Pick(right, l.of)
	h.work += float64(4*len(l.index) + m)
	ok := !h.end.Reached(len(l.index)) && h.precondition()
	if ok {
		l.system.Multiply, l.system.Divide = h.multiply, l.divide
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
	m := len(l.of)
	l.diagonal, l.heavy = slices.Grow(l.diagonal[:0], m)[:m], slices.Grow(l.heavy[:0], m)[:m]
	clear(l.heavy)
	for k, j := range l.of {
		l.diagonal[k] = h.curve[j]
	}
	for k := range h.band {
		for e := l.start[k]; e < l.start[k+1]; e++ {
			l.heavy[l.index[e]] += h.weight[k] * l.value[e] * l.value[e]
		}
		l.heavy[m-1] += h.weight[k]
	}
}

// precondition makes the block.
func (h *curvature) precondition() bool {
	l := &h.local
	m := len(l.of)
	l.order = l.order[:0]
	for k := range m - 1 {
		if l.heavy[k] > l.diagonal[k] {
			l.order = append(l.order, k)
		}
	}
	slices.SortFunc(l.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.heavy[b], l.heavy[a]),
			cmp.Compare(l.of[a], l.of[b]))
	})
	l.order = append(l.order[:min(len(l.order), mostHeavy-1, len(h.band))], m-1)
	slices.SortFunc(l.order, func(a, b int) int { return cmp.Compare(l.of[a], l.of[b]) })
	b := len(l.order)
	l.in = slices.Grow(l.in[:0], len(h.curve))[:len(h.curve)]
	clear(l.in)
	for q, k := range l.order {
		l.in[l.of[k]] = int32(q + 1)
	}
	l.block = dense.Cleared(l.block, b*b)
	if !h.gram(l.block, b, l.in) {
		return false
	}
	h.work += float64(b) * float64(b) * float64(b) / 3
	l.part = dense.Cleared(l.part, b)
	l.chol.End = h.end
	return l.chol.Factor(b, func(q int, column []float64) {
		copy(column[q:], l.block[q*b+q:(q+1)*b])
		column[q] += l.diagonal[l.order[q]] + roundedPivot*column[q]
	})
}

// divide sets z to the preconditioner's inverse times r.
func (l *local) divide(z, r []float64) {
	for k, v := range r {
		z[k] = v / (l.diagonal[k] + l.heavy[k])
	}
	for q, k := range l.order {
		l.part[q] = r[k]
	}
	l.chol.Solve(l.part)
	for q, k := range l.order {
		z[k] = l.part[q]
	}
}

// multiply sets image to H way; false where it was ended.
func (h *curvature) multiply(image, way []float64) bool {
	l := &h.local
	last := len(l.of) - 1
	for k, v := range way {
		image[k] = l.diagonal[k] * v
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
	work := 2*len(l.index) + 8*len(l.of) + len(l.order)*len(l.order)
	h.work += float64(work)
	return !h.end.Reached(work)
}

package glm

import (
	"slices"

	"github.com/conetune/conetune/internal/dense"
)

// local are the products of the features of the working set of a fold, close together, see work.
type local struct {
	q        int
	features []int
	place    []int     // of each feature of the table
	h        []float64 // by columns, of lda entries: those in room, or of all features
	room     []float64
	lda      int
	r        []float64 // gradient of the loss, less its sign
	b        []float64 // coefficients at the beginning
}

// column is that of the i-th feature.
func (l *local) column(i int) []float64 { return l.h[i*l.lda : i*l.lda+len(l.features)] }

// localise makes the products of some features, the working set among them, what work is done with. The gradients are
// to be filled in, and the products if they are not those of the same features.
func (f *fold) localise(features []int) (l *local, same bool) {
	q := f.d.q
	if f.local == nil {
		f.local = &local{q: q, place: make([]int, f.d.p)}
	}
	l = f.local
	n := len(features)
	same = slices.Equal(features, l.features)
	f.work, l.features, l.r, l.b = l, features, l.r[:0], l.b[:0]
	l.lda = n
	for i, j := range features {
		l.place[j] = i
		l.b = append(l.b, f.b[j*q:(j+1)*q]...)
	}
	return l, same
}

// alone has room for products of the features alone.
func (l *local) alone() {
	l.room = slices.Grow(l.room[:0], l.lda*l.lda)[:l.lda*l.lda]
	l.h = l.room
}

func (l *local) block(features []int) []float64 {
	at := make([]int, len(features))
	for a, j := range features {
		at[a] = l.place[j]
	}
	return pick(l.h, l.lda, at)
}

func (l *local) at(j, k int) float64 { return l.r[l.place[j]*l.q+k] }

func (l *local) fall(to []float64, features []int) []float64 {
	for _, j := range features {
		i := l.place[j] * l.q
		to = append(to, l.r[i:i+l.q]...)
	}
	return to
}

func (l *local) move(steps []float64, features []int) {
	if l.q == 1 && consecutive(l.place, features) {
		dense.GemvN(len(l.features), len(features), l.h[l.place[features[0]]*l.lda:], l.lda, steps, l.r)
		return
	}
	for i, j := range features {
		if step := steps[i*l.q : (i+1)*l.q]; nonzero(step) {
			less(l.r, l.column(l.place[j]), step, l.q)
		}
	}
}

// consecutive says that the places of features follow each other.
func consecutive(place, features []int) bool {
	for i, j := range features {
		if place[j] != place[features[0]]+i {
			return false
		}
	}
	return len(features) > 0
}

// less subtracts the products of a column with a step of each target.
func less(r, column, step []float64, q int) {
	if q == 1 {
		dense.Axpy(-step[0], column, r)
		return
	}
	for i, h := range column {
		to := r[i*q : (i+1)*q]
		for k, s := range step {
			to[k] -= h * s
		}
	}
}

func (l *local) diagonal(j int) float64 { return l.h[l.place[j]*(l.lda+1)] }

func (l *local) times(features []int, step, out []float64) {
	q := l.q
	for i, j := range features {
		if !nonzero(step[i*q : (i+1)*q]) {
			continue
		}
		column := l.column(l.place[j])
		for k, m := range features {
			h := column[l.place[m]]
			for c, s := range step[i*q : (i+1)*q] {
				out[k*q+c] += s * h
			}
		}
	}
}

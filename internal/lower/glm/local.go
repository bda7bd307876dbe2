package glm

import "github.com/conetune/conetune/internal/dense"

// local are the products of the features of the working set of a fold, close together, see work.
type local struct {
	q        int
	features []int
	place    []int     // of each feature of the table
	h        []float64 // by columns, of lda entries
	lda      int
	r        []float64 // gradient of the loss, less its sign
	b        []float64 // coefficients at the beginning
}

// column is that of the i-th feature.
func (l *local) column(i int) []float64 { return l.h[i*l.lda : i*l.lda+len(l.features)] }

// localise makes the products of features what work is done with. fill completes those of the features, of which the
// first known have theirs with each other: where the list has only grown, they stand. The gradients are to be filled
// in.
func (d *Data) localise(f *fold, features []int, fill func(l *local, known int)) *local {
	l, q := f.local, d.q
	if l == nil {
		l = &local{q: q, place: make([]int, d.p)}
		f.local = l
	}
	f.work = l
	known := 0
	for known < min(len(l.features), len(features)) && l.features[known] == features[known] {
		known++
	}
	if known < len(l.features) { // features have left
		known = 0
	}
	n := len(features)
	if n > l.lda {
		old, lda := l.h, l.lda
		l.lda = n + n/2
		l.h = make([]float64, l.lda*l.lda)
		for i := range known {
			copy(l.h[i*l.lda:], old[i*lda:i*lda+known])
		}
	}
	l.features, l.r, l.b = features, l.r[:0], l.b[:0]
	for i, j := range features {
		l.place[j] = i
		l.b = append(l.b, f.b[j*q:(j+1)*q]...)
	}
	if known < n {
		fill(l, known)
	}
	return l
}

// take completes the products from those of all features.
func (l *local) take(all []float64, known int) {
	p := len(l.place)
	for i, j := range l.features {
		from, first := all[j*p:(j+1)*p], known
		if i >= known {
			first = 0
		}
		to := l.column(i)
		for k := first; k < len(to); k++ {
			to[k] = from[l.features[k]]
		}
	}
}

func (l *local) block(features []int) [][]float64 {
	at := make([]int, len(features))
	for a, j := range features {
		at[a] = l.place[j]
	}
	return pick(l.h, l.lda, at)
}

func (l *local) at(j, k int) float64 { return l.r[l.place[j]*l.q+k] }

func (l *local) move(j int, step []float64) { less(l.r, l.column(l.place[j]), step, l.q) }

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
	for i, j := range features {
		if step[i] == 0 {
			continue
		}
		column := l.column(l.place[j])
		for k, m := range features {
			out[k] += step[i] * column[l.place[m]]
		}
	}
}

package glm

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// gram has the products of all features: of all rows, and about their means of each fold.
type gram struct {
	d    *Data
	all  *sums
	h    [][]float64 // of each fold
	sums []*sums     // of the validation rows of each fold, without products
}

func newGram(ctx context.Context, d *Data) *gram {
	folds := d.folds
	rows := make([]int, d.n)
	for i := range rows {
		rows[i] = i
	}
	g := &gram{d: d, all: d.sums(ctx, rows, true), h: make([][]float64, len(folds)), sums: make([]*sums, len(folds))}
	d.parts = make([]*part, len(folds))
	d.each(func(t int) {
		val := d.sums(ctx, folds[t], true)
		train := g.all.less(val)
		p := d.part(train, folds[t])
		g.h[t] = train.products
		p.centre(g.h[t], d.p)
		p.share(d.q, g.h[t])
		d.parts[t], g.sums[t] = p, val
		val.products = nil
	})
	if ctx.Err() == nil {
		mirror(g.all.products, d.p)
	}
	return g
}

// share divides moments by the number of targets, as the loss is a mean over them.
func (p *part) share(q int, h []float64) {
	if q == 1 {
		return
	}
	p.yy /= float64(q)
	floats.Scale(1/float64(q), p.c)
	floats.Scale(1/float64(q), h)
}

// local are the products of the features of the working set of a fold, close together.
type local struct {
	features []int
	place    []int     // of each feature of the table
	h        []float64 // by columns, of lda entries
	lda      int
	r        []float64 // gradient of the loss, less its sign
	b        []float64 // coefficients at the beginning
}

// begin implements products. What stands of the features before it is kept where the working set has only grown.
func (g *gram) begin(f *fold) {
	l, q, p := f.local, g.d.q, g.d.p
	if l == nil {
		l = &local{place: make([]int, p)}
		f.local = l
	}
	features := f.features()
	known := 0
	for known < min(len(l.features), len(features)) && l.features[known] == features[known] {
		known++
	}
	if known < len(l.features) { // features have left
		known = 0
	}
	n := len(features)
	if n > l.lda {
		known, l.lda = 0, n+n/2
		l.h = make([]float64, l.lda*l.lda)
	}
	l.features, l.r, l.b = features, l.r[:0], l.b[:0]
	for i, j := range features {
		l.place[j] = i
		l.b = append(l.b, f.b[j*q:(j+1)*q]...)
		if pt := f.point; pt != nil {
			l.r = append(l.r, pt.unit*(f.gradient[j]-(f.part.mean[j]+g.d.center[j])*pt.slant))
		} else {
			l.r = append(l.r, f.gradient[j*q:(j+1)*q]...)
		}
	}
	all := g.h[f.index]
	for i, j := range features {
		from, first := all[j*p:(j+1)*p], known
		if i >= known {
			first = 0
		}
		to := l.h[i*l.lda : i*l.lda+n]
		for k := first; k < n; k++ {
			to[k] = from[features[k]]
		}
	}
}

// at implements products.
func (g *gram) at(f *fold, j, k int) float64 { return f.local.r[f.local.place[j]*g.d.q+k] }

// move implements products.
func (g *gram) move(f *fold, j int, step []float64) {
	l, q := f.local, g.d.q
	n := len(l.features)
	i := l.place[j]
	less(l.r, l.h[i*l.lda:i*l.lda+n], step, q)
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

// diagonal implements products.
func (g *gram) diagonal(f *fold, j int) float64 {
	l := f.local
	return l.h[l.place[j]*(l.lda+1)]
}

// system implements products.
func (g *gram) system(f *fold, features []int, h []float64) {
	l, n, q := f.local, len(features), g.d.q
	for a, j := range features {
		column := l.h[l.place[j]*l.lda:]
		for b := a; b < n; b++ {
			v := column[l.place[features[b]]]
			for k := range q {
				h[(a*q+k)*n*q+b*q+k] = v
			}
		}
	}
}

// gradients implements products.
func (g *gram) gradients(_ context.Context, folds []*fold) {
	q, p := g.d.q, g.d.p
	crew.Each(len(folds), g.d.threads, func(i int) {
		f := folds[i]
		l := f.local
		step := make([]float64, q)
		for i, j := range l.features {
			for k := range q {
				step[k] = f.b[j*q+k] - l.b[i*q+k]
			}
			if nonzero(step) {
				less(f.gradient, g.h[f.index][j*p:(j+1)*p], step, q)
				copy(l.b[i*q:(i+1)*q], f.b[j*q:])
			}
		}
	})
}

// validation implements products, from sums alone: with B0 = y - x'B for the training means y and x,
//
//	sum_val omega |y_i - B'x_i - b0|^2 = yy - 2 B.xy - 2 b0.y + 2 b0.B'x + omega |b0|^2 + B.(G B),
//
// G being the products of all rows less those of the training rows.
func (g *gram) validation(f *fold) float64 {
	d, s, q := g.d, g.sums[f.index], g.d.q
	b0 := f.intercepts()
	total := s.yy
	for k, v := range b0 {
		total += s.weight*v*v - 2*v*s.y[k]
	}
	support := f.support()
	at := make([]float64, q) // B'x of the sums
	mean := make([]float64, q)
	for _, j := range support {
		for k := range q {
			b := f.b[j*q+k]
			total -= 2 * b * s.xy[j*q+k]
			at[k] += b * s.x[j]
			mean[k] += b * f.part.mean[j]
		}
	}
	column := make([]float64, d.p)
	for k := range q {
		total += 2 * b0[k] * at[k]
		// B.(T B) of all rows
		clear(column)
		for _, j := range support {
			if b := f.b[j*q+k]; b != 0 {
				dense.Axpy(b, g.all.products[j*d.p:(j+1)*d.p], column)
			}
		}
		quadratic, train := 0.0, 0.0
		for _, j := range support {
			b := f.b[j*q+k]
			quadratic += b * column[j]
			train += b * (f.part.c[j*q+k] - f.gradient[j*q+k]) // B.(H B)
		}
		total += quadratic - f.part.weight*(float64(q)*train+mean[k]*mean[k])
	}
	if !(total > 0) || s.weight == 0 {
		return 0
	}
	return total / (2 * s.weight * float64(q))
}

package glm

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
)

// gram has the products of all features: of all rows, and about their means of each fold.
type gram struct {
	d    *Data
	all  [][]float64 // products of all rows, as each fold fills them
	h    [][]float64 // of each fold
	sums []*sums     // of the validation rows of each fold, without products
	own  bool        // they are of one fold alone
}

// newGram goes over the rows once: folds that leave out rows of their own are summed side by side, and the sums of all
// rows are theirs.
func newGram(ctx context.Context, d *Data) *gram {
	folds := d.folds
	g := &gram{d: d, sums: make([]*sums, len(folds))}
	g.all, g.h = make([][]float64, len(folds)), make([][]float64, len(folds))
	d.parts = make([]*part, len(folds))
	apart, rest := d.disjoint()
	var all *sums
	crew.Each(apart+1, d.threads, func(t int) {
		if t == apart {
			all = d.sums(ctx, rest)
		} else {
			g.sums[t] = d.sums(ctx, folds[t])
		}
	})
	d.add(ctx, all, g.sums[:apart])
	d.each(func(t int) {
		if t >= apart {
			g.sums[t] = d.sums(ctx, folds[t])
		}
		d.filled(t, g.sums[t], false)
		all := d.filled(t, all, true)
		train, products := all.without(g.sums[t])
		g.all[t] = all.less
		p := d.part(train, folds[t])
		g.h[t] = products
		p.centre(g.h[t], d.p)
		p.share(d.q, g.h[t])
		d.parts[t] = p
	})
	for t, h := range g.all {
		if ctx.Err() == nil && (t == 0 || d.gaps != nil) {
			dense.Scale(h, -1)
			dense.Mirror(h, d.p)
		}
	}
	return g
}

// filled are sums of all rows, or of those that fold t leaves out, with its gaps filled: (x + v e)(x + v e)' is
// x x' + v (x e' + e x') + v^2 e e'. They stand in the place of others, or have room of their own.
func (d *Data) filled(t int, s *sums, all bool) *sums {
	if d.gaps == nil {
		return s
	}
	if all {
		own := *s
		s = &own
		s.x, s.xy, s.less = slices.Clone(s.x), slices.Clone(s.xy), slices.Clone(s.less)
	}
	row, last := make([]float64, d.p), -1
	for e, i := range d.gaps.Row {
		j, v := d.gaps.Feature[e], d.gaps.More[t][e]
		if v == 0 || !all && d.train[t][i] {
			continue
		}
		if i != last {
			d.row(row, i)
			last = i
		}
		by := d.weight(i) * v
		s.x[j] += by
		for k := range d.q {
			s.xy[j*d.q+k] += by * d.y[k][i]
		}
		for k, x := range row {
			s.less[min(j, k)*d.p+max(j, k)] -= by * x
		}
		row[j] += v
		s.less[j*d.p+j] -= by * row[j]
	}
	return s
}

// disjoint says how many of the first folds leave out no row that another of them does, and which rows none of these
// leaves out.
func (d *Data) disjoint() (apart int, rest []int) {
	left := make([]bool, d.n)
	for _, rows := range d.folds {
		if slices.ContainsFunc(rows, func(i int) bool { return left[i] }) {
			break
		}
		for _, i := range rows {
			left[i] = true
		}
		apart++
	}
	for i, out := range left {
		if !out {
			rest = append(rest, i)
		}
	}
	return apart, rest
}

// share divides moments by the number of targets, as the loss is a mean over them.
func (p *part) share(q int, h []float64) {
	if q <= 1 { // without targets there are products alone
		return
	}
	p.yy /= float64(q)
	floats.Scale(1/float64(q), p.c)
	floats.Scale(1/float64(q), h)
}

// begin implements products. Where most features are in the working set, all are worked with as they are.
func (g *gram) begin(f *fold) {
	features := f.features()
	whole := 2*len(features) > g.d.p
	if whole {
		features = indices.Range(0, g.d.p)
	}
	l, same := f.localise(features)
	if whole {
		l.h, same = g.h[f.number], true
	} else if !same {
		l.alone()
	}
	for i, j := range l.features {
		if !same {
			from, to := g.h[f.number][j*g.d.p:(j+1)*g.d.p], l.column(i)
			for k, m := range l.features {
				to[k] = from[m]
			}
		}
		if pt := f.point; pt != nil {
			l.r = append(l.r, pt.unit*(f.gradient[j]-(f.part.mean[j]+g.d.center[j])*pt.slant))
		} else {
			l.r = append(l.r, f.gradient[j*l.q:(j+1)*l.q]...)
		}
	}
}

// gradients implements products.
func (g *gram) gradients(_ context.Context, folds []*fold) {
	q, p := g.d.q, g.d.p
	crew.Each(len(folds), g.d.threads, func(i int) {
		f := folds[i]
		l := f.local
		if len(l.features) == p {
			copy(f.gradient, l.r)
			return
		}
		step := make([]float64, q)
		for i, j := range l.features {
			for k := range q {
				step[k] = f.b[j*q+k] - l.b[i*q+k]
			}
			if nonzero(step) {
				less(f.gradient, g.h[f.number][j*p:(j+1)*p], step, q)
				copy(l.b[i*q:(i+1)*q], f.b[j*q:])
			}
		}
		f.read()
	})
}

// lost is the share of the sum of squares of the targets up to which a sum of squares that is left has too few digits.
const lost = 1e-6

// validation implements products, from sums alone where these have the digits: with B0 = y - x'B for the training means
// y and x,
//
//	sum_val omega |y_i - B'x_i - b0|^2 = yy - 2 B.xy - 2 b0.y + 2 b0.B'x + omega |b0|^2 + B.(G B),
//
// G being the products of all rows less those of the training rows.
func (g *gram) validation(f *fold) float64 {
	d, s, q := g.d, g.sums[f.number], g.d.q
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
				dense.Axpy(b, g.all[f.number][j*d.p:(j+1)*d.p], column)
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
	if s.weight == 0 {
		return 0
	}
	if !(total > lost*s.yy) {
		total = g.squares(f, b0, support)
	}
	return total / (2 * s.weight * float64(q))
}

// squares is sum_val omega |y_i - B'x_i - b0|^2, row by row.
func (g *gram) squares(f *fold, b0 []float64, support []int) (total float64) {
	d := g.d
	block := make([]float64, min(rowBlock, len(f.part.val))*d.p)
	for list := range slices.Chunk(f.part.val, rowBlock) {
		d.gather(block, list)
		if d.gaps != nil {
			d.gaps.fill(d.gaps.More[f.number], list, block, d.p)
		}
		for l, i := range list {
			for k, r := range b0 {
				for _, j := range support {
					r += f.b[j*d.q+k] * block[l*d.p+j]
				}
				total += d.weight(i) * (d.y[k][i] - r) * (d.y[k][i] - r)
			}
		}
	}
	return total
}

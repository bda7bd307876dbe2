package glm

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

// rows works with the residuals of the rows, see [residual]: of more features than rows, or of sparse ones, few
// products are of use.
type rows struct {
	d     *Data
	x     *design.Matrix
	folds []residual // without residuals
}

func newRows(ctx context.Context, d *Data) *rows {
	g := &rows{d: d, x: d.columns(), folds: make([]residual, len(d.folds))}
	d.parts = make([]*part, len(d.folds))
	place := indices.Range(0, d.p)
	d.each(func(t int) {
		weights := d.trainWeights(t)
		s := &sums{x: make([]float64, d.p), y: make([]float64, d.q), xy: make([]float64, d.p*d.q)}
		weighted := make([][]float64, d.q) // targets times weights
		for k := range weighted {
			weighted[k] = slices.Clone(d.y[k])
			if weights != nil {
				floats.Mul(weighted[k], weights)
			}
			s.y[k] = floats.Sum(weighted[k])
			s.yy += dense.Dot(weighted[k], d.y[k])
		}
		if s.weight = float64(d.n); weights != nil {
			s.weight = floats.Sum(weights)
		}
		squares := make([]float64, d.p)
		for j := 0; j < d.p && ctx.Err() == nil; j++ {
			index, value := g.x.Column(j)
			for l, v := range value {
				i, w := l, v
				if index != nil {
					i = index[l]
				}
				if weights != nil {
					w *= weights[i]
				}
				s.x[j], squares[j] = s.x[j]+w, squares[j]+w*v
			}
			for k := range d.q {
				s.xy[j*d.q+k] = g.x.Dot(j, weighted[k])
			}
		}
		p := d.part(s, d.folds[t])
		p.share(d.q, nil)
		for j := range squares {
			squares[j] = about(squares[j]/p.weight, p.mean[j]) / float64(d.q)
		}
		d.parts[t] = p
		g.folds[t] = residual{
			x: g.x, place: place, mean: p.mean, squares: squares, weight: p.weight, count: d.n - len(p.val),
			rows: weights, left: p.val, even: d.weights == nil,
		}
		if !g.x.Dense() && byProducts(d.n, d.p, len(d.folds)) {
			g.folds[t].gram = sync.OnceValue(func() []float64 { return g.x.Gram(context.Background(), place, weights, 1) })
		}
	})
	return g
}

// trainWeights are the weights of the rows, 0 for those that fold t leaves out; nil where all are 1.
func (d *Data) trainWeights(t int) []float64 {
	if d.weights == nil && len(d.folds[t]) == 0 {
		return nil
	}
	w := make([]float64, d.n)
	for i, train := range d.train[t] {
		if train {
			w[i] = d.weight(i)
		}
	}
	return w
}

// begin implements products.
func (g *rows) begin(f *fold) { f.work = g.look(f) }

// look makes the residuals of a fold of its coefficients.
func (g *rows) look(f *fold) *residual {
	if f.residual == nil {
		own := g.folds[f.number]
		f.residual = &own
		own.shift = make([]float64, g.d.q)
		for range g.d.q {
			own.r = append(own.r, make([]float64, g.d.n))
		}
	}
	s := f.residual
	if s.fresh {
		return s
	}
	s.fresh = true
	for k, r := range s.r {
		g.residuals(r, f, k)
		if s.rows != nil {
			floats.Mul(r, s.rows)
		}
		s.shift[k] = -f.part.target[k]
		for _, j := range f.support() {
			s.shift[k] += f.b[j*g.d.q+k] * s.mean[j]
		}
	}
	return s
}

// residuals sets out to y - X b for target k.
func (g *rows) residuals(out []float64, f *fold, k int) {
	copy(out, g.d.y[k])
	for _, j := range f.support() {
		if b := f.b[j*g.d.q+k]; b != 0 {
			g.x.Axpy(-b, j, out)
		}
	}
}

// gradients implements products, with one pass over the columns for all folds.
func (g *rows) gradients(ctx context.Context, folds []*fold) {
	crew.Each(len(folds), g.d.threads, func(i int) { g.look(folds[i]) })
	q := g.d.q
	g.d.columnwise(ctx, func(from, to int) {
		var sums [together]float64
		for _, f := range folds {
			for k := range q {
				s := sums[:to-from]
				f.residual.atAll(from, k, s)
				for i, v := range s {
					f.gradient[(from+i)*q+k] = v
				}
			}
		}
	})
}

// validation implements products.
func (g *rows) validation(f *fold) float64 {
	total, weight := 0.0, 0.0
	b0 := f.intercepts()
	r := make([]float64, g.d.n)
	for k := range g.d.q {
		g.residuals(r, f, k)
		for _, i := range f.part.val {
			v := r[i] - b0[k]
			total += g.d.weight(i) * v * v
		}
	}
	for _, i := range f.part.val {
		weight += g.d.weight(i)
	}
	if weight == 0 {
		return 0
	}
	return total / (2 * weight * float64(g.d.q))
}

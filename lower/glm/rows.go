package glm

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower/design"
)

// rows works with the residuals of the rows: of more features than rows, or of sparse ones, few products are of use.
//
// The residuals of a fold, times the weights of rows, are zero in the rows that it leaves out. Those about the mean of the training rows differ from
// them by a shift of the fold, which is kept apart:
//
//	x_j'(r + shift omega) = x_j'r + shift sum(omega) mean_j.
type rows struct {
	d       *Data
	x       *design.Matrix
	squares [][]float64 // curvatures of the features in each fold; NaN where they are not known yet
}

func newRows(ctx context.Context, d *Data) *rows {
	g := &rows{d: d, x: d.columns(), squares: make([][]float64, len(d.folds))}
	d.parts = make([]*part, len(d.folds))
	d.each(func(t int) {
		s := &sums{x: make([]float64, d.p), y: make([]float64, d.q), xy: make([]float64, d.p*d.q)}
		weighted := make([][]float64, d.q) // targets times weights, in training rows
		for k := range weighted {
			weighted[k] = make([]float64, d.n)
		}
		for i, train := range d.train[t] {
			if !train {
				continue
			}
			w := d.weight(i)
			s.weight += w
			for k, y := range d.y {
				weighted[k][i] = w * y[i]
				s.y[k] += w * y[i]
				s.yy += w * y[i] * y[i]
			}
		}
		p := &part{weight: s.weight, mean: make([]float64, d.p), target: make([]float64, d.q), val: d.folds[t]}
		d.parts[t], g.squares[t] = p, slices.Repeat([]float64{math.NaN()}, d.p)
		if d.untargeted {
			return // without targets
		}
		for j := 0; j < d.p && ctx.Err() == nil; j++ {
			g.know(t, j)
			s.x[j] = p.weight * p.mean[j]
			for k := range d.q {
				s.xy[j*d.q+k] = g.x.Dot(j, weighted[k])
			}
		}
		d.parts[t] = d.part(s, d.folds[t])
		d.parts[t].share(d.q, nil)
	})
	return g
}

// know computes mean and curvature of feature j in fold t.
func (g *rows) know(t, j int) {
	if !math.IsNaN(g.squares[t][j]) {
		return
	}
	d, p, train := g.d, g.d.parts[t], g.d.train[t]
	sum, squares := 0.0, 0.0
	index, value := g.x.Column(j)
	for l, v := range value {
		i := l
		if index != nil {
			i = index[l]
		}
		if train[i] {
			w := d.weight(i) * v
			sum, squares = sum+w, squares+w*v
		}
	}
	mean := sum / p.weight
	squares /= p.weight
	if d.intercept {
		p.mean[j] = mean
		squares = max(squares-mean*mean, 0)
	}
	g.squares[t][j] = squares / float64(d.q)
}

// residue are the residuals of a fold, see rows.
type residue struct {
	r     [][]float64 // of each target
	shift []float64
}

// diagonal implements products.
func (g *rows) diagonal(f *fold, j int) float64 { return g.squares[f.index][j] }

// begin implements products.
func (g *rows) begin(f *fold) {
	out := &residue{shift: make([]float64, g.d.q)}
	f.residue = out
	if pt := f.point; pt != nil {
		for _, u := range f.working {
			for _, j := range g.d.units[u] {
				g.know(f.index, j)
			}
		}
		out.r, out.shift[0] = [][]float64{slices.Clone(pt.slope)}, -pt.slant*pt.unit
		return
	}
	for k := range g.d.q {
		r := make([]float64, g.d.n)
		g.residuals(r, f, k)
		for i, train := range g.d.train[f.index] {
			if !train {
				r[i] = 0
			} else if g.d.weights != nil {
				r[i] *= g.d.weights[i]
			}
		}
		out.r = append(out.r, r)
		out.shift[k] = -f.part.target[k]
		for _, j := range f.support() {
			out.shift[k] += f.b[j*g.d.q+k] * f.part.mean[j]
		}
	}
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

// at is the gradient of the loss of coefficient (j, k), less its sign.
func (g *rows) at(f *fold, j, k int) float64 {
	p := f.part
	return (g.x.Dot(j, f.residue.r[k])/p.weight + f.residue.shift[k]*p.mean[j]) / float64(g.d.q)
}

// move changes residuals as a step of the coefficients of feature j does.
func (g *rows) move(f *fold, j int, step []float64) {
	index, value := g.x.Column(j)
	weights, train := g.d.weights, g.d.train[f.index]
	for k, s := range step {
		if s == 0 {
			continue
		}
		r := f.residue.r[k]
		f.residue.shift[k] += s * f.part.mean[j]
		switch {
		case index != nil:
			for l, i := range index {
				if !train[i] {
					continue
				}
				v := s * value[l]
				if weights != nil {
					v *= weights[i]
				}
				r[i] -= v
			}
			continue
		case weights == nil:
			g.x.Axpy(-s, j, r)
		default:
			weights, r := weights[:len(value)], r[:len(value)]
			for i, v := range value {
				r[i] -= s * v * weights[i]
			}
		}
		for _, i := range f.part.val {
			r[i] = 0
		}
	}
}

// system sets h, of leading dimension n q and zero, to the products of n features: its lower triangle, of one target for all.
func (g *rows) system(f *fold, features []int, h []float64) {
	n, q := len(features), g.d.q
	train := g.d.train[f.index]
	products := make([]float64, n*n)
	var roots []float64
	if g.d.weights != nil && g.x.Dense() {
		roots = make([]float64, g.d.n)
		for i, w := range g.d.weights {
			roots[i] = math.Sqrt(w)
		}
	}
	if g.x.Dense() {
		block := make([]float64, n*(g.d.n-len(f.part.val)))
		for a, j := range features {
			_, column := g.x.Column(j)
			l := 0
			for i, v := range column {
				if train[i] {
					if roots != nil {
						v *= roots[i]
					}
					block[l*n+a] = v
					l++
				}
			}
		}
		dense.SyrkNT(n, len(block)/n, block, n, block, n, products, n)
	} else {
		spread := make([]float64, g.d.n)
		for a, j := range features {
			index, value := g.x.Column(j)
			for l, i := range index {
				if train[i] {
					spread[i] = value[l] * g.d.weight(i)
				}
			}
			for b := a; b < n; b++ {
				products[a*n+b] = -g.x.Dot(features[b], spread)
			}
			for _, i := range index {
				spread[i] = 0
			}
		}
	}
	for a, i := range features {
		for b := a; b < n; b++ {
			v := (-products[a*n+b]/f.part.weight - f.part.mean[i]*f.part.mean[features[b]]) / float64(q)
			for k := range q {
				h[(a*q+k)*n*q+b*q+k] = v
			}
		}
	}
}

// wide returns the solution of (diag(second) + H) step = g for the products H of more features than there are training rows, by a system of the order of
// the rows (Woodbury's formula): with H = B'B / W for the rows B about their means, times the roots of their weights,
//
//	step = D (g - B' (W I + B D B')^-1 B D g),   D = diag(second)^-1.
func (g *rows) wide(f *fold, features []int, second, right []float64) []float64 {
	train, w := g.d.train[f.index], f.part.weight
	n := g.d.n - len(f.part.val)
	block, scaled := make([]float64, n*len(features)), make([]float64, n*len(features)) // B and B D, by columns
	system, v := make([]float64, n*n), make([]float64, n)
	for a, j := range features {
		_, column := g.x.Column(j)
		to, l := block[a*n:(a+1)*n], 0
		for i, x := range column {
			if train[i] {
				to[l] = x - f.part.mean[j]
				if g.d.weights != nil {
					to[l] *= math.Sqrt(g.d.weights[i])
				}
				l++
			}
		}
		by := scaled[a*n : (a+1)*n]
		dense.Axpy(1/second[a], to, by)
		dense.Axpy(right[a], by, v)
	}
	dense.SyrkNT(n, len(features), block, n, scaled, n, system, n) // less the products
	for k := range system {
		system[k] = -system[k]
	}
	for i := range n {
		system[i*n+i] += w
	}
	solveDefinite(n, system, v, 1e-14)
	step := make([]float64, len(features))
	for a := range step {
		step[a] = (right[a] - dense.Dot(block[a*n:(a+1)*n], v)) / second[a]
	}
	return step
}

// gradients implements products, with one pass over the columns for all folds.
func (g *rows) gradients(ctx context.Context, folds []*fold) {
	const columns = 256
	crew.Each((g.d.p+columns-1)/columns, g.d.threads, func(part int) {
		for j := part * columns; j < min(g.d.p, (part+1)*columns) && ctx.Err() == nil; j++ {
			for _, f := range folds {
				for k := range g.d.q {
					f.gradient[j*g.d.q+k] = g.at(f, j, k)
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

package glm

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
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
	squares [][]float64      // curvatures of the features in each fold; NaN where they are not known yet
	whole   func() []float64 // the products of all features of a single fit, by columns; nil where they are many
}

func newRows(ctx context.Context, d *Data) *rows {
	g := &rows{d: d, x: d.columns(), squares: make([][]float64, len(d.folds))}
	d.parts = make([]*part, len(d.folds))
	if size := float64(g.x.Stored()); len(d.folds) == 1 && d.p <= mostWhole && size*size/float64(d.n) <= fewProducts {
		g.whole = sync.OnceValue(func() []float64 {
			all := make([]float64, d.p*d.p)
			for i, row := range g.sums(indices.Range(0, d.p), d.parts[0].rows) {
				for j := i; j < d.p; j++ {
					all[i*d.p+j] = g.centred(0, row[j], i, j)
				}
			}
			mirror(all, d.p)
			return all
		})
	}
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
		p := &part{weight: s.weight, mean: make([]float64, d.p), target: make([]float64, d.q), val: d.folds[t], rows: d.trainWeights(t)}
		d.parts[t], g.squares[t] = p, slices.Repeat([]float64{math.NaN()}, d.p)
		for j := 0; j < d.p && ctx.Err() == nil; j++ {
			g.know(t, j)
			s.x[j] = p.weight * p.mean[j]
			for k := range d.q {
				s.xy[j*d.q+k] = g.x.Dot(j, weighted[k])
			}
		}
		d.parts[t] = d.part(s, d.folds[t])
		d.parts[t].rows = p.rows
		d.parts[t].share(d.q, nil)
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
		squares = about(squares, mean)
	}
	g.squares[t][j] = squares / float64(d.q)
}

// residue are the residuals of a fold, see rows.
type residue struct {
	g     *rows
	f     *fold
	r     [][]float64 // of each target
	shift []float64
	fresh bool // made of the coefficients as they are
}

// begin implements products.
func (g *rows) begin(f *fold) {
	f.work = g.look(f)
}

// mostWhole bounds the features and fewProducts the number of multiplications up to which the products of all features of a single fit are made, for all that start from one another.
const mostWhole, fewProducts = 2000, 2e8

// look makes the residuals of a fold of its coefficients.
func (g *rows) look(f *fold) *residue {
	out := f.residue
	if out == nil {
		out = &residue{g: g, f: f, shift: make([]float64, g.d.q)}
		f.residue = out
	}
	if out.fresh {
		return out
	}
	out.fresh, out.r = true, out.r[:0]
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
	return out
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

func (s *residue) diagonal(j int) float64 { return s.g.squares[s.f.index][j] }

func (s *residue) at(j, k int) float64 {
	p := s.f.part
	return (s.g.x.Dot(j, s.r[k])/p.weight + s.shift[k]*p.mean[j]) / float64(len(s.r))
}

// atAll are those of at for some columns from from on.
func (s *residue) atAll(from, k int, out []float64) {
	p := s.f.part
	s.g.x.Dots(from, s.r[k], out)
	for i, v := range out {
		out[i] = (v/p.weight + s.shift[k]*p.mean[from+i]) / float64(len(s.r))
	}
}

// plain says that rows have no weights and all entries are stored.
func (s *residue) plain() bool { return s.g.d.weights == nil && s.g.x.Dense() }

// moveAll is move for features that stand side by side from one on, where all is plain.
func (s *residue) moveAll(from int, step []float64) {
	s.fresh = false
	for i, by := range step {
		s.shift[0] += by * s.f.part.mean[from+i]
	}
	s.g.x.Less(step, from, s.r[0])
	for _, i := range s.f.part.val {
		s.r[0][i] = 0
	}
}

func (s *residue) move(j int, step []float64) {
	s.fresh = false
	index, value := s.g.x.Column(j)
	weights, train := s.g.d.weights, s.g.d.train[s.f.index]
	for k, by := range step {
		if by == 0 {
			continue
		}
		r := s.r[k]
		s.shift[k] += by * s.f.part.mean[j]
		switch {
		case index != nil:
			for l, i := range index {
				if !train[i] {
					continue
				}
				v := by * value[l]
				if weights != nil {
					v *= weights[i]
				}
				r[i] -= v
			}
			continue
		case weights == nil:
			s.g.x.Axpy(-by, j, r)
		default:
			weights, r := weights[:len(value)], r[:len(value)]
			for i, v := range value {
				r[i] -= by * v * weights[i]
			}
		}
		for _, i := range s.f.part.val {
			r[i] = 0
		}
	}
}

func (s *residue) system(features []int, h []float64) {
	n, q := len(features), s.g.d.q
	for a, row := range s.g.block(s.f, features) {
		for b := a; b < n; b++ {
			for k := range q {
				h[(a*q+k)*n*q+b*q+k] = row[b]
			}
		}
	}
}

func (s *residue) times(features []int, step, out []float64) {
	image, mean, p := make([]float64, s.g.d.n), 0.0, s.f.part
	for i, j := range features {
		if step[i] != 0 {
			s.g.x.Axpy(step[i], j, image)
			mean += step[i] * p.mean[j]
		}
	}
	for i, w := range p.rows {
		image[i] *= w
	}
	for i, j := range features {
		out[i] = s.g.x.Dot(j, image)/p.weight - mean*p.mean[j]
	}
}

// centred is the product of two features about their means, given their sum over the rows.
func (g *rows) centred(t int, sum float64, i, j int) float64 {
	if i == j {
		return g.squares[t][j]
	}
	p := g.d.parts[t]
	return (sum/p.weight - p.mean[i]*p.mean[j]) / float64(g.d.q)
}

// block implements products.
func (g *rows) block(f *fold, features []int) [][]float64 {
	if g.whole != nil {
		return pick(g.whole(), g.d.p, features)
	}
	h := g.sums(features, f.part.rows)
	for a, row := range h {
		for b := a; b < len(row); b++ {
			row[b] = g.centred(f.index, row[b], features[a], features[b])
			h[b][a] = row[b]
		}
	}
	return h
}

// sums are those of products of features over the rows, with their weights: of each the ones with those after it.
func (g *rows) sums(features []int, weights []float64) [][]float64 {
	if !g.x.Dense() {
		return g.x.Gram(context.Background(), features, weights, 1)
	}
	n := len(features)
	products, block := make([]float64, n*n), make([]float64, n*rowBlock)
	for from := 0; from < g.d.n; from += rowBlock {
		count := min(rowBlock, g.d.n-from)
		g.x.Pack(block, features, from, count, 1)
		if weights != nil {
			for l, w := range weights[from : from+count] {
				root := math.Sqrt(w)
				for i := range n {
					block[l*n+i] *= root
				}
			}
		}
		dense.SyrkNT(n, count, block, n, block, n, products, n) // less them
	}
	h := make([][]float64, n)
	for a := range h {
		h[a] = products[a*n : (a+1)*n]
		for b := a; b < n; b++ {
			h[a][b] = -h[a][b]
		}
	}
	return h
}

// pick are the entries of some features of a matrix of order p.
func pick(h []float64, p int, features []int) [][]float64 {
	out := make([][]float64, len(features))
	for a, j := range features {
		out[a] = make([]float64, len(features))
		for b, i := range features {
			out[a][b] = h[j*p+i]
		}
	}
	return out
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
				f.residue.atAll(from, k, s)
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

package glm

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/design"
)

// part are the sums over the training rows of a fold, of columns less their means over all rows.
type part struct {
	weight  float64    // sum of the weights of rows
	mean    []float64  // of each column, 0 without intercept
	target  []float64  // mean of each target, 0 without intercept
	yy      float64    // sum over targets of the mean squares about the mean
	c       []float64  // p x q: mean products of columns and targets about their means, c[j q + k]
	val     []int      // rows for validation
	spectra []spectrum // of units of several features, zero for not known
	lock    sync.Mutex // of these
}

// rowBlock is how many rows are brought into the cache at a time.
const rowBlock = 256

// row copies row i of a dense table less center.
func (d *Data) row(to []float64, i int) {
	switch x := d.x.(type) {
	case design.RowFiller:
		x.FillRow(to, i)
	case *design.Matrix:
		for j := range to {
			to[j] = x.At(i, j)
		}
	case mat.RawRowViewer:
		copy(to, x.RawRowView(i))
	default:
		mat.Row(to, i, x)
	}
	for j, m := range d.center {
		to[j] -= m
	}
}

// gather copies rows of a dense table less center, one after the other.
func (d *Data) gather(to []float64, rows []int) {
	if x, ok := d.x.(*design.Matrix); ok {
		const side = 8 // columns whose entries of a row share a line of the cache
		columns := make([][]float64, side)
		for first := 0; first < d.p; first += side {
			columns = columns[:min(side, d.p-first)]
			for k := range columns {
				_, columns[k] = x.Column(first + k)
			}
			center := d.center[first : first+len(columns)]
			for l, i := range rows {
				row := to[l*d.p+first : l*d.p+first+len(columns)]
				for k, m := range center {
					row[k] = columns[k][i] - m
				}
			}
		}
		return
	}
	for l, i := range rows {
		d.row(to[l*d.p:(l+1)*d.p], i)
	}
}

// weight is that of row i.
func (d *Data) weight(i int) float64 {
	if d.weights == nil {
		return 1
	}
	return d.weights[i]
}

// sums are those of rows: weights, columns and targets, products of columns with targets, squares of targets.
type sums struct {
	weight float64
	x, y   []float64
	xy     []float64
	yy     float64
	less   []float64 // p x p: minus the products of columns, by columns, the lower triangle
}

func (d *Data) sums(ctx context.Context, rows []int) *sums {
	s := &sums{x: make([]float64, d.p), y: make([]float64, d.q), xy: make([]float64, d.p*d.q),
		less: dense.Zeros(d.p * d.p)}
	if Sparse(d.x) {
		d.sparseSums(ctx, rows, s)
		return s
	}
	block := make([]float64, min(rowBlock, len(rows))*d.p) // columns of a p x rows matrix, times the roots of weights
	for list := range slices.Chunk(rows, rowBlock) {
		if ctx.Err() != nil {
			return s
		}
		d.gather(block, list)
		d.gaps.fill(d.more, list, block, d.p)
		for l, i := range list {
			w := d.weight(i)
			root := math.Sqrt(w)
			row := block[l*d.p : (l+1)*d.p]
			if d.weights != nil {
				floats.Scale(root, row)
			}
			s.weight += w
			dense.Axpy(root, row, s.x)
			for k := range d.q {
				y := d.y[k][i]
				if y == 0 {
					continue
				}
				s.y[k] += w * y
				s.yy += w * y * y
				if d.q == 1 {
					dense.Axpy(root*y, row, s.xy)
					continue
				}
				for j, v := range row {
					s.xy[j*d.q+k] += root * y * v
				}
			}
		}
		dense.SyrkNT(d.p, len(list), block, d.p, block, d.p, s.less, d.p)
	}
	return s
}

// sparseSums adds rows of stored entries.
func (d *Data) sparseSums(ctx context.Context, rows []int, s *sums) {
	l := d.listed()
	for _, i := range rows {
		if ctx.Err() != nil {
			return
		}
		w := d.weight(i)
		at, value := l.Row(i)
		s.weight += w
		for k := range d.q {
			y := d.y[k][i]
			s.y[k] += w * y
			s.yy += w * y * y
			for m, j := range at {
				s.xy[int(j)*d.q+k] += w * y * value[m]
			}
		}
		for m, j := range at {
			v := w * value[m]
			s.x[j] += v
			column, after := s.less[int(j)*d.p:], value[m:]
			for k, i := range at[m:] {
				column[i] -= v * after[k]
			}
		}
	}
}

// add adds those of other rows.
func (d *Data) add(ctx context.Context, s *sums, others []*sums) {
	for _, o := range others {
		s.weight += o.weight
		s.yy += o.yy
		for _, pair := range [][2][]float64{{s.x, o.x}, {s.y, o.y}, {s.xy, o.xy}} {
			dense.Axpy(1, pair[1], pair[0])
		}
	}
	d.columnwise(ctx, func(from, to int) {
		for j := from; j < to; j++ {
			for _, o := range others {
				dense.Axpy(1, o.less[j*d.p+j:(j+1)*d.p], s.less[j*d.p+j:])
			}
		}
	})
}

// without are those without other rows, and the products of columns, which stand in the place of the others'.
func (s *sums) without(o *sums) (out *sums, products []float64) {
	out = &sums{weight: s.weight - o.weight, x: slices.Clone(s.x), y: slices.Clone(s.y), xy: slices.Clone(s.xy),
		yy: s.yy - o.yy}
	for _, pair := range [][2][]float64{{out.x, o.x}, {out.y, o.y}, {out.xy, o.xy}} {
		dense.Axpy(-1, pair[1], pair[0])
	}
	p := len(s.x)
	for j := range p {
		dense.Axpy(-1, s.less[j*p+j:(j+1)*p], o.less[j*p+j:])
	}
	products, o.less = o.less, nil
	return out, products
}

// part are the moments of training rows with these sums.
func (d *Data) part(s *sums, val []int) *part {
	p := &part{weight: s.weight, mean: make([]float64, d.p), target: make([]float64, d.q), c: s.xy, val: val}
	for j := range p.c {
		p.c[j] /= s.weight
	}
	p.yy = s.yy / s.weight
	if !d.intercept {
		return p
	}
	for k, v := range s.y {
		p.target[k] = v / s.weight
		p.yy -= p.target[k] * p.target[k]
	}
	for j, v := range s.x {
		p.mean[j] = v / s.weight
		for k, m := range p.target {
			p.c[j*d.q+k] -= p.mean[j] * m
		}
	}
	return p
}

// centre makes a matrix of products, its lower triangle, the full matrix of mean products about the means of a part.
func (p *part) centre(h []float64, n int) {
	for j := range n {
		column := h[j*n : (j+1)*n]
		column[j] = about(column[j]/p.weight, p.mean[j])
		for i := j + 1; i < n; i++ {
			column[i] = column[i]/p.weight - p.mean[j]*p.mean[i]
		}
	}
	dense.Mirror(h, n)
}

// constant is the share of the mean square of a column up to which that about the mean is rounding.
const constant = 1e-13

// about is the mean square about the mean, given that about zero.
func about(squares, mean float64) float64 {
	if out := squares - mean*mean; out > constant*squares {
		return out
	}
	return 0
}

// each runs f for each fold on the threads that there are.
func (d *Data) each(f func(t int)) { crew.Each(len(d.folds), d.threads, f) }

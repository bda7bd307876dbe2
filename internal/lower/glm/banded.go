package glm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// banded are the products of the working set of a fold of a dense table with the curvatures of an envelope, 1 / width
// of the rows whose multipliers are between their bounds. With z_i = x_i - mean,
//
//	sum omega_i z_i z_i' / width + far D - s s' / (width^2 sum c_i),   s = sum omega_i z_i,   c the curvatures,
//
// are about the mean by these: D holds back steps, as far does of the other rows.
type banded struct {
	mean   []float64 // of the training rows
	spread []float64 // D
	z      []float64 // of a block of rows, one after the other
}

// newBanded has the means and spreads of all features.
func (d *Data) newBanded(pt *point) *banded {
	x := d.columns()
	g := &banded{mean: make([]float64, d.p), spread: make([]float64, d.p)}
	for j := range d.p {
		sum, squares, _ := x.Sums(j)
		mean := 0.0
		if d.intercept {
			mean, g.mean[j] = sum/float64(d.n), x.Dot(j, pt.envelope.weights)/pt.total
		}
		g.spread[j] = max(0, squares/float64(d.n)-mean*mean)
	}
	return g
}

// begin implements products.
func (g *banded) begin(f *fold) {
	d, pt, e := f.d, f.point, f.point.envelope
	l, _ := f.localise(f.features())
	l.alone()
	clear(l.h)
	n, s := len(l.features), make([]float64, len(l.features))
	var rows []int
	for i, c := range pt.curve {
		if c > e.weights[i]*e.far {
			rows = append(rows, i)
		}
	}
	g.z = slices.Grow(g.z[:0], n*rowBlock)[:n*rowBlock]
	for list := range slices.Chunk(rows, rowBlock) {
		g.pack(f, list, s)
		dense.SyrkNT(n, len(list), g.z, n, g.z, n, l.h, n)
	}
	total := floats.Sum(pt.curve)
	for a, j := range l.features {
		to, pull := l.column(a)[a:], f.gradient[j]
		floats.Scale(-1/(e.width*pt.total), to)
		if d.intercept {
			by := s[a] / (e.width * total)
			dense.Axpy(-by/(e.width*pt.total), s[a:], to)
			pull -= (g.mean[j] + by) * pt.slant
		}
		to[0] += e.far * g.spread[j]
		l.r = append(l.r, pull)
	}
	dense.Mirror(l.h, n)
}

// pack sets z to sqrt(omega_i) z_i, one row after the other, and adds omega_i z_i to s.
func (g *banded) pack(f *fold, rows []int, s []float64) {
	n, z := len(s), g.z
	var root [together]float64
	for some := range slices.Chunk(rows, together) {
		for k, i := range some {
			root[k] = math.Sqrt(f.point.envelope.weights[i])
		}
		for a, j := range f.local.features {
			_, column := f.d.columns().Column(j)
			mean := g.mean[j]
			for k, i := range some {
				v := root[k] * (column[i] - mean)
				z[k*n+a] = v
				s[a] += root[k] * v
			}
		}
		z = z[len(some)*n:]
	}
}

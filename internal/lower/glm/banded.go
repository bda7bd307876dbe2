package glm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// banded are the products of the working set of a fold with the curvatures of an envelope: those of all rows alike,
// from the products of all features, and of the rows whose multipliers are between their bounds. With far omega_i for
// all and c_i more for these,
//
//	sum far omega_i z_i z_i' + sum c_i z_i z_i' - s s' / sum (far omega_i + c_i),   z_i = x_i - mean,  s = sum c_i z_i,
//
// are about the mean by both.
type banded struct {
	gram *gram
	rows []int     // of the band
	root []float64 // of their c_i
	z, s []float64
}

// begin implements products.
func (g *banded) begin(f *fold) {
	d, pt, e := f.d, f.point, f.point.envelope
	p, total := d.p, floats.Sum(pt.curve)
	g.rows, g.root = g.rows[:0], g.root[:0]
	for i, c := range pt.curve {
		if w := e.weights[i]; c > w*e.far {
			g.rows, g.root = append(g.rows, i), append(g.root, math.Sqrt(w/e.width))
		}
	}
	l, _ := f.localise(f.features())
	l.alone()
	n := len(l.features)
	g.pack(f)
	for a, j := range l.features {
		from, to, by := g.gram.h[f.number][j*p:(j+1)*p], l.column(a), -e.far*f.part.weight
		for b := a; b < n; b++ {
			to[b] = by * from[l.features[b]]
		}
	}
	if n > 0 {
		dense.SyrkNT(n, len(g.rows), g.z, n, g.z, n, l.h, n) // less them
	}
	floats.Scale(-1/pt.total, l.h)
	for a, j := range l.features {
		pull := f.gradient[j]
		if d.intercept {
			to, by := l.column(a), g.s[a]/(total*pt.total)
			for b := a; b < n; b++ {
				to[b] -= by * g.s[b]
			}
			pull -= (d.center[j] + f.part.mean[j] + g.s[a]/total) * pt.slant
		}
		l.r = append(l.r, pull)
	}
	mirror(l.h, n)
}

// pack sets z to sqrt(c_i) z_i of the working set, one row after the other, and s.
func (g *banded) pack(f *fold) {
	const together = 8 // rows
	d, features := f.d, f.local.features
	n := len(features)
	g.z, g.s = slices.Grow(g.z[:0], n*len(g.rows))[:n*len(g.rows)], slices.Grow(g.s[:0], n)[:n]
	clear(g.s)
	for first := 0; first < len(g.rows); first += together {
		rows := g.rows[first:min(first+together, len(g.rows))]
		root, z := g.root[first:], g.z[first*n:]
		for a, j := range features {
			_, column := d.columns().Column(j)
			mean := d.center[j] + f.part.mean[j]
			for k, i := range rows {
				v := root[k] * (column[i] - mean)
				z[k*n+a] = v
				g.s[a] += root[k] * v
			}
		}
	}
}

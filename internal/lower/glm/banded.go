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
// are about the mean by these: D holds back steps, as far does of the other rows. From one round to the next few rows
// come and go, and few features, and so their products.
type banded struct {
	mean     []float64 // of the training rows
	spread   []float64 // D
	features []int
	rows     []int     // of the band
	less     []float64 // sum omega_i z_i z_i', less that, by columns of lda entries
	lda      int
	s        []float64
	z        []float64
}

// newBanded has the products of no features and rows.
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
	g.follow(f)
	n, total := len(l.features), floats.Sum(pt.curve)
	for a, j := range l.features {
		to := l.column(a)
		floats.ScaleTo(to, -1/(e.width*pt.total), g.less[a*g.lda:a*g.lda+n])
		pull := f.gradient[j]
		if d.intercept {
			s := g.s[a] / (e.width * total)
			dense.Axpy(-s/(e.width*pt.total), g.s[:n], to)
			pull -= (g.mean[j] + s) * pt.slant
		}
		to[a] += e.far * g.spread[j]
		l.r = append(l.r, pull)
	}
}

// follow brings the sums to the working set and the rows of the band.
func (g *banded) follow(f *fold) {
	e, was := f.point.envelope, make([]bool, f.d.n)
	for _, i := range g.rows {
		was[i] = true
	}
	var band, came, gone []int
	for i, c := range f.point.curve {
		if c <= e.weights[i]*e.far {
			continue
		}
		if band = append(band, i); !was[i] {
			came = append(came, i)
		}
		was[i] = false
	}
	for _, i := range g.rows {
		if was[i] {
			gone = append(gone, i)
		}
	}
	if len(came)+len(gone) >= len(band) { // afresh
		came, gone, g.rows, g.features = band, nil, nil, nil
	}
	g.take(f)
	g.rows = band
	g.add(f, came, 1)
	g.add(f, gone, -1)
}

// take brings the sums to the working set: what its first features have with each other is known.
func (g *banded) take(f *fold) {
	features := f.local.features
	var at []int // of the first ones
	for i, j := range g.features {
		if k := len(at); k < len(features) && j == features[k] {
			at = append(at, i)
		}
	}
	n, k, from := len(features), len(at), g.lda
	if k == n && k == len(g.features) {
		return
	}
	if less, s := g.less, g.s; n > g.lda || k < len(g.features) {
		if n > g.lda {
			g.lda = n + n/4
			g.less, g.s = make([]float64, g.lda*g.lda), make([]float64, g.lda)
		}
		for a, i := range at {
			g.s[a] = s[i]
			for b, l := range at {
				g.less[a*g.lda+b] = less[i*from+l]
			}
		}
	}
	for a := k; a < n; a++ {
		g.s[a] = 0
		clear(g.less[a*g.lda : a*g.lda+n])
	}
	g.features = append(g.features[:0], features...)
	if rows := len(g.rows); rows > 0 && k < n {
		g.pack(f, g.rows, 1, k)
		dense.GemmNT(n, n-k, rows, g.z, n, g.z[k:], n, g.less[k*g.lda:], g.lda)
	}
	for a := range k {
		for b := k; b < n; b++ {
			g.less[a*g.lda+b] = g.less[b*g.lda+a]
		}
	}
}

// add adds rows to the sums, or takes them away.
func (g *banded) add(f *fold, rows []int, sign float64) {
	n := len(g.features)
	if len(rows) == 0 || n == 0 {
		return
	}
	g.pack(f, rows, sign, 0)
	right := g.z
	if sign < 0 {
		right = slices.Clone(g.z)
		dense.Scale(right, -1)
	}
	dense.GemmNT(n, n, len(rows), g.z, n, right, n, g.less, g.lda)
}

// pack sets z to sqrt(omega_i) z_i, one row after the other, and adds them, times a sign, to s from some feature on.
func (g *banded) pack(f *fold, rows []int, sign float64, from int) {
	const together = 8 // rows
	n := len(g.features)
	g.z = slices.Grow(g.z[:0], n*len(rows))[:n*len(rows)]
	var root [together]float64
	for first := 0; first < len(rows); first += together {
		some, z := rows[first:min(first+together, len(rows))], g.z[first*n:]
		for k, i := range some {
			root[k] = math.Sqrt(f.point.envelope.weights[i])
		}
		for a, j := range g.features {
			_, column := f.d.columns().Column(j)
			mean, sum := g.mean[j], 0.0
			for k, i := range some {
				v := root[k] * (column[i] - mean)
				z[k*n+a] = v
				sum += root[k] * v
			}
			if a >= from {
				g.s[a] += sign * sum
			}
		}
	}
}

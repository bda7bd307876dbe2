// Package scaling rewrites badly scaled problems for solvers whose own scaling
// and tolerances do not reach far enough.
//
// With positive diagonal matrices D (columns) and E (rows) and a positive number
// c, the scaled problem has
//
//	P' = c D P D    q' = c D q    A' = E A D    b' = E b    K' = E K
//
// and its points are x = D x', s = E^-1 s', z = E z' / c. All rows of a cone that
// is no product of intervals share one entry of E, so that E K is such a cone
// again; bounds of a box are scaled with their rows. All factors are powers of
// two, so that nothing is rounded.
//
// D and E bring the nonzeros near to one in the mean of their logarithms, as Curtis
// and Reid (1972) do it for a matrix: with a, d, .. the logarithms of A, D, .. they
// minimise
//
//	sum (a_ij + e_i + d_j)^2 + sum (p_ij + d_i + d_j + c)^2
//	  + sum (q_j + d_j + c)^2 + sum (b_i + e_i + t)^2 + t^2 + ridge (|d|^2 + |e|^2)
//
// over d, e, c and t, the sums being over nonzeros and finite bounds of a box
// counting as b. That q and b take part decides where an entry of A leaves open
// whether its row or its column is out of scale. The c of the scaled problem
// is then chosen such that its objective has a largest coefficient of one, if it
// is far from that.
package scaling

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/james-bowman/sparse"
)

const (
	// Rows or columns whose largest entries are further apart than this, or an
	// objective further from one, count as badly scaled. Below it the solvers' own
	// scaling mostly does better, and a problem reaches them as it was given.
	bad    = 5e5
	sweeps = 60
	ridge  = 0.01
)

// Scaling holds the factors; nil means that the problem stays as it is.
type Scaling struct {
	d, e []float64
	c    float64
}

// New returns the scaling of p, nil if p needs none.
func New(p *backends.Problem) *Scaling {
	n, m := p.Dims()
	s := &Scaling{d: ones(n), e: ones(m), c: 1}
	before, size := s.measure(p)
	if before > bad {
		l := &logarithms{d: make([]float64, n), e: make([]float64, m)}
		for range sweeps {
			l.sweep(p)
		}
		scaled := l.scaling()
		_, size := scaled.measure(p)
		scaled.c = unit(size)
		// A spread that scaling does not take away is in the nature of the problem.
		if after, _ := scaled.measure(p); after < math.Sqrt(before) {
			return scaled
		}
	}
	if s.c = unit(size); s.c != 1 {
		return s
	}
	return nil
}

// Factors returns the diagonals of D and E.
func (s *Scaling) Factors() (d, e []float64) { return s.d, s.e }

// unit returns the factor that takes an objective of that size to one, if it is
// far from that.
func unit(size float64) float64 {
	if size > bad || size < 1/bad && size > 0 {
		return power(-math.Log2(size))
	}
	return 1
}

// measure returns how far the largest entries of the rows of E A D, and of the
// columns of [c D P D; E A D], are from each other and from one, and the size of the
// objective, the larger of |c D q| and |c D P D|. Every setup pays for it.
func (s *Scaling) measure(p *backends.Problem) (spread, size float64) {
	col, row := make([]float64, len(s.d)), make([]float64, len(s.e))
	if p.P != nil {
		raw := p.P.RawMatrix()
		for j, dj := range s.d {
			largest := 0.0
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				i := raw.Ind[k]
				v := math.Abs(raw.Data[k]) * s.c * s.d[i] * dj
				col[i], largest = max(col[i], v), max(largest, v)
			}
			col[j], size = max(col[j], largest), max(size, largest)
		}
	}
	for j, v := range p.Q {
		size = max(size, math.Abs(v)*s.c*s.d[j])
	}
	if p.A != nil {
		raw := p.A.RawMatrix()
		for j, dj := range s.d {
			largest := 0.0
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				i := raw.Ind[k]
				v := math.Abs(raw.Data[k]) * s.e[i] * dj
				row[i], largest = max(row[i], v), max(largest, v)
			}
			col[j] = max(col[j], largest)
		}
	}
	coupled(p.Cones, func(first, dim int) {
		part := row[first : first+dim]
		fill(part, slices.Max(part))
	})
	return max(ratio(col), ratio(row)), size
}

// logarithms are the unknowns of the least squares, to the base 2.
type logarithms struct {
	d, e []float64
	c, t float64
}

// sweep minimises over t and c, then e, then d, each with the others fixed; half
// of the step in d, since entries of d meet in the terms of P.
func (l *logarithms) sweep(p *backends.Problem) {
	sum, count := 0.0, 0.0
	right(p, func(i int, v float64) { sum, count = sum+v+l.e[i], count+1 })
	l.t = -sum / (count + 1)
	sum, count = 0, 0
	objective := func(j int, v float64) { sum, count = sum+v, count+1 }
	for j, v := range p.Q {
		if v != 0 {
			objective(j, math.Log2(math.Abs(v))+l.d[j])
		}
	}
	each(p.P, func(i, j int, v float64) { objective(j, math.Log2(v)+l.d[i]+l.d[j]) })
	l.c = -sum / max(1, count)

	n, m := len(l.d), len(l.e)
	g, w := make([]float64, m), make([]float64, m) // sums of terms and their weights
	each(p.A, func(i, j int, v float64) { g[i], w[i] = g[i]+math.Log2(v)+l.d[j], w[i]+1 })
	right(p, func(i int, v float64) { g[i], w[i] = g[i]+v+l.t, w[i]+1 })
	coupled(p.Cones, func(first, dim int) {
		gs, ws := 0.0, 0.0
		for i := first; i < first+dim; i++ {
			gs, ws = gs+g[i], ws+w[i]
		}
		fill(g[first:first+dim], gs)
		fill(w[first:first+dim], ws)
	})
	for i := range l.e {
		l.e[i] = -g[i] / (w[i] + ridge)
	}

	g, w = make([]float64, n), make([]float64, n)
	each(p.A, func(i, j int, v float64) { g[j], w[j] = g[j]+math.Log2(v)+l.e[i], w[j]+1 })
	for j, v := range p.Q {
		if v != 0 {
			g[j], w[j] = g[j]+math.Log2(math.Abs(v))+l.c, w[j]+1
		}
	}
	each(p.P, func(i, j int, v float64) {
		v = math.Log2(v) + l.c
		if i == j { // half the derivative of (v + 2 d_j)^2
			g[j], w[j] = g[j]+2*v, w[j]+4
			return
		}
		g[i], w[i] = g[i]+v+l.d[j], w[i]+1
		g[j], w[j] = g[j]+v+l.d[i], w[j]+1
	})
	for j := range l.d {
		l.d[j] = (l.d[j] - g[j]/(w[j]+ridge)) / 2
	}
}

// scaling returns the powers of two, with c = 1.
func (l *logarithms) scaling() *Scaling {
	s := &Scaling{d: make([]float64, len(l.d)), e: make([]float64, len(l.e)), c: 1}
	for j, v := range l.d {
		s.d[j] = power(v)
	}
	for i, v := range l.e {
		s.e[i] = power(v)
	}
	return s
}

// power returns the power of two whose logarithm is nearest to v.
func power(v float64) float64 { return math.Exp2(math.Round(v)) }

// each visits the absolute values of the nonzeros; a may be nil.
func each(a *sparse.CSC, visit func(i, j int, v float64)) {
	if a == nil {
		return
	}
	raw := a.RawMatrix()
	for j := range len(raw.Indptr) - 1 {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if v := raw.Data[k]; v != 0 {
				visit(raw.Ind[k], j, math.Abs(v))
			}
		}
	}
}

// right visits the logarithms of b and of the bounds of boxes.
func right(p *backends.Problem, visit func(i int, v float64)) {
	number := func(i int, v float64) {
		if v != 0 && !math.IsInf(v, 0) {
			visit(i, math.Log2(math.Abs(v)))
		}
	}
	for i, v := range p.B {
		number(i, v)
	}
	first := 0
	for _, c := range p.Cones {
		if c.Kind == backends.BoxCone {
			for i := range c.Dim {
				number(first+i, c.Lower[i])
				number(first+i, c.Upper[i])
			}
		}
		first += c.Dim
	}
}

// coupled visits the cones whose rows must be scaled alike.
func coupled(cones []backends.Cone, visit func(first, dim int)) {
	first := 0
	for _, c := range cones {
		switch c.Kind {
		case backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone:
		default:
			if c.Dim > 0 {
				visit(first, c.Dim)
			}
		}
		first += c.Dim
	}
}

func fill(v []float64, x float64) {
	for i := range v {
		v[i] = x
	}
}

// ratio returns the largest by the smallest of the positive numbers and one.
func ratio(v []float64) float64 {
	smallest, largest := 1.0, 1.0
	for _, x := range v {
		if x > 0 {
			smallest, largest = min(smallest, x), max(largest, x)
		}
	}
	return largest / smallest
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// Problem returns the scaled problem, p itself if s is nil. It shares with p what
// does not change.
func (s *Scaling) Problem(p *backends.Problem) *backends.Problem {
	if s == nil {
		return p
	}
	out := &backends.Problem{Q: s.Objective(p.Q), B: s.Rows(p.B), Cones: slices.Clone(p.Cones)}
	out.P = entries(p.P, func(i, j int) float64 { return s.c * s.d[i] * s.d[j] })
	out.A = entries(p.A, func(i, j int) float64 { return s.e[i] * s.d[j] })
	first := 0
	for k, c := range p.Cones {
		if c.Kind == backends.BoxCone {
			e := s.e[first : first+c.Dim]
			out.Cones[k].Lower, out.Cones[k].Upper = times(c.Lower, e), times(c.Upper, e)
		}
		first += c.Dim
	}
	return out
}

func entries(a *sparse.CSC, factor func(i, j int) float64) *sparse.CSC {
	if a == nil {
		return nil
	}
	raw := a.RawMatrix()
	rows, cols := a.Dims()
	data := make([]float64, len(raw.Data))
	for j := range cols {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			data[k] = raw.Data[k] * factor(raw.Ind[k], j)
		}
	}
	return sparse.NewCSC(rows, cols, raw.Indptr, raw.Ind, data)
}

func times(v, by []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by[i]
	}
	return out
}

// Objective returns q' for a new q, and Rows b' for a new b.
func (s *Scaling) Objective(q []float64) []float64 {
	out := slices.Clone(q)
	if s != nil {
		for j := range out {
			out[j] *= s.c * s.d[j]
		}
	}
	return out
}

// Rows returns b' for a new b.
func (s *Scaling) Rows(b []float64) []float64 {
	out := slices.Clone(b)
	if s != nil {
		for i := range out {
			out[i] *= s.e[i]
		}
	}
	return out
}

// Scale replaces a point of p by the same point of the scaled problem; nil parts
// stay nil.
func (s *Scaling) Scale(p backends.Point) backends.Point {
	out := backends.Point{X: slices.Clone(p.X), S: slices.Clone(p.S), Z: slices.Clone(p.Z)}
	if s != nil {
		for j := range out.X {
			out.X[j] /= s.d[j]
		}
		for i := range out.S {
			out.S[i] *= s.e[i]
		}
		for i := range out.Z {
			out.Z[i] *= s.c / s.e[i]
		}
	}
	return out
}

// Unscale changes a point of the scaled problem, in place, to that of p; nil parts
// stay nil.
func (s *Scaling) Unscale(x, sl, z []float64) {
	if s == nil {
		return
	}
	for j := range x {
		x[j] *= s.d[j]
	}
	for i := range sl {
		sl[i] /= s.e[i]
	}
	for i := range z {
		z[i] *= s.e[i] / s.c
	}
}

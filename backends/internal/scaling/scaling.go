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
// D and E bring the nonzeros near to one in the mean of their logarithms (see package spread), finite bounds of a box
// counting as b. That q and b take part decides where an entry of A leaves open
// whether its row or its column is out of scale. The c of the scaled problem
// is then chosen such that its objective has a largest coefficient of one, if it
// is far from that.
package scaling

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/spread"
	"github.com/conetune/conetune/internal/dense"
)

const (
	// Rows or columns whose largest entries are further apart than this, or an
	// objective further from one, count as badly scaled. Below it the solvers' own
	// scaling mostly does better, and a problem reaches them as it was given.
	badSpread       = 5e5
	spreadSweeps    = 60
	spreadTolerance = 0.005
	spreadRidge     = 0.01
)

// Scaling holds the factors; nil means that the problem stays as it is.
type Scaling struct {
	d, e     []float64
	c        float64
	col, row []float64 // work space of measure
}

// New returns the scaling of p, nil if p needs none.
func New(p *backends.Problem) *Scaling {
	if s := new(Scaling); s.Find(p) {
		return s
	}
	return nil
}

// Find makes s the scaling of p, of factors one if p needs none, in its memory, and says whether p needs any.
func (s *Scaling) Find(p *backends.Problem) bool {
	s.d, s.e, s.c = ones(s.d, len(p.Q)), ones(s.e, len(p.B)), 1
	before, size := s.measure(p)
	if before > badSpread {
		scaled := fit(p)
		_, size := scaled.measure(p)
		scaled.c = unit(size)
		// A spread that scaling does not take away is in the nature of the problem.
		if after, _ := scaled.measure(p); after < math.Sqrt(before) {
			*s = *scaled
			return true
		}
	}
	s.c = unit(size)
	return s.c != 1
}

// ones returns n ones in the memory of v.
func ones(v []float64, n int) []float64 {
	v = slices.Grow(v[:0], n)[:n]
	for i := range v {
		v[i] = 1
	}
	return v
}

// Factors returns the diagonals of D and E.
func (s *Scaling) Factors() (d, e []float64) { return s.d, s.e }

// unit returns the factor that takes an objective of that size to one, if it is
// far from that.
func unit(size float64) float64 {
	if size > badSpread || size < 1/badSpread && size > 0 {
		return spread.Power(-math.Log2(size))
	}
	return 1
}

// measure returns how far the largest entries of the rows of E A D, and of the
// columns of [c D P D; E A D], are from each other and from one, and the size of the
// objective, the larger of |c D q| and |c D P D|. Every setup pays for it.
func (s *Scaling) measure(p *backends.Problem) (apart, size float64) {
	s.col, s.row = dense.Cleared(s.col, len(s.d)), dense.Cleared(s.row, len(s.e))
	col, row := s.col, s.row
	size = spread.Largest(p.P, s.c, s.d, s.d, col, col)
	for j, v := range p.Q {
		size = max(size, math.Abs(v)*s.c*s.d[j])
	}
	spread.Largest(p.A, 1, s.e, s.d, row, col)
	backends.Blocks(p.Cones, func(first, dim int) {
		top := slices.Max(row[first : first+dim])
		for i := first; i < first+dim; i++ {
			row[i] = top
		}
	})
	return max(ratio(col), ratio(row)), size
}

// fit returns the factors of the least squares, with c = 1.
func fit(p *backends.Problem) *Scaling {
	n, m := p.Dims()
	system := spread.System{
		Rows: m, Cols: n, A: spread.Of(p.A, math.Log2), P: spread.Diagonal(p.P, math.Log2), Ridge: spreadRidge,
		Blocks: func(visit func(first, dim int)) { backends.Blocks(p.Cones, visit) },
	}
	number := func(to *spread.Terms, i int, v float64) {
		if v != 0 && !math.IsInf(v, 0) {
			to.Add(i, math.Log2(math.Abs(v)))
		}
	}
	for j, v := range p.Q {
		number(&system.Q, j, v)
	}
	for i, v := range p.B {
		number(&system.B, i, v)
	}
	for first, c := range backends.Rows(p.Cones) {
		if c.Kind == backends.BoxCone {
			for i := range c.Dim {
				number(&system.B, first+i, c.Lower[i])
				number(&system.B, first+i, c.Upper[i])
			}
		}
	}
	f := system.Solve(spreadSweeps, spreadTolerance).Powers()
	return &Scaling{d: f.D, e: f.E, c: 1}
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
			if v := raw.Data[k]; v != 0 { // which an infinite factor would make no number
				data[k] = v * factor(raw.Ind[k], j)
			}
		}
	}
	return sparse.NewCSC(rows, cols, raw.Indptr, raw.Ind, data)
}

func times(v, by []float64) []float64 { return floats.MulTo(make([]float64, len(v)), v, by) }

// Objective returns q' for a new q, and Rows b' for a new b.
func (s *Scaling) Objective(q []float64) []float64 {
	out := slices.Clone(q)
	if s != nil {
		for j, v := range out {
			if v != 0 { // which an infinite factor would make no number
				out[j] = v * (s.c * s.d[j])
			}
		}
	}
	return out
}

// Rows returns b' for a new b.
func (s *Scaling) Rows(b []float64) []float64 {
	if s == nil {
		return slices.Clone(b)
	}
	return times(b, s.e)
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

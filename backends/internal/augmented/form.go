package augmented

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

// form is the quadratic program of a Newton step. Its variables are x, the slacks s of the cone rows, and for each
// second-order cone eta and y = t - u'v. Its rows are those of intervals, s = b - Ax, and the definition of y.
type form struct {
	n      int
	linear []int  // rows of the caller's problem that are intervals, in order
	rows   []int  // and those of cones
	to     []int  // rows of the quadratic program by those of the caller's problem
	cones  []span // the second-order ones, of rows
	curved []exponential
	qp     backends.Problem

	units []float64 // by variable of x, the square of its column in A beside the largest
}

// leastUnit bounds the units of variables.
const leastUnit = 1e-14

// span are the rows lo to hi-1 of s, the first of which is t.
type span struct{ lo, hi int }

func newForm(p *backends.Problem) *form {
	f := &form{n: len(p.Q)}
	var cones []backends.Cone
	row := 0
	for _, c := range p.Cones {
		switch {
		case c.Dim == 0:
		case c.Kind == backends.SecondOrderCone:
			f.cones = append(f.cones, span{len(f.rows), len(f.rows) + c.Dim})
		case c.Kind.Intervals():
			cones = append(cones, c)
		default:
			f.curved = append(f.curved, exponential{lo: len(f.rows), dual: c.Kind == backends.DualExponentialCone})
		}
		for range c.Dim {
			if !c.Kind.Intervals() {
				f.rows = append(f.rows, row)
			} else {
				f.linear = append(f.linear, row)
			}
			row++
		}
	}
	f.qp.Cones = append(cones, backends.Zero(len(f.rows)+len(f.cones)))
	f.qp.Q = make([]float64, f.variables())
	f.qp.B = make([]float64, len(f.linear)+len(f.rows)+len(f.cones))
	f.shape(p)
	return f
}

func (f *form) variables() int { return f.n + len(f.rows) + 2*len(f.cones) }

// shape makes the patterns of P, with zeros, and of A, with the numbers that never change. A variable has its own entry
// of P last in its column, eta those with v before it, and an exponential cone its matrix in the columns of s. Of A a
// row of s has the entry in the definition of y after the one that is 1.
func (f *form) shape(p *backends.Problem) {
	var h, a backends.Triplets
	f.to = make([]int, len(p.B))
	for k, i := range f.linear {
		f.to[i] = k
	}
	for k, i := range f.rows {
		f.to[i] = len(f.linear) + k
	}
	eta := f.n + len(f.rows)
	y, first := eta+len(f.cones), len(f.linear)+len(f.rows)
	for j := range f.n {
		if p.P != nil {
			raw := p.P.RawMatrix()
			for _, i := range raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]] {
				h.Add(i, j, 0)
			}
		}
		f.column(p, j, func(i int, _ float64) { a.Add(i, j, 0) })
	}
	for j := range f.variables() {
		h.Add(j, j, 0)
	}
	for k := range f.rows {
		a.Add(len(f.linear)+k, f.n+k, 1)
	}
	for _, e := range f.curved {
		s := f.n + e.lo
		h.Add(s, s+1, 0)
		h.Add(s, s+2, 0)
		h.Add(s+1, s+2, 0)
	}
	for i, c := range f.cones {
		for k := c.lo; k < c.hi; k++ {
			if a.Add(first+i, f.n+k, -1); k > c.lo {
				h.Add(f.n+k, eta+i, 0)
			}
		}
		a.Add(first+i, y+i, 1)
	}
	f.qp.P, _ = h.CSC(f.variables(), f.variables()) // all are within
	f.qp.A, _ = a.CSC(len(f.qp.B), f.variables())
}

// column visits the entries of a column of A, those of intervals first, in the order of the rows of the quadratic
// program.
func (f *form) column(p *backends.Problem, j int, visit func(i int, v float64)) {
	if p.A == nil {
		return
	}
	raw := p.A.RawMatrix()
	for _, cone := range []bool{false, true} {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i := f.to[raw.Ind[k]]; (i >= len(f.linear)) == cone {
				visit(i, raw.Data[k])
			}
		}
	}
}

// fill takes the numbers of p that do not depend on the point.
func (f *form) fill(p *backends.Problem) {
	for k, i := range f.linear {
		f.qp.B[k] = p.B[i]
	}
	for k, i := range f.rows {
		f.qp.B[len(f.linear)+k] = p.B[i]
	}
	values := f.qp.A.RawMatrix()
	at := 0
	for j := range f.n {
		f.column(p, j, func(_ int, v float64) {
			values.Data[at] = v
			at++
		})
	}
	copy(f.qp.Q, p.Q)
	f.units = make([]float64, f.n)
	for j := range f.units {
		for k := values.Indptr[j]; k < values.Indptr[j+1]; k++ {
			f.units[j] += values.Data[k] * values.Data[k]
		}
	}
	most := floats.Max(f.units)
	for j, v := range f.units {
		if f.units[j] = 1; v > 0 {
			f.units[j] = max(v/most, leastUnit)
		}
	}
	k := 0
	for _, c := range p.Cones {
		if c.Kind.Intervals() && c.Dim > 0 {
			f.qp.Cones[k] = c // boxes may have been scaled
			k++
		}
	}
}

// model writes the Newton step at a point into the numbers of the quadratic program: weight is that of |x - at.x|^2 /
// 2, in which units have each variable counted in its own.
func (f *form) model(p *backends.Problem, at *point, sigma, weight float64) {
	h, a, q := f.qp.P.RawMatrix(), f.qp.A.RawMatrix(), f.qp.Q
	pv, start := h.Data, h.Indptr
	own := func(j int) *float64 { return &pv[start[j+1]-1] } // the entry of a variable on the diagonal
	clear(pv[:start[f.n]])
	for j := range f.n {
		if p.P != nil {
			raw := p.P.RawMatrix()
			copy(pv[start[j]:], raw.Data[raw.Indptr[j]:raw.Indptr[j+1]])
		}
		stay := weight * f.units[j]
		*own(j) += stay
		q[j] = p.Q[j] - stay*at.x[j]
	}
	s0, eta0 := f.n, f.n+len(f.rows)
	y0 := eta0 + len(f.cones)
	for k, z := range at.z {
		q[s0+k] = -z
	}
	for i, c := range f.cones {
		g := at.geometry[i]
		alone := 0.0
		if g.inside < 0 {
			alone = sigma
		}
		t, v := c.lo, at.s[c.lo+1:c.hi]
		*own(s0 + t) = alone
		q[s0+t] -= alone * at.s[t]
		curve := sigma * g.curve
		var across, along float64 // of y, and of v by u
		for k, vk := range v {
			row := t + 1 + k
			u := g.u(at.w[row])
			*own(s0 + row) = alone + curve
			q[s0+row] -= (alone + curve) * vk
			pv[start[eta0+i]+k] = -curve * u
			a.Data[a.Indptr[s0+row]+1] = u
			along += u * vk
		}
		*own(eta0 + i), q[eta0+i] = 1, 0
		if curve > 0 {
			*own(eta0 + i), q[eta0+i] = curve, curve*along
		}
		if g.inside == 0 {
			across = sigma / 2
		}
		*own(y0 + i), q[y0+i] = across, -across*(at.s[t]-along)
	}
	for i := range f.curved {
		e, b := &f.curved[i], &at.bends[i]
		for k, v := range b {
			pv[start[s0+e.lo]+k] = sigma * v
		}
		for k, v := range b.times(at.s[e.lo : e.lo+3]) {
			q[s0+e.lo+k] -= sigma * v
		}
	}
}

// here is the point of the quadratic program that stays where it is, with the multipliers that it has where F is
// stationary.
func (f *form) here(at *point, lines []float64) backends.Point {
	x := make([]float64, 0, f.variables())
	x = append(append(x, at.x...), at.s...)
	eta, y := make([]float64, len(f.cones)), make([]float64, len(f.cones))
	for i, c := range f.cones {
		g := at.geometry[i]
		along := 0.0
		for k := c.lo + 1; k < c.hi; k++ {
			along += g.u(at.w[k]) * at.s[k]
		}
		if y[i] = at.s[c.lo] - along; g.curve > 0 {
			eta[i] = along
		}
	}
	z := make([]float64, 0, len(f.qp.B))
	z = append(append(append(z, lines...), at.z...), make([]float64, len(f.cones))...)
	return backends.Point{X: append(append(x, eta...), y...), Z: z}
}

// spread puts numbers of the intervals and of the cones where their rows are.
func (f *form) spread(lines, cones []float64) []float64 {
	out := make([]float64, len(lines)+len(cones))
	for k, i := range f.linear {
		out[i] = lines[k]
	}
	for k, i := range f.rows {
		out[i] = cones[k]
	}
	return out
}

// inLines are the slacks of the intervals, moved into them.
func (f *form) inLines(p *backends.Problem, x []float64) []float64 {
	slack, out := p.Slack(x), make([]float64, 0, len(f.linear))
	for row, c := range backends.Rows(p.Cones) {
		if c.Kind.Intervals() {
			for i, v := range slack[row : row+c.Dim] {
				low, high := c.Interval(i)
				out = append(out, min(max(v, low), high))
			}
		}
	}
	return out
}

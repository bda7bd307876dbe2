package augmented

import (
	"github.com/james-bowman/sparse"
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

	// Where numbers that change are in the values of P and A.
	diagonal []int // of P by variable of x
	slack    []int // of P by row of s
	across   []int // of P by row of s: with eta; -1 for t
	eta, y   []int // of P by cone
	normal   []int // of A by row of s, in the definition of y

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
	f.shapeP(p)
	f.shapeA(p)
	return f
}

func (f *form) variables() int { return f.n + len(f.rows) + 2*len(f.cones) }

// shapeP makes the pattern of P, with zeros.
func (f *form) shapeP(p *backends.Problem) {
	start, index := []int{0}, []int(nil)
	add := func(i int) int {
		index = append(index, i)
		return len(index) - 1
	}
	end := func() { start = append(start, len(index)) }
	for j := range f.n {
		at := -1
		if p.P != nil {
			raw := p.P.RawMatrix()
			for _, i := range raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]] {
				if k := add(i); i == j {
					at = k
				}
			}
		}
		if at < 0 {
			at = add(j)
		}
		f.diagonal = append(f.diagonal, at)
		end()
	}
	f.slack = make([]int, len(f.rows))
	curved := 0
	for k := range f.rows {
		if curved < len(f.curved) && k >= f.curved[curved].lo {
			e := &f.curved[curved]
			to := k - e.lo
			for i := range to + 1 {
				e.at[to*(to+1)/2+i] = add(f.n + e.lo + i)
			}
			f.slack[k] = e.at[to*(to+1)/2+to]
			if to == 2 {
				curved++
			}
		} else {
			f.slack[k] = add(f.n + k)
		}
		end()
	}
	f.across = make([]int, len(f.rows))
	for i, c := range f.cones {
		f.across[c.lo] = -1
		for k := c.lo + 1; k < c.hi; k++ {
			f.across[k] = add(f.n + k)
		}
		f.eta = append(f.eta, add(f.n+len(f.rows)+i))
		end()
	}
	for i := range f.cones {
		f.y = append(f.y, add(f.n+len(f.rows)+len(f.cones)+i))
		end()
	}
	n := f.variables()
	f.qp.P = sparse.NewCSC(n, n, start, index, make([]float64, len(index)))
}

// shapeA makes the pattern of A, with the numbers that never change.
func (f *form) shapeA(p *backends.Problem) {
	f.to = make([]int, len(p.B))
	for k, i := range f.linear {
		f.to[i] = k
	}
	for k, i := range f.rows {
		f.to[i] = len(f.linear) + k
	}
	start, index, value := []int{0}, []int(nil), []float64(nil)
	add := func(i int, v float64) int {
		index, value = append(index, i), append(value, v)
		return len(index) - 1
	}
	end := func() { start = append(start, len(index)) }
	for j := range f.n {
		f.column(p, j, func(i int, _ float64) { add(i, 0) })
		end()
	}
	first := len(f.linear) + len(f.rows)
	f.normal = make([]int, len(f.rows))
	cone := 0
	for k := range f.rows {
		add(len(f.linear)+k, 1)
		for cone < len(f.cones) && k >= f.cones[cone].hi {
			cone++
		}
		if cone < len(f.cones) && k >= f.cones[cone].lo {
			f.normal[k] = add(first+cone, -1)
		}
		end()
	}
	for range f.cones {
		end()
	}
	for i := range f.cones {
		add(first+i, 1)
		end()
	}
	f.qp.A = sparse.NewCSC(len(f.qp.B), f.variables(), start, index, value)
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
	pv, av, q := f.qp.P.RawMatrix().Data, f.qp.A.RawMatrix().Data, f.qp.Q
	clear(pv[:f.slack0()])
	if p.P != nil {
		raw, to := p.P.RawMatrix(), f.qp.P.RawMatrix()
		for j := range f.n {
			copy(pv[to.Indptr[j]:], raw.Data[raw.Indptr[j]:raw.Indptr[j+1]])
		}
	}
	for j, k := range f.diagonal {
		own := weight * f.units[j]
		pv[k] += own
		q[j] = p.Q[j] - own*at.x[j]
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
		pv[f.slack[t]] = alone
		q[s0+t] -= alone * at.s[t]
		curve := sigma * g.curve
		var across, along float64 // of y, and of v by u
		for k, vk := range v {
			row := t + 1 + k
			u := g.u(at.w[row])
			pv[f.slack[row]] = alone + curve
			q[s0+row] -= (alone + curve) * vk
			pv[f.across[row]] = -curve * u
			av[f.normal[row]] = u
			along += u * vk
		}
		pv[f.eta[i]], q[eta0+i] = 1, 0
		if curve > 0 {
			pv[f.eta[i]], q[eta0+i] = curve, curve*along
		}
		if g.inside == 0 {
			across = sigma / 2
		}
		pv[f.y[i]], q[y0+i] = across, -across*(at.s[t]-along)
	}
	for i := range f.curved {
		e, b := &f.curved[i], &at.bends[i]
		for k, to := range e.at {
			pv[to] = sigma * b[k]
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

// slack0 is where the values of P of x end.
func (f *form) slack0() int { return f.qp.P.RawMatrix().Indptr[f.n] }

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

package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// form is the problem as the algorithm sees it,
//
//	minimize 1/2 x'Px + q'x  subject to  Ax + s = b,  s in {0}^zero x R+^nonneg x Q x .. x Q x K x .. x K,
//
// with semidefinite, exponential and power cones K,
// made from a backends.Problem by sorting the rows by cone, by writing a box as
// one-sided rows, and by scaling (see equilibrate). Everything that the
// conversion decides depends on the cones and patterns alone, so that an
// update keeps the symbolic work.
type form struct {
	n, m    int
	p, a    csc
	q, b    []float64
	zero    int             // rows of equations
	nonneg  int             // rows of inequalities
	soc     []int           // dimensions of the second-order cones, each at least 2
	others  []backends.Cone // the cones after them
	shared  []int           // dimensions of all cones whose rows share one factor
	free    bool            // some row of the caller has no row here: a box without bounds
	row     []rowOrigin
	aFrom   []int32 // entry k of a is entry aFrom[k] of the caller's A, times the sign of its row
	scaling scaling
	user    *backends.Problem
}

// rowOrigin says where a row comes from: s = sign (s_user - shift).
type rowOrigin struct {
	user  int32
	sign  float64
	shift float64
}

// newForm sorts the rows of p and lays out its matrices; fill puts in the numbers.
func newForm(p *backends.Problem) *form {
	n, m := p.Dims()
	f := &form{n: n}
	type copyOf struct{ row, next int32 } // the rows made of a user row, as a list
	var zero, nonneg, soc, others []rowOrigin
	start := int32(0)
	for _, c := range p.Cones {
		for k := range int32(c.Dim) {
			i := start + k
			switch {
			case c.Kind == backends.ZeroCone:
				zero = append(zero, rowOrigin{user: i, sign: 1})
			case c.Kind == backends.NonnegativeCone || c.Dim == 1 && (c.Kind == backends.SecondOrderCone || c.Kind == backends.PSDCone):
				nonneg = append(nonneg, rowOrigin{user: i, sign: 1})
			case c.Kind == backends.SecondOrderCone:
				soc = append(soc, rowOrigin{user: i, sign: 1})
			case c.Kind == backends.BoxCone:
				l, u := c.Lower[k], c.Upper[k]
				if l == u {
					zero = append(zero, rowOrigin{user: i, sign: 1, shift: l})
					continue
				}
				if !math.IsInf(l, -1) {
					nonneg = append(nonneg, rowOrigin{user: i, sign: 1, shift: l})
				}
				if !math.IsInf(u, 1) {
					nonneg = append(nonneg, rowOrigin{user: i, sign: -1, shift: u})
				}
			default:
				others = append(others, rowOrigin{user: i, sign: 1})
			}
		}
		switch {
		case c.Kind == backends.SecondOrderCone && c.Dim > 1:
			f.soc = append(f.soc, c.Dim)
		case c.Kind > backends.SecondOrderCone && c.Dim > 1:
			f.others = append(f.others, c)
		}
		start += int32(c.Dim)
	}
	f.zero, f.nonneg = len(zero), len(nonneg)
	f.row = slices.Concat(zero, nonneg, soc, others)
	f.shared = slices.Clone(f.soc)
	for _, c := range f.others {
		f.shared = append(f.shared, c.Dim)
	}
	f.m = len(f.row)
	f.b, f.q = make([]float64, f.m), make([]float64, n)

	head := make([]int32, m)
	for i := range head {
		head[i] = -1
	}
	copies := make([]copyOf, f.m) // by row, the next one made of the same user row
	for i := f.m - 1; i >= 0; i-- {
		u := f.row[i].user
		copies[i] = copyOf{int32(i), head[u]}
		head[u] = int32(i)
	}
	f.free = slices.Contains(head, -1)
	if p.A != nil {
		ap := p.A.RawMatrix()
		f.a.ptr = make([]int32, n+1)
		f.a.ind = make([]int32, 0, len(ap.Ind))
		f.aFrom = make([]int32, 0, len(ap.Ind))
		for j := range n {
			for k := ap.Indptr[j]; k < ap.Indptr[j+1]; k++ {
				for i := head[ap.Ind[k]]; i >= 0; i = copies[i].next {
					f.a.ind = append(f.a.ind, i)
					f.aFrom = append(f.aFrom, int32(k))
				}
			}
			f.a.ptr[j+1] = int32(len(f.a.ind))
		}
	} else {
		f.a.ptr = make([]int32, n+1)
	}
	f.a.val = make([]float64, len(f.a.ind))
	f.p.ptr = make([]int32, n+1)
	if p.P != nil {
		pp := p.P.RawMatrix()
		f.p.ind = make([]int32, len(pp.Ind))
		for k, i := range pp.Ind {
			f.p.ind[k] = int32(i)
		}
		for j := range n {
			f.p.ptr[j+1] = int32(pp.Indptr[j+1])
		}
	}
	f.p.val = make([]float64, len(f.p.ind))
	f.a.split(false)
	f.scaling.init(f)
	return f
}

// fill copies the numbers of p, whose pattern is that of newForm, and scales them.
func (f *form) fill(p *backends.Problem) {
	f.user = p
	if p.A != nil {
		data := p.A.RawMatrix().Data
		for k, from := range f.aFrom {
			f.a.val[k] = f.row[f.a.ind[k]].sign * data[from]
		}
	}
	if p.P != nil {
		copy(f.p.val, p.P.RawMatrix().Data)
	}
	f.scaling.compute(f)
	f.scaling.apply(f)
	f.fillObjective(p)
	f.fillRightSide(p)
}

// fillObjective copies P and q, and scales them by the D there is.
func (f *form) fillObjective(p *backends.Problem) {
	f.user = p
	if p.P != nil {
		copy(f.p.val, p.P.RawMatrix().Data)
	}
	copy(f.q, p.Q)
	f.scaling.objective(f)
	f.scaling.applyObjective(f)
}

// fillRightSide copies b and scales it.
func (f *form) fillRightSide(p *backends.Problem) {
	f.user = p
	for i, r := range f.row {
		f.b[i] = r.sign * (p.B[r.user] - r.shift) * f.scaling.e[i]
	}
}

// expand writes the point (x, s, z)/tau in the caller's variables. Rows of free
// boxes get s = b - Ax and z = 0.
func (f *form) expand(x, s, z []float64, tau float64) *backends.Solution {
	n, m := f.user.Dims()
	out := &backends.Solution{X: make([]float64, n), S: make([]float64, m), Z: make([]float64, m)}
	sc := &f.scaling
	for j := range n {
		out.X[j] = x[j] * sc.d[j] / tau
	}
	if f.free {
		copy(out.S, f.user.B)
		ap := f.user.A.RawMatrix()
		for j := range n {
			for k := ap.Indptr[j]; k < ap.Indptr[j+1]; k++ {
				out.S[ap.Ind[k]] -= ap.Data[k] * out.X[j]
			}
		}
	}
	for i, r := range f.row {
		out.S[r.user] = r.sign*s[i]/(sc.e[i]*tau) + r.shift
		out.Z[r.user] += r.sign * z[i] * sc.e[i] / (sc.c * tau)
	}
	return out
}

// contract is the inverse of expand for a warm start: it writes the caller's
// point in scaled variables. Of the two copies of a box row each takes the
// multiplier that acts on its side.
func (f *form) contract(pt backends.Point, x, s, z []float64) {
	sc := &f.scaling
	for j := range x {
		x[j] = pt.X[j] / sc.d[j]
	}
	for i, r := range f.row {
		s[i] = r.sign * (pt.S[r.user] - r.shift) * sc.e[i]
		v := r.sign * pt.Z[r.user] * sc.c / sc.e[i]
		if i >= f.zero && i < f.zero+f.nonneg {
			v = max(v, 0)
		}
		z[i] = v
	}
}

package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/ldl"
	"github.com/conetune/conetune/internal/stop"
	"github.com/james-bowman/sparse"
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
	stop    *stop.Stop // where it is reached, work is left unfinished all over the package
	memory  *memory
	bytes   int64 // what of it the form takes
	kkt     int64 // and the Newton systems
}

// rowOrigin says where a row comes from: s = sign (s_user - shift).
type rowOrigin struct {
	user  int32
	sign  float64
	shift float64
}

// newForm sorts the rows of p and lays out its matrices; fill puts in the numbers.
func newForm(p *backends.Problem, s *stop.Stop, limit int64) (*form, error) {
	n, m := p.Dims()
	f := &form{n: n, stop: s, memory: &memory{limit: limit}}
	if err := f.fits(p); err != nil {
		return nil, err
	}
	type copyOf struct{ row, next int32 } // the rows made of a user row, as a list
	zero, nonneg, soc, others := roomForRows(p.Cones)
	start := int32(0)
	for _, c := range p.Cones {
		for k := range int32(c.Dim) {
			if s.Reached(vectorWork) {
				return nil, errStopped
			}
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
	if s.Reached(4 * m) {
		return nil, errStopped
	}
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
	if s.Reached(2 * (m + f.m)) {
		return nil, errStopped
	}
	copies := make([]copyOf, f.m) // by row, the next one made of the same user row
	for i := f.m - 1; i >= 0; i-- {
		if s.Reached(vectorWork) {
			return nil, errStopped
		}
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
			if s.Reached(vectorWork + 4*(ap.Indptr[j+1]-ap.Indptr[j])) {
				return nil, errStopped
			}
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
			if s.Reached(1) {
				return nil, errStopped
			}
			f.p.ind[k] = int32(i)
		}
		for j := range n {
			f.p.ptr[j+1] = int32(pp.Indptr[j+1])
		}
	}
	f.p.val = make([]float64, len(f.p.ind))
	f.a.stop = s
	f.a.split(false)
	f.scaling.init(f)
	if s.Reached(0) {
		return nil, errStopped
	}
	return f, nil
}

// roomForRows returns empty lists for the rows of each kind of cone, with room for all there may be.
func roomForRows(cones []backends.Cone) (zero, nonneg, soc, others []rowOrigin) {
	var rows [4]int
	for _, c := range cones {
		switch {
		case c.Kind == backends.ZeroCone:
			rows[0] += c.Dim
		case c.Kind == backends.NonnegativeCone || c.Dim == 1 && (c.Kind == backends.SecondOrderCone || c.Kind == backends.PSDCone):
			rows[1] += c.Dim
		case c.Kind == backends.SecondOrderCone:
			rows[2] += c.Dim
		case c.Kind == backends.BoxCone:
			rows[1] += 2 * c.Dim
		default:
			rows[3] += c.Dim
		}
	}
	room := func(i int) []rowOrigin { return make([]rowOrigin, 0, rows[i]) }
	return room(0), room(1), room(2), room(3)
}

// fits says whether the sizes fit into 32-bit indices, and the form into memory.
func (f *form) fits(p *backends.Problem) error {
	n, m := int64(f.n), int64(0)
	times := int64(1) // rows that a row may become
	for _, c := range p.Cones {
		rows := int64(c.Dim)
		if c.Kind == backends.BoxCone {
			rows, times = 2*rows, 2
		}
		m += rows
	}
	entries := int64(0)
	for _, a := range []*sparse.CSC{p.A, p.P} {
		if a != nil {
			entries += times * int64(a.NNZ())
		}
	}
	if n+m > mostUnknowns || entries > math.MaxInt32 {
		return ldl.ErrTooLarge
	}
	f.bytes = 32*n + 112*m + 16*entries
	return f.memory.take("the problem in the form of the solver", f.bytes)
}

// mostUnknowns keeps the arithmetic of the orderings in 32 bits.
const mostUnknowns = 1 << 28

// vectorWork is what a visit of an entry of several vectors is to stop, in nanoseconds or so.
const vectorWork = 4

// fill copies the numbers of p, whose pattern is that of newForm, and scales them.
func (f *form) fill(p *backends.Problem) {
	f.user = p
	if p.A != nil {
		data := p.A.RawMatrix().Data
		for k, from := range f.aFrom {
			if f.stop.Reached(2) {
				return
			}
			f.a.val[k] = f.row[f.a.ind[k]].sign * data[from]
		}
	}
	if p.P != nil {
		copy(f.p.val, p.P.RawMatrix().Data)
	}
	if f.scaling.compute(f); f.stop.Reached(0) {
		return
	}
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

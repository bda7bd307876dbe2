package native

import (
	"math"
	"runtime"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/ldl"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
	"github.com/james-bowman/sparse"
)

// form is the problem as the algorithm sees it,
//
//	minimize 1/2 x'Px + q'x  subject to  Ax + s = b,  s in {0}^zero x R+^nonneg x Q x .. x Q x K x .. x K,
//
// with second-order cones Q and all other cones K, see place,
// made from a backends.Problem by sorting the rows by cone, by writing a box as
// one-sided rows, and by scaling (see equilibrate). Everything that the
// conversion decides depends on the cones and patterns alone, so that an
// update keeps the symbolic work.
type form struct {
	n, m   int
	p, a   csc
	q, b   []float64
	zero   int             // rows of equations
	nonneg int             // rows of inequalities
	blocks []backends.Cone // the cones after them, whose rows share one factor
	free   bool            // some row of the caller has no row here: a box without bounds, or what a component leaves out
	row    []rowOrigin
	aFrom  []int32  // entry k of a is entry aFrom[k] of the caller's A, times the sign of its row
	uses   []rowUse // by row of the caller, nil without semidefinite cones
	// The caller's variables, nil for all of them, and those after them that he does not have. Those that are left out
	// are found from s.
	columns []int
	left    []leftOut
	links   []link
	// Those of semidefinite cones that have a cone for each clique.
	decomposed []*component
	whole      []float64 // work space for them
	scaling    scaling
	user       *backends.Problem
	points     [keptPoints]backends.Solution
	given      int        // so many of points have been given away since the run began
	stop       *stop.Stop // where it is reached, work is left unfinished all over the package
	threads    int
	memory     *memory
	bytes      int64 // what of it the form takes
	kkt        int64 // and the Newton systems
}

// within is what dense kernels have to know.
func (f *form) within() dense.Within { return dense.Within{Stop: f.stop, Threads: f.threads} }

// rowOrigin says where a row comes from: s = sign (s_user - shift). One that is linked has no entries of the caller's
// in A and b, but that of a variable of its own.
type rowOrigin struct {
	user   int32
	linked bool
	sign   float64
	shift  float64
}

// newForm sorts the rows of p and lays out its matrices; fill puts in the numbers.
func newForm(p *backends.Problem, s *stop.Stop, threads int, limit int64) (*form, error) {
	n, m := p.Dims()
	f := &form{n: n, stop: s, threads: min(threads, runtime.GOMAXPROCS(0)), memory: &memory{limit: limit}}
	if err := f.fits(p); err != nil {
		return nil, err
	}
	f.uses = usesOf(p)
	f.sortRows(p)
	f.leaveOut(p)
	f.n += len(f.links) - len(f.left)
	cliques := f.bytesOfCliques()
	if err := f.memory.take("the cliques of semidefinite cones", cliques); err != nil {
		return nil, err
	}
	f.bytes += cliques
	f.b, f.q = make([]float64, f.m), make([]float64, f.n)
	f.layOutA(p)
	f.layOutP(p)
	f.a.stop = s
	f.a.split(false)
	f.scaling.init(f)
	if s.Reached(8 * m) {
		return nil, errStopped
	}
	return f, nil
}

// sortRows makes the rows of the form, and the list of the cones that stand in blocks of them.
func (f *form) sortRows(p *backends.Problem) {
	rows, components := roomForRows(p.Cones), f.componentsOf(p)
	var blocks [places][]backends.Cone
	start := int32(0)
	for at, c := range p.Cones {
		if f.stop.Reached(vectorWork * c.Dim) {
			return
		}
		place := placeOf(c)
		switch {
		case place == boundRows:
			f.sortBounds(&rows, c, start)
		case c.Kind == backends.PSDCone && c.Dim > 1:
			for k := range components[at] {
				blocks[place] = append(blocks[place], f.sortComponent(&rows, &components[at][k])...)
			}
		default:
			list := rows[place]
			for k := range int32(c.Dim) {
				list = append(list, rowOrigin{user: start + k, sign: 1})
			}
			rows[place] = list
			if c.Dim > 0 {
				blocks[place] = append(blocks[place], c)
			}
		}
		start += int32(c.Dim)
	}
	f.zero, f.nonneg = len(rows[equationRows]), len(rows[inequalityRows])
	f.blocks = slices.Concat(blocks[normRows], blocks[otherRows])
	f.row = slices.Concat(rows[equationRows], rows[inequalityRows], rows[normRows], rows[otherRows])
	f.m = len(f.row)
	before := f.m - len(rows[otherRows])
	for k := range f.links {
		f.links[k].parent += int32(before)
		f.links[k].child += int32(before)
	}
	for _, t := range f.decomposed {
		for k := range t.cliques {
			t.cliques[k].row += before
		}
	}
}

// rowUse says what stands in a row.
type rowUse uint8

const (
	usedRow rowUse = 1 << iota // entries in A or a number in b
	freeRow                    // an entry of a variable that is nowhere else: s may be anything, and z is zero
)

// usesOf returns those of the rows; nil without semidefinite cones.
func usesOf(p *backends.Problem) []rowUse {
	if !slices.ContainsFunc(p.Cones, func(c backends.Cone) bool { return c.Kind == backends.PSDCone }) {
		return nil
	}
	uses := make([]rowUse, len(p.B))
	for i, v := range p.B {
		if v != 0 {
			uses[i] = usedRow
		}
	}
	if p.A == nil {
		return uses
	}
	curved := make([]bool, len(p.Q))
	if p.P != nil {
		pp := p.P.RawMatrix()
		for j := range curved {
			for _, i := range pp.Ind[pp.Indptr[j]:pp.Indptr[j+1]] {
				curved[i], curved[j] = true, true
			}
		}
	}
	a := p.A.RawMatrix()
	for j, q := range p.Q {
		rows := a.Ind[a.Indptr[j]:a.Indptr[j+1]]
		for _, i := range rows {
			uses[i] |= usedRow
		}
		if q == 0 && !curved[j] && len(rows) == 1 && a.Data[a.Indptr[j]] != 0 {
			uses[rows[0]] |= freeRow
		}
	}
	return uses
}

// leftOut is a variable that is found from s in its only row, where that is no row of the form.
type leftOut struct{ column, row, entry int }

// leaveOut finds which variables of the caller are left out, where components are open.
func (f *form) leaveOut(p *backends.Problem) {
	if !slices.ContainsFunc(f.decomposed, func(t *component) bool { return t.open }) {
		return
	}
	here := make([]bool, len(p.B)) // or found already
	for _, r := range f.row {
		here[r.user] = true
	}
	a := p.A.RawMatrix()
	f.columns = make([]int, 0, len(p.Q))
	for j := range p.Q {
		k := a.Indptr[j]
		if a.Indptr[j+1] == k+1 && !here[a.Ind[k]] && f.uses[a.Ind[k]]&freeRow != 0 && a.Data[k] != 0 && p.Q[j] == 0 {
			f.left, here[a.Ind[k]] = append(f.left, leftOut{j, a.Ind[k], k}), true
			continue
		}
		f.columns = append(f.columns, j)
	}
}

// column is the caller's variable at a place of the form.
func (f *form) column(at int) int {
	if f.columns == nil {
		return at
	}
	return f.columns[at]
}

// sortBounds makes the rows of a box, whose first row of the caller is start.
func (f *form) sortBounds(rows *[places][]rowOrigin, c backends.Cone, start int32) {
	for k := range int32(c.Dim) {
		l, u := c.Lower[k], c.Upper[k]
		if l == u {
			rows[equationRows] = append(rows[equationRows], rowOrigin{user: start + k, sign: 1, shift: l})
			continue
		}
		if !math.IsInf(l, -1) {
			rows[inequalityRows] = append(rows[inequalityRows], rowOrigin{user: start + k, sign: 1, shift: l})
		}
		if !math.IsInf(u, 1) {
			rows[inequalityRows] = append(rows[inequalityRows], rowOrigin{user: start + k, sign: -1, shift: u})
		}
	}
}

// roomForRows returns empty lists of the rows of each place, with room for all there may be.
func roomForRows(cones []backends.Cone) (room [places][]rowOrigin) {
	var rows [places]int
	for _, c := range cones {
		if place := placeOf(c); place == boundRows {
			rows[inequalityRows] += 2 * c.Dim
		} else {
			rows[place] += c.Dim
		}
	}
	for i, n := range rows {
		room[i] = make([]rowOrigin, 0, n)
	}
	return room
}

// layOutA finds the entries of A in the sorted rows.
func (f *form) layOutA(p *backends.Problem) {
	s, n := f.stop, f.n-len(f.links)
	f.a.ptr = make([]int32, f.n+1)
	head := make([]int32, len(p.B)) // by row of the caller, the first row made of it
	for i := range head {
		head[i] = -1
	}
	if s.Reached(vectorWork * (len(head) + f.m)) {
		return
	}
	next := make([]int32, f.m) // by row, the next one made of the same row
	for i := f.m - 1; i >= 0; i-- {
		if f.row[i].linked {
			continue
		}
		u := f.row[i].user
		next[i] = head[u]
		head[u] = int32(i)
	}
	f.free = slices.Contains(head, -1)
	if p.A == nil {
		return
	}
	ap := p.A.RawMatrix()
	f.a.ind = make([]int32, 0, len(ap.Ind))
	f.aFrom = make([]int32, 0, len(ap.Ind))
	for at := range n {
		j := f.column(at)
		if s.Reached(vectorWork + 4*(ap.Indptr[j+1]-ap.Indptr[j])) {
			return
		}
		for k := ap.Indptr[j]; k < ap.Indptr[j+1]; k++ {
			for i := head[ap.Ind[k]]; i >= 0; i = next[i] {
				f.a.ind = append(f.a.ind, i)
				f.aFrom = append(f.aFrom, int32(k))
			}
		}
		f.a.ptr[at+1] = int32(len(f.a.ind))
	}
	for k, l := range f.links {
		f.a.ind, f.aFrom = append(f.a.ind, l.parent, l.child), append(f.aFrom, ofParent, ofChild)
		f.a.ptr[n+k+1] = int32(len(f.a.ind))
	}
	f.a.val = make([]float64, len(f.a.ind))
}

// The places in the caller's A of the entries of links, which are not there: 1 and -1.
const ofParent, ofChild = -1, -2

// layOutP takes the pattern of P.
func (f *form) layOutP(p *backends.Problem) {
	f.p.ptr = make([]int32, f.n+1)
	if p.P != nil {
		pp := p.P.RawMatrix()
		f.p.ind = make([]int32, len(pp.Ind))
		place, n := make([]int32, len(p.Q)), f.n-len(f.links)
		for at := range n {
			place[f.column(at)] = int32(at)
			f.p.ptr[at+1] = int32(pp.Indptr[f.column(at)+1])
		}
		for k, i := range pp.Ind {
			if f.stop.Reached(1) {
				return
			}
			f.p.ind[k] = place[i]
		}
		for at := n; at < f.n; at++ {
			f.p.ptr[at+1] = f.p.ptr[n]
		}
	}
	f.p.val = make([]float64, len(f.p.ind))
}

// fits says whether the sizes fit into 32-bit indices, and the form into memory.
func (f *form) fits(p *backends.Problem) error {
	n, m := int64(f.n), int64(0)
	times := int64(1) // rows that a row may become
	for _, c := range p.Cones {
		rows := int64(c.Dim)
		if placeOf(c) == boundRows {
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

// fill copies the numbers of p that are pending, whose pattern is that of newForm, and scales them: P and q by the D
// there is unless A or P is new.
func (f *form) fill(p *backends.Problem, what pending) {
	f.user = p
	if what >= newObjective && p.P != nil {
		copy(f.p.val, p.P.RawMatrix().Data)
	}
	if what >= newMatrices {
		if p.A != nil {
			data := p.A.RawMatrix().Data
			for k, from := range f.aFrom {
				if f.stop.Reached(2) {
					return
				}
				switch from {
				case ofParent:
					f.a.val[k] = 1
				case ofChild:
					f.a.val[k] = -1
				default:
					f.a.val[k] = f.row[f.a.ind[k]].sign * data[from]
				}
			}
		}
		f.scaling.compute(f)
		f.scaling.apply(f)
	}
	if what >= newObjective {
		for at := range f.n - len(f.links) {
			f.q[at] = p.Q[f.column(at)]
		}
		clear(f.q[f.n-len(f.links):])
		f.scaling.objective(f)
		f.scaling.applyObjective(f)
	}
	for i, r := range f.row {
		if !r.linked {
			f.b[i] = r.sign * (p.B[r.user] - r.shift) * f.scaling.e[i]
		}
	}
}

// Runs find so few points that are worth being looked at in the caller's variables; their memory is kept for the next
// run. Those that find more make more.
const keptPoints = 4

// expand writes the point (x, s, z)/tau in the caller's variables, in memory that is its own until the next run. Rows
// of free boxes get s = b - Ax and z = 0.
func (f *form) expand(x, s, z []float64, tau float64) *backends.Solution {
	return f.expandWith(x, s, z, tau, 1)
}

// expandWith does so for right times b: 0 for rays.
func (f *form) expandWith(x, s, z []float64, tau, right float64) *backends.Solution {
	n, m := f.user.Dims()
	var out *backends.Solution
	if f.given < keptPoints {
		out = &f.points[f.given]
		f.given++
	} else {
		out = new(backends.Solution)
	}
	*out = backends.Solution{X: dense.Cleared(out.X, n), S: dense.Cleared(out.S, m), Z: dense.Cleared(out.Z, m)}
	sc := &f.scaling
	for at := range f.n - len(f.links) {
		out.X[f.column(at)] = x[at] * sc.d[at] / tau
	}
	if f.free {
		out.S = f.user.Slack(out.X)
	}
	for i, r := range f.row {
		if k := i - 1; k < 0 || f.row[k].user != r.user || s[i]/sc.e[i] < s[k]/sc.e[k] { // of two bounds the nearer one
			out.S[r.user] = r.sign*s[i]/(sc.e[i]*tau) + r.shift
		}
		out.Z[r.user] += r.sign * z[i] * sc.e[i] / (sc.c * tau)
	}
	for _, v := range f.left {
		out.X[v.column] = out.S[v.row] + (right-1)*f.user.B[v.row]
	}
	for _, t := range f.decomposed {
		f.whole = dense.Cleared(f.whole, len(t.columns)*len(t.columns))
		t.expand(s, z, func(i int) (ofS, ofZ float64) { return 1 / (sc.e[i] * tau), sc.e[i] / (sc.c * tau) }, f.whole, out)
	}
	for _, v := range f.left {
		out.X[v.column] = (out.X[v.column] - out.S[v.row]) / f.user.A.RawMatrix().Data[v.entry]
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

package native

import (
	"github.com/conetune/conetune/backends/internal/ldl"
)

// kkt is the linear algebra of an iteration: it solves
//
//	Px + A'z = rx,  Ax - Hz = rz
//
// with the H of the scaling that the cones have. Its matrix is
//
//	K = [P A'; A -H],
//
// quasi-definite once +-delta is added to its diagonal.
// A row of the orthant with one entry in A (a bound) is not part of it: its
// unknown is eliminated by hand, which adds a^2/h to the diagonal of P. So is a
// column with a single entry a in A, in an equation, and nothing but p > 0 on the
// diagonal of P, as a residual in least squares: it adds -a^2/p to the diagonal
// of its row. A second-order cone has two more unknowns, which make its H sparse.
// What is eliminated of semidefinite cones comes as a Schur complement, sums tr(F_i X F_j Y) made by gram, onto the
// other unknowns, see matrixPart.
type kkt struct {
	f       *form
	cones   []placed
	size    int
	mat     csc     // upper triangle, the diagonal at the end of each column
	diag    []int32 // the place of the diagonal of every column
	sign    []int8
	pAt     []int32   // where the entries of P go
	aAt     []int32   // where the entries of A go, -1 for those of bounds
	pos     []int32   // the unknown of each row, -1 for a bound
	extra   []int32   // the first of the two more unknowns of a cone in rank-two form
	h       []float64 // the diagonal of H in the rows of the orthant
	xpos    []int32   // the unknown of each column, -1 for a single
	bounds  []bound
	singles []single
	inBasis []inBasis
	krylov  *krylov
	second  bool      // it solves beside another, and leaves it to that to ask for the memory of krylov
	wanting bool      // a solve went without krylov
	baseX   []float64 // diagonal of P
	at      [][]int32 // by cone, the places of its H: of the diagonal, -1 for bounds, then see secondOrder.writeH
	factor  *ldl.Factor
	shift   []float64 // the static regularisation
	boost   float64   // multiple of it for columns and equations, see raise
	left    float64   // what the last solve left, as a multiple of what it was allowed
	rhs     []float64
	sol     []float64
	res     []float64
	best    []float64

	groups   [][]int32 // unknowns linked by semidefinite cones
	groupsOf [][]int32 // the groups of each unknown
	marked   []int32
	base     []float64 // the values of K without the cones, if there are groups
	curved   bool      // some cone is exponential or a power cone

	matrices   []*matrixPart // the semidefinite cones
	eliminates bool          // some matrix is eliminated
	outer      outer
}

// bound is a row of the orthant with the single entry a.val[entry] in column col.
type bound struct{ row, col, entry int32 }

// single is a column with the single entry a.val[entry] in A, in row row, and
// p.val[diag] in P.
type single struct{ row, col, entry, diag int32 }

const (
	// A column whose diagonal entry in the scaled P is below singleMin stays.
	singleMin = 1e-8
	// Static regularisation is added to the pivots, with their signs, and taken out
	// again by the refinement, which works as long as what is added is small beside
	// what is there. So it depends on the unknown:
	//
	//   - free columns and equations may be singular by themselves; a column with an entry on the diagonal of P is not,
	//     and what is added is small beside that, down to leastRegularisation;
	//   - a column with bounds has a^2 z/s on its diagonal, which is tiny and
	//     matters where the column is basic: a larger number spoils the dual
	//     residual of linear programs;
	//   - a row of the orthant has s/z, which is tiny and matters where A is
	//     ill-conditioned, as third differences are;
	//   - a second-order cone has a part that is as small beside eta^2 as its point
	//     is near the boundary, and in rank-two form pivots that are differences of
	//     large numbers. What is added is relative to eta^2;
	//   - exponential and power cones have an H whose entries are as far apart as those of s: their unknowns are in a
	//     basis in which it is the identity.
	staticRegularisation  = 1e-8
	boundedRegularisation = 1e-13
	rankTwoRegularisation = 1e-12
	curvedRegularisation  = 1e-14
	rotatedRegularisation = 1e-10
	leastRegularisation   = 1e-11
	besideDiagonal        = 1e-2
	// see raise
	boostFactor = 100
	boostRelax  = 10
	// A pivot below pivotTolerance, or of the wrong sign, is rounding. The bound
	// does not grow with K, where rows far from active have entries of any size
	// beside legitimate small pivots.
	pivotTolerance = 1e-16
	pivotReplaced  = 1e-7
)

// number gives the columns and rows that are not eliminated their unknowns, and returns how many entries the rows of A
// have, and how many columns have an unknown.
func (k *kkt) number() (count []int32, columns int, err error) {
	f := k.f
	count = make([]int32, f.m)
	only := make([]int32, f.m) // the column of rows with one entry
	for j := range int32(f.n) {
		if f.stop.Reached(vectorWork + int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return nil, 0, errStopped
		}
		for _, i := range f.a.ind[f.a.ptr[j]:f.a.ptr[j+1]] {
			only[i] = j
			count[i]++
		}
	}
	f.stop.Reached(vectorWork * (f.n + f.m))
	size := int32(0)
	for j := range k.xpos {
		if k.xpos[j] == 0 {
			k.xpos[j] = size
			size++
		}
	}
	columns = int(size)
	for i := range k.pos {
		bound := i >= f.zero && i < f.zero+f.nonneg && count[i] == 1 && k.xpos[only[i]] >= 0
		if bound || k.pos[i] < 0 {
			k.pos[i] = -1
			continue
		}
		k.pos[i] = size
		size++
	}
	// the two more unknowns of a cone in rank-two form
	k.extra = make([]int32, len(k.cones))
	for c := range k.cones {
		if k.cones[c].block() == rankTwoBlock {
			k.extra[c] = size
			size += 2
		}
	}
	k.size = int(size)
	return count, columns, nil
}

// analyse does the symbolic work of the factorisation, and takes the work space.
func (k *kkt) analyse() error {
	const what = "the factors of the Newton systems"
	f, lasts := k.f, int64(0)
	var err error
	k.factor, err = ldl.AnalyzeWith(k.size, k.mat.ptr, k.mat.ind, k.sign,
		ldl.Options{Stop: f.stop, Threads: f.threads, Memory: func(lasting, passing int64) error {
			lasts = lasting
			return f.memory.fits(what, lasting+passing)
		}})
	if err != nil {
		return err
	}
	if err := f.memory.take(what, lasts); err != nil {
		return err
	}
	k.shift = make([]float64, k.size)
	for j, sign := range k.sign {
		k.shift[j] = staticRegularisation * float64(sign)
	}
	for i := f.zero; i < f.zero+f.nonneg; i++ {
		if p := k.pos[i]; p >= 0 {
			k.shift[p] = 0
		}
	}
	k.boost = 1
	allocate(k.size, &k.rhs, &k.sol, &k.res, &k.best)
	return nil
}

// findSingles marks the columns to eliminate with -1 in xpos.
func (k *kkt) findSingles() {
	f := k.f
	for j := range f.n {
		alone := f.p.ptr[j+1]-f.p.ptr[j] == 1 && int(f.p.ind[f.p.ptr[j]]) == j
		if alone && f.a.ptr[j+1]-f.a.ptr[j] == 1 && int(f.a.ind[f.a.ptr[j]]) < f.zero {
			k.xpos[j] = -1
		}
	}
	for j := range f.n { // other columns of P may have entries in its row
		for e := f.p.ptr[j]; e < f.p.ptr[j+1]; e++ {
			if i := f.p.ind[e]; int(i) != j {
				k.xpos[i] = 0
			}
		}
	}
	for j := range int32(f.n) {
		if k.xpos[j] < 0 {
			entry := f.a.ptr[j]
			k.singles = append(k.singles, single{row: f.a.ind[entry], col: j, entry: entry, diag: f.p.ptr[j]})
		}
	}
}

// entryBytes is what an entry of K takes: its row, its value, and that without the cones.
const entryBytes = 20

// load copies the scaled numbers of P and A. It returns false if they do not
// allow the elimination of columns and matrices.
func (k *kkt) load() bool {
	f := k.f
	for _, s := range k.singles {
		if !(f.p.val[s.diag] >= singleMin) {
			return false
		}
	}
	clear(k.mat.val)
	for e, at := range k.pAt {
		if at >= 0 {
			k.mat.val[at] = f.p.val[e]
		}
	}
	if f.stop.Reached(2 * (len(k.mat.val) + len(k.pAt))) {
		return true
	}
	for e, at := range k.aAt {
		if f.stop.Reached(2) {
			return true
		}
		if at >= 0 {
			k.mat.val[at] = f.a.val[e]
		}
	}
	for j := range k.baseX {
		k.baseX[j] = k.mat.val[k.diag[j]]
	}
	k.regularise(k.boost)
	for _, s := range k.singles {
		a := f.a.val[s.entry]
		k.mat.val[k.diag[k.pos[s.row]]] -= a * a / f.p.val[s.diag]
	}
	if len(k.groups) > 0 {
		k.base = append(k.base[:0], k.mat.val...)
	}
	return k.loadMatrices()
}

// refactor puts the current H of the cones into K and factors it.
func (k *kkt) refactor() {
	k.write()
	k.add()
	k.factorize()
}

// write puts the current H of the cones into K.
func (k *kkt) write() {
	f := k.f
	copy(k.mat.val, k.base)
	f.stop.Reached(len(k.mat.val))
	for c, cn := range k.cones {
		if f.stop.Reached(4 * (cn.to - cn.from)) {
			return
		}
		switch cn.block() {
		case diagonalBlock:
			for i, at := range k.at[c] {
				if at >= 0 {
					k.mat.val[at] = -k.h[i]
				}
			}
		case rankTwoBlock:
			shift := cn.cone.(*secondOrder).writeH(k.mat.val, k.at[c])
			for _, p := range k.pos[cn.from:cn.to] {
				k.shift[p] = -shift
			}
			k.shift[k.extra[c]], k.shift[k.extra[c]+1] = -shift, shift
		}
	}
	for i := range k.inBasis {
		t := &k.inBasis[i]
		if f.stop.Reached(20 + 4*len(t.places)) {
			return
		}
		k.intoBasis(t)
	}
	for j, v := range k.baseX {
		k.mat.val[k.diag[j]] = v
	}
	for _, b := range k.bounds {
		a := f.a.val[b.entry]
		k.mat.val[k.diag[k.xpos[b.col]]] += a * a / k.h[int(b.row)-f.zero]
	}
	f.stop.Reached(2*len(k.baseX) + 8*len(k.bounds))
}

func (k *kkt) factorize() {
	k.factor.Factorize(k.mat.val, k.shift, pivotTolerance, pivotReplaced)
}

// regularise sets the shifts of columns and equations to boost times what is usual.
func (k *kkt) regularise(boost float64) {
	k.boost = boost
	for j, d := range k.baseX {
		k.shift[j] = staticRegularisation * boost
		if d > 0 {
			k.shift[j] = max(min(staticRegularisation, besideDiagonal*d), leastRegularisation) * boost
		}
	}
	for _, b := range k.bounds {
		k.shift[k.xpos[b.col]] = boundedRegularisation * boost
	}
	for _, p := range k.pos[:k.f.zero] {
		k.shift[p] = -staticRegularisation * boost
	}
}

// raise factors again with more regularisation. Where columns that are far from
// their bounds do not suffice to determine all equations, the pivots that are left
// are rounding of the largest z/s, and their multiples may drown everything.
func (k *kkt) raise() {
	k.regularise(k.boost * boostFactor)
	k.factorize()
}

// relax takes back some of what raise added.
func (k *kkt) relax() {
	if k.boost > 1 {
		k.regularise(max(1, k.boost/boostRelax))
	}
}

// lost says that the last solve left so much that the step would spoil the residuals of the iterate.
func (k *kkt) lost() bool { return !(k.left <= lostSolve) }

// lostSolve is what it may leave, as a multiple of what it was allowed.
const lostSolve = 100

// reduce makes the right-hand side of the unknowns in K, with what is eliminated by hand.
func (k *kkt) reduce(rx, rz []float64) {
	f, rhs := k.f, k.rhs
	clear(rhs)
	for j, p := range k.xpos {
		if p >= 0 {
			rhs[p] = rx[j]
		}
	}
	for i, p := range k.pos {
		if p >= 0 {
			rhs[p] = rz[i]
		}
	}
	for i := range k.inBasis {
		k.inBasis[i].into(rhs, rz)
	}
	// p x + a z = rx, where x is a single; a x - h z = rz, where z is of a bound
	for _, s := range k.singles {
		rhs[k.pos[s.row]] -= f.a.val[s.entry] * rx[s.col] / f.p.val[s.diag]
	}
	h := k.h
	for _, b := range k.bounds {
		rhs[k.xpos[b.col]] += f.a.val[b.entry] * rz[b.row] / h[int(b.row)-f.zero]
	}
	f.stop.Reached(6*k.size + 8*len(k.bounds))
}

// finish solves for the right-hand side of reduce, and computes what was eliminated.
func (k *kkt) finish(x, z, rx, rz []float64, to accuracy) error {
	f, h := k.f, k.h
	size := maxAbs(k.rhs)
	floor, wide := roundingFloor*(1+size), size
	if !k.curved || size == 0 { // else all are near one beside their own right-hand side
		wide++
	}
	err := k.refine(limits{
		columns:   max(to.left*maxAbs(rx), to.columns, floor),
		equations: max(to.left*maxAbs(rz[:f.zero]), to.equations, floor),
		rows:      to.rows * wide,
	})
	for j, p := range k.xpos {
		if p >= 0 {
			x[j] = k.sol[p]
		}
	}
	for i, p := range k.pos {
		if p >= 0 {
			z[i] = k.sol[p]
		}
	}
	for i := range k.inBasis {
		k.inBasis[i].outOf(z, k.sol)
	}
	if f.stop.Reached(4*k.size + 8*len(k.bounds)) {
		return errStopped
	}
	for _, s := range k.singles {
		x[s.col] = (rx[s.col] - f.a.val[s.entry]*z[s.row]) / f.p.val[s.diag]
	}
	for _, b := range k.bounds {
		z[b.row] = (f.a.val[b.entry]*x[b.col] - rz[b.row]) / h[int(b.row)-f.zero]
	}
	return err
}

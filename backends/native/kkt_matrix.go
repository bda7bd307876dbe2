package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends/internal/ldl"
	"github.com/conetune/conetune/internal/dense"
)

// matrixPart is a semidefinite cone in the Newton systems, in one of three forms
// (see matrixForm). With A the rows of the cone, its own unknowns are dz and, for
// eliminateColumns, the columns that are the matrix:
//
//	eliminateRows     z = H^-1 (A x - rz),
//	                  (P + A'H^-1 A) x + .. = rx + A'H^-1 rz
//	eliminateColumns  A = diag(a): z = (rx - B'y)/a, x = (rz + H z)/a, y being the
//	                  unknowns of the other rows B of these columns, and with B~ = B diag(1/a)
//	                  -B~ H B~' y + .. = ry - B~ (rz + H (rx/a))
//	denseRows         H stands in the matrix.
type matrixPart struct {
	c        matrixCone
	form     matrixForm
	from, to int // rows
	g        gram
	own      []int32   // eliminateColumns: the column of each row
	entry    []int32   // and the entry a
	divided  []float64 // rx/a
	pushed   []float64 // what H or H^-1 makes of the right-hand side
	work     []float64
}

const (
	// Cholesky factors of a matrix part are exact to about this, relative to the
	// diagonal: so much is added to it.
	matrixRegularisation = 1e-14
	// A matrix variable whose entries in A are smaller than this beside others is not eliminated.
	ownMin = 1e-8
	// A cone with this many times more columns than rows keeps its rows.
	manyColumns = 2.5
)

// touching lists, for the rows from:to, the columns with an entry there.
func (f *form) touching(from, to int) []int32 {
	var out []int32
	for j := range f.n {
		if f.stop.Reached(vectorWork + int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return nil
		}
		for _, i := range f.a.ind[f.a.ptr[j]:f.a.ptr[j+1]] {
			if int(i) >= from && int(i) < to {
				out = append(out, int32(j))
				break
			}
		}
	}
	return out
}

// chooseForms decides how each semidefinite cone takes part, marks the columns of
// eliminated matrix variables with -1 in xpos, and their rows and eliminated ones in pos.
func (k *kkt) chooseForms(keep bool) {
	f := k.f
	if !slices.ContainsFunc(k.cones, func(c cone) bool { _, ok := c.(matrixCone); return ok }) {
		return
	}
	partOf := make([]int32, f.m) // by row, the part and 1
	for i, c := range k.cones {
		if m, ok := c.(matrixCone); ok {
			p := &matrixPart{c: m, from: k.starts[i], to: k.starts[i+1]}
			k.matrices = append(k.matrices, p)
			for r := p.from; r < p.to; r++ {
				partOf[r] = int32(len(k.matrices))
			}
			dim := p.to - p.from
			p.divided, p.pushed, p.work = make([]float64, dim), make([]float64, dim), make([]float64, dim)
		}
	}
	inP := make([]bool, f.n)
	for j := range f.n {
		for _, i := range f.p.ind[f.p.ptr[j]:f.p.ptr[j+1]] {
			inP[i], inP[j] = true, true
		}
	}
	// what each part has: its columns, its entries, and for a matrix variable the other rows
	columns := make([][]int32, len(k.matrices))
	entries := make([]int, len(k.matrices))
	alone := make([]bool, len(k.matrices)) // the columns of the part have no entry in another part or in P
	for i := range alone {
		alone[i] = !keep
	}
	for j := range f.n {
		if f.stop.Reached(vectorWork + 2*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return
		}
		seen := int32(0)
		for _, i := range f.a.ind[f.a.ptr[j]:f.a.ptr[j+1]] {
			p := partOf[i]
			if p == 0 {
				continue
			}
			entries[p-1]++
			if seen != p {
				columns[p-1] = append(columns[p-1], int32(j))
			}
			if seen != 0 { // a second entry, in this part or in another
				alone[seen-1], alone[p-1] = false, false
			}
			seen = p
			if inP[j] {
				alone[p-1] = false
			}
		}
	}
	for i, p := range k.matrices {
		dim := p.to - p.from
		p.form = eliminateRows
		if float64(len(columns[i])) > manyColumns*float64(dim) {
			p.form = denseRows
		}
		if alone[i] && entries[i] == dim && len(columns[i]) == dim && k.takeOwn(p, columns[i]) {
			p.form = eliminateColumns
			for _, j := range columns[i] {
				k.xpos[j] = -1
			}
		}
		p.c.take(p.form)
		if p.form != denseRows {
			for r := p.from; r < p.to; r++ {
				k.pos[r] = -1
			}
		}
	}
}

// takeOwn finds the column of each row of a matrix variable. It returns false if a row
// has none, if more other rows have entries in these columns than there are columns, or if the
// entries are so many that keeping the columns is less work: products of the other rows with each other
// against one of each pair of columns and a larger matrix to factor.
func (k *kkt) takeOwn(p *matrixPart, columns []int32) bool {
	f := k.f
	own, entry := make([]int32, len(columns)), make([]int32, len(columns))
	for i := range own {
		own[i] = -1
	}
	others := map[int32]bool{}
	entries := 0.0
	for _, j := range columns {
		if f.stop.Reached(vectorWork + 50*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return false
		}
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			if i := int(f.a.ind[e]); i >= p.from && i < p.to {
				own[i-p.from], entry[i-p.from] = j, e
			} else {
				others[int32(i)] = true
				entries++
			}
		}
	}
	if slices.Contains(own, -1) || len(others) > len(columns) {
		return false
	}
	rest, all := float64(len(others)), float64(len(others)+len(columns))
	eliminated := pickCost * rest * entries / 2
	kept := pickCost*float64(len(columns)*len(columns))/2 + (all*all*all-rest*rest*rest)/(3*gemmGain)
	if kept < eliminated {
		return false
	}
	p.own, p.entry = own, entry
	return true
}

// link makes the members of the parts, whose unknowns are known now, and the groups of
// unknowns that are linked with each other in K.
func (k *kkt) link() error {
	f := k.f
	byRow := make(map[int32]*gramMember) // only looked up, never walked
	for _, p := range k.matrices {
		p.g.n, p.g.sign, p.g.within = p.c.order(), 1, dense.Within{Stop: f.stop}
		switch p.form {
		case eliminateRows:
			p.g.members = f.members(p.from, p.to, func(j int32) int32 { return k.xpos[j] })
		case eliminateColumns:
			p.g.sign = -1
			clear(byRow)
			var rows []int32
			for r, j := range p.own {
				if f.stop.Reached(vectorWork + 50*int(f.a.ptr[j+1]-f.a.ptr[j])) {
					return errStopped
				}
				for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
					i := f.a.ind[e]
					if int(i) >= p.from && int(i) < p.to {
						continue
					}
					m := byRow[i]
					if m == nil {
						m = &gramMember{unknown: k.pos[i], item: i}
						byRow[i] = m
						rows = append(rows, i)
					}
					m.row, m.from = append(m.row, int32(r)), append(m.from, e)
				}
			}
			for _, i := range rows {
				p.g.members = append(p.g.members, *byRow[i])
			}
		case denseRows:
			p.g.sign = -1
			for i := p.from; i < p.to; i++ {
				if f.stop.Reached(100) {
					return errStopped
				}
				p.g.members = append(p.g.members, gramMember{unknown: k.pos[i], item: int32(i), row: []int32{int32(i - p.from)}, from: []int32{-1}})
			}
		}
		k.eliminates = k.eliminates || p.form != denseRows
		members, order := int64(len(p.g.members)), int64(p.g.n)
		if members*(members+1)/2 > math.MaxInt32 {
			return ldl.ErrTooLarge
		}
		if err := f.memory.take("the products of semidefinite cones", 32*order*order+2*members*(members+1)); err != nil {
			return err
		}
		if p.g.prepare(); f.stop.Reached(0) {
			return errStopped
		}
		group := make([]int32, len(p.g.members))
		for i := range p.g.members {
			group[i] = p.g.members[i].unknown
		}
		k.groups = append(k.groups, group)
	}
	if k.eliminates {
		if err := f.memory.take("the directions of the refinement", 8*(2*outerSteps+3)*int64(f.n+f.m)); err != nil {
			return err
		}
		k.outer = newOuter(f, k.matrices)
	}
	for c, cn := range k.cones {
		if cn.block() == denseBlock {
			k.groups = append(k.groups, k.pos[k.starts[c]:k.starts[c+1]])
		}
	}
	k.groupsOf = make([][]int32, k.size)
	for g, group := range k.groups {
		for _, u := range group {
			k.groupsOf[u] = append(k.groupsOf[u], int32(g))
		}
	}
	k.marked = make([]int32, k.size)
	return nil
}

// members returns the columns with entries in the rows of a semidefinite cone, as members of a gram.
func (f *form) members(from, to int, unknown func(column int32) int32) []gramMember {
	var out []gramMember
	for _, j := range f.touching(from, to) {
		if f.stop.Reached(100 + 50*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return nil
		}
		m := gramMember{unknown: unknown(j), item: j}
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			if i := int(f.a.ind[e]); i >= from && i < to {
				m.row, m.from = append(m.row, int32(i-from)), append(m.from, e)
			}
		}
		out = append(out, m)
	}
	return out
}

// earlier returns the unknowns before j that share a group with it and those of more,
// in rising order.
func (k *kkt) earlier(j int32, more []int32) []int32 {
	out := more
	for _, g := range k.groupsOf[j] {
		for _, u := range k.groups[g] {
			if u < j {
				out = append(out, u)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pushLinked lays out column c of P with the columns that it is linked to.
func (k *kkt) pushLinked(c int, push func(int32) int32) {
	f, j := k.f, k.xpos[c]
	from, to := f.p.ptr[c], f.p.ptr[c+1]
	var rows []int32
	for _, i := range f.p.ind[from:to] {
		rows = append(rows, k.xpos[i])
	}
	rows = append(rows, j)
	for _, u := range k.earlier(j, rows) {
		k.marked[u] = push(u)
	}
	k.diag[j] = k.marked[j]
	for e := from; e < to; e++ {
		k.pAt[e] = k.marked[k.xpos[f.p.ind[e]]]
	}
}

// place finds the entries of K of all pairs of the grams and of the dense blocks.
func (k *kkt) place() {
	at := k.marked // by row, its place in the current column
	column := func(j int32) {
		for e := k.mat.ptr[j]; e < k.mat.ptr[j+1]; e++ {
			at[k.mat.ind[e]] = e
		}
	}
	for _, p := range k.matrices {
		g := &p.g
		g.place = make([]int32, 0, len(g.members)*(len(g.members)+1)/2)
		for i := range g.members { // in rising order of their unknowns
			if k.f.stop.Reached(2 * (i + int(k.mat.ptr[g.members[i].unknown+1]-k.mat.ptr[g.members[i].unknown]))) {
				return
			}
			column(g.members[i].unknown)
			for j := range i + 1 {
				g.place = append(g.place, at[g.members[j].unknown])
			}
		}
	}
	for c, cn := range k.cones {
		if cn.block() == denseBlock {
			if k.f.stop.Reached(100) {
				return
			}
			w := &k.writers[c]
			w.at = w.at[:0]
			rows := k.pos[k.starts[c]:k.starts[c+1]]
			for i := range rows {
				column(rows[i])
				for j := range i + 1 {
					w.at = append(w.at, at[rows[j]])
				}
			}
		}
	}
}

// loadMatrices takes the numbers of A for the grams, and false if a matrix variable
// has a row without a number in it.
func (k *kkt) loadMatrices() bool {
	f := k.f
	for _, p := range k.matrices {
		switch p.form {
		case eliminateRows:
			p.g.set(func(m *gramMember, e int) float64 { return f.a.val[m.from[e]] })
		case eliminateColumns:
			for _, e := range p.entry {
				if !(math.Abs(f.a.val[e]) >= ownMin) {
					return false
				}
			}
			p.g.set(func(m *gramMember, e int) float64 { return f.a.val[m.from[e]] / f.a.val[p.entry[m.row[e]]] })
		case denseRows:
			p.g.set(func(*gramMember, int) float64 { return 1 })
		}
	}
	return true
}

// addMatrices adds the semidefinite cones to K, and chooses the regularisation of
// the unknowns that they come to.
func (k *kkt) addMatrices() {
	for _, p := range k.matrices {
		x, y := p.c.product()
		p.g.add(k.mat.val, x, y)
	}
	if k.f.stop.Reached(0) {
		return
	}
	for _, p := range k.matrices {
		for i := range p.g.members {
			j := p.g.members[i].unknown
			k.shift[j] = float64(k.sign[j]) * (boundedRegularisation + matrixRegularisation*math.Abs(k.mat.val[k.diag[j]]))
		}
	}
}

// reduceMatrices brings the right-hand side of what is eliminated to rhs.
func (k *kkt) reduceMatrices(rx, rz []float64) {
	f := k.f
	for _, p := range k.matrices {
		switch p.form {
		case eliminateRows:
			if clear(p.pushed); maxAbs(rz[p.from:p.to]) == 0 {
				continue
			}
			p.c.mulSym(p.pushed, rz[p.from:p.to])
			p.g.dotAdd(k.rhs, p.pushed, 1)
		case eliminateColumns:
			for r, j := range p.own {
				p.divided[r] = rx[j] / f.a.val[p.entry[r]]
			}
			if clear(p.pushed); maxAbs(p.divided) != 0 {
				p.c.mulSym(p.pushed, p.divided)
			}
			axpy(1, rz[p.from:p.to], p.pushed)
			p.g.dotAdd(k.rhs, p.pushed, -1)
		}
	}
}

// recoverMatrices computes what was eliminated from the rest of x and z.
func (k *kkt) recoverMatrices(x, z, rz []float64) {
	f := k.f
	for _, p := range k.matrices {
		zp := z[p.from:p.to]
		switch p.form {
		case eliminateRows:
			clear(p.work)
			p.g.mulAdd(p.work, x, 1)
			p.c.mulSym(zp, p.work)
			axpy(-1, p.pushed, zp)
		case eliminateColumns:
			copy(zp, p.divided)
			p.g.mulAdd(zp, z, -1)
			p.c.mulSym(p.work, zp)
			axpy(1, rz[p.from:p.to], p.work)
			for r, j := range p.own {
				x[j] = p.work[r] / f.a.val[p.entry[r]]
			}
		}
	}
}

// withoutTerm takes the complementarity term d of the semidefinite cones in their
// inverse form, H^-1 d, from the right-hand side of the rows to that of the columns:
//
//	-H dz + A dx = d - weight rz  is  -H (dz + H^-1 d) + A dx = -weight rz.
func (k *kkt) withoutTerm(rhsX, rhsZ, rz, d []float64, weight float64) {
	for _, p := range k.matrices {
		if p.form == eliminateRows {
			for i := p.from; i < p.to; i++ {
				rhsZ[i] = -weight * rz[i]
			}
			p.mulTransposed(rhsX, d[p.from:p.to])
		}
	}
}

// withTerm takes H^-1 d off the dz that withoutTerm has led to.
func (k *kkt) withTerm(dz, d []float64) {
	for _, p := range k.matrices {
		if p.form == eliminateRows {
			axpy(-1, d[p.from:p.to], dz[p.from:p.to])
		}
	}
}

// mulTransposed adds A'v to x, A being the rows of a part in the form eliminateRows.
func (p *matrixPart) mulTransposed(x, v []float64) {
	for i := range p.g.members {
		m := &p.g.members[i]
		sum := 0.0
		for e, r := range m.row {
			sum += m.vec[e] * v[r]
		}
		x[m.item] += sum
	}
}

// refineMatrices improves a solution by its residuals in the columns and rows that
// semidefinite cones are eliminated onto. The sums A'H^-1 A and B~ H B~', whose
// rounding solveReduced cannot see, are left out of these: they are measured on the
// z and x that were recovered. Their error would otherwise stay as infeasibility.
//
// The factors of K precondition the method of generalised conjugate residuals
// (Eisenstat, Elman and Schultz 1983), which Toh, Todd and Tutuncu do with another Krylov
// method: near the end of a degenerate problem the factors are too far from
// the sums for plain refinement.
func (k *kkt) refineMatrices(x, z, rx, rz []float64, to accuracy) error {
	if !k.eliminates {
		return nil
	}
	o := &k.outer
	limit := to.rows * (1 + max(maxAbs(rx), maxAbs(rz)))
	last := k.outerResidual(x, z, rx, rz)
	if !(last > limit) {
		return finiteOr(last)
	}
	copy(o.x, x)
	copy(o.z, z)
	for i := range o.d {
		if k.f.stop.Reached(2 * (k.f.n + k.f.m)) {
			return errStopped
		}
		o.used = max(o.used, i+1)
		d := &o.d[i]
		copy(o.wx, o.rx)
		copy(o.wz, o.rz)
		if k.solveReduced(d.x, d.z, o.wx, o.wz, to) != nil {
			break
		}
		k.outerProduct(d.imageX, d.imageZ, d.x, d.z)
		for e := range o.d[:i] {
			if k.f.stop.Reached(4 * (k.f.n + k.f.m)) {
				return errStopped
			}
			p := &o.d[e]
			b := dot(d.imageX, p.imageX) + dot(d.imageZ, p.imageZ)
			d.add(-b, p)
		}
		norm := math.Sqrt(dot(d.imageX, d.imageX) + dot(d.imageZ, d.imageZ))
		if !(norm > 0) || math.IsInf(norm, 1) {
			break
		}
		d.scale(1 / norm)
		a := dot(d.imageX, o.rx) + dot(d.imageZ, o.rz)
		axpy(a, d.x, x)
		axpy(a, d.z, z)
		axpy(-a, d.imageX, o.rx)
		axpy(-a, d.imageZ, o.rz)
		if max(maxAbs(o.rx), maxAbs(o.rz)) <= limit {
			break
		}
	}
	if now := k.outerResidual(x, z, rx, rz); !(now < last) {
		copy(x, o.x)
		copy(z, o.z)
	}
	return finiteOr(last)
}

// finiteOr returns an error for the residual of no solution.
func finiteOr(residual float64) error {
	if math.IsNaN(residual) || math.IsInf(residual, 0) {
		return errUnsolved
	}
	return nil
}

// outer is the work space of refineMatrices.
type outer struct {
	columns, rows        []int32 // those with residuals
	rx, rz, wx, wz, x, z []float64
	d                    []outerDirection
	used                 int // the largest number of directions used, set to 0 by whoever asks
}

// outerDirection is a direction with its product with the matrix.
type outerDirection struct{ x, z, imageX, imageZ []float64 }

func (d *outerDirection) add(a float64, o *outerDirection) {
	axpy(a, o.x, d.x)
	axpy(a, o.z, d.z)
	axpy(a, o.imageX, d.imageX)
	axpy(a, o.imageZ, d.imageZ)
}

func (d *outerDirection) scale(a float64) {
	for _, v := range [4][]float64{d.x, d.z, d.imageX, d.imageZ} {
		scaleBy(v, a)
	}
}

func newOuter(f *form, matrices []*matrixPart) outer {
	n, m := f.n, f.m
	vector := func(size int) []float64 { return make([]float64, size) }
	o := outer{rx: vector(n), wx: vector(n), x: vector(n), rz: vector(m), wz: vector(m), z: vector(m)}
	for _, p := range matrices {
		for i := range p.g.members {
			j := p.g.members[i].item
			switch {
			case p.form == eliminateRows:
				o.columns = append(o.columns, j)
			case p.form == eliminateColumns && int(j) < f.zero+f.nonneg:
				o.rows = append(o.rows, j) // other cones have an H whose products are less exact than K
			}
		}
	}
	slices.Sort(o.columns)
	slices.Sort(o.rows)
	o.columns, o.rows = slices.Compact(o.columns), slices.Compact(o.rows)
	for range outerSteps {
		o.d = append(o.d, outerDirection{vector(n), vector(m), vector(n), vector(m)})
	}
	return o
}

// outerSteps is the number of directions of refineMatrices.
const outerSteps = 15

// outerProduct writes P x + A'z and A x - H z into px and pz, in the columns and rows
// that cones are eliminated onto; the others are zero.
func (k *kkt) outerProduct(px, pz, x, z []float64) {
	f, o := k.f, &k.outer
	f.mulP(o.wx, x)
	f.a.addMulT(o.wx, z)
	f.mulA(o.wz, x)
	clear(px)
	clear(pz)
	for _, j := range o.columns {
		px[j] = o.wx[j]
	}
	for _, r := range o.rows {
		pz[r] = o.wz[r]
		if i := int(r) - f.zero; i >= 0 {
			pz[r] -= k.h[i] * z[r]
		}
	}
}

// outerResidual writes the residuals of refineMatrices into k.outer and returns the largest.
func (k *kkt) outerResidual(x, z, rx, rz []float64) float64 {
	o := &k.outer
	k.outerProduct(o.rx, o.rz, x, z)
	for _, j := range o.columns {
		o.rx[j] = rx[j] - o.rx[j]
	}
	for _, r := range o.rows {
		o.rz[r] = rz[r] - o.rz[r]
	}
	return max(maxAbs(o.rx), maxAbs(o.rz))
}

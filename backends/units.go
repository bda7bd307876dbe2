package backends

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends/internal/spread"
	"github.com/conetune/conetune/internal/dense"
)

// units are sizes in which the numbers of a problem are near one: with d for the variables, e for the rows (one for all
// rows of a cone that is no product of intervals) and c for the objective,
//
//	e_i |a_ij| d_j ~ 1,    c d_i |p_ij| d_j ~ 1
//
// to powers of two, in the mean of the logarithms (see package spread). Rows without entries, of which x knows nothing,
// have e_i = 0. Right is the largest e_i |b_i|, bounds of boxes that are not far counting as b, and cost the largest
// d_j |q_j|. With these x/d has the size of right or, if that is zero, of c cost, and the objective that of the larger
// of cost |x/d| and |x/d|^2 / c.
type units struct {
	d, e        []float64
	curved      float64 // 1/c, 0 without P
	right, cost float64
	// x, slope and objective are the sizes of x/d, of the terms of Px + A'z and of the objective, 0 if the numbers do not
	// tell.
	x, slope, objective float64
	// plain says that those that the problem is given in will do: d, e and these sizes are ones then.
	plain bool

	rights, costs []float64 // e_i |b_i| and d_j |q_j|, in no order once typical has sorted them
	rows, cols    []float64 // work space
}

const (
	// The entries of a problem are in units of its own when the largest ones of rows and columns, b and q are within this
	// factor of each other and of one. It is then judged as it is.
	sameUnits = 1e3
	// Rounds of the means.
	unitRounds = 2
)

// of returns the units of a problem, in the memory of u.
func (u *units) of(p *Problem) *units {
	n, m := p.Dims()
	*u = units{d: dense.Cleared(u.d, n), e: dense.Cleared(u.e, m), rows: dense.Cleared(u.rows, m),
		cols: dense.Cleared(u.cols, n), rights: u.rights, costs: u.costs}
	floats.AddConst(1, u.d)
	floats.AddConst(1, u.e)
	rows, cols := u.rows, u.cols
	spread.Largest(p.A, 1, u.e, u.d, rows, cols)
	Blocks(p.Cones, func(first, dim int) { fillMax(rows[first : first+dim]) })
	u.curved = spread.Largest(p.P, 1, u.d, u.d, cols, cols)
	if within(rows) && within(cols) {
		u.sizes(p)
		if within([]float64{u.right, u.cost, u.curved}) {
			u.x, u.slope, u.objective, u.plain = 1, 1, 1, true
			return u
		}
	}
	if c := u.means(p); u.curved > 0 {
		u.curved = 1 / c
	}
	for i, largest := range rows {
		if largest == 0 {
			u.e[i] = 0
		}
	}
	u.sizes(p)
	return u
}

// rightSizes writes the sizes of b, bounds of boxes that are not far counting as b, where row i is multiplied by
// unit(i): the largest of its rows for each row of a cone that is no product of intervals.
func rightSizes(out []float64, p *Problem, unit func(i int) float64) []float64 {
	for i, b := range p.B {
		out[i] = unit(i) * math.Abs(b)
	}
	far := farBound(p, unit)
	for row, c := range Rows(p.Cones) {
		if c.Kind == BoxCone {
			for i := range c.Dim {
				for _, v := range []float64{c.Lower[i], c.Upper[i]} {
					if size := unit(row+i) * math.Abs(v); size < far {
						out[row+i] = max(out[row+i], size)
					}
				}
			}
		}
	}
	Blocks(p.Cones, func(first, dim int) { fillMax(out[first : first+dim]) })
	return out
}

// typical returns the sizes of a typical e_i |b_i| and d_j |q_j|.
func (u *units) typical() (ofRow, ofColumn float64) {
	if u.plain {
		return 1, 1
	}
	return lowerQuartile(u.rights), lowerQuartile(u.costs)
}

// lowerQuartile is that of the sizes that are not zero, and one where all are. It sorts them, the zeros last.
func lowerQuartile(sizes []float64) float64 {
	sizes = slices.DeleteFunc(sizes, func(v float64) bool { return v == 0 })
	if len(sizes) == 0 {
		return 1
	}
	slices.Sort(sizes)
	return sizes[(len(sizes)-1)/4]
}

// part returns the units of what has these rows and columns of the problem that has u, in the memory of another.
func (u *units) part(room *units, rows, cols []int32) *units {
	d, e := dense.Cleared(room.d, len(cols)), dense.Cleared(room.e, len(rows))
	for at, j := range cols {
		d[at] = u.d[j]
	}
	for at, i := range rows {
		e[at] = u.e[i]
	}
	*room = *u
	room.d, room.e = d, e
	return room
}

// sizes finds right, cost and objective.
func (u *units) sizes(p *Problem) {
	u.rights, u.costs = dense.Cleared(u.rights, len(p.B)), dense.Cleared(u.costs, len(p.Q))
	right, cost := rightSizes(u.rights, p, func(i int) float64 { return u.e[i] }), u.costs
	for j, q := range p.Q {
		cost[j] = u.d[j] * math.Abs(q)
	}
	u.right, u.cost = maxAbs(right), maxAbs(cost)
	u.x = u.right
	if u.x == 0 && u.curved > 0 {
		u.x = u.cost / u.curved
	}
	u.slope = max(u.cost, u.curved*u.x)
	u.objective = u.slope * u.x
}

func within(v []float64) bool {
	for _, x := range v {
		if x != 0 && (x > sameUnits || x < 1/sameUnits) {
			return false
		}
	}
	return true
}

// means finds d and e, and returns c.
func (u *units) means(p *Problem) float64 {
	n, m := p.Dims()
	system := spread.System{
		Rows: m, Cols: n, A: spread.Of(p.A, spread.RoughLog2), P: spread.Of(p.P, spread.RoughLog2),
		Blocks: func(visit func(first, dim int)) { Blocks(p.Cones, visit) },
	}
	f := system.Solve(unitRounds, 0).Powers()
	u.d, u.e = f.D, f.E
	return f.C
}

// entries visits the nonzeros; a may be nil.
func entries(a *sparse.CSC, visit func(i, j int, v float64)) {
	stored(a, func(_, i, j int, v float64) {
		if v != 0 {
			visit(i, j, v)
		}
	})
}

// stored visits all entries, with explicit zeros, of which it also tells the number.
func stored(a *sparse.CSC, visit func(k, i, j int, v float64)) {
	if a == nil {
		return
	}
	raw := a.RawMatrix()
	for j := range len(raw.Indptr) - 1 {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			visit(k, raw.Ind[k], j, raw.Data[k])
		}
	}
}

// nonzeros counts the entries, with explicit zeros.
func nonzeros(a *sparse.CSC) int {
	if a == nil {
		return 0
	}
	return len(a.RawMatrix().Data)
}

// entriesOf visits their absolute values.
func entriesOf(a *sparse.CSC, visit func(i, j int, v float64)) {
	entries(a, func(i, j int, v float64) { visit(i, j, math.Abs(v)) })
}

// against says how large the residuals of a point are in the units of the data.
type against struct {
	// own are the residuals as in Residuals, but with nothing in the place of its 1.
	own Residuals
	// right and cost are the first two by b and q alone, zero where these are.
	right, cost float64
}

// inUnits measures the point that recheck and absolute had last, with these objectives.
func (c *checker) inUnits(p *Problem, u *units, s, z []float64, primal, dual float64) against {
	var rp, sizeP, lostP, rd, sizeD, lostD float64
	for i, b := range p.B {
		rp = max(rp, u.e[i]*math.Abs(c.ax[i]+s[i]-b))
		sizeP = max(sizeP, u.e[i]*max(math.Abs(b), math.Abs(c.ax[i]), math.Abs(s[i])))
		lostP = max(lostP, u.e[i]*c.ofRows[i])
	}
	for j, q := range p.Q {
		rd = max(rd, u.d[j]*math.Abs(c.px[j]+q+c.atz[j]))
		sizeD = max(sizeD, u.d[j]*max(math.Abs(q), math.Abs(c.px[j]), math.Abs(c.atz[j])))
		lostD = max(lostD, u.d[j]*c.ofCols[j])
	}
	c.eachCone(p, s, z, func(row int, k Cone, sk, zk []float64, outside, dual float64) {
		// z has the unit 1/e, as A'z has the unit 1/d
		outside, dual = k.inUnits(sk, zk, u.e[row:row+k.Dim], outside, dual)
		rp, rd = max(rp, outside), max(rd, dual)
	})
	return against{
		own: Residuals{Primal: share(rp, u.x, sizeP), Dual: share(rd, u.slope, sizeD), Gap: math.Abs(primal-dual) /
			u.ofObjective(primal, dual)},
		right: share(max(unitRoundoff*lostP, rp), u.right, 0), cost: share(max(unitRoundoff*lostD, rd), u.cost, 0),
	}
}

// ofObjective is the size of the smaller of two objectives, in units of one at least that of the data.
func (u *units) ofObjective(primal, dual float64) float64 {
	least := 1.
	if u.objective > 0 {
		least = min(1, u.objective)
	}
	return max(least, min(math.Abs(primal), math.Abs(dual)))
}

// absolute adds up the absolute terms of Ax and of Px + A'z: points can be so large that they cancel to nothing but
// rounding.
func (c *checker) absolute(p *Problem, x, z []float64) {
	c.ofRows, c.ofCols = dense.Cleared(c.ofRows, len(p.B)), dense.Cleared(c.ofCols, len(p.Q))
	rows, cols := c.ofRows, c.ofCols
	if p.A != nil {
		a := p.A.RawMatrix()
		for j, xj := range x {
			sum := 0.0
			xj = math.Abs(xj)
			ind, data := a.Ind[a.Indptr[j]:a.Indptr[j+1]], a.Data[a.Indptr[j]:a.Indptr[j+1]]
			for k, v := range data {
				i := ind[k]
				v = math.Abs(v)
				rows[i] += v * xj
				sum += v * math.Abs(z[i])
			}
			cols[j] = sum
		}
	}
	entriesOf(p.P, func(i, j int, v float64) {
		if cols[i] += v * math.Abs(x[j]); i != j {
			cols[j] += v * math.Abs(x[i])
		}
	})
}

// largestTerms returns the largest terms of the primal and of the dual objective, but for those that they share, for
// the point that recheck had last.
func (c *checker) largestTerms(p *Problem, x, z []float64) (ofX, ofZ float64) {
	for j, q := range p.Q {
		ofX = max(ofX, math.Abs(q*x[j]), math.Abs(x[j]*c.px[j]/2))
	}
	for row, k := range Rows(p.Cones) {
		ofZ = max(ofZ, k.largestTerm(p.B[row:row+k.Dim], z[row:row+k.Dim]))
	}
	return ofX, ofZ
}

// sizeOfObjective is that of what the objectives of the point that measure had last are added up from, in units of the
// data at least.
func (j *Judge) sizeOfObjective() float64 {
	m := &j.last
	ofX, ofZ := j.check.largestTerms(j.p, m.x, m.z)
	return max(j.unitsOf().ofObjective(m.primal, m.dual), ofX, ofZ)
}

// mostChange is the part of the largest term of an objective that last places may make.
const mostChange = 1e-6

// share is v / max(size, more), and 0 where the size is not known.
func share(v, size, more float64) float64 {
	if size == 0 {
		return 0
	}
	return v / max(size, more)
}

// Judge is the test of optimal points that [Open] makes, for solvers that want to know before they end. It is for one
// goroutine at a time, and for one problem, whose numbers may change with Reset.
type Judge struct {
	p     *Problem
	known bool
	units *units
	find  func(*Problem) *units
	room  units // of the last problem
	check checker
	moved checker // of beyond
	has   bool    // last is of the problem as it is
	last  measured
}

// NewJudge returns the judge of a problem. It panics unless p has a shape.
func NewJudge(p *Problem) *Judge {
	p.mustFit()
	j := &Judge{p: p}
	j.find = j.room.of
	return j
}

// unitsOf returns what find does, which it asks once.
func (j *Judge) unitsOf() *units {
	if !j.known {
		j.units, j.known = j.find(j.p), true
	}
	return j.units
}

// Reset says that numbers of the problem have changed, or that p is now the problem. It panics unless p has a shape.
func (j *Judge) Reset(p *Problem) {
	p.mustFit()
	j.reset(p, true)
}

// reset says whether numbers of the matrices have changed, too.
func (j *Judge) reset(p *Problem, matrices bool) {
	j.p, j.known, j.has = p, false, false
	j.check.known.forget(matrices)
}

// problem is what is judged. It panics for a zero Judge.
func (j *Judge) problem() *Problem {
	if j.p == nil || j.find == nil {
		panic("backends: a Judge is zero; NewJudge makes one")
	}
	return j.p
}

// Optimal says whether a finite point passes as optimal at the tolerance eps. It panics unless x, s and z have lengths
// n, m and m.
func (j *Judge) Optimal(x, s, z []float64, eps float64) bool { return j.Excess(x, s, z, eps) <= 1 }

// Excess returns how many times larger than at the tolerance eps the residuals of a point are, by the measure that is
// worst.
func (j *Judge) Excess(x, s, z []float64, eps float64) float64 {
	n, m := j.problem().Dims()
	mustHave(len(x) == n && len(s) == m && len(z) == m)
	j.measure(x, s, z)
	found := j.at(eps)
	excess := found.excess() / eps
	if found.Max() <= eps {
		excess = max(excess, j.alone(eps))
	}
	return excess
}

// weighed is how large the residuals of a point are, as [Residuals] has them and in units.
type weighed struct {
	Residuals
	against
}

// excess is the worst of them, as a residual.
func (w *weighed) excess() float64 {
	return max(w.Max(), w.own.Max()/inUnitsFactor, max(w.right, w.cost)/againstFactor)
}

// measured is a point, and what was found about it.
type measured struct {
	x, s, z []float64 // copies
	weighed
	primal, dual float64
	exact        bool     // the sums are those of recheckExactly
	beyond       *weighed // the residuals beyond the last places of their terms, nil where these do not count
	looked       bool     // beyond is known
}

// measure measures a point, or remembers it if it is the one that was measured last: solvers ask before they end, and
// what they return is asked about again.
func (j *Judge) measure(x, s, z []float64) *measured {
	m := &j.last
	if j.has && slices.Equal(m.x, x) && slices.Equal(m.s, s) && slices.Equal(m.z, z) {
		return m
	}
	*m = measured{x: append(m.x[:0], x...), s: append(m.s[:0], s...), z: append(m.z[:0], z...)}
	j.has = true
	m.Residuals, m.primal, m.dual = j.check.recheck(j.p, x, s, z)
	j.check.absolute(j.p, x, z)
	if !(unitRoundoff*j.check.terms(j.p, s, x, z) <= roundingDecides*j.unitsOf().ofObjective(m.primal, m.dual)) {
		j.exactly()
	} else {
		m.against = j.check.inUnits(j.p, j.unitsOf(), s, z, m.primal, m.dual)
	}
	return m
}

// exactly measures the point that measure had last in sums of twice the precision.
func (j *Judge) exactly() {
	m := &j.last
	m.Residuals, m.primal, m.dual = j.check.recheckExactly(j.p, m.x, m.s, m.z)
	m.against, m.exact = j.check.inUnits(j.p, j.unitsOf(), m.s, m.z, m.primal, m.dual), true
}

// at returns the residuals that the point which measure had last is judged by at the tolerance eps: those beyond the
// last places where only these meet it.
func (j *Judge) at(eps float64) *weighed {
	m, near := &j.last, math.Sqrt(eps)
	if !m.exact && m.excess() > eps && m.Max() <= near {
		j.exactly()
	}
	if m.excess() <= eps || !(m.Max() <= near) {
		return &m.weighed
	}
	if !m.looked {
		m.beyond, m.looked = j.beyond(m), true
	}
	if m.beyond != nil && m.beyond.excess() <= eps {
		return m.beyond
	}
	return &m.weighed
}

// beyond measures the point that recheckExactly had last with its products moved to where the residuals are least, by
// at most the last places of the terms that they are added up from; what is left of each is told as a part of its own
// terms, too, or of typical data where these are larger: a variable at its bound of zero has terms of what is left
// alone. Where nothing is left, the point is exact for numbers of the problem that differ in their last places from
// those given (Oettli and Prager 1964), and what there is of residuals is no sign of a better point. It returns nil
// where that could matter to the objective: the residuals times the variables are to be next to nothing of the terms of
// the primal objective, those times the multipliers of the dual one, and the gap of either. How much of b and q is lost
// is told with the last places.
func (j *Judge) beyond(m *measured) *weighed {
	p, c, to := j.p, &j.check, &j.moved
	least := j.unitsOf().ofObjective(m.primal, m.dual)
	rows, columns, byRows, byColumns := j.move(m)
	ofX, ofZ := c.largestTerms(p, m.x, m.z)
	if !(byColumns <= mostChange*max(least, ofX) && byRows <= mostChange*max(least, ofZ) &&
		math.Abs(m.primal-m.dual) <= mostChange*max(least, ofX, ofZ)) {
		return nil
	}
	dual := m.dual + lastPlacesOf(m.primal-m.dual, c.terms(p, m.s, m.x, m.z))
	t := to.tally(p, m.x, m.s, m.z)
	out := &weighed{}
	out.Residuals, _, _ = t.residuals()
	out.Primal, out.Dual, out.Gap = max(out.Primal, rows), max(out.Dual, columns), RelativeGap(m.primal, dual)
	out.against = to.inUnits(p, j.unitsOf(), m.s, m.z, m.primal, dual)
	out.right, out.cost = m.right, m.cost
	return out
}

// move moves the products of the point that measure had last to where the residuals are least, by at most the last
// places of the terms that they are added up from. It returns what is left, as a part of the terms or of typical data,
// at most, and the sums of the residuals times the multipliers and times the variables.
func (j *Judge) move(m *measured) (rows, columns, byRows, byColumns float64) {
	c, to, u := &j.check, &j.moved, j.unitsOf()
	right, cost := u.typical()
	to.ofRows, to.ofCols = c.ofRows, c.ofCols
	to.ax, to.px, to.atz = append(to.ax[:0], c.ax...), append(to.px[:0], c.px...), append(to.atz[:0], c.atz...)
	for i, b := range j.p.B {
		left, terms := b-m.s[i]-c.ax[i], c.ofRows[i]+math.Abs(m.s[i])+math.Abs(b)
		move := lastPlacesOf(left, terms)
		to.ax[i] += move
		rows = max(rows, u.e[i]*math.Abs(left-move)/max(u.e[i]*terms, right))
		byRows += math.Abs(left * m.z[i])
	}
	for k, q := range j.p.Q {
		left, terms := -q-c.px[k]-c.atz[k], c.ofCols[k]+math.Abs(q)
		move := lastPlacesOf(left, terms)
		to.atz[k] += move
		columns = max(columns, u.d[k]*math.Abs(left-move)/max(u.d[k]*terms, cost))
		byColumns += math.Abs(left * m.x[k])
	}
	return rows, columns, byRows, byColumns
}

// lastPlacesOf is the part of v that the last places of terms are.
func lastPlacesOf(v, terms float64) float64 { return max(-lastPlaces*terms, min(v, lastPlaces*terms)) }

// The sums of a point are added up in twice the precision where their rounding may be more than this part of the
// objective, and where last places may decide.
const roundingDecides = 1e-10

// alone is how many times larger the residuals of that point are beside their own rows and columns (see Unsettled) than
// they may be at the tolerance eps, less strictly as in other units, in a small problem.
func (j *Judge) alone(eps float64) float64 {
	if !j.p.small() {
		return 0
	}
	m := &j.last
	return j.Unsettled(m.x, m.s, m.z, eps) * polished / inUnitsFactor
}

const (
	// In the units of the data the residuals of an optimal point may be so many times the tolerance,
	inUnitsFactor = 100
	// and what is left of b and q so much of them.
	againstFactor = 1e5
)

// objection says why the point that measure had last must not be called optimal, though its residuals are small as they
// are: because rows, columns, b or q are as small, or the point is so large that b and q are lost in it. It is empty
// where nothing speaks against the point.
func (j *Judge) objection(eps float64) string {
	m := j.at(eps)
	switch {
	case !(m.own.Max() <= inUnitsFactor*eps):
		return fmt.Sprintf("in the units of the data the residuals are %.1e (primal), %.1e (dual), %.1e (gap)", m.own.Primal,
			m.own.Dual, m.own.Gap)
	case !(max(m.right, m.cost) <= againstFactor*eps):
		return fmt.Sprintf("the point is so large that the residuals are %.1e of b and %.1e of q", m.right, m.cost)
	}
	if excess := j.alone(eps); !(excess <= 1) {
		return fmt.Sprintf(
			"residuals of single rows or columns are %.1e times as large as they should be beside their own data", excess)
	}
	return ""
}

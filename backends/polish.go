package backends

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends/internal/ldl"
)

const (
	// So many changes are made at most, and no more once one leaves over worthwhileDecrease of the residual before.
	polishRounds       = 40
	worthwhileDecrease = 0.95
	// An entry of a multiplier or a direction may change by its own size, or by this part of the largest term of its
	// equations.
	freedomShare = 1e-3
	// The regularisation of the equations, which are scaled to terms of size one.
	polishDelta = 1e-16
)

// provePrimal returns the best certificate near z: of z itself with A'z made zero, and of z without its small parts.
func (c *checker) provePrimal(p *Problem, z []float64, eps float64) (proof, error) {
	best, err := c.primalInfeasible(p, z, nil)
	if best.v == nil || err == nil && best.residual <= eps || p.A == nil {
		return best, err
	}
	small := c.smallInPrimal(p, best)
	best, err = c.polishPrimal(p, best.v, best, err, eps)
	if small == nil || err == nil && best.residual <= eps {
		return best, err
	}
	return c.polishPrimal(p, small, best, err, eps)
}

// polishPrimal makes A'z zero, with z in twice the precision, and returns the best of what it meets on the way and what
// was known.
func (c *checker) polishPrimal(p *Problem, z []float64, best proof, err error, eps float64) (proof, error) {
	z = slices.Clone(z)
	low, before := make([]float64, len(z)), make([]float64, len(z))
	eq, terms, weight := primalEquations(p, z)
	eq.polish(weight, func(right []float64) {
		for e, j := range eq.of {
			dot := timesColumn(p, j, z, low)
			right[e] = -dot.value() / terms[j]
		}
	}, func(change *leastChange, right []float64) (enough bool) {
		change.apply(right, low)
		carry(z, low)
		copy(before, z)
		c.intoDual(p, z)
		for i, v := range z {
			if v == 0 || v != before[i] {
				low[i] = 0
			}
		}
		next, nextErr := c.primalInfeasible(p, z, low)
		if nextErr == nil && (err != nil || next.residual < best.residual) {
			best, err = next, nil
		}
		return err == nil && best.residual <= eps/16
	})
	return best, err
}

// carry moves what is not below the last places of v from low to v.
func carry(v, low []float64) {
	for i, x := range v {
		v[i], low[i] = twoSum(x, low[i])
	}
}

// smallInPrimal returns z without the entries that are on their way to zero, nil where there are none. In a vector on
// its way to a certificate they weigh about as much as what is left of A'z, and the others about as much as b'z: the
// mean of the two divides them.
func (c *checker) smallInPrimal(p *Problem, of proof) []float64 {
	if !(of.residual > 0 && of.residual < 1) {
		return nil
	}
	weight := make([]float64, len(of.v)) // in the units of b'z
	size := c.known.about(p).ofX()
	entriesOf(p.A, func(i, j int, a float64) { weight[i] = max(weight[i], a*size[j]*math.Abs(of.v[i])) })
	for i, b := range p.B {
		weight[i] = max(weight[i], math.Abs(b*of.v[i]))
	}
	return without(p, of.v, weight, math.Sqrt(of.residual)*-of.negative)
}

// without returns v without the parts, rows of cones that are products of intervals and other cones as a whole, whose
// weights are all below the least one, nil where there are none. Equations have no such parts.
func without(p *Problem, v, weight []float64, least float64) []float64 {
	out, some := slices.Clone(v), false
	drop := func(first, dim int) {
		for i := first; i < first+dim; i++ {
			some = some || out[i] != 0
			out[i] = 0
		}
	}
	for row, k := range Rows(p.Cones) {
		if k.Kind.Intervals() && k.Kind != ZeroCone {
			for i := row; i < row+k.Dim; i++ {
				if weight[i] < least {
					drop(i, 1)
				}
			}
		} else if !k.Kind.Intervals() && maxAbs(weight[row:row+k.Dim]) < least {
			drop(row, k.Dim)
		}
	}
	if !some {
		return nil
	}
	return out
}

// primalEquations returns A'z = 0, each divided by its terms at z, the sum of the |a_ij z_i|, and how freely the
// entries of z may change.
func primalEquations(p *Problem, z []float64) (eq *equations, terms, weight []float64) {
	n, m := p.Dims()
	a := p.A.RawMatrix()
	terms, weight = make([]float64, n), make([]float64, m)
	reach := make([]float64, m) // max_j |a_ij| / terms_j
	eq = &equations{unknowns: m, ptr: []int32{0}}
	for j := range n {
		for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
			terms[j] += math.Abs(a.Data[k] * z[a.Ind[k]])
		}
		if terms[j] == 0 {
			continue
		}
		for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
			reach[a.Ind[k]] = max(reach[a.Ind[k]], math.Abs(a.Data[k])/terms[j])
			eq.add(a.Ind[k], a.Data[k]/terms[j])
		}
		eq.endRow(j)
	}
	for row, k := range Rows(p.Cones) {
		for i := row; i < row+k.Dim; i++ {
			if weight[i] = math.Abs(z[i]); k.Kind == ZeroCone && reach[i] > 0 {
				weight[i] = max(weight[i], freedomShare/reach[i])
			}
		}
	}
	eq.within(p, z, 0, weight)
	return eq, terms, weight
}

// proveDual returns the best certificate near x: of x itself with Px and Ax + s made zero, and of x with the small
// parts of s at zero.
func (c *checker) proveDual(p *Problem, x []float64, eps float64) (proof, error) {
	best, err := c.dualInfeasible(p, x, nil)
	if err != nil || best.residual <= eps {
		return best, err
	}
	rows := newRowLists(p)
	small := c.smallInDual(p, rows, best)
	best = c.polishDual(p, rows, x, nil, best, eps)
	if small != nil && !(best.residual <= eps) {
		best = c.polishDual(p, rows, x, small, best, eps)
	}
	return best, nil
}

// smallInDual says of which rows s is on its way to zero, as smallInPrimal does, nil for none.
func (c *checker) smallInDual(p *Problem, rows *rowLists, of proof) []bool {
	if !(of.residual > 0 && of.residual < 1) {
		return nil
	}
	s := make([]float64, len(p.B))
	rows.slack(p, of.v, nil, s)
	_, size := c.known.about(p).ofDual()
	weight := make([]float64, len(s))
	for i, v := range s {
		weight[i] = math.Abs(v) * size[i]
	}
	kept := without(p, s, weight, math.Sqrt(of.residual)*-of.negative)
	if kept == nil {
		return nil
	}
	out := make([]bool, len(s))
	for i, v := range s {
		out[i] = v != kept[i]
	}
	return out
}

// polishDual makes Px and Ax + s zero, with x in twice the precision and s = 0 in the given rows, and returns the best
// of what it meets on the way and what was known.
func (c *checker) polishDual(p *Problem, rows *rowLists, x []float64, zero []bool, best proof, eps float64) proof {
	n, m := p.Dims()
	x = slices.Clone(x)
	s, both := make([]float64, m), make([]float64, n+m)
	low := both[:n]
	slack := func() {
		rows.slack(p, x, low, s)
		for i, z := range zero {
			if z {
				s[i] = 0
			}
		}
	}
	slack()
	eq, terms, weight := dualEquations(p, rows, x, s)
	eq.polish(weight, func(right []float64) {
		slack()
		for at, e := range eq.of {
			dot := rows.times(e, x, low)
			if i := e - rows.curved; i >= 0 {
				dot.add(s[i])
			}
			right[at] = -dot.value() / terms[e]
		}
	}, func(change *leastChange, right []float64) (enough bool) {
		change.apply(right, both)
		carry(x, low)
		next, nextErr := c.dualInfeasible(p, x, low)
		if nextErr == nil && next.residual < best.residual {
			best = next
			best.v = slices.Clone(x)
		}
		return best.residual <= eps/16
	})
	return best
}

// dualEquations returns Px = 0 and Ax + s = 0 in x and then s, each divided by its terms at x, and how freely the
// unknowns may change.
func dualEquations(p *Problem, rows *rowLists, x, s []float64) (eq *equations, terms, weight []float64) {
	n, m := len(x), len(s)
	terms, weight = make([]float64, rows.count), make([]float64, n+m)
	reach := make([]float64, n) // max_e |m_ej| / terms_e
	for i, v := range s {
		weight[n+i] = math.Abs(v)
	}
	eq = &equations{unknowns: n + m, ptr: []int32{0}}
	eq.within(p, s, n, weight)
	for e := range rows.count {
		ind, val := rows.row(e)
		for k, j := range ind {
			terms[e] += math.Abs(val[k] * x[j])
		}
		if terms[e] == 0 {
			continue
		}
		for k, j := range ind {
			reach[j] = max(reach[j], math.Abs(val[k])/terms[e])
			eq.add(int(j), val[k]/terms[e])
		}
		if i := e - rows.curved; i >= 0 && weight[n+i] > 0 {
			eq.add(n+i, 1/terms[e])
		}
		eq.endRow(e)
	}
	for j := range x {
		if weight[j] = math.Abs(x[j]); reach[j] > 0 {
			weight[j] = max(weight[j], freedomShare/reach[j])
		}
	}
	return eq, terms, weight
}

// rowLists holds the rows of P, if there are entries, and then those of A.
type rowLists struct {
	count, curved int // equations, and those of them that belong to P
	ptr           []int
	ind           []int32
	val           []float64
}

func (r *rowLists) row(e int) ([]int32, []float64) {
	return r.ind[r.ptr[e]:r.ptr[e+1]], r.val[r.ptr[e]:r.ptr[e+1]]
}

func newRowLists(p *Problem) *rowLists {
	n, m := p.Dims()
	r := &rowLists{count: m}
	if p.Quadratic() {
		r.curved = n
		r.count += n
	}
	r.ptr = make([]int, r.count+1)
	each := func(do func(row, col int, v float64)) {
		if r.curved > 0 {
			stored(p.P, func(_, i, j int, v float64) {
				if do(i, j, v); i != j {
					do(j, i, v)
				}
			})
		}
		stored(p.A, func(_, i, j int, v float64) { do(r.curved+i, j, v) })
	}
	each(func(row, _ int, _ float64) { r.ptr[row+1]++ })
	for i := range r.count {
		r.ptr[i+1] += r.ptr[i]
	}
	next := append([]int(nil), r.ptr...)
	r.ind, r.val = make([]int32, r.ptr[r.count]), make([]float64, r.ptr[r.count])
	each(func(row, col int, v float64) {
		r.ind[next[row]], r.val[next[row]] = int32(col), v
		next[row]++
	})
	return r
}

// times returns the product of row e with the sum of the vectors.
func (r *rowLists) times(e int, parts ...[]float64) (sum exactSum) {
	ind, val := r.row(e)
	for _, x := range parts {
		if x == nil {
			continue
		}
		for k, j := range ind {
			sum.addProduct(val[k], x[j])
		}
	}
	return sum
}

// slack writes into s the point of the recession cone next to -A(x + low).
func (r *rowLists) slack(p *Problem, x, low, s []float64) {
	for i := range s {
		dot := r.times(r.curved+i, x, low)
		s[i] = -dot.value()
	}
	for row, c := range Rows(p.Cones) {
		c.intoRecession(s[row : row+c.Dim])
	}
}

// equations is a system M y = r, equation by equation, and the column or row that each comes from.
type equations struct {
	unknowns int
	local    []ellipsoid
	ptr      []int32
	ind      []int32
	val      []float64
	of       []int
}

// ellipsoid is that of Dikin at a point v of a cone, {v + Dw: |w| <= 1}, for the unknowns from first on: it lies in the
// cone. Of an orthant D is the diagonal of v.
type ellipsoid struct {
	first, dim int
	d          []float64
}

// within lets the unknowns from offset on, v, which is in the cones, change within the ellipsoids at v where these are
// known, and by the largest entry of the cone elsewhere.
func (e *equations) within(p *Problem, v []float64, offset int, weight []float64) {
	for row, k := range Rows(p.Cones) {
		at := offset + row
		switch of := families[k.Kind].ellipsoid; {
		case of != nil && k.Dim <= largestEllipsoid:
			e.local = append(e.local, ellipsoid{at, k.Dim, of(v[row : row+k.Dim])})
		case !k.Kind.Intervals():
			fillMax(weight[at : at+k.Dim])
		}
	}
}

// largestEllipsoid is the dimension up to which the dense block of a cone is worth its price.
const largestEllipsoid = 64

func (e *equations) add(unknown int, v float64) {
	e.ind, e.val = append(e.ind, int32(unknown)), append(e.val, v)
}

func (e *equations) endRow(of int) {
	e.ptr, e.of = append(e.ptr, int32(len(e.ind))), append(e.of, of)
}

// polish lets improve, in rounds, change the unknowns by what the equations lack, until it says that this is enough or
// that does not fall any more.
func (e *equations) polish(weight []float64, lack func(right []float64), improve func(change *leastChange,
	right []float64) (enough bool)) {
	change, ok := newLeastChange(e, weight)
	if !ok {
		return
	}
	right, last := make([]float64, len(e.of)), math.Inf(1)
	for range polishRounds {
		lack(right)
		if improve(change, right) {
			return
		}
		size := maxAbs(right)
		if !(size < worthwhileDecrease*last) {
			return
		}
		last = size
	}
}

// leastChange solves M y = r by the y with the least |D^-1 y|_2, from the quasi-definite system
//
//	[I  B'; B  -delta I] [w; l] = [0; r],    B = M D,  y = D w.
//
// D is the diagonal of weight, but for blocks of ellipsoids.
type leastChange struct {
	weight []float64
	local  []ellipsoid
	factor *ldl.Factor
	x      []float64
}

func newLeastChange(eq *equations, weight []float64) (*leastChange, bool) {
	k := eq.unknowns
	total := k + len(eq.ptr) - 1
	ptr, ind, val := make([]int32, 1, total+1), make([]int32, 0, len(eq.ind)+total), make([]float64, 0, len(eq.ind)+total)
	sign := make([]int8, total)
	for i := range k {
		ind, val, sign[i] = append(ind, int32(i)), append(val, 1), 1
		ptr = append(ptr, int32(len(ind)))
	}
	block := slices.Repeat([]int32{-1}, k)
	for b, l := range eq.local {
		for i := range l.dim {
			block[l.first+i] = int32(b)
		}
	}
	for e := range len(eq.ptr) - 1 {
		last := int32(-1)
		for at := eq.ptr[e]; at < eq.ptr[e+1]; at++ {
			b := block[eq.ind[at]]
			if b < 0 {
				ind, val = append(ind, eq.ind[at]), append(val, eq.val[at]*weight[eq.ind[at]])
				continue
			}
			l := &eq.local[b]
			if b != last { // entries of a cone follow each other
				for i := range l.dim {
					ind, val = append(ind, int32(l.first+i)), append(val, 0)
				}
				last = b
			}
			row := l.d[(int(eq.ind[at])-l.first)*l.dim:][:l.dim]
			for i, d := range row {
				val[len(val)-l.dim+i] += eq.val[at] * d
			}
		}
		ind, val, sign[k+e] = append(ind, int32(k+e)), append(val, -polishDelta), -1
		ptr = append(ptr, int32(len(ind)))
	}
	factor, err := ldl.Analyze(total, ptr, ind, sign)
	if err != nil {
		return nil, false
	}
	factor.Factorize(val, nil, 0, polishDelta)
	return &leastChange{weight, eq.local, factor, make([]float64, total)}, true
}

// apply adds the change for the right-hand side to y, unless it is not finite.
func (l *leastChange) apply(right, y []float64) {
	k := len(l.weight)
	clear(l.x[:k])
	copy(l.x[k:], right)
	l.factor.Solve(l.x)
	if !allFinite(l.x) {
		return
	}
	for _, b := range l.local {
		w := l.x[b.first : b.first+b.dim]
		for i := range w {
			for j, v := range w {
				y[b.first+i] += b.d[i*b.dim+j] * v
			}
		}
		clear(w)
	}
	for i, w := range l.weight {
		y[i] += w * l.x[i]
	}
}

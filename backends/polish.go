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
	s := primalSystem(p, z)
	before := make([]float64, len(z))
	s.polish(func() (enough bool) {
		copy(before, s.y)
		c.intoDual(p, s.y)
		for i, v := range s.y {
			if v == 0 || v != before[i] {
				s.low[i] = 0
			}
		}
		next, nextErr := c.primalInfeasible(p, s.y, s.low)
		if nextErr == nil && (err != nil || next.residual < best.residual) {
			best, err = next, nil
		}
		return err == nil && best.residual <= eps/16
	})
	return best, err
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

// primalSystem is A'z = 0, each equation divided by its terms at z, the sum of the |a_ij z_i|.
func primalSystem(p *Problem, z []float64) *system {
	s, a := newSystem(z), p.A.RawMatrix()
	for j := range p.Q {
		for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
			s.add(a.Ind[k], a.Data[k])
		}
		s.end(s.size(), exactSum{})
	}
	reach := s.reach()
	for row, k := range Rows(p.Cones) {
		for i := row; i < row+k.Dim; i++ {
			if s.weight[i] = math.Abs(z[i]); k.Kind == ZeroCone && reach[i] > 0 {
				s.weight[i] = max(s.weight[i], freedomShare/reach[i])
			}
		}
	}
	s.within(p, 0)
	return s
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
	s := newSystem(slices.Concat(x, make([]float64, m)))
	x, low := s.y[:n], s.low[:n]
	slack := func() {
		rows.slack(p, x, low, s.y[n:])
		for i, z := range zero {
			if z {
				s.y[n+i] = 0
			}
		}
		clear(s.low[n:])
	}
	slack()
	s.dual(p, rows)
	s.polish(func() (enough bool) {
		next, nextErr := c.dualInfeasible(p, x, low)
		if nextErr == nil && next.residual < best.residual {
			best = next
			best.v = slices.Clone(x)
		}
		slack()
		return best.residual <= eps/16
	})
	return best
}

// dual has Px = 0 and Ax + s = 0 in x and then s, each divided by its terms at x.
func (s *system) dual(p *Problem, rows *rowLists) {
	n := len(p.Q)
	for e := range rows.count {
		ind, val := rows.row(e)
		for k, j := range ind {
			s.add(int(j), val[k])
		}
		terms := s.size()
		if i := e - rows.curved; i >= 0 {
			s.add(n+i, 1)
		}
		s.end(terms, exactSum{})
	}
	reach := s.reach()
	for u, v := range s.y {
		if s.weight[u] = math.Abs(v); u < n && reach[u] > 0 {
			s.weight[u] = max(s.weight[u], freedomShare/reach[u])
		}
	}
	s.within(p, n)
	for u := n; u < len(s.y); u++ {
		if s.weight[u] == 0 {
			s.weight[u] = -1
		}
	}
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

// system is M y + c = 0, equation by equation, each divided by its terms. The unknowns have a part low below the last
// places of y.
type system struct {
	ptr, ind []int32
	val      []float64
	terms    []float64
	constant []exactSum
	y, low   []float64
	weight   []float64 // how freely they may change, negative for not at all
	local    []ellipsoid
}

func newSystem(y []float64) *system {
	return &system{ptr: []int32{0}, y: slices.Clone(y), low: make([]float64, len(y)), weight: make([]float64, len(y))}
}

// add adds an entry to the equation at hand.
func (s *system) add(unknown int, v float64) {
	s.ind, s.val = append(s.ind, int32(unknown)), append(s.val, v)
}

// size is the sum of the absolute values of its terms.
func (s *system) size() (size float64) {
	for k := int(s.ptr[len(s.ptr)-1]); k < len(s.ind); k++ {
		size += math.Abs(s.val[k] * s.y[s.ind[k]])
	}
	return size
}

// end ends the equation, which is left out where it has no terms.
func (s *system) end(terms float64, constant exactSum) {
	if from := s.ptr[len(s.ptr)-1]; terms == 0 {
		s.ind, s.val = s.ind[:from], s.val[:from]
		return
	}
	s.ptr, s.terms, s.constant = append(s.ptr, int32(len(s.ind))), append(s.terms, terms), append(s.constant, constant)
}

// reach returns max_e |m_eu| / terms_e for each unknown.
func (s *system) reach() []float64 {
	out := make([]float64, len(s.y))
	for e, terms := range s.terms {
		for k := s.ptr[e]; k < s.ptr[e+1]; k++ {
			out[s.ind[k]] = max(out[s.ind[k]], math.Abs(s.val[k])/terms)
		}
	}
	return out
}

// ellipsoid is that of Dikin at a point v of a cone, {v + Dw: |w| <= 1}, for the unknowns from first on: it lies in the
// cone. Of an orthant D is the diagonal of v.
type ellipsoid struct {
	first, dim int
	d          []float64
}

// within lets the unknowns from offset on, which are in the cones, change within the ellipsoids there where these are
// known, and by the largest entry of the cone elsewhere.
func (s *system) within(p *Problem, offset int) {
	for row, k := range Rows(p.Cones) {
		at := offset + row
		switch of := families[k.Kind].ellipsoid; {
		case of != nil && k.Dim <= largestEllipsoid:
			s.local = append(s.local, ellipsoid{at, k.Dim, of(s.y[at : at+k.Dim])})
		case !k.Kind.Intervals():
			fillMax(s.weight[at : at+k.Dim])
		}
	}
}

// largestEllipsoid is the dimension up to which the dense block of a cone is worth its price.
const largestEllipsoid = 64

// polish changes the unknowns by what the equations lack, in rounds, until enough says so or that does not fall any
// more.
func (s *system) polish(enough func() bool) {
	change, ok := newLeastChange(s)
	if !ok {
		return
	}
	right, last := make([]float64, len(s.terms)), math.Inf(1)
	for range polishRounds {
		s.lack(right)
		change.apply(right, s.low)
		for i, v := range s.y { // what is not below the last places
			s.y[i], s.low[i] = twoSum(v, s.low[i])
		}
		if enough() {
			return
		}
		size := maxAbs(right)
		if !(size < worthwhileDecrease*last) {
			return
		}
		last = size
	}
}

// lack writes what the equations lack, divided by their terms.
func (s *system) lack(right []float64) {
	for e, terms := range s.terms {
		sum := s.constant[e]
		for k := s.ptr[e]; k < s.ptr[e+1]; k++ {
			sum.addProduct(s.val[k], s.y[s.ind[k]])
			sum.addProduct(s.val[k], s.low[s.ind[k]])
		}
		right[e] = -sum.value() / terms
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

func newLeastChange(eq *system) (*leastChange, bool) {
	k, weight := len(eq.y), eq.weight
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
	for e, terms := range eq.terms {
		last := int32(-1)
		for at := eq.ptr[e]; at < eq.ptr[e+1]; at++ {
			v, b := eq.val[at]/terms, block[eq.ind[at]]
			if weight[eq.ind[at]] < 0 {
				continue
			}
			if b < 0 {
				ind, val = append(ind, eq.ind[at]), append(val, v*weight[eq.ind[at]])
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
				val[len(val)-l.dim+i] += v * d
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

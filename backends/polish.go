package backends

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse/blas"

	"github.com/conetune/conetune/backends/internal/ldl"
)

const (
	// So many changes are made at most, and no more once one leaves over worthwhileDecrease of the residual before.
	polishRounds       = 40
	worthwhileDecrease = 0.95
	// They end before where no more than polishMargin of what is wanted is left.
	polishMargin = 1.0 / 16
	// An entry of a multiplier or a direction may change by its own size, or by this part of the largest term of its
	// equations.
	freedomShare = 1e-3
	// The regularisation of the equations, which are scaled to terms of size one.
	polishDelta = 1e-16
)

// ray is the way to show that a problem has no solution: primal infeasible by z, or dual infeasible by x.
type ray struct {
	p *Problem
	// judge says what v + low proves, of which low, nil for zero, is below the last places of v.
	judge func(v, low []float64) (proof, error)
	// parts returns the vector in a cone that belongs to v, z or s, and what its entries weigh.
	parts func(v []float64) (in, weight []float64)
	// begin returns the equations that a ray meets, of which v are the first unknowns, with the given parts at zero, and
	// what moves the unknowns into their cones.
	begin func(v []float64, zero []bool) (s *system, move func())
}

// check judges v as it is or, where last places are all that is wrong, with others.
func (r *ray) check(v []float64) (residual float64, err error) {
	found, err := r.judge(v, nil)
	if err != nil || !found.rounded || found.residual == 0 {
		return found.residual, err
	}
	if better, _ := r.polish(found.v, nil, found, nil, 0); sameButPlaces(found.v, better.v) {
		return better.residual, nil
	}
	return found.residual, nil
}

// prove returns the best certificate near v: of v itself with the equations made to hold, and of v without its small
// parts.
func (r *ray) prove(v []float64, eps float64) (proof, error) {
	best, err := r.judge(v, nil)
	if best.v == nil || err == nil && best.residual <= eps {
		return best, err
	}
	v = best.v
	small := r.small(best)
	best, err = r.polish(v, nil, best, err, eps)
	if small == nil || err == nil && best.residual <= eps {
		return best, err
	}
	return r.polish(v, small, best, err, eps)
}

// small says which parts are on their way to zero, nil for none. In a vector on its way to a certificate they weigh
// about as much as what is left of the equations, and the others about as much as its value: the mean of the two
// divides them.
func (r *ray) small(of proof) []bool {
	if !(of.residual > 0 && of.residual < 1) {
		return nil
	}
	in, weight := r.parts(of.v)
	return small(r.p, in, weight, math.Sqrt(of.residual)*-of.negative)
}

// small says which parts of v, rows of cones that are products of intervals and other cones as a whole, have weights
// that are all below the least one, nil where these are zero. Equations have no such parts.
func small(p *Problem, v, weight []float64, least float64) (out []bool) {
	drop := func(first, dim int) {
		for i := first; i < first+dim; i++ {
			if v[i] != 0 {
				if out == nil {
					out = make([]bool, len(v))
				}
				out[i] = true
			}
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
	return out
}

// polish makes the equations hold, with v in twice the precision, and returns the best of what it meets on the way and
// what was known.
func (r *ray) polish(v []float64, zero []bool, best proof, err error, eps float64) (proof, error) {
	s, move := r.begin(v, zero)
	s.polish(func(lack float64) (left float64) {
		move()
		next, nextErr := r.judge(s.y[:len(v)], s.low[:len(v)])
		if nextErr == nil && (err != nil || next.residual < best.residual) {
			best, err = next, nil
		}
		switch {
		case nextErr != nil && !(next.value < 0) && lack <= lastPlaces, // the equations hold, and it is none
			err == nil && best.residual == 0:
			return 0
		case err != nil || eps == 0:
			return math.NaN()
		}
		return best.residual / eps
	})
	return best, err
}

// primal has z in K*, and A'z = 0.
func (c *checker) primal(p *Problem) *ray {
	return &ray{p: p,
		judge: func(z, low []float64) (proof, error) { return c.primalInfeasible(p, z, low) },
		parts: func(z []float64) (in, weight []float64) {
			weight = make([]float64, len(z)) // in the units of b'z
			size := c.known.about(p).ofX()
			entriesOf(p.A, func(i, j int, a float64) { weight[i] = max(weight[i], a*size[j]*math.Abs(z[i])) })
			for i, b := range p.B {
				weight[i] = max(weight[i], math.Abs(b*z[i]))
			}
			return z, weight
		},
		begin: func(z []float64, zero []bool) (*system, func()) {
			s := newSystem(&c.known.about(p).last, z, zero)
			intoDual(p, s.y, Cone.intoDual) // with room for changes
			stored(p.A, func(_, i, j int, v float64) { s.entries.Add(i, j, v) })
			s.end(len(p.Q), len(z))
			reach := s.reach()
			for row, k := range Rows(p.Cones) {
				for i := row; i < row+k.Dim; i++ {
					if s.weight[i] = math.Abs(s.y[i]); k.Kind == ZeroCone && reach[i] > 0 {
						s.weight[i] = max(s.weight[i], freedomShare/reach[i])
					}
				}
			}
			s.within(p, 0)
			before := make([]float64, len(z))
			return s, func() {
				copy(before, s.y)
				intoDual(p, s.y, Cone.intoDual)
				for i, v := range s.y {
					if v == 0 || v != before[i] {
						s.low[i] = 0
					}
				}
			}
		},
	}
}

// dual has Px = 0, and Ax + s = 0 with s in the recession cone of K.
func (c *checker) dual(p *Problem) *ray {
	n, m := p.Dims()
	slack := func(s, x, low []float64) []float64 {
		copy(s, c.known.about(p).along(x, low).s)
		for row, c := range Rows(p.Cones) {
			if families[c.Kind].own.barely != nil {
				c.intoRecession(s[row : row+c.Dim])
			}
		}
		return s
	}
	return &ray{p: p,
		judge: func(x, low []float64) (proof, error) { return c.dualInfeasible(p, x, low) },
		parts: func(x []float64) (in, weight []float64) {
			s := slack(make([]float64, m), x, nil)
			_, size := c.known.about(p).ofDual()
			weight = make([]float64, m)
			for i, v := range s {
				weight[i] = math.Abs(v) * size[i]
			}
			return s, weight
		},
		begin: func(x []float64, zero []bool) (*system, func()) {
			s := newSystem(&c.known.about(p).last, slices.Concat(x, make([]float64, m)), nil)
			move := func() {
				slack(s.y[n:], s.y[:n], s.low[:n])
				for i, z := range zero {
					if z {
						s.y[n+i] = 0
					}
				}
				clear(s.low[n:])
			}
			move()
			curved := s.curvature(p, 0)
			stored(p.A, func(_, i, j int, v float64) { s.entries.Add(j, curved+i, v) })
			for i := range m {
				s.entries.Add(n+i, curved+i, 1)
			}
			s.end(curved+m, n)
			reach := s.reach()
			for u, v := range s.y {
				if s.weight[u] = math.Abs(v); u < n && reach[u] > 0 {
					s.weight[u] = max(s.weight[u], freedomShare/reach[u])
				}
			}
			s.within(p, n)
			return s, move
		},
	}
}

// system is M y + c = 0, equation by equation, each divided by its terms. The unknowns have a part low below the last
// places of y.
type system struct {
	entries  Triplets // of M', the columns of which are the equations
	m        *blas.SparseMatrix
	terms    []float64 // an equation without any is none
	constant []exactSum
	y, low   []float64
	weight   []float64 // how freely they may change, negative for not at all
	local    []ellipsoid
	last     *analysed
}

// newSystem has the unknowns y, some of them at zero, and the factor of the last one.
func newSystem(last *analysed, y []float64, zero []bool) *system {
	s := &system{last: last, y: slices.Clone(y), low: make([]float64, len(y)), weight: make([]float64, len(y))}
	for i, z := range zero {
		if z {
			s.y[i] = 0
		}
	}
	return s
}

// curvature adds Px to the equations from one on, and returns how many that are, none without a P.
func (s *system) curvature(p *Problem, from int) int {
	if !p.Quadratic() {
		return 0
	}
	stored(p.P, func(_, i, j int, v float64) {
		if s.entries.Add(j, from+i, v); i != j {
			s.entries.Add(i, from+j, v)
		}
	})
	return len(p.Q)
}

// end ends the list of so many equations, without constants. The terms of one are the sum of their absolute values over
// the unknowns before one.
func (s *system) end(count, before int) {
	s.m = s.entries.matrix(len(s.y), count).RawMatrix()
	s.terms, s.constant = make([]float64, count), make([]exactSum, count)
	s.each(func(e, u int, v float64) {
		if u < before {
			s.terms[e] += math.Abs(v * s.y[u])
		}
	})
}

// each visits the entries, equation by equation.
func (s *system) each(visit func(e, u int, v float64)) {
	for e := range s.terms {
		for k := s.m.Indptr[e]; k < s.m.Indptr[e+1]; k++ {
			visit(e, s.m.Ind[k], s.m.Data[k])
		}
	}
}

// reach returns max_e |m_eu| / terms_e for each unknown.
func (s *system) reach() []float64 {
	out := make([]float64, len(s.y))
	s.each(func(e, u int, v float64) {
		if s.terms[e] > 0 {
			out[u] = max(out[u], math.Abs(v)/s.terms[e])
		}
	})
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

// polish changes the unknowns by what the equations lack, in rounds, until that does not fall any more, or would not
// fall by enough in the rounds that are left. Judge, which is given what they lacked, says how many times more is left
// than is wanted at most, NaN where it does not know.
func (s *system) polish(judge func(lack float64) (left float64)) {
	change, ok := newLeastChange(s)
	if !ok {
		return
	}
	right, last := make([]float64, len(s.terms)), math.Inf(1)
	for rounds := polishRounds - 1; rounds >= 0; rounds-- {
		s.lack(right)
		change.apply(right, s.low)
		for i, v := range s.y { // what is not below the last places
			s.y[i], s.low[i] = twoSum(v, s.low[i])
		}
		size := maxAbs(right)
		left := judge(size)
		tooSlow := size > lastPlaces && left*math.Pow(size/last, float64(rounds)) > 1 // rounding falls at no rate
		if left <= polishMargin || tooSlow || !(size < worthwhileDecrease*last) {
			return
		}
		last = size
	}
}

// lack writes what the equations lack, divided by their terms.
func (s *system) lack(right []float64) {
	sums := slices.Clone(s.constant)
	s.each(func(e, u int, v float64) {
		sums[e].addProduct(v, s.y[u])
		sums[e].addProduct(v, s.low[u])
	})
	for e := range sums {
		right[e] = share(-sums[e].value(), s.terms[e], 0)
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
	total := k + len(eq.terms)
	var t Triplets
	sign := make([]int8, total)
	for i := range k {
		t.Add(i, i, 1)
		sign[i] = 1
	}
	block := slices.Repeat([]int{-1}, k)
	for b, l := range eq.local {
		for i := range l.dim {
			block[l.first+i] = b
		}
	}
	for e, terms := range eq.terms {
		for at := eq.m.Indptr[e]; at < eq.m.Indptr[e+1]; at++ {
			u := eq.m.Ind[at]
			v, b := eq.m.Data[at]/terms, block[u]
			switch {
			case weight[u] < 0 || terms == 0:
			case b < 0:
				t.Add(u, k+e, v*weight[u])
			default:
				l := &eq.local[b]
				for i, d := range l.d[(u-l.first)*l.dim:][:l.dim] {
					t.Add(l.first+i, k+e, v*d)
				}
			}
		}
		t.Add(k+e, k+e, -polishDelta)
		sign[k+e] = -1
	}
	ptr, ind, val, err := t.forFactor(total)
	if err != nil {
		return nil, false
	}
	factor := eq.last.factorOf(ptr, ind, sign)
	if factor == nil {
		return nil, false
	}
	factor.Factorize(val, nil, 0, polishDelta)
	return &leastChange{weight, eq.local, factor, make([]float64, total)}, true
}

// analysed is a factor with the pattern that it is for. Systems near one and the same ray, or point, have the same one.
type analysed struct {
	ptr, ind []int32
	sign     []int8
	factor   *ldl.Factor
}

// factorOf returns a factor for the pattern, nil where there is none.
func (a *analysed) factorOf(ptr, ind []int32, sign []int8) *ldl.Factor {
	if a.factor == nil || !slices.Equal(a.sign, sign) || !slices.Equal(a.ptr, ptr) || !slices.Equal(a.ind, ind) {
		*a = analysed{ptr: ptr, ind: ind, sign: sign} // the memory of the last one goes first
		a.factor, _ = ldl.AnalyzeWith(len(sign), ptr, ind, sign, ldl.Options{Memory: enough})
	}
	return a.factor
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

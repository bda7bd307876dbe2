package backends

import (
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/internal/dense"
)

// reduction is a problem without what needs no solver, as presolve finds it: rows and columns that are left have the
// unknowns x, s and z that they had. Everything is undone in expand. Trivial has looked for contradictions before.
type reduction struct {
	dropRow, dropCol []bool
	rows, cols       []int32       // what stays
	steps            []step        // what was left out and has multipliers or variables of its own, in this order
	terms            []coefficient // of the steps
	left             *Problem      // what is left of the numbers that it was made for
	contradicts      bool          // a row without entries, or a variable but in q, contradicts the rest
	lent             bool          // a solver was set up with left, and may refer to its vectors

	part           Point     // of contract
	x              []float64 // work space
	ofRows, ofCols []exactSum
}

// step says how a row and a variable left. With what was left of the problem before it, of the row, whose s is slack,
//
//	b = a x_col + sum of the entries of the others + slack,    q + a z_row + sum of the entries of the column z = 0.
//
// The last of some steps may stand for a row alone, of which the variables before it, so many, are at their bounds:
// its z is the smallest that gives those of the bounds their signs.
type step struct {
	row, col     int32
	forced       int32   // the number of variables of a row alone, whose col is -1
	low          bool    // s is at its lower side
	a, b, q      float64 // b without the slack
	begin, split int     // terms[begin:split] are those of the row, by columns
	end          int     // terms[split:end] are those of the column, by rows
}

// coefficient is an entry of a row or a column.
type coefficient struct {
	at  int32
	val float64
}

type matrixPair struct{ p, a *sparse.CSC }

// adopt makes the matrices before a reduction, which that has others for, the spare ones of the next.
func (t *presolve) adopt(r, before *reduction) {
	switch {
	case t == nil:
	case r == nil || !r.same(before):
		t.spare = matrixPair{}
	default:
		t.spare.renew(before.left, r.left, t.lent)
	}
}

// renew makes the matrices of a problem before, where there are others now, the spare ones, but for those lent.
func (spare *matrixPair) renew(before, now *Problem, lent matrixPair) {
	if before.P != now.P {
		if spare.p = before.P; spare.p == lent.p {
			spare.p = nil
		}
	}
	if before.A != now.A {
		if spare.a = before.A; spare.a == lent.a {
			spare.a = nil
		}
	}
}

// notDropped lists what is left.
func notDropped(drop []bool) (left []int32) {
	for i, d := range drop {
		if !d {
			left = append(left, int32(i))
		}
	}
	return left
}

// withoutRows returns the cones without the rows to drop.
func withoutRows(cones []Cone, drop []bool) []Cone {
	out, row := make([]Cone, 0, len(cones)), 0
	for _, c := range cones {
		kept := c
		kept.Dim, kept.Lower, kept.Upper = 0, nil, nil
		for i := range c.Dim {
			if !drop[row+i] {
				kept.Dim++
				if c.Kind == BoxCone {
					kept.Lower, kept.Upper = append(kept.Lower, c.Lower[i]), append(kept.Upper, c.Upper[i])
				}
			}
		}
		out, row = append(out, kept), row+c.Dim
	}
	return out
}

// follows says whether the same has left as in another reduction, in the same way.
func (r *reduction) follows(o *reduction) bool {
	return slices.Equal(r.dropRow, o.dropRow) && slices.Equal(r.dropCol, o.dropCol) &&
		slices.EqualFunc(r.steps, o.steps, func(a, b step) bool { return a.row == b.row && a.col == b.col })
}

// same says whether two reductions, which may be nil, leave problems of one pattern that are updates of each other.
func (r *reduction) same(o *reduction) bool {
	if r == nil || o == nil {
		return r == o
	}
	a, b := r.left.A, o.left.A
	return r.follows(o) && (a == b || slices.Equal(a.RawMatrix().Indptr, b.RawMatrix().Indptr) &&
		slices.Equal(a.RawMatrix().Ind, b.RawMatrix().Ind))
}

// fix adds what fixed variables of P are in it to q.
func (r *reduction) fix(p *Problem, q []exactSum) {
	if nonzeros(p.P) == 0 || len(r.steps) == 0 {
		return
	}
	r.x = dense.Cleared(r.x, len(p.Q))
	for _, s := range r.steps { // each is an equation of one entry
		r.x[s.col] = s.b / s.a
	}
	r.ofCols = timesP(r.ofCols, p, r.x)
	for j, px := range r.ofCols {
		q[j].addSum(px, 1)
	}
}

// update returns what an update, whose numbers r has already, changes in the rest.
func (r *reduction) update(u Update) Update {
	left := r.left
	out := Update{}
	steps := len(r.steps) > 0
	if u.P != nil {
		out.P = left.P
	}
	if u.A != nil {
		out.A = left.A
	}
	if u.Q != nil || steps && (u.P != nil || u.A != nil || u.B != nil) {
		out.Q = left.Q
	}
	if u.B != nil || steps && u.A != nil {
		out.B = left.B
	}
	return out
}

// contract returns the part of a point of p that the rest has; nil parts stay nil.
func (r *reduction) contract(pt Point) Point {
	pick := func(room, v []float64, which []int32) []float64 {
		if v == nil {
			return nil
		}
		out := dense.Cleared(room, len(which))
		for at, i := range which {
			out[at] = v[i]
		}
		return out
	}
	r.part = Point{X: pick(r.part.X, pt.X, r.cols), S: pick(r.part.S, pt.S, r.rows), Z: pick(r.part.Z, pt.Z, r.rows)}
	return r.part
}

// expand makes a solution of the rest one of p, in place. Parts of another length are left alone.
func (r *reduction) expand(p *Problem, low, high []float64, out *Solution) {
	n, m := p.Dims()
	spread := func(v []float64, which []int32, length int) []float64 {
		if len(v) != len(which) || v == nil && length > 0 && len(which) > 0 {
			return v
		}
		if v == nil {
			v = []float64{}
		}
		full := slices.Grow(v, length-len(v))[:length]
		at := len(which)
		for i := length - 1; i >= 0; i-- { // at <= i, so that nothing is lost in place
			if at > 0 && which[at-1] == int32(i) {
				at--
				full[i] = full[at]
			} else {
				full[i] = 0
			}
		}
		return full
	}
	ray, farkas := out.Status == DualInfeasible, out.Status == PrimalInfeasible
	if !ray && !farkas && (out.X == nil || out.Z == nil) {
		return // there is no point
	}
	if !farkas {
		if out.X = spread(out.X, r.cols, n); len(out.X) == n {
			r.variables(out.X, !ray)
		}
	}
	if ray {
		return
	}
	if !farkas && len(out.S) == len(r.rows) && len(out.X) == n {
		out.S = spread(out.S, r.rows, m)
		r.ofRows = exactSlacks(r.ofRows, p, out.X, low, high, r.dropRow, out.S)
	}
	if out.Z = spread(out.Z, r.rows, m); len(out.Z) == m && (farkas || len(out.X) == n) {
		r.multipliers(p, low, high, out.X, out.Z, farkas)
	}
}

// variables fills in x of the steps, or, without the right-hand sides, that of a ray.
func (r *reduction) variables(x []float64, right bool) {
	for k := len(r.steps) - 1; k >= 0; k-- {
		s := &r.steps[k]
		if s.col < 0 {
			continue
		}
		var sum exactSum
		if right {
			sum.add(s.b)
		}
		for _, e := range r.terms[s.begin:s.split] {
			sum.addProduct(-e.val, x[e.at])
		}
		x[s.col] = sum.value() / s.a
	}
}

// exactSlacks fills in s = b - Ax, added up in twice the precision and within the intervals, for some of the rows.
func exactSlacks(room []exactSum, p *Problem, x, low, high []float64, which []bool, s []float64) []exactSum {
	moved := dense.Cleared(room, len(s))
	entries(p.A, func(i, j int, v float64) {
		if which[i] {
			moved[i].addProduct(v, x[j])
		}
	})
	for i, b := range p.B {
		if which[i] {
			moved[i].add(-b)
			s[i] = min(max(-moved[i].value(), low[i]), high[i])
		}
	}
	return moved
}

// multipliers fills in z of the steps, for nil x that of a certificate, without the costs.
func (r *reduction) multipliers(p *Problem, low, high, x, z []float64, farkas bool) {
	if len(r.steps) == 0 {
		return
	}
	r.ofCols = dense.Cleared(r.ofCols, len(p.Q))
	if !farkas {
		r.ofCols = timesP(r.ofCols, p, x)
	}
	slope := func(s *step) float64 {
		var sum exactSum
		if !farkas {
			sum = r.ofCols[s.col]
			sum.add(s.q)
		}
		for _, e := range r.terms[s.split:s.end] {
			sum.addProduct(e.val, z[e.at])
		}
		return sum.value()
	}
	for k := len(r.steps) - 1; k >= 0; k-- {
		s := &r.steps[k]
		if s.col >= 0 {
			z[s.row] = -slope(s) / s.a
			if i := s.row; low[i] < high[i] { // a bound of a row that is forced
				if s.low {
					z[i] = max(z[i], 0)
				} else {
					z[i] = min(z[i], 0)
				}
			}
			continue
		}
		forced := r.steps[k-int(s.forced) : k]
		most := 0.0 // smallest that all slopes have their signs with
		z[s.row] = 0
		for at := range forced {
			v := &forced[at]
			for _, e := range r.terms[v.split:v.end] {
				if e.at == s.row {
					if need := -slope(v) / e.val; need > most == s.low {
						most = need
					}
				}
			}
		}
		z[s.row] = most
	}
}

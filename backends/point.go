package backends

import (
	"math"
	"slices"
)

// Polish looks near a point that misses the tolerance eps for one that meets it, and returns false where it finds none.
// Rows of products of intervals whose multiplier outweighs their slack are taken as equations, the others have no
// multiplier, and
//
//	a_i x = b_i - s_i  for the first and the rows of other cones, whose s and z stay,   Px + A'z = -q
//
// is solved by the least change of x and z, whose residuals are added up in twice the working precision. Far solutions
// need this: of an x of 1e8 a residual of 1e-8 is a last place. It panics unless the vectors have the lengths of the
// problem.
func (j *Judge) Polish(pt Point, eps float64) (Point, bool) {
	p := j.problem()
	n, m := p.Dims()
	mustHave(len(pt.X) == n && len(pt.S) == m && len(pt.Z) == m)
	found := j.measure(pt.X, pt.S, pt.Z)
	if p.A == nil || !(max(found.Primal, found.Dual) <= nearPoint) {
		return pt, false
	}
	t := j.tightened(pt)
	eq, weight := t.equations()
	both, ok := make([]float64, len(t.x)+len(t.z)), false
	for try := 0; try < 2 && !ok; try++ {
		if try > 0 { // from zero the change is the least x, of whose digits as few as may be are lost where z is large
			clear(t.x)
		}
		eq.polish(weight, func(right []float64) { t.lack(eq, right) },
			func(change *leastChange, right []float64) (enough bool) {
				copy(both, t.x)
				copy(both[len(t.x):], t.z)
				change.apply(right, both)
				copy(t.x, both)
				copy(t.z, both[len(t.x):])
				if s := t.slacks(); j.Optimal(t.x, s, t.z, eps) && j.Unsettled(t.x, s, t.z, eps) <= 1 {
					pt, ok = Point{X: t.x, S: s, Z: t.z}, true
				}
				return ok
			})
	}
	return pt, ok
}

// polished is the part of the tolerance that the residuals of a settled point may be: where more is left and cannot be
// taken out, the equations contradict each other by as much, and the solution may be another one, with multipliers or
// variables as large as the reciprocal.
const polished = 1e-3

// Unsettled returns how many times larger than in a settled point the residuals are, primal and dual, at the tolerance
// eps. In problems that are not small those of a settled point are so beside the largest data of all. In others, and
// where they are not, each counts beside the data of its own row or column, or those of a typical one, without the last
// places of what it is added up from. A point that passes as optimal but is not settled is worth looking for another
// one. It panics unless the vectors have the lengths of the problem.
func (j *Judge) Unsettled(x, s, z []float64, eps float64) float64 {
	p, c, u := j.problem(), &j.check, j.unitsOf()
	n, m := p.Dims()
	mustHave(len(x) == n && len(s) == m && len(z) == m)
	if r := j.measure(x, s, z).Residuals; !p.small() && max(r.Primal, r.Dual) <= polished*eps {
		return max(r.Primal, r.Dual) / (polished * eps)
	}
	right, cost, worst := u.ofRow, u.ofColumn, 0.0
	for i, b := range p.B {
		left := math.Abs(b-s[i]-c.ax[i]) - lastPlaces*(c.ofRows[i]+math.Abs(s[i])+math.Abs(b))
		if left > 0 && u.e[i] > 0 {
			worst = max(worst, left*u.e[i]/max(u.e[i]*math.Abs(b), right))
		}
	}
	for k, q := range p.Q {
		left := math.Abs(q+c.px[k]+c.atz[k]) - lastPlaces*(c.ofCols[k]+math.Abs(q))
		if left > 0 {
			worst = max(worst, left*u.d[k]/max(u.d[k]*math.Abs(q), cost))
		}
	}
	c.eachCone(p, s, z, func(row int, k Cone, sk, zk []float64, outside, dual float64) {
		if k.Dim > 0 && u.e[row] > 0 {
			outside, dual = outside-lastPlaces*maxAbs(sk), dual-lastPlaces*maxAbs(zk)
			worst = max(worst, outside*u.e[row]/right, dual/u.e[row]/cost)
		}
	})
	return worst / (polished * eps)
}

// nearPoint is the residual, primal and dual, up to which a point is worth being polished.
const nearPoint = 1e-3

// tightened is a point with the rows that hold with equality at s, those of cones that are no products of intervals
// among them.
type tightened struct {
	p         *Problem
	rows      *rowLists
	low, high []float64
	x, s, z   []float64
	tight     []bool
	ofRows    []float64 // the absolute terms of the equations of x
	ofColumns []float64 // and of those of z
}

// tightened puts the slack of rows that are tight at the bound that their multiplier belongs to, and makes the
// multipliers of the others zero.
func (j *Judge) tightened(pt Point) *tightened {
	p := j.p
	t := &tightened{
		p: p, rows: newRowLists(p), x: slices.Clone(pt.X), s: slices.Clone(pt.S), z: slices.Clone(pt.Z),
		tight:  make([]bool, len(p.B)),
		ofRows: slices.Clone(j.check.ofRows), ofColumns: slices.Clone(j.check.ofCols),
	}
	t.low, t.high = intervals(p.Cones)
	u := j.unitsOf()
	right, cost := u.x, u.slope
	for i, z := range t.z {
		l, h := t.low[i], t.high[i]
		if math.IsNaN(l) {
			t.tight[i] = true
			continue
		}
		bound := l
		if z < 0 {
			bound = h
		}
		off := math.Abs(t.s[i]-bound) * u.e[i]
		if t.tight[i] = l == h || off*max(cost, tiny) < math.Abs(z)/u.e[i]*max(right, tiny); t.tight[i] {
			t.s[i] = bound
		} else {
			t.z[i] = 0
		}
	}
	return t
}

// tiny stands for sizes that are zero.
const tiny = 1e-300

// equations returns those of the tight rows in x, numbered from n on, and those of the columns in x and z, each divided
// by its terms, and how freely x and z may change.
func (t *tightened) equations() (eq *equations, weight []float64) {
	n, m := t.p.Dims()
	a := t.p.A.RawMatrix()
	eq, weight = &equations{unknowns: n + m, ptr: []int32{0}}, make([]float64, n+m)
	for k, x := range t.x {
		weight[k] = math.Abs(x)
	}
	add := func(unknown int, v, terms float64) {
		eq.add(unknown, v/terms)
		if v != 0 {
			weight[unknown] = max(weight[unknown], freedomShare*terms/math.Abs(v))
		}
	}
	for i := range m {
		if t.tight[i] && t.ofRows[i] > 0 {
			ind, val := t.rows.row(t.rows.curved + i)
			for at, k := range ind {
				add(int(k), val[at], t.ofRows[i])
			}
			eq.endRow(n + i)
		}
	}
	for k := range n {
		if t.ofColumns[k] == 0 {
			continue
		}
		if t.rows.curved > 0 {
			ind, val := t.rows.row(k)
			for at, i := range ind {
				eq.add(int(i), val[at]/t.ofColumns[k])
			}
		}
		for at := a.Indptr[k]; at < a.Indptr[k+1]; at++ {
			if i := a.Ind[at]; t.tight[i] && !math.IsNaN(t.low[i]) {
				weight[n+i] = max(weight[n+i], math.Abs(t.z[i]))
				add(n+i, a.Data[at], t.ofColumns[k])
			}
		}
		eq.endRow(k)
	}
	return eq, weight
}

// lack writes what the equations lack, divided by their terms.
func (t *tightened) lack(eq *equations, right []float64) {
	n, a := len(t.x), t.p.A.RawMatrix()
	for at, of := range eq.of {
		var sum exactSum
		row := t.rows.curved + of - n
		if of < n {
			row = of
		}
		if of >= n || t.rows.curved > 0 {
			ind, val := t.rows.row(row)
			for e, k := range ind {
				sum.addProduct(val[e], t.x[k])
			}
		}
		if of >= n {
			sum.add(t.s[of-n])
			sum.add(-t.p.B[of-n])
			right[at] = -sum.value() / t.ofRows[of-n]
			continue
		}
		sum.add(t.p.Q[of])
		for e := a.Indptr[of]; e < a.Indptr[of+1]; e++ {
			sum.addProduct(a.Data[e], t.z[a.Ind[e]])
		}
		right[at] = -sum.value() / t.ofColumns[of]
	}
}

// slacks returns b - Ax, added up in twice the precision and within the bounds, in rows that are not tight.
func (t *tightened) slacks() []float64 {
	out := slices.Clone(t.s)
	for i := range out {
		if t.tight[i] {
			continue
		}
		var sum exactSum
		sum.add(t.p.B[i])
		ind, val := t.rows.row(t.rows.curved + i)
		for e, k := range ind {
			sum.addProduct(-val[e], t.x[k])
		}
		out[i] = min(max(sum.value(), t.low[i]), t.high[i])
	}
	return out
}

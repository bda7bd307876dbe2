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
	x, z, ok := t.y[:n], t.y[n:], false
	for try := 0; try < 2 && !ok; try++ {
		if try > 0 { // from zero the change is the least x, of whose digits as few as may be are lost where z is large
			clear(x)
		}
		t.polish(func(float64) (left float64) {
			clear(t.low)
			s := slices.Clone(t.s)
			exactSlacks(nil, p, x, t.lower, t.upper, t.loose, s)
			if j.Optimal(x, s, z, eps) && j.Unsettled(x, s, z, eps) <= 1 {
				pt, ok = Point{X: x, S: s, Z: z}, true
				return 0
			}
			return math.NaN()
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
	worst := 0.0
	right, cost := u.typical()
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
// among them, and the equations of these in x and of the columns in x and z.
type tightened struct {
	*system      // x, then z
	lower, upper []float64
	s            []float64
	loose        []bool // rows that are not tight
}

// tightened puts the slack of rows that are tight at the bound that their multiplier belongs to, and makes the
// multipliers of the others zero. Equations are divided by the absolute terms of x, and of x and z.
func (j *Judge) tightened(pt Point) *tightened {
	p, u, c := j.p, j.unitsOf(), &j.check
	n, m := p.Dims()
	t := &tightened{
		system: newSystem(&c.known.about(p).last, slices.Concat(pt.X, pt.Z), nil),
		s:      slices.Clone(pt.S), loose: make([]bool, m),
	}
	t.lower, t.upper = intervals(p.Cones)
	for k, x := range pt.X {
		t.weight[k] = math.Abs(x)
	}
	tight := 0 // how many, with the equation of each
	of := make([]int, m)
	for i, z := range pt.Z {
		l, h := t.lower[i], t.upper[i]
		if math.IsNaN(l) {
			t.weight[n+i] = -1
		} else {
			bound := l
			if z < 0 {
				bound = h
			}
			off := math.Abs(t.s[i]-bound) * u.e[i]
			if t.loose[i] = l < h && !(off*max(u.slope, tiny) < math.Abs(z)/u.e[i]*max(u.x, tiny)); t.loose[i] {
				t.y[n+i] = 0
				continue
			}
			t.s[i] = bound
		}
		of[i] = tight
		tight++
	}
	free := func(unknown int, v, terms float64) {
		if v != 0 && t.weight[unknown] >= 0 {
			t.weight[unknown] = max(t.weight[unknown], math.Abs(t.y[unknown]), freedomShare*terms/math.Abs(v))
		}
	}
	t.curvature(p, tight)
	stored(p.A, func(_, i, k int, v float64) {
		if !t.loose[i] {
			t.entries.Add(k, of[i], v)
			t.entries.Add(n+i, tight+k, v)
			free(k, v, c.ofRows[i])
			free(n+i, v, c.ofCols[k])
		}
	})
	t.end(tight+n, 0)
	for i, b := range p.B {
		if !t.loose[i] {
			t.terms[of[i]] = c.ofRows[i]
			t.constant[of[i]].add(t.s[i])
			t.constant[of[i]].add(-b)
		}
	}
	for k, q := range p.Q {
		t.terms[tight+k] = c.ofCols[k]
		t.constant[tight+k].add(q)
	}
	return t
}

// tiny stands for sizes that are zero.
const tiny = 1e-300

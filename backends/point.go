package backends

import (
	"math"
	"slices"
)

// nearPoint is the residual, primal and dual, up to which a point is worth being polished.
const nearPoint = 1e-3

// polished returns a point near one that misses the tolerance which meets it, nil where there is none. Rows of products of intervals whose
// multiplier outweighs their slack are taken as equations, the others have no multiplier, and
//
//	a_i x = b_i - s_i  for the first and the rows of other cones, whose s and z stay,   Px + A'z = -q
//
// is solved by the least change of x and z, whose residuals are added up in twice the working precision. Far solutions need this: of an x of
// 1e8 a residual of 1e-8 is a last place.
func (s *checkedSolver) polished(out *Solution) *Solution {
	p := &s.data
	n, m := p.Dims()
	if p.A == nil || out.Status != Inaccurate && out.Status != IterationLimit || !(max(out.Residuals.Primal, out.Residuals.Dual) <= nearPoint) {
		return nil
	}
	x, z, slack := slices.Clone(out.X), slices.Clone(out.Z), slices.Clone(out.S)
	tight := s.tight(slack, z)
	rows := newRowLists(p)
	s.judged.check.rounding(p, nil, x, z)
	terms, columns := slices.Clone(s.judged.check.ofRows), slices.Clone(s.judged.check.ofCols)
	eq := &equations{unknowns: n + m, ptr: []int32{0}}
	weight := make([]float64, n+m)
	for j, v := range x {
		weight[j] = math.Abs(v)
	}
	for i := range m {
		if tight[i] && terms[i] > 0 {
			ind, val := rows.row(rows.curved + i)
			for k, j := range ind {
				eq.add(int(j), val[k]/terms[i])
				weight[j] = max(weight[j], freedomShare*terms[i]/math.Abs(val[k]))
			}
			eq.endRow(n + i)
		}
	}
	a := p.A.RawMatrix()
	for j := range n {
		if columns[j] == 0 {
			continue
		}
		if rows.curved > 0 {
			ind, val := rows.row(j)
			for k, i := range ind {
				eq.add(int(i), val[k]/columns[j])
			}
		}
		for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
			if i := a.Ind[k]; tight[i] && !math.IsNaN(s.low[i]) {
				eq.add(n+i, a.Data[k]/columns[j])
				weight[n+i] = max(weight[n+i], math.Abs(z[i]), freedomShare*columns[j]/math.Abs(a.Data[k]))
			}
		}
		eq.endRow(j)
	}
	lack := func(right []float64) {
		for at, of := range eq.of {
			var dot exactSum
			if of < n {
				dot.add(p.Q[of])
				if rows.curved > 0 {
					ind, val := rows.row(of)
					for k, i := range ind {
						dot.addProduct(val[k], x[i])
					}
				}
				for k := a.Indptr[of]; k < a.Indptr[of+1]; k++ {
					dot.addProduct(a.Data[k], z[a.Ind[k]])
				}
				right[at] = -dot.value() / columns[of]
				continue
			}
			i := of - n
			dot.add(slack[i])
			dot.add(-p.B[i])
			ind, val := rows.row(rows.curved + i)
			for k, j := range ind {
				dot.addProduct(val[k], x[j])
			}
			right[at] = -dot.value() / terms[i]
		}
	}
	both := make([]float64, n+m)
	var best *Solution
	eq.polish(weight, lack, func(change *leastChange, right []float64) (enough bool) {
		copy(both, x)
		copy(both[n:], z)
		change.apply(right, both)
		copy(x, both)
		copy(z, both[n:])
		next := *out
		next.X, next.Z, next.S = slices.Clone(x), slices.Clone(z), s.slacks(rows, x, slack, tight)
		if s.judged.Optimal(next.X, next.S, next.Z, s.options.Eps) {
			best = &next
		}
		return best != nil
	})
	return best
}

// tight says which rows hold with equality at the slack, those of cones that are no products of intervals among them, and puts the slack of the others
// at the bound that their multiplier belongs to. Rows that are not tight have no multiplier.
func (s *checkedSolver) tight(slack, z []float64) []bool {
	right, cost := largestRight(&s.data, func(int) float64 { return 1 }), maxAbs(s.data.Q)
	unit := func(int) float64 { return 1 }
	if u := s.judged.unitsOf(); u != nil {
		right, cost, unit = u.x, u.slope, func(i int) float64 { return u.e[i] }
	}
	out := make([]bool, len(z))
	for i := range z {
		l, h := s.low[i], s.high[i]
		if math.IsNaN(l) {
			out[i] = true
			continue
		}
		bound := l
		if z[i] < 0 {
			bound = h
		}
		off := math.Abs(slack[i]-bound) * unit(i)
		if out[i] = l == h || off*max(cost, tiny) < math.Abs(z[i])/unit(i)*max(right, tiny); out[i] {
			slack[i] = bound
		} else {
			z[i] = 0
		}
	}
	return out
}

// tiny stands for sizes that are zero.
const tiny = 1e-300

// slacks returns b - Ax, added up in twice the precision, but for rows that are tight.
func (s *checkedSolver) slacks(rows *rowLists, x, slack []float64, tight []bool) []float64 {
	out := slices.Clone(slack)
	for i := range out {
		if tight[i] {
			continue
		}
		var dot exactSum
		dot.add(s.data.B[i])
		ind, val := rows.row(rows.curved + i)
		for k, j := range ind {
			dot.addProduct(-val[k], x[j])
		}
		out[i] = min(max(dot.value(), s.low[i]), s.high[i])
	}
	return out
}

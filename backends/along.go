package backends

import (
	"math"
	"slices"
)

// along returns the program with a column more, along x, and a row more, along z,
//
//	minimize over y and t   the objective at y + t x
//	subject to              A(y + t x) + s = b,   z'A(y + t x) + r = b'z - beta(z),   s in K,  r >= 0,
//
// and what makes of an answer to it one to the problem. For z in K* the row follows from the others. Where a solution
// is large along x or z, its terms cancel to data in each row or column, and the new column and row are what they
// cancel to: their entries are sums in twice the precision, and y, t and the multipliers w and u of the point (y + t x,
// w + u z) are of the size of the data. Iterative refinement of linear programs shifts them instead (Gleixner, Steffy
// and Wolter 2016), which asks for a basis where K is no orthant.
func along(p *Problem, x, z []float64) (*Problem, func(*Solution) *Solution) {
	n, m := p.Dims()
	low, high := intervals(p.Cones)
	out := &Problem{Cones: slices.Clone(p.Cones)}
	var a, h Triplets
	entries(p.A, a.Add)
	for i, sum := range timesA(nil, p, x) {
		a.Add(i, n, sum.value())
	}
	var corner, cost, right exactSum
	for j := range n {
		sum := timesColumn(p, j, z)
		a.Add(m, j, sum.value())
		corner.addSum(sum, x[j])
		cost.addProduct(p.Q[j], x[j])
	}
	a.Add(m, n, corner.value())
	equations := true
	for i, b := range p.B {
		bound := low[i]
		if z[i] < 0 {
			bound = high[i]
		}
		if z[i] != 0 && math.Abs(bound) <= math.MaxFloat64 {
			right.addProduct(-bound, z[i])
		}
		right.addProduct(b, z[i])
		equations = equations && (z[i] == 0 || low[i] == high[i])
	}
	last := Nonnegative(1)
	if equations {
		last = Zero(1)
	}
	out.Q, out.B, out.Cones = append(slices.Clone(p.Q), cost.value()), append(slices.Clone(p.B), right.value()),
		append(out.Cones, last)
	out.A = a.matrix(m+1, n+1)
	if p.Quadratic() {
		entries(p.P, h.Add)
		var bend exactSum
		for j, sum := range timesP(nil, p, x) {
			h.Add(j, n, sum.value())
			bend.addSum(sum, x[j])
		}
		h.Add(n, n, bend.value())
		out.P = h.matrix(n+1, n+1)
	}
	return out, func(sol *Solution) *Solution {
		back := &Solution{Status: sol.Status, X: withLast(sol.X, x), Z: withLast(sol.Z, z)}
		if sol.S != nil {
			back.S = sol.S[:m]
		}
		if sol.Status == Inaccurate || sol.Status == IterationLimit { // rounding may have been against it only there
			back.Status = Optimal
		}
		return back
	}
}

// withLast returns v without its last entry plus that times d, nil for nil.
func withLast(v, d []float64) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(d))
	for j := range out {
		out[j] = math.FMA(v[len(d)], d[j], v[j])
	}
	return out
}

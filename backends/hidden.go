package backends

import (
	"math"
	"slices"
)

// This file finds what small residuals may hide: Residuals compares the largest one with the largest term of all rows or columns, next to which
// whole rows and columns can be nothing.

const (
	// The part of the cost of a variable without bounds that may be left.
	hiddenCost = 0.01
	// So many times bounds are followed from row to row.
	tightenRounds = 3
	// A residual is looked at if it is more than this part of its own row or column. When it is mended, the objective may change by so much
	// of its terms if the residual is that part of q_j or b_i themselves, and otherwise, where sizes are guessed from less, by all of them.
	ownShare      = 1e-4
	mostHidden    = 1e-4
	mostHiddenOwn = 1.
)

// lost returns a variable whose cost is hidden in the dual residual of the point that recheck had last, -1 for none: Px + A'z does not make up
// for q_j, the variable is in no quadratic term, and its bounds, with what follows from those of the others, do not end the
// direction in which the objective falls.
func (c *checker) lost(p *Problem) int {
	open := func(j int) float64 { // what is left of the cost, 0 if that is not enough to speak of
		left := c.px[j] + p.Q[j] + c.atz[j]
		if p.Q[j] == 0 || math.Abs(left) <= hiddenCost*math.Abs(p.Q[j]) || c.px[j] != 0 {
			return 0
		}
		return left
	}
	some := false
	for j := range p.Q {
		some = some || open(j) != 0
	}
	if !some {
		return -1
	}
	curved := make([]bool, len(p.Q))
	entriesOf(p.P, func(i, j int, _ float64) { curved[i], curved[j] = true, true })
	single := c.known.about(p).single()
	lower, upper := slices.Clone(single.lower), slices.Clone(single.upper)
	low, high := intervals(p.Cones)
	for range tightenRounds {
		tighten(p, low, high, lower, upper)
	}
	for j := range p.Q {
		left := open(j)
		if !curved[j] && (left > 0 && math.IsInf(lower[j], -1) || left < 0 && math.IsInf(upper[j], 1)) {
			return j
		}
	}
	return -1
}

// hidden estimates by how much the objective of the point that recheck had last may change when a residual is mended that is
// more than ownShare of its own row or column: the residual of a column times the size to expect of its variable without far bounds, that of a row
// times that of its multiplier (see solutionSizes.sizes), or those of the point where they are larger. It is told in units of what
// is allowed.
func (c *checker) hidden(p *Problem, u *units, x, s, z []float64, primal float64) float64 {
	ofX, ofZ := c.largestTerms(p, x, z)
	h := hiding{least: 1, terms: max(math.Abs(primal), ofX, ofZ)}
	if u != nil && u.objective > 0 {
		h.least = min(1, u.objective)
	}
	var cols, rows []int
	for j, q := range p.Q {
		if math.Abs(c.px[j]+q+c.atz[j]) > ownShare*max(math.Abs(q), math.Abs(c.px[j]), math.Abs(c.atz[j])) {
			cols = append(cols, j)
		}
	}
	for i, b := range p.B {
		if math.Abs(c.ax[i]+s[i]-b) > ownShare*max(math.Abs(b), math.Abs(c.ax[i]), math.Abs(s[i])) {
			rows = append(rows, i)
		}
	}
	if len(cols)+len(rows) == 0 {
		return 0
	}
	ofCols := func(size func(j int) float64) float64 {
		worst := 0.0
		for _, j := range cols {
			worst = max(worst, h.excess(math.Abs(c.px[j]+p.Q[j]+c.atz[j]), size(j), p.Q[j]))
		}
		return worst
	}
	ofRows := func(size func(i int) float64) float64 {
		worst := 0.0
		for _, i := range rows {
			worst = max(worst, h.excess(math.Abs(c.ax[i]+s[i]-p.B[i]), size(i), p.B[i]))
		}
		return worst
	}
	curvature := diagonal(p)
	alone := func(j int) float64 { // how far the variable moves where no row holds it
		if curvature[j] > 0 {
			return max(math.Abs(x[j]), math.Abs(c.px[j]+p.Q[j]+c.atz[j])/(2*curvature[j]))
		}
		return math.Abs(x[j])
	}
	// In most problems no size that b, q and the entries can lead to matters, of the variables or of the multipliers.
	mostX, mostZ := c.known.about(p).most()
	inCols := ofCols(func(j int) float64 { return max(mostX, alone(j)) })
	if inCols > 1 {
		sizes := c.known.nearX()
		inCols = ofCols(func(j int) float64 { return max(sizes[j], alone(j)) })
	}
	inRows := ofRows(func(i int) float64 { return max(mostZ, math.Abs(z[i])) })
	if inRows > 1 {
		_, sizes := c.known.ofDual()
		inRows = ofRows(func(i int) float64 { return max(sizes[i], math.Abs(z[i])) })
	}
	return max(inCols, inRows)
}

// largestTerms returns the largest terms of the primal and of the dual objective, but for those that they share, for the point that recheck had last.
func (c *checker) largestTerms(p *Problem, x, z []float64) (ofX, ofZ float64) {
	for j, q := range p.Q {
		ofX = max(ofX, math.Abs(q*x[j]), math.Abs(x[j]*c.px[j]/2))
	}
	row := 0
	for _, k := range p.Cones {
		ofZ = max(ofZ, k.largestTerm(p.B[row:row+k.Dim], z[row:row+k.Dim]))
		row += k.Dim
	}
	return ofX, ofZ
}

// hiding is what a residual that single rows or columns hide is compared with.
type hiding struct{ least, terms float64 }

// excess is that of a residual in a row or column whose b_i or q_j is data. The terms of the objective count
// as its size in units of the data at least, unless the residual is a part of data itself.
func (h hiding) excess(residual, size, data float64) float64 {
	change := residual * size
	if data != 0 && h.terms > 0 && residual > ownShare*math.Abs(data) {
		return change / h.terms / mostHidden
	}
	return change / max(h.least, h.terms) / mostHiddenOwn
}

// diagonal returns that of P.
func diagonal(p *Problem) []float64 {
	out := make([]float64, len(p.Q))
	if p.P == nil {
		return out
	}
	raw := p.P.RawMatrix()
	for j := range out {
		for k := raw.Indptr[j+1] - 1; k >= raw.Indptr[j]; k-- { // it is the last of its column, if there is one
			if raw.Ind[k] == j {
				out[j] = raw.Data[k]
				break
			}
		}
	}
	return out
}

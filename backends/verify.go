package backends

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// Recheck measures a primal-dual point on the problem as it is given, in plain arithmetic without
// any scaling, and returns the primal and the dual objective. It panics unless
// p has a shape (see [Problem.Validate]) and x, s and z have lengths n, m and m. An entry that is not finite makes the
// residuals NaN or infinite.
func Recheck(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	p.mustFit()
	return new(checker).recheck(p, x, s, z)
}

// checker holds what was found of the point of the last check, in memory for the next one.
type checker struct {
	ax, px, atz    []float64    // of lengths m, n, n
	ofRows, ofCols []float64    // of absolute, of lengths m, n
	outside        [][2]float64 // for each cone Distance and DualDistance
	known          weights
}

// eachCone visits the cones with the point's parts and how far they are outside.
func (c *checker) eachCone(p *Problem, s, z []float64,
	visit func(row int, k Cone, sk, zk []float64, outside, dual float64)) {
	row := 0
	for at, k := range p.Cones {
		far := c.outside[at]
		visit(row, k, s[row:row+k.Dim], z[row:row+k.Dim], far[0], far[1])
		row += k.Dim
	}
}

func (c *checker) recheck(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	n, m := p.Dims()
	mustHave(len(x) == n && len(s) == m && len(z) == m)
	c.products(p, x, z)
	t := c.tally(p, x, s, z)
	return t.residuals()
}

// tally adds up the point of the products at hand.
func (c *checker) tally(p *Problem, x, s, z []float64) (t tally) {
	worst, scale, bz := 0.0, 0.0, 0.0
	for i, b := range p.B {
		worst = max(worst, math.Abs(c.ax[i]+s[i]-b))
		scale = max(scale, math.Abs(b), math.Abs(c.ax[i]), math.Abs(s[i]))
		bz += b * z[i]
	}
	t.columns(p.Q, c.px, c.atz, x)
	c.outside = c.outside[:0]
	for row, k := range Rows(p.Cones) {
		sk, zk := s[row:row+k.Dim], z[row:row+k.Dim]
		primal, dual := k.Distance(sk), k.DualDistance(zk)
		worst, t.dual = max(worst, primal), max(t.dual, dual)
		if k.Kind == BoxCone {
			t.beta += k.boxTerms(zk)
		}
		c.outside = append(c.outside, [2]float64{primal, dual})
	}
	t.primal, t.ofPrimal, t.bz = worst, scale, bz
	return t
}

// recheckExactly is recheck with all sums in twice the precision. What these leave open of the objectives, where terms
// of some 1e30 cancel, counts in the gap.
func (c *checker) recheckExactly(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	c.exactProducts(p, x, z)
	t := c.tally(p, x, s, z)
	var value, bound exactSum
	for j, q := range p.Q {
		value.addProduct(c.px[j]/2, x[j])
		value.addProduct(q, x[j])
		bound.addProduct(-c.px[j]/2, x[j])
	}
	for i, b := range p.B {
		bound.addProduct(-b, z[i])
	}
	for row, k := range Rows(p.Cones) {
		if k.Kind == BoxCone {
			for i, v := range z[row : row+k.Dim] {
				if l := k.boundOf(i, v); v != 0 && !math.IsInf(l, 0) {
					bound.addProduct(l, v)
				}
			}
		}
	}
	primal, dual = value.value(), bound.value()
	r, _, _ = t.residuals()
	open := value.bound() + bound.bound()
	r.Gap = max(RelativeGap(primal-open, dual), RelativeGap(primal+open, dual))
	return r, primal, dual
}

// Stationarity returns Px + q + A'z, whose largest absolute entry Residuals.Dual has, and what it is divided by there.
// It panics unless p has a shape and x and z have lengths n and m.
func Stationarity(p *Problem, x, z []float64) (r []float64, scale float64) {
	n, m := p.mustFit()
	mustHave(len(x) == n && len(z) == m)
	var c checker
	var t tally
	c.products(p, x, z)
	t.columns(p.Q, c.px, c.atz, x)
	for j, q := range p.Q {
		c.px[j] += q + c.atz[j]
	}
	return c.px, t.dualScale()
}

// tally adds up the [Residuals] and objectives of a point.
type tally struct{ primal, ofPrimal, dual, ofDual, xPx, qx, bz, beta float64 }

// columns has the columns of Px + q + A'z = 0.
func (t *tally) columns(q, px, atz, x []float64) {
	worst, scale, xPx, qx := 0.0, 0.0, 0.0, 0.0
	for j, q := range q {
		worst = max(worst, math.Abs(px[j]+q+atz[j]))
		scale = max(scale, math.Abs(q), math.Abs(px[j]), math.Abs(atz[j]))
		xPx += x[j] * px[j]
		qx += q * x[j]
	}
	t.dual, t.ofDual, t.xPx, t.qx = worst, scale, xPx, qx
}

// residuals returns the residuals and both objectives.
func (t *tally) residuals() (r Residuals, primal, dual float64) {
	primal, dual = t.xPx/2+t.qx, -t.xPx/2-t.bz+t.beta
	return Residuals{t.primal / max(1, t.ofPrimal), t.dual / t.dualScale(), RelativeGap(primal, dual)}, primal, dual
}

// dualScale is what Residuals.Dual is divided by.
func (t *tally) dualScale() float64 { return max(1, t.ofDual) }

// RelativeGap is Residuals.Gap between a primal and a dual objective.
func RelativeGap(primal, dual float64) float64 {
	return math.Abs(primal-dual) / max(1, min(math.Abs(primal), math.Abs(dual)))
}

// Distance is [Solution.Distance] of a point. It panics unless p has a shape and x, s and z have lengths n, m and m.
func Distance(p *Problem, x, s, z []float64) float64 {
	p.mustFit()
	var c checker
	out := &Solution{X: x, S: s, Z: z}
	_, out.Objective, out.DualObjective = c.recheck(p, x, s, z)
	c.absolute(p, x, z)
	distance, rounding := c.distance(p, out)
	return distance + rounding
}

// distance bounds how far the objective of the point that recheck and absolute had last is from the optimal value, if
// there is a solution (x*, z*) with |x*_j| <= 2 |x_j| and |z*_i| <= 2 |z_i|: with r = Px + q + A'z and t = Ax + s - b,
// and by convexity,
//
//	dual objective - |r|'|x*| <= optimal value <= objective + |t|'|z*|,
//
// where s and z that are outside their cones add how far they are, times |z*| and |s*|. The rounding of all these sums
// may be as large as the second result.
func (c *checker) distance(p *Problem, out *Solution) (distance, rounding float64) {
	var below, above float64
	for j, q := range p.Q {
		below += math.Abs((c.px[j] + q + c.atz[j]) * out.X[j])
	}
	for i, b := range p.B {
		above += math.Abs((c.ax[i] + out.S[i] - b) * out.Z[i])
	}
	c.eachCone(p, out.S, out.Z, func(_ int, _ Cone, sk, zk []float64, outside, dual float64) {
		if outside > 0 { // in each entry at most
			above += outside * norm1(zk)
		}
		if dual > 0 {
			below += dual * norm1(sk)
		}
	})
	rounding = c.terms(p, out.S, out.X, out.Z) * float64(4*(len(p.Q)+len(p.B)+4)) * unitRoundoff
	return max(2*above, out.Objective-out.DualObjective+2*below), rounding
}

// terms adds the absolute values of all terms of x'Px, q'x, b'z, z'Ax and s'z of the point that absolute had last.
func (c *checker) terms(p *Problem, s, x, z []float64) float64 {
	sum := 0.0
	for j, q := range p.Q {
		sum += (c.ofCols[j] + math.Abs(q)) * math.Abs(x[j])
	}
	for i, b := range p.B {
		sum += math.Abs(b*z[i]) + math.Abs(s[i]*z[i])
	}
	return sum
}

func (c *checker) reset(p *Problem) {
	n, m := p.Dims()
	c.ax, c.px, c.atz = dense.Cleared(c.ax, m), dense.Cleared(c.px, n), dense.Cleared(c.atz, n)
}

func mustHave(shapesFit bool) {
	if !shapesFit {
		panic("backends: a vector does not have the length that the problem asks for")
	}
}

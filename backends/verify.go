package backends

import "math"

// Recheck measures a primal-dual point on the problem as it is given, without
// any scaling, and returns the primal and the dual objective. It panics unless
// x, s and z have lengths n, m and m. An entry that is not finite makes the
// residuals NaN or infinite.
func Recheck(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	return new(checker).recheck(p, x, s, z)
}

// checker holds the vectors of a check, so that repeated ones allocate nothing.
type checker struct {
	ax, px, atz    []float64 // of lengths m, n, n
	ofRows, ofCols []float64 // of rounding, of lengths m, n
	known          weights
}

func (c *checker) recheck(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	n, m := p.Dims()
	mustHave(len(x) == n && len(s) == m && len(z) == m)
	c.products(p, x, z)

	var rp, rpScale float64
	for i, b := range p.B {
		rp = max(rp, math.Abs(c.ax[i]+s[i]-b))
		rpScale = max(rpScale, math.Abs(b), math.Abs(c.ax[i]), math.Abs(s[i]))
	}
	var rd, rdScale, xPx, qx float64
	for j, q := range p.Q {
		rd = max(rd, math.Abs(c.px[j]+q+c.atz[j]))
		rdScale = max(rdScale, math.Abs(q), math.Abs(c.px[j]), math.Abs(c.atz[j]))
		xPx += x[j] * c.px[j]
		qx += q * x[j]
	}
	bz := 0.0
	for i, b := range p.B {
		bz += b * z[i]
	}
	beta := 0.0
	row := 0
	for _, k := range p.Cones {
		sk, zk := s[row:row+k.Dim], z[row:row+k.Dim]
		rp = max(rp, k.Distance(sk))
		rd = max(rd, k.DualDistance(zk))
		if k.Kind == BoxCone {
			beta += k.boxTerms(zk)
		}
		row += k.Dim
	}
	primal = xPx/2 + qx
	dual = -xPx/2 - bz + beta
	r.Primal = rp / max(1, rpScale)
	r.Dual = rd / max(1, rdScale)
	r.Gap = math.Abs(primal-dual) / max(1, min(math.Abs(primal), math.Abs(dual)))
	return r, primal, dual
}

// distance bounds how far the objective of the point that recheck and rounding had last is from the optimal value, if there is a solution
// (x*, z*) with |x*_j| <= 2 |x_j| and |z*_i| <= 2 |z_i|: with r = Px + q + A'z and t = Ax + s - b, and by convexity,
//
//	dual objective - |r|'|x*| <= optimal value <= objective + |t|'|z*|,
//
// where s and z that are outside their cones add how far they are, times |z*| and |s*|, and the rounding of all these sums what it can be at
// most.
func (c *checker) distance(p *Problem, out *Solution) float64 {
	var below, above float64
	for j, q := range p.Q {
		below += math.Abs((c.px[j] + q + c.atz[j]) * out.X[j])
	}
	for i, b := range p.B {
		above += math.Abs((c.ax[i] + out.S[i] - b) * out.Z[i])
	}
	row := 0
	for _, k := range p.Cones { // s and z are so far outside, in each entry at most
		sk, zk := out.S[row:row+k.Dim], out.Z[row:row+k.Dim]
		if d := k.Distance(sk); d > 0 {
			above += d * norm1(zk)
		}
		if d := k.DualDistance(zk); d > 0 {
			below += d * norm1(sk)
		}
		row += k.Dim
	}
	rounding := c.terms(p, out) * float64(4*(len(p.Q)+len(p.B)+4)) * unitRoundoff
	return max(2*above, out.Objective-out.DualObjective+2*below) + rounding
}

// terms adds the absolute values of all terms of x'Px, q'x, b'z, z'Ax and s'z of the point that rounding had last.
func (c *checker) terms(p *Problem, out *Solution) float64 {
	sum := 0.0
	for j, q := range p.Q {
		sum += (c.ofCols[j] + math.Abs(q)) * math.Abs(out.X[j])
	}
	for i, b := range p.B {
		sum += math.Abs(b*out.Z[i]) + math.Abs(out.S[i]*out.Z[i])
	}
	return sum
}

func norm1(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Abs(x)
	}
	return sum
}

func (c *checker) reset(p *Problem) {
	n, m := p.Dims()
	c.ax, c.px, c.atz = zeros(c.ax, m), zeros(c.px, n), zeros(c.atz, n)
}

func mustHave(shapesFit bool) {
	if !shapesFit {
		panic("backends: a vector does not have the length that the problem asks for")
	}
}

// zeros returns v with n zeros, reusing its memory if it is large enough.
func zeros(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	v = v[:n]
	clear(v)
	return v
}

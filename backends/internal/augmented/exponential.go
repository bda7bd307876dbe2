package augmented

import "math"

// exponential is an exponential cone {(u, v, w): v > 0, v exp(u/v) <= w}, or its dual, of the rows from lo on.
type exponential struct {
	lo   int
	dual bool
}

// bend is the upper triangle, by columns, of the derivative of w - proj(w): symmetric, with eigenvalues from 0 to 1.
type bend [6]float64

// times is the product with a vector.
func (b *bend) times(v []float64) (out [3]float64) {
	out[0] = b[0]*v[0] + b[1]*v[1] + b[3]*v[2]
	out[1] = b[1]*v[0] + b[2]*v[1] + b[4]*v[2]
	out[2] = b[3]*v[0] + b[4]*v[1] + b[5]*v[2]
	return out
}

// project writes the projection of w onto the cone. That onto the dual cone is w + proj(-w) (Moreau).
func (e *exponential) project(to, w []float64) bend {
	if !e.dual {
		return projectExponential(to, w)
	}
	b := projectExponential(to, []float64{-w[0], -w[1], -w[2]})
	for k, v := range w {
		to[k] += v
	}
	for k := range b {
		b[k] = -b[k]
	}
	b[0], b[2], b[5] = 1+b[0], 1+b[2], 1+b[5]
	return b
}

// projectExponential follows Friberg (Projection onto the exponential cone: a univariate root-finding problem, 2023). A
// point that is neither in the cone nor in its polar, nor above or below the face v = 0, is
//
//	w = a (r, 1, e^r) + b (1, 1-r, -e^-r),   a, b > 0,
//
// of which the first part is the projection and the second is orthogonal to it: from the first two entries
//
//	a = ((r-1) u + v) / d,   b = (u - r v) / d,   d = r^2 - r + 1,
//
// and h(r) = a e^r - b e^-r - w increases where both are positive.
func projectExponential(to, p []float64) bend {
	u, v, w := p[0], p[1], p[2]
	switch {
	case v > 0 && v*math.Exp(u/v) <= w || v == 0 && u <= 0 && w >= 0:
		copy(to, p)
		return bend{}
	case u > 0 && u*math.Exp(v/u) <= -math.E*w || u == 0 && v <= 0 && w <= 0:
		clear(to)
		return bend{1, 0, 1, 0, 0, 1}
	case u <= 0 && v <= 0:
		to[0], to[1], to[2] = u, 0, max(0, w)
		if w >= 0 {
			return bend{2: 1}
		}
		return bend{2: 1, 5: 1}
	}
	r := ratio(u, v, w)
	d := r*r - r + 1
	a, b := max(0, ((r-1)*u+v)/d), max(0, (u-r*v)/d)
	// Of a and b, that of the larger exponential is known better from h.
	if r > 0 {
		top := max(0, w+b*math.Exp(-r))
		a = top * math.Exp(-r)
		to[0], to[1], to[2] = a*r, a, top
	} else {
		to[0], to[1], to[2] = a*r, a, a*math.Exp(r)
		b = max(0, (to[2]-w)*math.Exp(r))
	}
	return curvature(r, a, b)
}

// ratio is the root of h.
func ratio(u, v, w float64) float64 {
	h := func(r float64) (value, slope float64) {
		d, grow, fall := r*r-r+1, math.Exp(r), math.Exp(-r)
		a, b := max(0, ((r-1)*u+v)/d), max(0, (u-r*v)/d)
		da, db := (u-a*(2*r-1))/d, (-v-b*(2*r-1))/d
		return a*grow - b*fall - w, (da+a)*grow - (db-b)*fall
	}
	lo, hi := math.Inf(-1), math.Inf(1) // between a = 0 and b = 0
	if u > 0 {
		lo = 1 - v/u
	}
	if v > 0 {
		hi = u / v
	}
	for step := 1.0; math.IsInf(hi, 1) && step <= math.MaxFloat64; step *= 2 {
		if f, _ := h(lo + step); f >= 0 {
			hi = lo + step
		}
	}
	for step := 1.0; math.IsInf(lo, -1) && step <= math.MaxFloat64; step *= 2 {
		if f, _ := h(hi - step); f <= 0 {
			lo = hi - step
		}
	}
	r, width := lo+(hi-lo)/2, hi-lo // width is that of two steps before
	for k := range mostHalvings {
		f, slope := h(r)
		if f >= 0 {
			hi = min(hi, r)
		}
		if f <= 0 {
			lo = max(lo, r)
		}
		next := r - f/slope
		slow := false
		if k%2 == 1 { // far from the root Newton's method goes by ones
			slow = hi-lo > width/2 && math.Abs(next-r) > 1e-3
			width = hi - lo
		}
		if slow || !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if next == r || next <= lo || next >= hi {
			break
		}
		r = next
	}
	return r
}

// mostHalvings bounds the steps to the root of h, of which Newton's method takes about six.
const mostHalvings = 200

// curvature is the bend beside the smooth part of the boundary. With the multiplier b e^-r of v exp(u/v) - w <= 0,
// whose second derivative is e^r/a q q' with q = (1, -r, 0), and n its gradient times e^-r, the projection has the
// derivative M^-1 - m m'/n'm for M = I + b/a q q' and m = M^-1 n. All is divided by e^-r where that is large.
func curvature(r, a, b float64) bend {
	k := math.Min(1, math.Exp(r))
	q := [2]float64{1, -r}
	qq, nn := 1+r*r, 1+(1-r)*(1-r)
	c := b / (a + b*qq)
	along := c * (r*r - r + 1) // n'q = r^2 - r + 1
	m := [3]float64{k * (1 - along), k * (1 - r + along*r), -k * math.Exp(-r)}
	if r < 0 {
		m[2] = -1
	}
	nm := m[2]*m[2] + k*k*(a*nn+b)/(a+b*qq)
	return bend{
		c*q[0]*q[0] + m[0]*m[0]/nm,
		c*q[0]*q[1] + m[0]*m[1]/nm, c*q[1]*q[1] + m[1]*m[1]/nm,
		m[0] * m[2] / nm, m[1] * m[2] / nm, m[2] * m[2] / nm,
	}
}

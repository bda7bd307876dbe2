package planted

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// pair draws s in the cone c and z in its dual with s'z = beta(z): both on the boundary,
// one inside and the other zero, or one or both zero though they need not be. With
// exact, nothing is rounded.
func (d *draw) pair(c backends.Cone, exact bool) (s, z []float64) {
	s, z = make([]float64, c.Dim), make([]float64, c.Dim)
	switch c.Kind {
	case backends.ZeroCone:
		for i := range z {
			z[i] = d.number()
		}
		return s, z
	case backends.NonnegativeCone:
		for i := range s {
			switch k := d.IntN(7); {
			case k < 3 || d.regular && k > 4:
				s[i] = d.amount()
			case k < 6:
				z[i] = d.amount()
			}
		}
		return s, z
	case backends.BoxCone:
		for i := range s {
			s[i], z[i] = d.boxPair(c.Lower[i], c.Upper[i])
		}
		return s, z
	}
	if !d.regular {
		switch d.IntN(8) {
		case 0:
			return d.inside(c), z
		case 1:
			return s, d.inside(dual(c))
		case 2:
			s, _ = d.edge(c)
			return s, z
		case 3:
			z, _ = d.edge(dual(c))
			return s, z
		}
	}
	switch c.Kind {
	case backends.SecondOrderCone:
		s = d.light(c.Dim)
		k := d.amount()
		for i, v := range s {
			z[i] = -k * v
		}
		z[0] = k * s[0]
		if c.Dim == 1 {
			z[0] = 0
		}
	case backends.PSDCone:
		d.matrixPair(c, s, z, exact)
	case backends.NuclearNormCone:
		d.nuclearPair(c, s, z)
	default:
		d.curvedPair(c, s, z, exact)
	}
	return s, z
}

// curvedPair is pair for exponential and power cones and their duals.
func (d *draw) curvedPair(c backends.Cone, s, z []float64, exact bool) {
	switch c.Kind {
	case backends.ExponentialCone:
		d.exponentialPair(s, z, exact)
	case backends.PowerCone:
		d.powerPair(c.Alpha, s, z, exact)
	case backends.GeneralizedPowerCone:
		d.generalizedPowerPair(c.Weights, s, z, exact)
	default:
		d.curvedPair(dual(c), z, s, exact)
	}
}

// boxPair draws a point between the bounds and a multiplier.
func (d *draw) boxPair(lower, upper float64) (s, z float64) {
	low, high := near(lower), near(upper)
	switch {
	case low && high && lower == upper:
		return lower, d.number()
	case low && d.chance(3):
		return lower, d.pressure()
	case high && d.chance(2):
		return upper, -d.pressure()
	}
	return d.between(lower, upper), 0
}

// pressure is an amount, often twice that or nothing where that need not be regular.
func (d *draw) pressure() float64 {
	if d.regular {
		return d.amount()
	}
	return d.amount() * float64(d.IntN(4)/2+d.IntN(2))
}

// near says whether a bound is close enough that numbers of size 1 can be planted there
// without rounding.
func near(bound float64) bool { return math.Abs(bound) < 1e9 }

// between draws a number between bounds, which may be infinite.
func (d *draw) between(lower, upper float64) float64 {
	low, high := near(lower), near(upper)
	switch {
	case low && high:
		if d.regular {
			return (lower + upper) / 2
		}
		return lower + (upper-lower)*float64(d.IntN(5))/4
	case low:
		return lower + d.amount()
	case high:
		return upper - d.amount()
	}
	return d.number()
}

// dual returns a cone of the kind of the dual cone. A nuclear norm becomes a cone of
// the kind -1, which inside and edge know as the dual of it.
func dual(c backends.Cone) backends.Cone {
	if kind, other := duals[c.Kind]; other {
		c.Kind = kind
	}
	return c
}

// duals are the kinds of the dual cones where they are others.
var duals = map[backends.ConeKind]backends.ConeKind{
	backends.ExponentialCone: backends.DualExponentialCone, backends.DualExponentialCone: backends.ExponentialCone,
	backends.PowerCone: backends.DualPowerCone, backends.DualPowerCone: backends.PowerCone,
	backends.GeneralizedPowerCone:     backends.DualGeneralizedPowerCone,
	backends.DualGeneralizedPowerCone: backends.GeneralizedPowerCone,
	backends.NuclearNormCone:          -1,
}

// above returns a multiple of 1/16 above v.
func above(v float64) float64 { return (math.Floor(16*v) + 1) / 16 }

// inside draws a point of the interior of a cone that is neither zero nor a box.
func (d *draw) inside(c backends.Cone) []float64 {
	s := make([]float64, c.Dim)
	for i := range s {
		s[i] = d.number()
	}
	switch c.Kind {
	case backends.NonnegativeCone:
		for i := range s {
			s[i] = d.amount()
		}
	case backends.SecondOrderCone:
		s[0] = above(norm(s[1:]))
	case backends.PSDCone: // by a dominant diagonal
		n := backends.PSDOrder(c.Dim)
		k := 0
		diagonal := make([]float64, n)
		for j := range n {
			for i := j; i < n; i++ {
				if i != j {
					diagonal[i] += math.Abs(s[k])
					diagonal[j] += math.Abs(s[k])
				}
				k++
			}
		}
		k = 0
		for j := range n {
			s[k] = diagonal[j] + d.amount()
			k += n - j
		}
	case backends.ExponentialCone:
		s[1] = d.amount()
		s[0] = min(s[0], 4*s[1]) // the exponential stays below 55
		s[2] = above(s[1] * math.Exp(s[0]/s[1]))
	case backends.DualExponentialCone:
		s[0] = -d.amount()
		s[1] = max(s[1], 4*s[0])
		s[2] = above(-s[0] * math.Exp(s[1]/s[0]-1))
	case backends.PowerCone, backends.DualPowerCone:
		s[0], s[1] = d.amount(), d.amount()
		s[2] = d.sign() * min(s[0], s[1]) / 2
	case backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone: // both hold |z| < min x
		least := math.Inf(1)
		for i := range c.Weights {
			s[i] = d.amount()
			least = min(least, s[i])
		}
		for i := len(c.Weights); i < c.Dim; i++ {
			s[i] = d.sign() * least / 4
		}
	default: // the nuclear norm is at most sqrt(rank) times the norm
		s[0] = above(2 * norm(s[1:]))
	}
	return s
}

// edge draws a point of the boundary without rounding, and false where it knows none.
func (d *draw) edge(c backends.Cone) ([]float64, bool) {
	s := make([]float64, c.Dim)
	switch c.Kind {
	case backends.SecondOrderCone:
		return d.light(c.Dim), c.Dim > 1
	case backends.PSDCone:
		d.matrixPair(c, s, make([]float64, c.Dim), true)
	case backends.PowerCone, backends.DualPowerCone:
		if c.Alpha == 0.5 {
			d.curvedPair(c, s, make([]float64, 3), true)
		} else {
			s[d.IntN(2)] = d.amount()
		}
	case backends.ExponentialCone, backends.DualExponentialCone, backends.GeneralizedPowerCone,
		backends.DualGeneralizedPowerCone:
		d.curvedPair(c, s, make([]float64, c.Dim), true)
	default:
		return s, false
	}
	return s, true
}

// light draws (t, v) with t = |v| without rounding: for any w, the vector
// (1 - |w|^2, 2w) has the norm 1 + |w|^2. The numbers of w are multiples of 1/4.
func (d *draw) light(n int) []float64 {
	s := make([]float64, n)
	if n < 2 {
		return s
	}
	square := 0.0
	for i := 2; i < n; i++ {
		w := float64(d.IntN(9)-4) / 4
		s[i] = 2 * w
		square += w * w
	}
	s[0], s[1] = 1+square, 1-square
	k := d.amount()
	if d.regular { // of size one, whatever its dimension
		k /= s[0]
	}
	for i := range s {
		s[i] *= k
		if i > 0 && d.chance(2) {
			s[i] = -s[i]
		}
	}
	d.Shuffle(n-1, func(i, j int) { s[1+i], s[1+j] = s[1+j], s[1+i] })
	return s
}

// matrixPair takes S = Q diag(l, 0) Q', Z = Q diag(0, g) Q'. With exact, Q is the
// identity, or turns one pair of coordinates: with vectors (sqrt 2 p, q) and
// (q, -sqrt 2 p) the entries are 2p^2, q^2 and, times sqrt 2, 2pq.
func (d *draw) matrixPair(c backends.Cone, s, z []float64, exact bool) {
	n := backends.PSDOrder(c.Dim)
	at := func(i, j int) int { // i >= j
		return j*n - j*(j-1)/2 + i - j
	}
	if d.regular || !exact && d.chance(2) {
		q := d.orthogonal(n)
		for r := range n {
			out := s
			switch k := d.IntN(5); {
			case d.regular && r > 0:
			case d.regular || k == 2 || k == 3:
				out = z
			case k == 4:
				continue
			}
			weight := d.amount()
			for j := range n {
				for i := j; i < n; i++ {
					v := weight * q[r][i] * q[r][j]
					if i != j {
						v *= math.Sqrt2
					}
					out[at(i, j)] += v
				}
			}
		}
		return
	}
	a, b := -1, -1
	if n > 1 {
		order := d.Perm(n)
		a, b = max(order[0], order[1]), min(order[0], order[1])
		p, q := float64(d.IntN(4)), d.sign()*float64(1+d.IntN(3))
		out, other := s, z
		if d.chance(2) {
			out, other = z, s
		}
		k, l := d.amount(), d.amount()*float64(d.IntN(3)/2)
		out[at(b, b)], out[at(a, b)], out[at(a, a)] = 2*p*p*k, 2*p*q*k, q*q*k
		other[at(b, b)], other[at(a, b)], other[at(a, a)] = q*q*l, -2*p*q*l, 2*p*p*l
	}
	for j := range n {
		if j == a || j == b {
			continue
		}
		switch d.IntN(5) {
		case 0, 1:
			s[at(j, j)] = d.amount()
		case 2, 3:
			z[at(j, j)] = d.amount()
		}
	}
}

// exponentialPair takes s = (u, v, v exp(u/v)) and the normal there,
// z = k (-1, u/v - 1, exp(-u/v)), or the flat faces (u, 0, w) with u <= 0 and
// (0, v, w), which are orthogonal where s or z has w = 0.
func (d *draw) exponentialPair(s, z []float64, exact bool) {
	if d.degenerate(4) {
		s[0], z[1] = -d.amount(), d.amount()
		if d.chance(2) {
			s[2] = d.amount()
		} else {
			z[2] = d.amount()
		}
		return
	}
	v, k, r := d.amount(), d.amount(), 0.0
	if !exact && d.chance(2) {
		r = 4*d.Float64() - 2
	}
	s[0], s[1], s[2] = r*v, v, v*math.Exp(r)
	z[0], z[1], z[2] = -k, k*(r-1), k*math.Exp(-r)
	if r != 0 {
		s[2], z[2] = s[2]*d.inward(), z[2]*d.inward()
	}
}

// justInside keeps points that are rounded from ending outside of their cone: a right-hand side in which everything but
// the rounding cancels would make the program infeasible.
const justInside = 1 + 0x1p-40

// inward is justInside, but 1 for what is regular, in which nothing cancels.
func (d *draw) inward() float64 {
	if d.regular {
		return 1
	}
	return justInside
}

// powerPair takes s = (u, v, w) with w = +-u^a v^(1-a) and the normal
// k (a |w|/u, (1-a) |w|/v, -+1), or the edges (u, 0, 0) and (0, v, 0).
func (d *draw) powerPair(a float64, s, z []float64, exact bool) {
	i := d.IntN(2)
	switch {
	case d.degenerate(4):
		s[i], z[1-i] = d.amount(), d.amount()
	case exact && a == 0.5: // (p^2, r^2, pr) and (r^2, p^2, -2pr)
		p, r, sign, k := float64(1+d.IntN(3)), float64(1+d.IntN(3)), d.sign(), d.amount()
		s[0], s[1], s[2] = p*p, r*r, sign*p*r
		z[0], z[1], z[2] = k*r*r, k*p*p, -2*k*sign*p*r
	case exact:
		s[i], z[1-i] = d.amount(), d.amount()
	default:
		u, v, k, sign := d.amount(), d.amount(), d.amount(), d.sign()
		if d.chance(2) {
			u, v = 0.1+3*d.Float64(), 0.1+3*d.Float64()
		}
		w := math.Pow(u, a) * math.Pow(v, 1-a)
		s[0], s[1], s[2] = u, v, sign*w/d.inward()
		z[0], z[1], z[2] = k*a*w/u, k*(1-a)*w/v, -k*sign/d.inward()
	}
}

// nuclearPair takes X = U diag(g, 0) V', t = |X|_* and Z = -w U diag(1, h) V', |h| < 1.
func (d *draw) nuclearPair(c backends.Cone, s, z []float64) {
	u, v := d.orthogonal(c.Rows), d.orthogonal(c.Cols)
	k, w := min(c.Rows, c.Cols), d.amount()
	rank := 1 + d.IntN(k)
	z[0] = w
	for r := range k {
		g, h := d.amount(), 1.0
		if r >= rank {
			g, h = 0, float64(d.IntN(7)-3)/4
		}
		s[0] += g
		for j := range c.Cols {
			for i := range c.Rows {
				s[1+i+j*c.Rows] += g * u[r][i] * v[r][j]
				z[1+i+j*c.Rows] -= w * h * u[r][i] * v[r][j]
			}
		}
	}
}

// orthogonal returns rows of an orthogonal matrix, by Gram and Schmidt twice.
func (d *draw) orthogonal(n int) [][]float64 {
	out := make([][]float64, n)
	for r := range out {
		v := make([]float64, n)
		for {
			for i := range v {
				v[i] = d.NormFloat64()
			}
			for range 2 {
				for _, w := range out[:r] {
					k := dot(v, w)
					for i := range v {
						v[i] -= k * w[i]
					}
				}
			}
			if size := norm(v); size > 1e-3 {
				for i := range v {
					v[i] /= size
				}
				break
			}
		}
		out[r] = v
	}
	return out
}

package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// Mix names the cones that programs are drawn from.
type Mix string

// The mixes. Each has zero, nonnegative and box rows, and quadratic objectives.
const (
	Linear  Mix = "lin" // no other cones
	Conic   Mix = "soc" // second-order cones
	Matrix  Mix = "sdp" // second-order and semidefinite cones
	Curved  Mix = "exp" // second-order, exponential and power cones
	All     Mix = "all" // all but nuclear norms and generalized power cones
	Nuclear Mix = "nuc" // all but generalized power cones
	General Mix = "gen" // all but nuclear norms
	Every   Mix = "any" // all
)

// Mixes returns all mixes, wider ones behind those that they hold.
func Mixes() []Mix { return []Mix{Linear, Conic, Matrix, Curved, All, Nuclear, General, Every} }

// kinds are the cones of a mix beside zero, nonnegative and box rows.
func (m Mix) kinds() []backends.ConeKind {
	plain := []backends.ConeKind{
		backends.ExponentialCone, backends.DualExponentialCone, backends.PowerCone, backends.DualPowerCone,
		backends.SecondOrderCone, backends.PSDCone,
	}
	other := []backends.ConeKind{backends.NuclearNormCone, backends.GeneralizedPowerCone,
		backends.DualGeneralizedPowerCone}
	switch m {
	case Linear:
		return nil
	case Conic:
		return plain[4:5]
	case Matrix:
		return plain[4:]
	case Curved:
		return plain[:5]
	case All:
		return plain
	case Nuclear:
		return append(plain, other[0])
	case General:
		return append(plain, other[1:]...)
	}
	return append(plain, other...)
}

// MixFor returns the widest mix that the backends take together: programs that one
// of them does not take are left out for it.
func MixFor(list ...backends.ConicBackend) Mix {
	taken := func(k backends.ConeKind) bool {
		return slices.ContainsFunc(list, func(b backends.ConicBackend) bool { return b.Capabilities().Supports(k) })
	}
	for _, m := range slices.Backward(Mixes()) {
		if !slices.ContainsFunc(m.kinds(), func(k backends.ConeKind) bool { return !taken(k) }) {
			return m
		}
	}
	return Linear
}

// cones draws the cones of a program with about as many rows as there are variables, up to twice as many.
func (d *draw) cones(mix Mix, n int) (out []backends.Cone) {
	if d.chance(25) {
		return nil
	}
	curved := mix.kinds()
	if d.chance(3) {
		curved = nil
	}
	rows := 1 + d.IntN(2*n)
	for m := 0; m < rows; m += out[len(out)-1].Dim {
		c := backends.Cone{Kind: backends.ConeKind(d.IntN(3)), Dim: 1 + d.IntN(min(rows-m, 6))}
		if len(curved) > 0 && d.chance(2) {
			c = d.curvedCone(curved[d.IntN(len(curved))])
		} else if c.Kind == backends.BoxCone {
			c = d.box(c.Dim)
		}
		out = append(out, c)
	}
	return out
}

func (d *draw) curvedCone(k backends.ConeKind) backends.Cone {
	switch k {
	case backends.SecondOrderCone:
		return backends.SecondOrder(1 + d.IntN(5))
	case backends.PSDCone:
		return backends.PSD(1 + d.IntN(4)*(1+d.IntN(2))/2)
	case backends.NuclearNormCone:
		return backends.NuclearNorm(1+d.IntN(3), 1+d.IntN(3))
	case backends.PowerCone:
		return backends.Power([]float64{0.5, 0.25, 0.75, 0.3, 0.8, 0.05 + 0.9*d.Float64()}[d.IntN(6)])
	case backends.ExponentialCone:
		return backends.Exponential()
	case backends.GeneralizedPowerCone:
		weights := [][]float64{{1}, {0.5, 0.5}, {0.25, 0.75}, {0.25, 0.25, 0.5}, {0.125, 0.5, 0.375},
			{0.25, 0.25, 0.25, 0.25}}[d.IntN(6)]
		if d.chance(4) {
			weights = fill(2+d.IntN(3), func() float64 { return 0.05 + d.Float64() })
			scaleBy(weights, 1/dot(weights, ones(len(weights))))
		}
		return backends.GeneralizedPower(weights, 1+d.IntN(3))
	}
	return dual(d.curvedCone(duals[k]))
}

// box draws bounds: both, one, none, or equal.
func (d *draw) box(n int) backends.Cone {
	lower, upper := make([]float64, n), make([]float64, n)
	for i := range lower {
		lower[i] = d.number()
		upper[i] = lower[i] + d.amount()
		switch d.IntN(9) {
		case 0, 1:
			upper[i] = math.Inf(1)
		case 2, 3:
			lower[i] = math.Inf(-1)
		case 4:
			lower[i], upper[i] = math.Inf(-1), math.Inf(1)
		case 5:
			upper[i] = lower[i]
		}
	}
	return backends.Box(lower, upper)
}

// duals are the kinds of the dual cones where they are others. That of a nuclear norm cone is none of package backends.
var duals = map[backends.ConeKind]backends.ConeKind{
	backends.ExponentialCone: backends.DualExponentialCone, backends.DualExponentialCone: backends.ExponentialCone,
	backends.PowerCone: backends.DualPowerCone, backends.DualPowerCone: backends.PowerCone,
	backends.GeneralizedPowerCone:     backends.DualGeneralizedPowerCone,
	backends.DualGeneralizedPowerCone: backends.GeneralizedPowerCone,
	backends.NuclearNormCone:          -1, -1: backends.NuclearNormCone,
}

func dual(c backends.Cone) backends.Cone {
	if kind, other := duals[c.Kind]; other {
		c.Kind = kind
	}
	return c
}

// interval is the cone of one row with such bounds.
func interval(lower, upper float64) backends.Cone {
	switch {
	case lower == 0 && upper == 0:
		return backends.Zero(1)
	case lower == 0 && math.IsInf(upper, 1):
		return backends.Nonnegative(1)
	}
	return backends.Box([]float64{lower}, []float64{upper})
}

// near says whether a bound is close enough that numbers of size 1 can be planted there without rounding.
func near(bound float64) bool { return math.Abs(bound) < 1e9 }

// pair draws s in the cone c and z in its dual with s'z = beta(z): both on the boundary, one inside and the other zero,
// or one or both zero though they need not be. Unless the cone is a product of intervals, they are exact on demand.
func (d *draw) pair(c backends.Cone, exact bool) (s, z []float64) {
	if c.Kind.Intervals() {
		s, z = make([]float64, c.Dim), make([]float64, c.Dim)
		for i := range s {
			s[i], z[i] = d.atBounds(c.Interval(i))
		}
		return s, z
	}
	if s, z = d.boundaryPair(c, exact); d.regular {
		return s, z
	}
	switch d.IntN(8) {
	case 0:
		clear(z)
		d.enter(c, s)
	case 1:
		clear(s)
		d.enter(dual(c), z)
	case 2:
		clear(z)
	case 3:
		clear(s)
	}
	return s, z
}

// atBounds draws a point between the bounds and a multiplier.
func (d *draw) atBounds(lower, upper float64) (s, z float64) {
	pressure := func() float64 { // often twice an amount, or none
		if d.regular {
			return d.amount()
		}
		return d.amount() * float64(d.IntN(4)/2+d.IntN(2))
	}
	switch low, high := near(lower), near(upper); {
	case !low && !high:
		return d.number(), 0
	case lower == upper:
		return lower, d.number()
	case low && high:
		switch d.IntN(3) {
		case 0:
			return lower, pressure()
		case 1:
			return upper, -pressure()
		}
		if d.regular {
			return (lower + upper) / 2, 0
		}
		return lower + (upper-lower)*float64(d.IntN(5))/4, 0
	case high:
		s, z = d.atBounds(-upper, -lower)
		return -s, -z
	}
	switch k := d.IntN(7); {
	case k < 3 || d.regular && k > 4:
		return lower + d.amount(), 0
	case k < 6:
		return lower, d.amount()
	}
	return lower, 0
}

// directions draws a direction r that never leaves the cone and a multiplier z with finite beta(z), for which r'z = 0
// without rounding.
func (d *draw) directions(c backends.Cone) (r, z []float64) {
	if !c.Kind.Intervals() {
		return d.pair(c, true)
	}
	r, z = make([]float64, c.Dim), make([]float64, c.Dim)
	for i := range r {
		lower, upper := c.Interval(i)
		down, up := math.IsInf(lower, -1), math.IsInf(upper, 1) // where r may go
		switch d.IntN(5) {
		case 0, 1:
			r[i] = d.toward(down, up)
		case 2, 3:
			z[i] = d.toward(near(upper), near(lower))
		}
	}
	return r, z
}

// toward draws a number that may be negative, or positive, or neither.
func (d *draw) toward(down, up bool) float64 {
	switch {
	case down && up:
		return d.number()
	case down:
		return -d.amount()
	case up:
		return d.amount()
	}
	return 0
}

// enter adds to a point of a cone another one and a multiple of an inner direction.
func (d *draw) enter(c backends.Cone, s []float64) {
	other, _ := d.boundaryPair(c, true)
	by := d.amount()
	inner := make([]float64, c.Dim)
	switch c.Kind {
	case backends.ExponentialCone, backends.DualExponentialCone:
		copy(inner, []float64{-1, 1, 1})
	case backends.PSDCone:
		n := backends.PSDOrder(c.Dim)
		for j := range n {
			inner[triangle(n, j, j)] = 1
		}
	case backends.PowerCone, backends.DualPowerCone:
		inner[0], inner[1] = 1, 1
	case backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone:
		copy(inner, ones(len(c.Weights)))
	default:
		inner[0] = 1
	}
	for i, v := range inner {
		s[i] += other[i] + by*v
	}
}

// boundaryPair draws both on the boundary.
func (d *draw) boundaryPair(c backends.Cone, exact bool) (s, z []float64) {
	s, z = make([]float64, c.Dim), make([]float64, c.Dim)
	switch c.Kind {
	case backends.SecondOrderCone:
		s = d.light(c.Dim)
		k := d.amount()
		for i, v := range s {
			z[i] = -k * v
		}
		z[0] = k * s[0]
	case backends.PSDCone:
		d.matrixPair(backends.PSDOrder(c.Dim), s, z, exact)
	case backends.NuclearNormCone:
		d.nuclearPair(c, s, z, exact)
	case backends.ExponentialCone:
		d.exponentialPair(s, z, exact)
	case backends.PowerCone:
		d.powerPair([]float64{c.Alpha, 1 - c.Alpha}, s, z, exact)
	case backends.GeneralizedPowerCone:
		d.powerPair(c.Weights, s, z, exact)
	default:
		z, s = d.boundaryPair(dual(c), exact)
	}
	return s, z
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
	scaleBy(s, k)
	for i := range s[1:] {
		s[1+i] *= d.sign()
	}
	d.Shuffle(n-1, func(i, j int) { s[1+i], s[1+j] = s[1+j], s[1+i] })
	return s
}

// triangle is the place of the entry (i, j), i >= j, of a matrix of order n in the lower triangle by columns.
func triangle(n, i, j int) int { return j*n - j*(j-1)/2 + i - j }

// matrixPair takes S = Q diag(l, 0) Q', Z = Q diag(0, g) Q'. With exact, Q is the identity, or turns one pair of
// coordinates: with vectors (sqrt 2 p, q) and (q, -sqrt 2 p) the entries are 2p^2, q^2 and, times sqrt 2, 2pq.
func (d *draw) matrixPair(n int, s, z []float64, exact bool) {
	rank1 := func(to []float64, by float64, v []float64) {
		for j := range v {
			to[triangle(n, j, j)] += by * v[j] * v[j]
			for i := j + 1; i < n; i++ {
				to[triangle(n, i, j)] += by * math.Sqrt2 * v[i] * v[j]
			}
		}
	}
	if q := d.orthogonal(n, exact); d.regular || !exact && d.chance(2) {
		for r, v := range q {
			switch k := d.IntN(5); {
			case d.regular && r > 0 || k < 2 && !d.regular:
				rank1(s, d.amount(), v)
			case d.regular || k < 4:
				rank1(z, d.amount(), v)
			}
		}
		return
	}
	a, b := n, n
	if n > 1 {
		order := d.Perm(n)
		a, b = max(order[0], order[1]), min(order[0], order[1])
		p, q := float64(d.IntN(4)), d.sign()*float64(1+d.IntN(3))
		k, l := d.amount(), d.amount()*float64(d.IntN(3)/2)
		first, second := s, z
		if d.chance(2) {
			first, second = z, s
		}
		aa, ab, bb := triangle(n, a, a), triangle(n, a, b), triangle(n, b, b)
		first[bb], first[ab], first[aa] = 2*p*p*k, 2*p*q*k, q*q*k
		second[bb], second[ab], second[aa] = q*q*l, -2*p*q*l, 2*p*p*l
	}
	for j := range n {
		if k := d.IntN(5); j != a && j != b && k < 4 {
			[][]float64{s, z}[k/2][triangle(n, j, j)] = d.amount()
		}
	}
}

// exponentialPair takes s = (u, v, v exp(u/v)) and the normal there,
// z = k (-1, u/v - 1, exp(-u/v)), or the flat faces (u, 0, w) with u <= 0 and
// (0, v, w), which are orthogonal where s or z has w = 0.
func (d *draw) exponentialPair(s, z []float64, exact bool) {
	v, k, r := d.amount(), d.amount(), 0.0
	if !d.regular && d.chance(4) {
		s[0], z[1] = -v, k
		[][]float64{s, z}[d.IntN(2)][2] = d.amount()
		return
	}
	if !exact && d.chance(2) {
		r = 4*d.Float64() - 2
	}
	s[0], s[1], s[2] = r*v, v, v*math.Exp(r)
	z[0], z[1], z[2] = -k, k*(r-1), k*math.Exp(-r)
	if r != 0 {
		s[2], z[2] = s[2]*d.inward(), z[2]*d.inward()
	}
}

// powerPair takes s = (x, y) with |y| = prod x_i^w_i and the normal k (w_i |y|/x_i, -y/|y|), or a face y = 0 with
// x_i z_i = 0. With exact, all x_i are |y|, and weights that are no binary fractions have the face alone.
func (d *draw) powerPair(weights, s, z []float64, exact bool) {
	k := len(weights)
	rounded := slices.ContainsFunc(weights, func(w float64) bool { return 8*w != math.Floor(8*w) })
	if !d.regular && d.chance(4) || exact && rounded {
		for i := range k {
			if which := d.IntN(3); which < 2 {
				[][]float64{s, z}[which][i] = d.amount()
			}
		}
		return
	}
	ray, by := d.light(1+len(s)-k), d.amount()
	mean := ray[0]
	for i := range k {
		s[i] = mean
	}
	if !exact && d.chance(2) {
		rounded, mean = true, 1
		for i, w := range weights {
			s[i] = 0.1 + 3*d.Float64()
			mean *= math.Pow(s[i], w)
		}
	}
	inward := 1.0
	if rounded {
		inward = d.inward()
	}
	for i, w := range weights {
		z[i] = by * w * ray[0] * (mean / s[i]) * inward
	}
	for i, y := range ray[1:] {
		s[k+i], z[k+i] = y*(mean/ray[0])/inward, -by*y/inward
	}
}

// nuclearPair takes X = U diag(g, 0) V', t = |X|_* and Z = -w U diag(1, h) V', |h| < 1.
func (d *draw) nuclearPair(c backends.Cone, s, z []float64, exact bool) {
	u, v := d.orthogonal(c.Rows, exact), d.orthogonal(c.Cols, exact)
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

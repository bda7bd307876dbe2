package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// Generate makes the case of that ID. The class follows from the seed, too.
func Generate(id ID) *Case { return newDraw(id).generate(id) }

func (d *draw) generate(id ID) *Case {
	c := &Case{}
	switch k := d.IntN(20); {
	case k < 9 || id.Mode == Far:
		c = d.classed(id, Optimal)
		d.spread(c, id.Scale)
	case k < 18:
		c = d.classed(id, []Class{Infeasible, Infeasible, Unbounded, Unbounded, Both}[(k-9)/2])
	case k < 19:
		c = d.weak(id)
	default:
		c = d.nonconvex(id)
	}
	if id.Mode != Far {
		for range d.IntN(4) {
			d.rewrite(c)
		}
		if n, m := c.Dims(); id.Scale > 0 {
			c.Scale(d.scaling(n, m, float64(id.Scale)))
		}
	}
	c.ID = id
	c.Measure()
	return c
}

// start draws the shape, unless there is one, and the matrix A, and F of P = F'F.
func (d *draw) start(id ID) (c *Case, factor [][]float64) {
	c = &Case{}
	n := 0
	if d.shape != nil {
		n, c.Cones = len(d.shape.Q), d.shape.clone().Cones
	} else {
		n = d.size(id.Mode)
		c.Cones = d.cones(id.Mix, n)
	}
	m := 0
	for _, k := range c.Cones {
		m += k.Dim
	}
	c.Q, c.B = make([]float64, n), make([]float64, m)
	c.A = d.rows(m, n)
	if d.shape == nil && d.chance(2) || d.shape != nil && d.shape.P == nil {
		return c, nil
	}
	factor = d.rows(1+d.IntN(n), n)
	if d.chance(3) {
		for _, f := range factor {
			clear(f)
			f[d.IntN(n)] = d.amount()
		}
	}
	return c, factor
}

// square sets P = F'F.
func (c *Case) square(factor [][]float64) {
	if factor != nil {
		c.P = zeroRows(len(c.Q), len(c.Q))
	}
	for _, f := range factor {
		c.addSquare(1, f)
	}
}

// addSquare adds k vv' to P.
func (c *Case) addSquare(k float64, v []float64) {
	for i, x := range v {
		for j, y := range v {
			c.P[i][j] += k * x * y
		}
	}
}

// classed draws a program. Of its points and multipliers, those of the class Infeasible are a certificate and a dual
// feasible point, those of Unbounded a ray and a feasible point; Both has a certificate and a ray.
func (d *draw) classed(id ID, class Class) *Case {
	c, factor := d.start(id)
	c.Class = class
	var r []float64
	c.each(func(k backends.Cone, _, _ int) {
		rk, zk := d.directions(k)
		r, c.Farkas = append(r, rk...), append(c.Farkas, zk...)
	})
	if class == Infeasible || class == Both {
		p := d.pivot(c)
		r = append(r, make([]float64, len(c.B)-len(r))...)
		c.each(func(_ backends.Cone, from, to int) { // the pivot may have grown
			if from <= p && p < to && dot(r[from:to], c.Farkas[from:to]) != 0 {
				clear(r[from:to])
			}
		})
		clear(c.A[p])
		for j, v := range c.timesAT(c.Farkas) {
			c.A[p][j] = -v / c.Farkas[p]
		}
		d.against(c.B, c.Farkas, p, c.beta(c.Farkas))
	} else {
		c.Farkas = nil
	}
	if class == Unbounded || class == Both {
		j := d.ray(c)
		d.flatten(c, factor, j)
		c.setColumn(j, r) // with a certificate, z'a_j = -(z'r + sum of z'a_k x_k) / x_j = 0 as it was
		d.against(c.Q, c.Ray, j, 0)
	} else {
		c.square(factor)
	}
	switch d.pairs(c); {
	case class == Both:
		c.S, c.Z = nil, nil
	case class == Infeasible:
		c.S, c.DualX = nil, d.numbers(len(c.Q))
		c.setQ()
	case class == Unbounded:
		c.Z, c.X = nil, d.numbers(len(c.Q))
		c.setB()
	case d.far > 1:
		d.distant(c)
	default:
		c.solution(d.numbers(len(c.Q)))
	}
	return c
}

// pairs draws s and z of all cones.
func (d *draw) pairs(c *Case) {
	c.S, c.Z = []float64{}, []float64{}
	c.each(func(k backends.Cone, _, _ int) {
		s, z := d.pair(k, false)
		if d.far > 1 {
			d.part(k, s, z)
		}
		c.S, c.Z = append(c.S, s...), append(c.Z, z...)
	})
}

// solution plants x with s and z.
func (c *Case) solution(x []float64) {
	c.X, c.DualX, c.Class = x, x, Optimal
	c.setB()
	c.setQ()
}

// spread moves the solution of an optimal program away or makes its curvature small, by up to 10^scale.
func (d *draw) spread(c *Case, scale int) {
	factor := func() float64 { return math.Ldexp(1, int(d.Float64()*float64(scale)*math.Log2(10))) }
	away, flat := d.chance(8), d.chance(8)
	if d.far > 1 || !away && !flat {
		return
	}
	for j := range c.X {
		if away {
			c.X[j] *= factor()
		}
	}
	if flat {
		by := 1 / factor()
		for _, row := range c.P {
			scaleBy(row, by)
		}
	}
	c.solution(c.X)
}

// setB sets b = Ax + s, added up in twice the precision, as what is far cancels.
func (c *Case) setB() {
	for i := range c.B {
		var s dense.Sum
		s.Add(c.S[i])
		for j, x := range c.X {
			s.AddProduct(c.A[i][j], x)
		}
		c.B[i] = s.Value()
	}
}

// setQ sets q = -Px - A'z. A z on the boundary of a power or exponential cone is rounded, and may be outside by a unit
// in its last place: a q_j that is nothing but that is zero.
func (c *Case) setQ() {
	for j := range c.Q {
		var s dense.Sum
		size := 0.0
		for i, z := range c.Z {
			s.AddProduct(-c.A[i][j], z)
			size = max(size, math.Abs(c.A[i][j]*z))
		}
		for i, row := range c.P {
			s.AddProduct(-row[j], c.DualX[i])
		}
		if c.Q[j] = s.Value(); math.Abs(c.Q[j]) < 1e-14*size {
			c.Q[j] = 0
		}
	}
}

// pivot makes one entry of the certificate a power of 2, so that it can be divided
// by, and returns its row. Where there is none, it adds a row.
func (d *draw) pivot(c *Case) int {
	var rows []int
	c.each(func(k backends.Cone, from, to int) {
		switch k.Kind {
		case backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone:
		case backends.ExponentialCone, backends.DualExponentialCone: // the last entry can grow
			from = to - 1
		default: // the first one
			to = min(to, from+1)
		}
		for i := from; i < to; i++ {
			if c.Farkas[i] > 0 || c.Farkas[i] < 0 && k.Kind.Intervals() {
				rows = append(rows, i)
			}
		}
	})
	if len(rows) == 0 {
		c.A, c.B, c.Farkas = append(c.A, d.entries(len(c.Q))), append(c.B, 0), append(c.Farkas, 1)
		c.Cones = append(c.Cones, backends.Nonnegative(1))
		return len(c.B) - 1
	}
	p := rows[d.IntN(len(rows))]
	c.Farkas[p] = powerAbove(c.Farkas[p])
	return p
}

// powerAbove is the next power of 2 away from zero.
func powerAbove(v float64) float64 {
	return math.Copysign(math.Ldexp(1, int(math.Ceil(math.Log2(math.Abs(v))))), v)
}

// against draws v with v'direction - beta below zero, by entry p.
func (d *draw) against(v, direction []float64, p int, beta float64) {
	margin := []float64{1, 1, 3, 0.25, 0.0625, 16}[d.IntN(6)]
	copy(v, fill(len(v), d.number))
	v[p] -= (dot(v, direction) - beta + margin) / direction[p]
}

// ray draws the ray, with an entry 1 or -1, and returns where it is.
func (d *draw) ray(c *Case) int {
	c.Ray = d.entries(len(c.Q))
	j := d.IntN(len(c.Q))
	c.Ray[j] = d.sign()
	return j
}

// flatten sets P with Px = 0 for the ray x.
func (d *draw) flatten(c *Case, factor [][]float64, j int) {
	for _, f := range factor {
		f[j] = 0
		f[j] = -dot(f, c.Ray) / c.Ray[j]
	}
	c.square(factor)
}

// setColumn sets column j of A so that Ax = -r for the ray x.
func (c *Case) setColumn(j int, r []float64) {
	for i, v := range r {
		c.A[i][j] = 0
		c.A[i][j] = -(v + dot(c.A[i], c.Ray)) / c.Ray[j]
	}
}

// nonconvex takes an optimal program and lowers P along a direction.
func (d *draw) nonconvex(id ID) *Case {
	c := d.classed(id, Optimal)
	n := len(c.Q)
	v := d.entries(n)
	v[d.IntN(n)] = d.sign()
	if c.P == nil {
		c.P = zeroRows(n, n)
	}
	// v'(P - k vv')v = v'Pv - k |v|^4 < 0
	square := dot(v, v)
	c.addSquare(-2*powerAbove((dot(v, c.timesP(v))+d.amount())/(square*square)), v)
	c.Truth = Truth{Class: Nonconvex}
	return c
}

// The solution of the mode Far is X times as large as the data, X a power of 2 near 10^scale/32. In one in three x is
// far, in one z, in one both:
//
//	x = X r + x0,  A r = w/X,      and  z = X z0,  A'z0 = y/X.
//
// The numbers of w and y are those of data, but where s is far, where w = -s. A direction r that A takes nearly to zero
// or into K makes a program that looks unbounded, or feasible only far away, and z0 one that looks infeasible.
func (d *draw) distant(c *Case) {
	kind := d.IntN(3)
	j := d.ray(c)
	if kind == 1 {
		clear(c.Ray)
	} else {
		n := len(c.Q)
		c.P = nil
		if d.chance(2) {
			d.flatten(c, d.rows(1+d.IntN(n), n), j)
		}
		w := fill(len(c.S), func() float64 { return d.number() / d.far })
		for i, s := range c.S {
			if math.Abs(s) > nearData {
				w[i] = -s / d.far
			}
		}
		scaleBy(w, -1)
		c.setColumn(j, w)
	}
	c.X = fill(len(c.Q), d.number)
	if kind != 1 {
		c.X[j] = 0
	}
	c.X = combine(c.X, d.far, c.Ray)
	c.Ray = nil
	if kind == 0 { // the terms of the objective are near, so that it is not lost among them
		scaleBy(c.Z, 1/d.far)
		for _, row := range c.P {
			scaleBy(row, 1/d.far)
		}
	} else {
		d.farMultipliers(c)
	}
	c.solution(c.X)
}

// nearData is larger than the numbers of data.
const nearData = 64

// part takes some pairs to sides as far apart as solutions are: s grows, or both go along an automorphism of an
// exponential or a power cone, or of its dual, under which their entries grow up to far and fall as much:
//
//	(u, v, w) -> (u + c v, v, e^c w)   and   (u, v, w) -> (p u, v/p, p^(2a-1) w).
func (d *draw) part(k backends.Cone, s, z []float64) {
	switch which := d.IntN(4); {
	case k.Kind == backends.ZeroCone || k.Kind == backends.BoxCone || which > 1:
	case which == 0:
		scaleBy(s, d.far)
	case k.Kind == backends.DualExponentialCone || k.Kind == backends.DualPowerCone:
		d.apart(dual(k), z, s)
	default:
		d.apart(k, s, z)
	}
}

func (d *draw) apart(k backends.Cone, s, z []float64) {
	switch by := 2*d.Float64() - 1; k.Kind {
	case backends.ExponentialCone:
		c := math.Round(by * math.Log(d.far))
		s[0], s[2] = s[0]+c*s[1], s[2]*math.Exp(c)
		z[1], z[2] = z[1]-c*z[0], z[2]*math.Exp(-c)
		if s[1] > 0 && z[0] < 0 { // a pair on the curved part, rounded
			s[2], z[2] = s[2]*justInside, z[2]*justInside
		}
	case backends.PowerCone:
		p := math.Ldexp(1, int(by*math.Log2(d.far)/2))
		w := math.Pow(p, 2*k.Alpha-1)
		s[0], s[1], s[2] = s[0]*p, s[1]/p, s[2]*w/justInside
		z[0], z[1], z[2] = z[0]/p, z[1]*p, z[2]/w/justInside
	}
}

// farMultipliers makes z far, with entries of A in a row of an orthant, an equation or a box that take it to numbers of
// data. Where there is no such row with a multiplier, it adds one.
func (d *draw) farMultipliers(c *Case) {
	p := -1
	c.each(func(k backends.Cone, from, to int) {
		for i := from; i < to && k.Kind.Intervals(); i++ {
			if c.Z[i] != 0 && (p < 0 || d.chance(2)) {
				p = i
			}
		}
	})
	if p < 0 {
		p = len(c.B)
		c.addRow(line{a: make([]float64, len(c.Q)), z: 1}, backends.Nonnegative(1))
	}
	c.Z[p] = powerAbove(c.Z[p])
	c.each(func(_ backends.Cone, from, to int) {
		if z := c.Z[from:to]; maxAbs(z) < nearData {
			scaleBy(z, d.far)
		}
	})
	for k := range c.A[p] {
		c.A[p][k] = 0
		var s dense.Sum
		s.Add(d.number())
		for i, z := range c.Z {
			s.AddProduct(-c.A[i][k], z)
		}
		c.A[p][k] = s.Value() / c.Z[p]
	}
}

// weak takes one of the programs that have no attained solution, no certificate, or a duality gap, often beside an
// optimal one.
func (d *draw) weak(id ID) *Case {
	kinds := id.Mix.kinds()
	list := slices.DeleteFunc(weakCases(), func(c *Case) bool { return !slices.Contains(kinds, c.Cones[0].Kind) })
	if len(list) == 0 {
		return d.classed(id, Optimal)
	}
	c := list[d.IntN(len(list))]
	if d.chance(2) {
		c = join(c, d.classed(id, Optimal))
	}
	return c
}

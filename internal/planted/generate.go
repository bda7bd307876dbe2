package planted

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// Generate makes the case of that ID. The class follows from the seed, too.
func Generate(id ID) *Case {
	if id.Mode == Far {
		return far(id)
	}
	d := newDraw(id.Seed, 0x70616e74)
	d.large = id.Mode == Large
	var c *Case
	switch k := d.IntN(20); {
	case k < 9:
		c = d.optimal(id.Mix)
		d.spread(c, id.Scale)
	case k < 13:
		c = d.infeasible(id.Mix)
	case k < 17:
		c = d.unbounded(id.Mix)
	case k < 18:
		c = d.both(id.Mix)
	case k < 19:
		c = d.weak(id.Mix)
	default:
		c = d.nonconvex(id.Mix)
	}
	for range d.IntN(4) * d.IntN(2) {
		d.degrade(c)
	}
	c.Stored = d.chance(6)
	if id.Scale > 0 {
		d.scale(c, float64(id.Scale))
	}
	c.ID = id
	c.measure()
	return c
}

// start draws the shape, unless there is one, and the matrix A, and F of P = F'F.
func (d *draw) start(mix Mix) (c *Case, factor [][]float64) {
	c = &Case{}
	n := 0
	if d.shape != nil {
		n, c.Cones = len(d.shape.Q), d.shape.clone().Cones
	} else {
		n = d.size()
		c.Cones = d.cones(mix, n)
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
	rank := 1 + d.IntN(n)
	factor = make([][]float64, rank)
	diagonal := d.chance(3)
	for r := range factor {
		factor[r] = make([]float64, n)
		if diagonal {
			factor[r][d.IntN(n)] = d.amount()
		} else {
			copy(factor[r], d.entries(n))
		}
	}
	return c, factor
}

// square sets P = F'F.
func (c *Case) square(factor [][]float64) {
	if factor == nil {
		return
	}
	c.P = zeroRows(len(c.Q), len(c.Q))
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

// each calls f for every cone with the rows that it takes.
func (in *Instance) each(f func(k backends.Cone, from, to int)) {
	for row, k := range backends.Rows(in.Cones) {
		f(k, row, row+k.Dim)
	}
}

func (d *draw) optimal(mix Mix) *Case {
	c, factor := d.start(mix)
	c.square(factor)
	d.pairs(c)
	c.solution(d.numbers(len(c.Q)))
	return c
}

// pairs draws s and z of all cones.
func (d *draw) pairs(c *Case) {
	c.S, c.Z = []float64{}, []float64{}
	c.each(func(k backends.Cone, _, _ int) {
		s, z := d.pair(k, false)
		c.S, c.Z = append(c.S, s...), append(c.Z, z...)
	})
}

// solution plants x with s and z.
func (c *Case) solution(x []float64) {
	c.X, c.DualX, c.Class = x, x, Optimal
	c.setB()
	c.setQ()
}

// feasible plants a feasible point, by b.
func (d *draw) feasible(c *Case) {
	c.X, c.S = d.numbers(len(c.Q)), []float64{}
	c.each(func(k backends.Cone, _, _ int) { c.S = append(c.S, d.member(k)...) })
	c.setB()
}

// spread moves the solution of an optimal program far away or makes its curvature small,
// by up to 10^scale.
func (d *draw) spread(c *Case, scale int) {
	factor := func() float64 { return math.Ldexp(1, int(d.Float64()*float64(scale)*math.Log2(10))) }
	far, flat := d.chance(8), d.chance(8)
	if far {
		for j := range c.X {
			c.X[j] *= factor()
		}
	}
	if flat && c.P != nil {
		k := factor()
		for _, row := range c.P {
			for i := range row {
				row[i] /= k
			}
		}
	}
	if far || flat {
		c.setB()
		c.setQ()
	}
}

// setB sets b = Ax + s.
func (c *Case) setB() {
	for i, v := range c.timesA(c.X) {
		c.B[i] = v + c.S[i]
	}
}

// setQ sets q = -Px - A'z. A z on the boundary of a power or exponential cone is rounded, and may be outside by a unit
// in its last place: a q_j that is nothing but that is zero.
func (c *Case) setQ() {
	for j := range c.Q {
		var s sum
		size := 0.0
		for i, z := range c.Z {
			s.addProduct(-c.A[i][j], z)
			size = max(size, math.Abs(c.A[i][j]*z))
		}
		for i, row := range c.P {
			s.addProduct(-row[j], c.DualX[i])
		}
		if c.Q[j] = s.value(); math.Abs(c.Q[j]) < 1e-14*size {
			c.Q[j] = 0
		}
	}
}

// infeasible plants a certificate and a dual feasible point.
func (d *draw) infeasible(mix Mix) *Case {
	c, factor := d.start(mix)
	c.square(factor)
	c.each(func(k backends.Cone, _, _ int) { c.Farkas = append(c.Farkas, d.multiplier(k)...) })
	d.makeInfeasible(c, d.pivot(c))
	d.pairs(c)
	c.S, c.DualX = nil, d.numbers(len(c.Q))
	c.setQ()
	c.Class = Infeasible
	return c
}

// pivot makes one entry of the certificate a power of 2, so that it can be divided
// by, and returns its row. Where there is none, it adds a row.
func (d *draw) pivot(c *Case) int {
	type place struct {
		row int
		at  backends.Cone
	}
	var places []place
	c.each(func(k backends.Cone, from, to int) {
		switch k.Kind {
		case backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone:
			for i := from; i < to; i++ {
				if c.Farkas[i] != 0 {
					places = append(places, place{i, k})
				}
			}
		case backends.ExponentialCone, backends.DualExponentialCone:
			if c.Farkas[to-1] > 0 {
				places = append(places, place{to - 1, k})
			}
		default: // the first entry can grow
			if from < to && c.Farkas[from] > 0 {
				places = append(places, place{from, k})
			}
		}
	})
	if len(places) == 0 {
		c.A, c.B, c.Farkas = append(c.A, d.entries(len(c.Q))), append(c.B, 0), append(c.Farkas, 1)
		c.Cones = append(c.Cones, backends.Nonnegative(1))
		return len(c.B) - 1
	}
	p := places[d.IntN(len(places))]
	v := c.Farkas[p.row]
	c.Farkas[p.row] = math.Copysign(math.Ldexp(1, int(math.Ceil(math.Log2(math.Abs(v))))), v)
	return p.row
}

// makeInfeasible sets row p of A so that A'z = 0, and b with b'z - beta(z) < 0, for the
// certificate z.
func (d *draw) makeInfeasible(c *Case, p int) {
	z := c.Farkas
	clear(c.A[p])
	for j, v := range c.timesAT(z) {
		c.A[p][j] = -v / z[p]
	}
	d.against(c.B, z, p, c.beta(z), d.margin)
}

// margin is what a certificate or a ray comes to.
func (d *draw) margin() float64 { return []float64{1, 1, 3, 0.25, 0.0625, 16}[d.IntN(6)] }

// against draws v with v'direction - beta = -margin, by entry p.
func (d *draw) against(v, direction []float64, p int, beta float64, margin func() float64) {
	for i := range v {
		v[i] = d.number()
	}
	by := margin()
	v[p] -= (dot(v, direction) - beta + by) / direction[p]
}

// unbounded plants a ray and a feasible point.
func (d *draw) unbounded(mix Mix) *Case {
	c, factor := d.start(mix)
	j := d.ray(c)
	d.flatten(c, factor, j)
	var r []float64
	c.each(func(k backends.Cone, _, _ int) { r = append(r, d.recession(k)...) })
	c.setColumn(j, r)
	d.makeUnbounded(c, j)
	d.feasible(c)
	c.Class = Unbounded
	return c
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

// makeUnbounded sets q with q'x < 0 for the ray x.
func (d *draw) makeUnbounded(c *Case, j int) {
	d.against(c.Q, c.Ray, j, 0, d.margin)
}

// both plants a certificate and a ray, which needs r'z = 0 for r = -Ax.
func (d *draw) both(mix Mix) *Case {
	c, factor := d.start(mix)
	var r []float64
	c.each(func(k backends.Cone, _, _ int) {
		rk, zk := d.directions(k)
		r, c.Farkas = append(r, rk...), append(c.Farkas, zk...)
	})
	p := d.pivot(c)
	for len(r) < len(c.B) {
		r = append(r, 0)
	}
	c.each(func(_ backends.Cone, from, to int) { // the pivot may have grown
		if from <= p && p < to && dot(r[from:to], c.Farkas[from:to]) != 0 {
			clear(r[from:to])
		}
	})
	j := d.ray(c)
	d.flatten(c, factor, j)
	d.makeInfeasible(c, p) // A'z = 0 column by column: it stays so for all but column j,
	c.setColumn(j, r)      // and z'a_j = -(z'r + sum of z'a_k x_k) / x_j = 0
	d.makeUnbounded(c, j)
	c.Class = Both
	return c
}

// nonconvex takes an optimal program and lowers P along a direction.
func (d *draw) nonconvex(mix Mix) *Case {
	c := d.optimal(mix)
	n := len(c.Q)
	v := d.entries(n)
	v[d.IntN(n)] = d.sign()
	if c.P == nil {
		c.P = zeroRows(n, n)
	}
	// v'(P - k vv')v = v'Pv - k |v|^4 < 0
	square := dot(v, v)
	k := (dot(v, c.timesP(v)) + d.amount()) / (square * square)
	k = math.Ldexp(1, int(math.Ceil(math.Log2(k)))+1)
	c.addSquare(-k, v)
	c.Truth = Truth{Class: Nonconvex}
	return c
}

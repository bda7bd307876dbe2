package planted

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// Far is the mode that asks for the answers to programs whose solutions are 10^Scale times as large as their data.
const Far = "far"

// far makes the case of that ID in the mode Far: it is optimal with a solution that is about X times as large as the
// data, X a power of 2 near 10^Scale/32. In one in three x is far, in one z, in one both:
//
//	x = X r + x0,  A r = w/X,      and  z = X z0,  A'z0 = y/X.
//
// The numbers of w and y are those of data, but where s is far, where w = -s. A direction r that A takes nearly to zero
// or into K makes a program that looks unbounded, or feasible only far away, and z0 one that looks infeasible.
func far(id ID) *Case {
	d := newDraw(id.Seed, 0x666172)
	f := distant{draw: d, far: math.Ldexp(1, int(float64(id.Scale)*math.Log2(10))-5)}
	c := f.optimal(id.Mix)
	c.ID = id
	c.measure()
	return c
}

// distant draws programs with solutions that are far times as large as their data.
type distant struct {
	*draw
	far float64
}

func (d *distant) optimal(mix Mix) *Case {
	c, factor := d.start(mix)
	c.Class = Optimal
	kind := d.IntN(3)
	c.each(func(k backends.Cone, _, _ int) {
		s, z := d.distantPair(k)
		c.S, c.Z = append(c.S, s...), append(c.Z, z...)
	})
	n := len(c.Q)
	j := d.ray(c)
	if kind != 1 {
		d.flatten(c, factor, j)
		for i := range c.B {
			d.setFarRow(c, i, j)
		}
	} else {
		c.square(factor)
		clear(c.Ray)
	}
	c.X = make([]float64, n)
	for k := range c.X {
		if c.X[k] = d.far * c.Ray[k]; k != j {
			c.X[k] += d.number()
		}
	}
	if kind == 0 { // the terms of the objective are near, so that it is not lost among them
		scaleBy(c.Z, 1/d.far)
		for _, row := range c.P {
			scaleBy(row, 1/d.far)
		}
	} else {
		d.farMultipliers(c)
	}
	c.Ray, c.DualX = nil, c.X
	d.right(c)
	return c
}

// distantPair draws s and z as pair does, some of them on sides that are as far apart as solutions are.
func (d *distant) distantPair(k backends.Cone) (s, z []float64) {
	s, z = d.pair(k, false)
	if !k.Kind.Intervals() || k.Kind == backends.NonnegativeCone {
		switch d.IntN(4) {
		case 0:
			scaleBy(s, d.far)
		case 1:
			d.apart(k, s, z)
		}
	}
	return s, z
}

// apart takes s and z along an automorphism of an exponential or a power cone, or of its dual, under which their
// entries grow up to far and fall as much:
//
//	(u, v, w) -> (u + c v, v, e^c w)   and   (u, v, w) -> (p u, v/p, p^(2a-1) w).
func (d *distant) apart(k backends.Cone, s, z []float64) {
	switch k.Kind {
	case backends.DualExponentialCone, backends.DualPowerCone:
		d.apart(dual(k), z, s)
	case backends.ExponentialCone:
		c := math.Round((2*d.Float64() - 1) * math.Log(d.far))
		s[0], s[2] = s[0]+c*s[1], s[2]*math.Exp(c)
		z[1], z[2] = z[1]-c*z[0], z[2]*math.Exp(-c)
		if s[1] > 0 && z[0] < 0 { // a pair on the curved part, rounded
			s[2], z[2] = s[2]*justInside, z[2]*justInside
		}
	case backends.PowerCone:
		p := math.Ldexp(1, int((2*d.Float64()-1)*math.Log2(d.far)/2))
		w := math.Pow(p, 2*k.Alpha-1)
		s[0], s[1], s[2] = s[0]*p, s[1]/p, s[2]*w/justInside
		z[0], z[1], z[2] = z[0]/p, z[1]*p, z[2]/w/justInside
	}
}

// setFarRow sets entry j of row i so that row i of A takes the ray to w/far: to -s/far where s is far, so that b is
// not.
func (d *distant) setFarRow(c *Case, i, j int) {
	w := d.number()
	if math.Abs(c.S[i]) > nearData {
		w = -c.S[i]
	}
	row := c.A[i]
	row[j] = 0
	row[j] = (w/d.far - dot(row, c.Ray)) / c.Ray[j]
}

// nearData is larger than the numbers of data.
const nearData = 64

// farMultipliers makes z far, with entries of A in a row of an orthant, an equation or a box that take it to numbers of
// data. Where there is no such row with a multiplier, it adds one.
func (d *distant) farMultipliers(c *Case) {
	p, n := -1, len(c.Q)
	c.each(func(k backends.Cone, from, to int) {
		for i := from; i < to && k.Kind.Intervals(); i++ {
			if c.Z[i] != 0 && (p < 0 || d.chance(2)) {
				p = i
			}
		}
	})
	if p < 0 {
		p = len(c.B)
		c.A, c.B, c.S, c.Z = append(c.A, make([]float64, n)), append(c.B, 0), append(c.S, 0), append(c.Z, 1)
		c.Cones = append(c.Cones, backends.Nonnegative(1))
	}
	c.Z[p] = math.Copysign(math.Ldexp(1, int(math.Ceil(math.Log2(math.Abs(c.Z[p]))))), c.Z[p])
	c.each(func(_ backends.Cone, from, to int) {
		if z := c.Z[from:to]; maxAbs(z) < nearData {
			scaleBy(z, d.far)
		}
	})
	for k := range n {
		c.A[p][k] = 0
		var s sum
		s.add(d.number())
		for i, z := range c.Z {
			s.addProduct(-c.A[i][k], z)
		}
		c.A[p][k] = s.value() / c.Z[p]
	}
}

// right sets b = Ax + s and q = -Px - A'z, added up in twice the precision, as what is far cancels.
func (d *distant) right(c *Case) {
	for i := range c.B {
		var s sum
		s.add(c.S[i])
		for k, x := range c.X {
			s.addProduct(c.A[i][k], x)
		}
		c.B[i] = s.value()
	}
	c.setQ()
}

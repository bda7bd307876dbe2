package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// degrade makes the program degenerate in one way. All that was planted stays true.
func (d *draw) degrade(c *Case) {
	n, m := c.Dims()
	i, j := d.IntN(m+1), d.IntN(n)
	switch d.IntN(10) {
	case 0, 1:
		if i < m {
			d.repeatRow(c, i)
		}
	case 2:
		d.addZeroRow(c)
	case 3:
		c.addColumn(make([]float64, m), make([]float64, n+1), 0)
	case 4: // x_j becomes the difference of two variables
		c.copyColumn(j, -1)
	case 5:
		c.copyColumn(j, float64(1+d.IntN(2)))
	case 6, 7:
		d.sumRows(c)
	case 8:
		d.farBounds(c)
	case 9:
		d.fix(c, j)
	}
}

// interval returns row i as one entry of its cone, and false where the cone is no
// product of intervals.
func (c *Case) interval(i int) (k backends.Cone, ok bool) {
	c.each(func(cone backends.Cone, from, to int) {
		if i < from || i >= to {
			return
		}
		switch cone.Kind {
		case backends.ZeroCone:
			k, ok = backends.Zero(1), true
		case backends.NonnegativeCone:
			k, ok = backends.Nonnegative(1), true
		case backends.BoxCone:
			k, ok = backends.Box([]float64{cone.Lower[i-from]}, []float64{cone.Upper[i-from]}), true
		}
	})
	return k, ok
}

// addRow adds a row with its entries of s, z and the certificate.
func (c *Case) addRow(l line, k backends.Cone) {
	c.setLines(append(c.lines(), l), append(c.Cones, k))
}

// repeatRow adds a copy of a row, which takes half of the multiplier.
func (d *draw) repeatRow(c *Case, i int) {
	k, ok := c.interval(i)
	if !ok {
		return
	}
	l := c.lines()[i]
	l.z, l.farkas = 0, 0
	if c.Z != nil && d.chance(2) {
		c.Z[i] /= 2
		l.z = c.Z[i]
	}
	c.addRow(l, k)
}

// addZeroRow adds a row of zeros with b in its cone.
func (d *draw) addZeroRow(c *Case) {
	zeros := make([]float64, len(c.Q))
	switch d.IntN(3) {
	case 0:
		c.addRow(line{a: zeros}, backends.Zero(1))
	case 1:
		b := d.amount() * float64(d.IntN(2))
		c.addRow(line{a: zeros, b: b, s: b}, backends.Nonnegative(1))
	default:
		k := d.box(1)
		b := d.between(k.Lower[0], k.Upper[0])
		c.addRow(line{a: zeros, b: b, s: b}, k)
	}
}

// addColumn adds a variable with columns of A and of P, whose last entry is on the diagonal, cost q and the value 0 in
// all that was planted.
func (c *Case) addColumn(a, p []float64, q float64) {
	for i := range c.A {
		c.A[i] = append(c.A[i], a[i])
	}
	if c.P != nil {
		for i := range c.P {
			c.P[i] = append(c.P[i], p[i])
		}
		c.P = append(c.P, p)
	}
	c.perColumn(func(v []float64) []float64 { return append(slices.Clone(v), 0) })
	c.Q[len(c.Q)-1] = q
}

// copyColumn adds a variable whose columns are k times those of x_j, so that x_j + k x_new
// takes the place of x_j.
func (c *Case) copyColumn(j int, k float64) {
	a, p := column(c.A, j), make([]float64, len(c.Q)+1)
	scaleBy(a, k)
	for i, row := range c.P {
		p[i] = k * row[j]
		if i == j {
			p[len(c.Q)] = k * k * row[j]
		}
	}
	c.addColumn(a, p, k*c.Q[j])
}

// sumRows adds the sum of two equations or inequalities, which says nothing new.
func (d *draw) sumRows(c *Case) {
	m := len(c.B)
	if m < 2 {
		return
	}
	i, l := d.IntN(m), d.IntN(m)
	a, okA := c.interval(i)
	b, okB := c.interval(l)
	if i == l || !okA || !okB || a.Kind != b.Kind || a.Kind == backends.BoxCone {
		return
	}
	x, y := c.lines()[i], c.lines()[l]
	c.addRow(line{a: combine(x.a, 1, y.a), b: x.b + y.b, s: x.s + y.s}, a)
}

// farBounds puts bounds where a box has none, far away, unless something planted goes
// there.
func (d *draw) farBounds(c *Case) {
	far := []float64{0x1p33, 0x1p50, 1e20, 1e30}[d.IntN(4)]
	var ray []float64
	if c.Ray != nil {
		ray = c.timesA(c.Ray)
	}
	c.each(func(k backends.Cone, from, to int) {
		if k.Kind != backends.BoxCone {
			return
		}
		for i := from; i < to; i++ {
			if ray != nil && ray[i] != 0 || c.S != nil && math.Abs(c.S[i]) > far {
				continue
			}
			if math.IsInf(k.Lower[i-from], -1) {
				k.Lower[i-from] = -far
			}
			if math.IsInf(k.Upper[i-from], 1) {
				k.Upper[i-from] = far
			}
		}
	})
}

// fix adds the equation x_j = its planted value, where that keeps all that was planted. The value of a weak program
// changes.
func (d *draw) fix(c *Case, j int) {
	if c.X == nil || c.Ray != nil && c.Ray[j] != 0 {
		return
	}
	row := make([]float64, len(c.Q))
	row[j] = d.sign()
	c.Apart = c.Apart || c.Class == Weak
	c.addRow(line{a: row, b: row[j] * c.X[j]}, backends.Zero(1))
}

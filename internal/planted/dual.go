package planted

import "github.com/conetune/conetune/backends"

// dualise makes the dual program as one to be minimised, in the variables u and z:
//
//	minimize 1/2 u'Pu + b'z    subject to    Pu + A'z = -q,  z in K*
//
// whose value is the negative. The multipliers are -x and s, a certificate z becomes the
// ray (0, z), a ray x the certificate (-x, -Ax). Boxes become inequalities first.
func (c *Case) dualise() bool {
	for _, k := range c.Cones {
		if k.Kind == backends.NuclearNormCone {
			return false
		}
	}
	c.splitBoxes()
	old := c.clone()
	n, m := old.Dims()
	u := 0 // the number of variables u
	if old.P != nil {
		u = n
	}
	if u+m == 0 {
		return false
	}
	ray := old.timesA(old.rayOrZero())
	var lines []line
	for j := range n {
		l := line{a: make([]float64, u+m), b: -old.Q[j]}
		if u > 0 {
			copy(l.a, old.P[j])
		}
		copy(l.a[u:], column(old.A, j))
		if old.X != nil {
			l.z = -old.X[j]
		}
		if old.Ray != nil {
			l.farkas = -old.Ray[j]
		}
		lines = append(lines, l)
	}
	cones := []backends.Cone{backends.Zero(n)}
	at := old.lines()
	old.each(func(k backends.Cone, from, to int) {
		if k.Kind == backends.ZeroCone { // any z
			return
		}
		cones = append(cones, dual(k))
		for i := from; i < to; i++ {
			l := line{a: make([]float64, u+m), s: at[i].z, z: at[i].s, farkas: -ray[i]}
			l.a[u+i] = -1
			lines = append(lines, l)
		}
	})
	c.Q = append(make([]float64, u), old.B...)
	if u > 0 {
		c.P = zeroRows(u+m, u+m)
		for i, row := range old.P {
			copy(c.P[i], row)
		}
	}
	c.X, c.DualX, c.Ray = nil, nil, nil
	c.S, c.Z, c.Farkas = nil, nil, nil
	if old.DualX != nil {
		c.X, c.S = append(append([]float64{}, old.DualX[:u]...), old.Z...), []float64{}
	}
	if old.X != nil {
		c.DualX, c.Z = append(append([]float64{}, old.X[:u]...), make([]float64, m)...), []float64{}
		copy(c.DualX[u:], old.Z)
	}
	if old.Farkas != nil {
		c.Ray = append(make([]float64, u), old.Farkas...)
	}
	if old.Ray != nil {
		c.Farkas = []float64{}
	}
	c.setLines(lines, cones)
	switch old.Class {
	case Infeasible:
		c.Class = Unbounded
	case Unbounded:
		c.Class = Infeasible
	}
	return true
}

func (c *Case) rayOrZero() []float64 {
	if c.Ray != nil {
		return c.Ray
	}
	return make([]float64, len(c.Q))
}

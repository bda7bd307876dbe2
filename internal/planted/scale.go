package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// Scaling multiplies the parts of a program by positive numbers. With factors r of
// the rows, c of the columns, o of the objective and t of the right-hand side,
//
//	A -> RAC, b -> t Rb, P -> o CPC, q -> o t Cq,
//
// and so x -> t x/c, s -> t Rs, z -> o t z/r, and the value -> o t^2 value. The factors of
// a cone that is no product of intervals are those of its first row.
type Scaling struct {
	Rows, Columns        []float64
	Objective, RightSide float64
}

// scale applies a scaling within 10^-k and 10^k.
func (d *draw) scale(c *Case, k float64) {
	n, m := c.Dims()
	c.Scale(d.scaling(n, m, k))
}

// scaling draws one by powers of 2: of the rows, columns, objective, right-hand side, or
// several of them.
func (d *draw) scaling(n, m int, k float64) Scaling {
	s := Scaling{ones(m), ones(n), 1, 1}
	which := 1 + d.IntN(15)
	if which&1 != 0 {
		for i := range s.Rows {
			s.Rows[i] = d.magnitude(k)
		}
	}
	if which&2 != 0 {
		for j := range s.Columns {
			s.Columns[j] = d.magnitude(k)
		}
	}
	if which&4 != 0 {
		s.Objective = d.magnitude(k)
	}
	if which&8 != 0 {
		s.RightSide = d.magnitude(k)
	}
	return s
}

// magnitude is a power of 2 between 10^-k and 10^k.
func (d *draw) magnitude(k float64) float64 {
	return math.Ldexp(1, int(math.Round((2*d.Float64()-1)*k*math.Log2(10))))
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// Scale applies a scaling to the program and to what is known about it.
func (c *Case) Scale(s Scaling) {
	s.Rows = slices.Clone(s.Rows)
	c.each(func(k backends.Cone, from, to int) {
		switch k.Kind {
		case backends.ZeroCone, backends.NonnegativeCone:
		case backends.BoxCone:
			for i := from; i < to; i++ {
				k.Lower[i-from] *= s.Rows[i] * s.RightSide
				k.Upper[i-from] *= s.Rows[i] * s.RightSide
			}
		default:
			for i := from; i < to; i++ {
				s.Rows[i] = s.Rows[from]
			}
		}
	})
	for i, row := range c.A {
		for j := range row {
			row[j] *= s.Rows[i] * s.Columns[j]
		}
	}
	for i, row := range c.P {
		for j := range row {
			row[j] *= s.Objective * s.Columns[i] * s.Columns[j]
		}
	}
	times := func(v []float64, by func(int) float64) []float64 {
		out := slices.Clone(v) // X and DualX may be one vector
		for i := range out {
			out[i] *= by(i)
		}
		return out
	}
	column := func(j int) float64 { return s.RightSide / s.Columns[j] }
	row := func(i int) float64 { return s.RightSide * s.Rows[i] }
	c.Q = times(c.Q, func(j int) float64 { return s.Objective * s.RightSide * s.Columns[j] })
	c.X, c.DualX = times(c.X, column), times(c.DualX, column)
	c.Ray = times(c.Ray, func(j int) float64 { return 1 / s.Columns[j] })
	c.B, c.S = times(c.B, row), times(c.S, row)
	c.Z = times(c.Z, func(i int) float64 { return s.Objective * s.RightSide / s.Rows[i] })
	c.Farkas = times(c.Farkas, func(i int) float64 { return 1 / s.Rows[i] })
}

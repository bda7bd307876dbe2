package planted

import (
	"math"
	"math/rand/v2"

	"github.com/conetune/conetune/backends"
)

// Shape describes optimal programs of one kind whose solution is a regular point with probability one: s and z are
// strictly complementary, and no number is small.
type Shape struct {
	Name  string
	N     int             // variables
	Cones []backends.Cone // bounds of boxes are drawn
	// Rank is the rank of P; 0 means none.
	Rank int
	// Density is the share of nonzeros of A.
	Density float64
	// Vertex asks for as many binding rows as there are variables, which makes the
	// solution of a linear program unique.
	Vertex bool
}

// Draw draws a program of that shape. Those of all seeds have the same places of entries and the same bounds, so that
// one can be updated to another.
func (sh Shape) Draw(seed uint64) *Case {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 17)), density: 1, regular: true, far: 1}
	same := &draw{Rand: rand.New(rand.NewPCG(0, 18)), density: sh.Density, regular: true}
	n := sh.N
	c := &Case{Truth: Truth{Class: Optimal, S: []float64{}, Z: []float64{}}}
	for _, k := range sh.Cones {
		if k.Kind == backends.BoxCone {
			k = same.box(k.Dim)
		}
		s, z := d.pair(k, false)
		if sh.Vertex && k.Kind == backends.NonnegativeCone {
			d.vertex(s, z, n-len(c.S))
		}
		c.Cones, c.S, c.Z = append(c.Cones, k), append(c.S, s...), append(c.Z, z...)
	}
	m := len(c.S)
	c.B, c.Q, c.A = make([]float64, m), make([]float64, n), same.rows(m, n)
	for i := range m { // no row is empty
		c.A[i][same.IntN(n)] = 1
	}
	for _, row := range c.A {
		for j, v := range row {
			if v != 0 {
				row[j] = d.number()
			}
		}
	}
	factor := d.rows(sh.Rank, n) // P = F'F / rank, plus I / 10 when of full rank
	for _, f := range factor {
		scaleBy(f, 1/math.Sqrt(float64(sh.Rank)))
	}
	if sh.Rank > 0 {
		c.square(factor)
	}
	for i := 0; sh.Rank == n && i < n; i++ {
		c.P[i][i] += 0.1
	}
	c.solution(d.entries(n))
	c.Measure()
	return c
}

// vertex binds k random rows.
func (d *draw) vertex(s, z []float64, k int) {
	clear(s)
	clear(z)
	for place, i := range d.Perm(len(s)) {
		if place < k {
			z[i] = d.amount()
		} else {
			s[i] = d.amount()
		}
	}
}

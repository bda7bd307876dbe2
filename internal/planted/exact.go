package planted

import (
	"math/big"

	"github.com/conetune/conetune/internal/planted/exact"
)

// Exact is the mode in which nothing is planted: it draws programs of a few small integers, with equations,
// inequalities and boxes, and what is known about them is found in rational arithmetic (package exact).
const Exact = "exact"

// tiny draws the program of that ID.
func tiny(id ID) *Case {
	d := newDraw(id.Seed, 0x74696e79)
	d.step = 1
	n := 1 + d.IntN(4)
	d.shape = &Instance{Q: make([]float64, n), Cones: d.cones(Linear, n)}
	if d.chance(2) {
		d.shape.P = [][]float64{}
	}
	c, factor := d.start(Linear)
	c.square(factor)
	c.ID, c.Q, c.B = id, d.entries(n), d.entries(len(c.B))
	if id.Scale > 0 {
		d.scale(c, float64(id.Scale))
	}
	if err := c.decide(); err != nil {
		panic(err) // a program that is convex by construction
	}
	return c
}

// decide finds the truth.
func (c *Case) decide() error {
	answer, err := exact.Solve(c.Problem())
	if err != nil {
		return err
	}
	c.Truth = Truth{
		X: floats(answer.X), DualX: floats(answer.DualX), Z: floats(answer.Z), Farkas: floats(answer.Farkas),
		Ray: floats(answer.Ray),
	}
	if c.X != nil {
		c.S = c.Problem().Slack(c.X)
	}
	c.reclass()
	if answer.Value != nil {
		c.Class = Optimal
		c.measure()
		c.Value, _ = answer.Value.Float64()
	}
	return nil
}

// floats rounds the numbers; nil stays nil.
func floats(v []*big.Rat) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i], _ = x.Float64()
	}
	return out
}

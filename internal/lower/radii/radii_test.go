package radii

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/lowertest"
)

// radiiCase is a subproblem whose points are fixed.
func radiiCase(rng *rand.Rand, dims, parts int) (c *bilevel.Centre, values []bilevel.Values, r []float64) {
	c = &bilevel.Centre{
		Value: rng.Float64(), Epsilon: 0.01, Alpha: math.Exp(3 * rng.NormFloat64()), Rho: math.Exp(rng.NormFloat64()),
	}
	values = make([]bilevel.Values, parts)
	for range dims {
		c.R = append(c.R, 1+rng.Float64())
		c.Gamma = append(c.Gamma, math.Max(0, rng.NormFloat64()))
		c.Low, c.High = append(c.Low, rng.Float64()), append(c.High, 2+2*rng.Float64())
		r = append(r, 1+rng.Float64())
	}
	for k := range values {
		v := &values[k]
		v.Train = c.Value + 0.5*rng.NormFloat64()
		for j := range dims {
			v.Penalties = append(v.Penalties, c.R[j]+0.5*rng.NormFloat64())
		}
	}
	return c, values, r
}

// conicRadii is the least objective by a conic program.
func conicRadii(t *testing.T, c *bilevel.Centre, values []bilevel.Values) float64 {
	m := convex.NewModel()
	r, s := m.Vector("r", len(c.R)), m.Vector("t", 1)
	move := convex.Sub(r, c.R)
	above := -c.Value - c.Epsilon
	for _, v := range values {
		above += v.Train / float64(len(values))
		for j, p := range v.Penalties {
			m.Ge("", s, convex.Sub(p, convex.At(r, j)))
		}
	}
	m.Ge("", s, convex.Add(convex.Dot(c.Gamma, move), above))
	m.Ge("", s, 0)
	m.Ge("", r, c.Low)
	m.Ge("", c.High, r)
	m.Minimize(convex.Add(convex.Scale(c.Rho/2, convex.SumSquares(move)), convex.Scale(c.Alpha, s)))
	return lowertest.Conic(t, m, 0).Objective
}

// The best radii are those of the conic program.
func TestBestAgainstConic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 60 {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			c, values, r := radiiCase(rng, 1+k%4, 1+k%3)
			r = Best(c, values, r)
			for j, v := range r {
				require.GreaterOrEqual(t, v, c.Low[j])
				require.LessOrEqual(t, v, c.High[j])
			}
			for k := range values {
				values[k].Validation = 0
			}
			want := conicRadii(t, c, values)
			require.InDelta(t, want, Objective(c, values, 0, r), 1e-6*(1+math.Abs(want)))
		})
	}
}

// With one radius and no slope of the lower level the constraint on the penalty is all there is: the radius grows by
// alpha / rho, or as far as the penalty.
func TestBestClosedForm(t *testing.T) {
	for _, alpha := range []float64{0.5, 2, 1e6} {
		c := &bilevel.Centre{R: []float64{1}, Gamma: []float64{0}, Low: []float64{0}, High: []float64{10}, Alpha: alpha,
			Rho: 1, Value: 1}
		values := []bilevel.Values{{Penalties: []float64{2.5}}}
		require.InDelta(t, math.Min(2.5, 1+alpha), Best(c, values, []float64{2})[0], 1e-12)
	}
}

package backends

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each kind has a row with all that its kind of cone needs.
func TestFamiliesAreWhole(t *testing.T) {
	names := map[string]bool{}
	for k := range families {
		f := &families[k]
		assert.NotEmpty(t, f.name)
		assert.False(t, names[f.name], f.name)
		names[f.name] = true
		assert.NotNil(t, f.own.distance, f.name)
		assert.NotNil(t, f.dual.distance, f.name)
		assert.NotNil(t, f.dual.into, f.name)
		assert.NotNil(t, f.separate, f.name)
		if !f.intervals {
			assert.NotNil(t, f.own.into, f.name)
			assert.NotNil(t, f.shift, f.name)
		}
	}
}

// What is moved into a dual cone or into a recession cone is there, whatever the rounding, and what is there stays
// nearly where it was.
func TestMovesEndInside(t *testing.T) {
	inf := math.Inf(1)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []Cone{
		Zero(3), Nonnegative(4), Box([]float64{0, -inf, -inf, 1}, []float64{1, 2, inf, inf}), SecondOrder(1), SecondOrder(5),
		PSD(1), PSD(4),
		Exponential(), DualExponential(), Power(0.3), DualPower(0.3), NuclearNorm(3, 2),
		GeneralizedPower([]float64{0.2, 0.5, 0.3}, 2), DualGeneralizedPower([]float64{0.2, 0.8}, 1),
	} {
		for range 200 {
			v := make([]float64, c.Dim)
			size := math.Exp(10 * rng.NormFloat64())
			for i := range v {
				v[i] = size * rng.NormFloat64()
			}
			z := append([]float64(nil), v...)
			c.intoDual(z)
			require.Zero(t, c.DualDistance(z), "%v", c.Kind)
			again := append([]float64(nil), z...)
			c.intoDual(again)
			require.InDeltaSlice(t, z, again, 1e-8*maxAbs(z), "%v", c.Kind)
			s := append([]float64(nil), v...)
			c.intoRecession(s)
			left, exact := make([]float64, c.Dim), make([]float64, c.Dim)
			c.awayFromRecession(s, exact, left)
			require.LessOrEqual(t, maxAbs(left), 1e-8*maxAbs(s), "%v", c.Kind)
			if c.Kind != BoxCone {
				require.Zero(t, c.Distance(s), "%v", c.Kind)
			}
		}
	}
}

package backends

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
)

// TestDistanceValues has distances worked out by hand.
func TestDistanceValues(t *testing.T) {
	inf, r := math.Inf(1), math.Sqrt2
	for _, c := range []struct {
		name         string
		cone         Cone
		v            []float64
		primal, dual float64
	}{
		{"zero", Zero(2), []float64{1, -3}, 3, 0},
		{"nonnegative", Nonnegative(3), []float64{1, -3, -4}, 4, 4},
		{"box, lower", Box([]float64{0}, []float64{1}), []float64{-2}, 2, 0},
		{"box, upper", Box([]float64{0}, []float64{1}), []float64{3}, 2, 0},
		{"box, no lower", Box([]float64{-inf}, []float64{1}), []float64{3}, 2, 3},
		{"box, no upper", Box([]float64{0}, []float64{inf}), []float64{-3}, 3, 3},
		{"second-order", SecondOrder(3), []float64{1, 3, 4}, 4, 4},
		{"second-order, huge", SecondOrder(3), []float64{0, 3e200, 4e200}, 5e200, 5e200},
		{"second-order, tiny", SecondOrder(3), []float64{0, 3e-200, 4e-200}, 5e-200, 5e-200},
		{"second-order, dimension 1", SecondOrder(1), []float64{-2}, 2, 2},
		{"psd", PSD(2), []float64{1, 3 * r, 1}, 2, 2}, // eigenvalues 4 and -2
		{"psd, tiny", PSD(2), []float64{0, 3e-200 * r, 0}, 3e-200, 3e-200},
		{"psd, graded", PSD(3), []float64{5, 0, 0, 0, 1e-122, 0}, 0, 0},
		{"psd, order 3", PSD(3), []float64{1, 0, 0, -2, 0, 3}, 2, 2},
		{"exponential, inside", Exponential(), []float64{0, 1, 2}, 0, 0},
		// (1 - d, d, d) with exp(1/d - 1) <= 1 has d = 1.
		{"exponential, ray u", Exponential(), []float64{1, 0, 0}, 1, 1},
		{"exponential, negative v", Exponential(), []float64{-1, -1, 5}, 1, math.NaN()},
		// (-d, d - 1, d) is in the exponential cone, the dual of the dual, from d = 1 on.
		{"dual exponential, ray -v", DualExponential(), []float64{0, -1, 0}, math.NaN(), 1},
		{"power, w alone", Power(0.5), []float64{0, 0, 3}, 3, 1.5},
		{"power, outside u", Power(0.3), []float64{-1, 2, 0}, 1, 1},
		{"dual power, w alone", DualPower(0.5), []float64{0, 0, 3}, 1.5, 3},
		{"generalized power, z alone", GeneralizedPower([]float64{0.5, 0.25, 0.25}, 2), []float64{0, 0, 0, 3, -4}, 5,
			5 * 0.5 * math.Sqrt(0.5)},
		{"dual generalized power, z alone", DualGeneralizedPower([]float64{0.5, 0.25, 0.25}, 2), []float64{0, 0, 0, 3, -4},
			5 * 0.5 * math.Sqrt(0.5), 5},
		{"generalized power, outside x", GeneralizedPower([]float64{0.3, 0.7}, 1), []float64{-1, 2, 0}, 1, 1},
		// (1, 2, 2) and (4, 2, -4) are orthogonal: the singular values are 3 and 6.
		{"nuclear norm", NuclearNorm(3, 2), []float64{4, 1, 2, 2, 4, 2, -4}, 5, 2},
		{"nuclear norm, wide", NuclearNorm(2, 3), []float64{7, 1, 4, 2, 2, 2, -4}, 2, 0},
		{"nuclear norm, inside", NuclearNorm(3, 2), []float64{9.5, 1, 2, 2, 4, 2, -4}, 0, 0},
		{"nuclear norm, tiny", NuclearNorm(3, 2), []float64{0, 1e-200, 2e-200, 2e-200, 4e-200, 2e-200, -4e-200}, 9e-200,
			6e-200},
		{"nuclear norm, huge", NuclearNorm(2, 2), []float64{0, 3e200, 0, 0, 4e200}, 7e200, 4e200},
		{"nuclear norm, graded", NuclearNorm(3, 3), []float64{0, 5, 0, 0, 0, 1e-122, 0, 0, 0, 0}, 5, 5},
		{"nuclear norm, zero matrix", NuclearNorm(2, 2), []float64{-2, 0, 0, 0, 0}, 2, 2},
		{"nuclear norm, vector", NuclearNorm(1, 2), []float64{1, 3, -4}, 4, 4},
		{"empty", SecondOrder(0), nil, 0, 0},
		{"empty psd", PSD(0), nil, 0, 0},
	} {
		if !math.IsNaN(c.primal) {
			assert.InDelta(t, c.primal, c.cone.Distance(c.v), 1e-9*max(1e-190, c.primal), c.name)
		}
		if !math.IsNaN(c.dual) {
			assert.InDelta(t, c.dual, c.cone.DualDistance(c.v), 1e-9*max(1e-190, c.dual), c.name)
		}
	}
	assert.Panics(t, func() { Zero(2).Distance([]float64{1}) })
}

// TestDistanceNaN: a number that is none is never near a cone.
func TestDistanceNaN(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []Cone{Zero(3), Nonnegative(3), Box([]float64{0, -inf, 0}, []float64{1, inf, inf}), SecondOrder(3),
		PSD(2), Exponential(), DualExponential(), Power(0.3), DualPower(0.3), NuclearNorm(1, 2), NuclearNorm(2, 1),
		GeneralizedPower([]float64{0.3, 0.7}, 1), DualGeneralizedPower([]float64{1}, 2)} {
		for i := range 3 {
			v := []float64{1, 1, 1}
			v[i] = math.NaN()
			assert.True(t, math.IsNaN(c.Distance(v)), "%v entry %d", c.Kind, i)
			assert.True(t, math.IsNaN(c.DualDistance(v)), "%v entry %d, dual", c.Kind, i)
		}
	}
}

// TestDistanceHuge: cones are what their multiples are, up to the largest numbers.
func TestDistanceHuge(t *testing.T) {
	for _, c := range []Cone{SecondOrder(3), PSD(2), Exponential(), DualExponential(), Power(0.3), DualPower(0.3),
		NuclearNorm(1, 2), GeneralizedPower([]float64{0.3, 0.7}, 1), DualGeneralizedPower([]float64{1}, 2)} {
		for _, s := range [][]float64{{1.5, -1, -1.2}, {-1.5, 1, 1}, {-0.1, -1.9, 0.3}, {0.2, 0.3, -1.7}} {
			huge := []float64{math.Ldexp(s[0], 1022), math.Ldexp(s[1], 1022), math.Ldexp(s[2], 1022)}
			assert.InEpsilon(t, 1+c.Distance(s), 1+math.Ldexp(c.Distance(huge), -1022), 1e-9, "%v %v", c.Kind, s)
			assert.InEpsilon(t, 1+c.DualDistance(s), 1+math.Ldexp(c.DualDistance(huge), -1022), 1e-9, "%v %v, dual", c.Kind, s)
		}
	}
}

// A shift into a set without points, and normals at points that are not finite, come to an end.
func TestDistanceEnds(t *testing.T) {
	never := func(float64) bool { return false }
	for _, size := range []float64{0, 1, math.MaxFloat64} {
		assert.True(t, math.IsInf(smallestShift(size, never), 1))
	}
	assert.True(t, math.IsNaN(smallestShift(math.NaN(), never)))
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, dual := range []bool{false, true} {
			separateMean([]float64{0.5, 0.5}, []float64{0, 0, v}, make([]float64, 3), dual)
		}
	}
}

// TestDuality: the dual cone is the set of z with s'z >= 0 for all s of the cone.
// Members of both are made by shifting random points by their distance.
func TestDuality(t *testing.T) {
	direction := map[ConeKind][]float64{
		NonnegativeCone: {1, 1, 1}, SecondOrderCone: {1, 0, 0}, PSDCone: {1, 0, 1},
		ExponentialCone: {-1, 1, 1}, DualExponentialCone: {-1, 1, 1}, PowerCone: {1, 1, 0}, DualPowerCone: {1, 1, 0},
		NuclearNormCone:      {1, 0, 0, 0, 0},
		GeneralizedPowerCone: {1, 1, 0, 0, 0}, DualGeneralizedPowerCone: {1, 1, 0, 0, 0},
	}
	proptest.Check(t, func(t *rapid.T) {
		vector := rapid.SliceOfN(rapid.Float64Range(-3, 3), 5, 5)
		allS, allZ := vector.Draw(t, "s"), vector.Draw(t, "z")
		a := rapid.Float64Range(0.1, 0.9).Draw(t, "a")
		for _, c := range []Cone{Nonnegative(3), SecondOrder(3), PSD(2), Exponential(), DualExponential(), Power(a),
			DualPower(a), NuclearNorm(2, 2), GeneralizedPower([]float64{a, 1 - a}, 3), DualGeneralizedPower([]float64{a, 1 - a},
				2)} {
			s0, z0 := allS[:c.Dim], allZ[:c.Dim]
			e, dual := direction[c.Kind], direction[c.Kind] // that of a cone and its dual is the same
			ds, dz := c.Distance(s0), c.DualDistance(z0)
			s, z, dot, size := make([]float64, c.Dim), make([]float64, c.Dim), 0.0, 1.0
			for i := range s {
				s[i], z[i] = s0[i]+ds*e[i], z0[i]+dz*dual[i]
				dot += s[i] * z[i]
				size += math.Abs(s[i] * z[i])
			}
			if c.Distance(s) > 1e-12 || c.DualDistance(z) > 1e-12 {
				t.Fatalf("%v: shifted points are %g and %g outside", c.Kind, c.Distance(s), c.DualDistance(z))
			}
			if dot < -1e-9*size {
				t.Fatalf("%v: s = %v and z = %v have s'z = %g", c.Kind, s, z, dot)
			}
			// A shift that is clearly smaller does not do.
			if ds > 1e-6 {
				for i := range s {
					s[i] = s0[i] + 0.999*ds*e[i]
				}
				if c.Distance(s) == 0 {
					t.Fatalf("%v: %v is %g outside, but a smaller shift was enough", c.Kind, s0, ds)
				}
			}
		}
	})
}

// reflected returns the svec of Q diag(values) Q with the reflection Q = I - 2 vv', |v| = 1.
func reflected(values []float64, rng *rand.Rand) []float64 {
	n := len(values)
	v := normals(rng, n, 1)
	norm := norm2(v)
	weighted := 0.0 // v'Dv
	for i := range v {
		v[i] /= norm
		weighted += v[i] * v[i] * values[i]
	}
	var out []float64
	for j := range n {
		for i := j; i < n; i++ {
			a := v[i] * v[j] * (4*weighted - 2*values[i] - 2*values[j])
			if i == j {
				a += values[i]
			} else {
				a *= math.Sqrt2
			}
			out = append(out, a)
		}
	}
	return out
}

// TestDistanceOfLargeMatrices has matrices with eigenvalues that are known, the lowest once or often.
func TestDistanceOfLargeMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 2 * definiteFrom
	for k, lowest := range []float64{1, 1e-9, 0, -1e-9, -1e-3, -5, 1, 1e-9, 0, -1e-9, -1e-3, -5} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1 + 100*rng.Float64()
			if k > 5 && i%3 == 0 || i == n/3 {
				values[i] = lowest
			}
		}
		d := PSD(n).Distance(reflected(values, rng))
		assert.InDelta(t, max(0, -lowest), d, 1e-12*100*n, "%g", lowest)
		if lowest > 1e-10 {
			assert.Zero(t, d, "%g", lowest)
		}
	}
	s := reflected(make([]float64, n), rng)
	s[5] = math.NaN()
	assert.True(t, math.IsNaN(PSD(n).Distance(s)))
}

// TestBarelyInside has matrices of low rank, which are inside but for last places: after a move of some last places the
// elimination in 300 bits finds no negative pivot, where the error of the eigenvalues is up to 4n last places.
func TestBarelyInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	root := new(big.Float).SetPrec(300).Sqrt(wide(2))
	for _, n := range []int{1, 2, 5, 12, 30, 60} {
		for range 5 {
			values := make([]float64, n)
			values[0] = math.Exp(5 * rng.NormFloat64())
			values[n/2] = values[0]
			s := reflected(values, rng)
			before := slices.Clone(s)
			families[PSDCone].own.intoBarely(PSD(n), s)
			var m [][]*big.Float
			for j := range n {
				m = append(m, make([]*big.Float, n))
				for i := j; i < n; i++ {
					k := len(s) - (n-j)*(n-j+1)/2 + i - j
					if m[j][i] = wide(s[k]); i != j {
						m[j][i].Quo(m[j][i], root)
					} else {
						assert.InDelta(t, before[k], s[k], float64(10+n/2)*unitRoundoff*norm2(before))
					}
				}
			}
			for a := range n { // the upper triangle of what is left
				require.GreaterOrEqual(t, m[a][a].Sign(), 0)
				for i := a + 1; i < n && m[a][a].Sign() > 0; i++ {
					part := wide(0).Quo(m[a][i], m[a][a])
					for j := i; j < n; j++ {
						m[i][j].Sub(m[i][j], wide(0).Mul(part, m[a][j]))
					}
				}
			}
		}
	}
}

// TestMovesOnFaces has points of faces that are orthants: they stay where they are, and others end inside.
func TestMovesOnFaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, c := range []Cone{Exponential(), DualExponential(), Power(0.3), DualPower(0.3),
		GeneralizedPower([]float64{0.2, 0.5, 0.3}, 2)} {
		for range 200 {
			v := normals(rng, c.Dim, 1)
			point := slices.Clone(v)
			for i := range v {
				v[i] = math.Abs(v[i])
			}
			switch c.Kind {
			case ExponentialCone:
				v[0], v[1] = -v[0], 0
			case DualExponentialCone:
				v[0] = 0
			case PowerCone, DualPowerCone:
				v[2] = 0
			default:
				v[3], v[4] = 0, 0
			}
			stays := slices.Clone(v)
			families[c.Kind].own.into(c, stays)
			require.Equal(t, v, stays, "%v", c.Kind)
			families[c.Kind].own.into(c, point)
			require.Zero(t, c.Distance(point), "%v", c.Kind)
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
			c.awayFromRecession(s, s, exact, left)
			require.LessOrEqual(t, maxAbs(left), 1e-8*maxAbs(s), "%v", c.Kind)
			if c.Kind != BoxCone {
				require.Zero(t, c.Distance(s), "%v", c.Kind)
			}
		}
	}
}

func TestSmallestShift(t *testing.T) {
	for least := 1e-17; least < 1e300; least *= 7 {
		asked := 0
		d := smallestShift(1, func(d float64) bool {
			asked++
			return d >= least
		})
		require.InEpsilon(t, least, d, 1e-9)
		require.GreaterOrEqual(t, d, least)
		require.Less(t, asked, 60, "%g", least) // of which 34 make the digits
	}
	require.True(t, math.IsInf(smallestShift(1, func(float64) bool { return false }), 1))
}

// Of an equation of which each round leaves nine tenths, forty leave 0.9^40 = 0.015.
func TestPolishRounds(t *testing.T) {
	for _, c := range []struct{ left, rounds float64 }{{10, 40}, {1e6, 2}, {0.05, 1}, {math.NaN(), 40}} {
		s := newSystem(&analysed{}, []float64{1}, nil)
		s.entries.Add(0, 0, 1)
		s.end(1, 1)
		s.weight[0] = 1
		rounds, v := 0.0, 1.0
		s.polish(func(lack float64) float64 {
			require.InEpsilon(t, v, lack, 1e-9)
			v *= 0.9
			s.y[0], s.low[0] = v, 0
			rounds++
			return c.left * v
		})
		require.Equal(t, c.rounds, rounds, "%g", c.left)
	}
}

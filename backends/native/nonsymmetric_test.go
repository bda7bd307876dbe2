package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/dense"
)

// nonsymmetrics returns the examples of cones of three dimensions.
func nonsymmetrics() map[string]*nonsymmetric {
	out := map[string]*nonsymmetric{}
	for _, k := range kinds {
		for i, e := range k.examples {
			if k.maker == nil {
				continue
			}
			if c, ok := k.maker(k.examples, dense.Within{})(e).(*nonsymmetric); ok {
				out[fmt.Sprintf("%s/%d", k.kind, i)] = c
			}
		}
	}
	return out
}

// pair returns a point inside K and one inside K*.
func pair(rng *rand.Rand, c *nonsymmetric) (s, z vec3) {
	z = c.centre
	s, _ = c.derivatives(c.centre)
	s = s.times(-1)
	for {
		a, b := s, z
		for i := range 3 {
			a[i] += 0.8 * rng.NormFloat64()
			b[i] += 0.8 * rng.NormFloat64()
		}
		if c.insideS(a) && c.insideZ(b) {
			return a, b
		}
	}
}

// TestSolveHessian: Hess F*(z) z = -grad F*(z), and the solution has its digits near the boundary, too, where the
// condition of the Hessian is beyond them.
func TestSolveHessian(t *testing.T) {
	for name, c := range nonsymmetrics() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			for range 20 {
				_, z := pair(rng, c)
				direction := vec3{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				edge := stepInside(100, func(a float64) bool { return c.insideZ(z.plus(a, direction)) })
				for _, off := range []float64{1, 1e-3, 1e-6, 1e-9} {
					c.z = z.plus(edge*(1-off), direction)
					g, h := c.derivatives(c.z)
					x := c.solveHessian(g)
					require.Less(t, dense.MaxAbs(x[:])-dense.MaxAbs(c.z[:]), 1e-6*dense.MaxAbs(c.z[:]), "off %g", off)
					lost := x.plus(1, c.z)
					require.LessOrEqual(t, dense.MaxAbs(lost[:]), 1e-6*dense.MaxAbs(c.z[:]), "off %g", off)
					if off == 1 {
						back := h.mul(c.solveHessian(direction)).plus(-1, direction)
						require.LessOrEqual(t, dense.MaxAbs(back[:]), 1e-8*dense.MaxAbs(direction[:]))
					}
				}
			}
		})
	}
}

// H maps z to s and the shadow of s to that of z, and is symmetric and positive definite.
func TestNonsymmetricScaling(t *testing.T) {
	for name, c := range nonsymmetrics() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			for range 20 {
				s, z := pair(rng, c)
				require.True(t, c.scale(s[:], z[:]))
				hz := c.h.mul(z)
				shadow, ok := c.shadow(s)
				require.True(t, ok)
				back, _ := c.derivatives(shadow) // -grad F* of the shadow is s
				image := c.h.mul(shadow)
				size := dense.MaxAbs(s[:]) + dense.MaxAbs(c.gradient[:])
				for i := range 3 {
					require.InDelta(t, s[i], hz[i], 1e-6*size)
					require.InDelta(t, s[i], -back[i], 1e-6*size)
					require.InDelta(t, -c.gradient[i], image[i], 1e-6*size)
				}
				var eigen mat.EigenSym
				require.True(t, eigen.Factorize(mat.NewSymDense(3, []float64{c.h[0][0], c.h[0][1], c.h[0][2], c.h[0][1], c.h[1][1],
					c.h[1][2], c.h[0][2], c.h[1][2], c.h[2][2]}), false))
				require.Positive(t, eigen.Values(nil)[0])
			}
		})
	}
}

// The search for a step inside of a cone ends whatever its limit is.
func TestStepInsideEnds(t *testing.T) {
	never := func(float64) bool { return false }
	for _, limit := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1} {
		require.Zero(t, stepInside(limit, never))
	}
}

func solved(t *testing.T, p *backends.Problem) *backends.Solution {
	sol := solveChecked(t, p)
	require.Equal(t, backends.Optimal, sol.Status, sol.Message)
	return sol
}

// With two weights and one number the cone is the power cone: the optimal points are the same, and come about as soon.
func TestGeneralizedPowerOfTwoWeights(t *testing.T) {
	shape := backendtest.Shape{Name: "power", N: 12, Rank: 12, Density: 0.8, Cones: []backends.Cone{
		backends.Power(0.3), backends.Zero(2), backends.Power(0.8), backends.DualPower(0.45),
	}}
	for seed := range uint64(10) {
		p := shape.NewCase(seed).Problem
		q := *p
		q.Cones = slices.Clone(p.Cones)
		for i, c := range q.Cones {
			switch weights := []float64{c.Alpha, 1 - c.Alpha}; c.Kind {
			case backends.PowerCone:
				q.Cones[i] = backends.GeneralizedPower(weights, 1)
			case backends.DualPowerCone:
				q.Cones[i] = backends.DualGeneralizedPower(weights, 1)
			}
		}
		want, got := solved(t, p), solved(t, &q)
		require.InDelta(t, want.Objective, got.Objective, 1e-7*(1+math.Abs(want.Objective)))
		require.InDeltaSlice(t, want.X, got.X, 1e-4)
		require.LessOrEqual(t, got.Iterations, want.Iterations+4)
	}
}

// The largest prod x_i^w_i of numbers of sum 1 is prod w_i^w_i, at x = w.
func TestWeightedMeansOfMany(t *testing.T) {
	for _, k := range []int{1, 2, 10, 50, 200} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			w, sum, most := make([]float64, k), 0.0, 0.0
			for i := range w {
				w[i] = float64(1 + i*i%7)
				sum += w[i]
			}
			ptr, ind, val := []int{0}, []int{}, []float64{}
			entry := func(row int, v float64) { ind, val = append(ind, row), append(val, v) }
			for i := range w {
				w[i] /= sum
				most += w[i] * math.Log(w[i])
				entry(0, 1)
				entry(1+i, -1)
				ptr = append(ptr, len(ind))
			}
			entry(1+k, -1)
			p := &backends.Problem{
				Q: append(make([]float64, k), -1), A: sparse.NewCSC(2+k, k+1, append(ptr, len(ind)), ind, val),
				B:     append([]float64{1}, make([]float64, k+1)...),
				Cones: []backends.Cone{backends.Zero(1), backends.GeneralizedPower(w, 1)},
			}
			sol := solved(t, p)
			require.InDelta(t, -math.Exp(most), sol.Objective, 1e-7)
			require.InDeltaSlice(t, w, sol.X[:k], 1e-4)
		})
	}
}

// What backendtest draws is solved with many weights and long vectors under the norm, too.
func TestLargeGeneralizedPowers(t *testing.T) {
	weights := slices.Repeat([]float64{1. / 60, 2. / 60, 3. / 60}, 10)
	skew := []float64{1e-6, 0.3, 0.7 - 1e-6}
	for name, cones := range map[string][]backends.Cone{
		"many weights": {backends.GeneralizedPower(weights, 5), backends.DualGeneralizedPower(weights, 5)},
		"long vector":  {backends.GeneralizedPower([]float64{0.4, 0.6}, 100)},
		"tiny weight":  {backends.GeneralizedPower(skew, 2), backends.DualGeneralizedPower(skew, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{4, 40} {
				for seed := range uint64(8) {
					c := backendtest.Shape{Name: name, N: n, Rank: n - 4, Density: 0.8, Cones: cones}.NewCase(seed)
					sol := solved(t, c.Problem)
					require.InDelta(t, c.Objective, sol.Objective, 1e-6*(1+math.Abs(c.Objective)))
					require.Less(t, sol.Iterations, 60)
				}
			}
		})
	}
}

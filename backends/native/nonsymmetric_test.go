package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// exponentialExamples returns the examples of exponential cones.
func exponentialExamples() map[string]*exponential {
	out := map[string]*exponential{}
	for _, k := range kinds {
		for i, e := range k.examples {
			if k.maker == nil {
				continue
			}
			if c, ok := k.maker(k.examples, dense.Within{})(e).(*exponential); ok {
				out[fmt.Sprintf("%s/%d", k.kind, i)] = c
			}
		}
	}
	return out
}

// pair returns a point inside K and one inside K*.
func pair(rng *rand.Rand, c *exponential) (s, z vec3) {
	z = c.centre
	s = minusGradient(c, c.centre)
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

// minusGradient returns -grad F*(z).
func minusGradient(c *exponential, z vec3) vec3 {
	p, _ := c.at(z)
	return c.toZ.mul(p.gradient()).times(-1)
}

// TestSolveHessian: Hess F*(z) z = -grad F*(z), and the solution has its digits near the boundary, too, where the
// condition of the Hessian is beyond them.
func TestSolveHessian(t *testing.T) {
	for name, c := range exponentialExamples() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			for range 20 {
				_, z := pair(rng, c)
				direction := vec3{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				edge := stepInside(100, func(a float64) bool { return c.insideZ(z.plus(a, direction)) })
				for _, off := range []float64{1, 1e-3, 1e-6, 1e-9} {
					z := z.plus(edge*(1-off), direction)
					c.now, _ = c.at(z)
					solve := func(v vec3) vec3 { return c.fromZ.mul(c.solveHessian(v)) }
					x := solve(minusGradient(c, z))
					require.Less(t, dense.MaxAbs(x[:])-dense.MaxAbs(z[:]), 1e-6*dense.MaxAbs(z[:]), "off %g", off)
					lost := x.plus(-1, z)
					require.LessOrEqual(t, dense.MaxAbs(lost[:]), 1e-6*dense.MaxAbs(z[:]), "off %g", off)
					if off == 1 {
						h := c.hessian(&c.now)
						back := h.mul(solve(direction)).plus(-1, direction)
						require.LessOrEqual(t, dense.MaxAbs(back[:]), 1e-8*dense.MaxAbs(direction[:]))
					}
				}
			}
		})
	}
}

// H maps z to s and the shadow of s to that of z, and is symmetric and positive definite.
func TestNonsymmetricScaling(t *testing.T) {
	for name, c := range exponentialExamples() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			for range 20 {
				s, z := pair(rng, c)
				require.True(t, c.scale(s[:], z[:]))
				hz := c.h.mul(z)
				shadow, ok := c.shadow(s)
				require.True(t, ok)
				shadow = c.fromZ.mul(shadow)
				back := minusGradient(c, shadow) // is s
				image := c.h.mul(shadow)
				size := dense.MaxAbs(s[:]) + dense.MaxAbs(c.gradient[:])
				for i := range 3 {
					require.InDelta(t, s[i], hz[i], 1e-6*size)
					require.InDelta(t, s[i], back[i], 1e-6*size)
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

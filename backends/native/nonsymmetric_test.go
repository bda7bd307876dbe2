package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// nonsymmetricExamples returns the examples of such cones.
func nonsymmetricExamples() map[string]*nonsymmetric {
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
func pair(rng *rand.Rand, c *nonsymmetric) (s, z []float64) {
	for {
		s, z = slices.Clone(c.centre), slices.Clone(c.centre)
		for i := range s {
			s[i] += 0.8 * rng.NormFloat64()
			z[i] += 0.8 * rng.NormFloat64()
		}
		if c.b.insideS(s) && c.b.insideZ(z) {
			return s, z
		}
	}
}

// minusGradient returns -grad F*(z).
func minusGradient(c *nonsymmetric, z []float64) []float64 {
	g := make([]float64, len(z))
	c.b.gradientAt(g, z)
	return scaled(-1, g)
}

// TestSolveHessian: L'z is what factor says, and Hess F*(z)^-1 has its digits near the boundary, too, where the
// condition of the Hessian is beyond them: with Hess F*(z) z = -grad F*(z), F*”'(z)[z, z] is 2 grad F*(z).
func TestSolveHessian(t *testing.T) {
	for name, c := range nonsymmetricExamples() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			n := len(c.centre)
			for range 20 {
				_, inside := pair(rng, c)
				direction := normals(rng, n)
				edge := stepInside(100, func(a float64) bool { return c.b.insideZ(along(inside, a, direction, 0, direction)) })
				for _, off := range []float64{1, 1e-3, 1e-6, 1e-9} {
					z := along(inside, edge*(1-off), direction, 0, direction)
					g := minusGradient(c, z)
					first, second, out := make([]float64, n), make([]float64, n), make([]float64, n)
					c.b.factor(c.factor, first)
					c.direction(second, z)
					size := 0.0 // of the terms of L'z
					for i, v := range z {
						size = max(size, math.Abs(v)*dense.MaxAbs(c.factor[i*n:i*n+n]))
					}
					require.InDeltaSlice(t, second, first, 1e-6*(1+size), "off %g", off)
					c.b.third(out, slices.Clone(g), z)
					require.InDeltaSlice(t, scaled(-2, g), out, 1e-5*dense.MaxAbs(g), "off %g", off)
				}
			}
		})
	}
}

// H maps z to s and the shadow of s to that of z, and is symmetric and positive definite.
func TestNonsymmetricScaling(t *testing.T) {
	for name, c := range nonsymmetricExamples() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			n := len(c.centre)
			for range 20 {
				s, z := pair(rng, c)
				require.True(t, c.scale(s, z))
				shadow, image := make([]float64, n), make([]float64, n)
				require.True(t, c.b.shadow(shadow, s))
				requireScaling(t, c.mulH, z, s)
				c.mulH(image, shadow)
				size := dense.MaxAbs(s) + dense.MaxAbs(c.gradient)
				require.InDeltaSlice(t, scaled(-1, c.gradient), image, 1e-6*size)
				require.InDeltaSlice(t, s, minusGradient(c, shadow), 1e-6*size)
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

// randomDefinite returns a positive definite matrix with eigenvalues between low and 1.
func randomDefinite(rng *rand.Rand, n int, low float64) []float64 {
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, scaled, m mat.Dense
	qr.QTo(&q)
	scaled.CloneFrom(&q)
	for j := range n {
		v := math.Pow(low, rng.Float64())
		for i := range n {
			scaled.Set(i, j, q.At(i, j)*v)
		}
	}
	m.Mul(&scaled, q.T())
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i+j*n] = (m.At(i, j) + m.At(j, i)) / 2
		}
	}
	return out
}

// The smallest eigenvalue, plain or in the metric of a factor, is bounded from
// below within the accuracy promised, against a full decomposition.
func TestSmallestEigenvalue(t *testing.T) {
	for _, n := range []int{2, 3, 10, 40, 41, 60, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			e := newEigenWork(n, dense.Within{})
			for round := range 6 {
				m := make([]float64, n*n)
				for j := range n {
					for i := range j + 1 {
						m[i+j*n] = rng.NormFloat64()
						m[j+i*n] = m[i+j*n]
					}
				}
				var f *triangular
				want := mat.NewSymDense(n, append([]float64(nil), m...))
				if round%2 == 1 {
					v := randomDefinite(rng, n, math.Pow(10, -float64(round)))
					f = newTriangular(n, dense.Within{})
					require.True(t, f.factor(v))
					var chol mat.Cholesky
					require.True(t, chol.Factorize(mat.NewSymDense(n, v)))
					var l mat.TriDense
					chol.LTo(&l)
					var inv mat.Dense
					require.NoError(t, inv.Inverse(&l))
					var x, y mat.Dense
					x.Mul(&inv, want)
					y.Mul(&x, inv.T())
					for i := range n {
						for j := i; j < n; j++ {
							want.SetSym(i, j, y.At(i, j))
						}
					}
				}
				var eigen mat.EigenSym
				require.True(t, eigen.Factorize(want, false))
				exact := eigen.Values(nil)[0]
				got := e.smallest(m, n, f, math.Inf(1))
				require.LessOrEqual(t, got, exact+1e-9*math.Abs(exact))
				require.GreaterOrEqual(t, got, exact-0.03*math.Abs(exact)-1e-9)
			}
		})
	}
}

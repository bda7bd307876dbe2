package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// interior returns a random point of the cone, at distance margin of its boundary.
func interior(rng *rand.Rand, c cone, n int, margin float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	c.addUnit(v, c.shift(v)+margin)
	return v
}

func eachCone(t *testing.T, fn func(t *testing.T, rng *rand.Rand, c cone, n int)) {
	for _, n := range []int{1, 2, 3, 4, 5, 9, 40} {
		cones := map[string]cone{"nonnegative": newNonnegative(n)}
		if n > 1 {
			cones["second-order"] = newSecondOrder(n)
		}
		for name, c := range cones {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) { fn(t, rand.New(rand.NewPCG(1, uint64(n))), c, n) })
		}
	}
}

// matrixH returns H column by column from mulH.
func matrixH(c cone, n int) *mat.Dense {
	h := mat.NewDense(n, n, nil)
	e, col := make([]float64, n), make([]float64, n)
	for j := range n {
		e[j] = 1
		c.mulH(col, e)
		e[j] = 0
		h.SetCol(j, col)
	}
	return h
}

// The scaling maps z to s, and its matrix is symmetric and positive definite.
func TestScalingMapsDualToPrimal(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		for _, margin := range []float64{1, 1e-3} {
			s, z := interior(rng, c, n, margin), interior(rng, c, n, margin)
			require.True(t, c.scale(s, z))
			out := make([]float64, n)
			c.mulH(out, z)
			require.InDeltaSlice(t, s, out, 1e-8*maxAbs(s))
			h := matrixH(c, n)
			var diff mat.Dense
			diff.Sub(h, h.T())
			require.Less(t, mat.Norm(&diff, 1), 1e-10*mat.Norm(h, 1))
			var chol mat.Cholesky
			sym := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					sym.SetSym(i, j, h.At(i, j))
				}
			}
			require.True(t, chol.Factorize(sym))
		}
	})
}

// What a cone writes into the KKT matrix is -H: eliminating the two extra
// unknowns of the rank-two form gives it back.
func TestWriteHGivesH(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		s, z := interior(rng, c, n, 0.3), interior(rng, c, n, 0.2)
		require.True(t, c.scale(s, z))
		h := matrixH(c, n)
		w := &hWriter{}
		if c.block() == rotatedBlock {
			checkEigen(t, c.(*secondOrder), h)
			return
		}
		count := map[block]int{diagonalBlock: n, rankTwoBlock: 3*n + 2}[c.block()]
		w.val = make([]float64, count)
		for k := range int32(count) {
			w.at = append(w.at, k)
		}
		c.writeH(w)
		got := mat.NewDense(n, n, nil)
		switch c.block() {
		case diagonalBlock:
			for i := range n {
				got.Set(i, i, w.val[i])
			}
		case rankTwoBlock:
			v, u := w.val[n:2*n+1], w.val[2*n+1:]
			for i := range n {
				for j := range n {
					x := -v[i]*v[j]/v[n] - u[i]*u[j]/u[n]
					if i == j {
						x += w.val[i]
					}
					got.Set(i, j, x)
				}
			}
			// quasi-definite: the block of the cone with the row of v is
			// negative definite
			sum := v[n]
			for i := range n {
				require.Negative(t, w.val[i])
				sum -= v[i] * v[i] / w.val[i]
			}
			require.Negative(t, sum)
			require.Positive(t, u[n])
		}
		got.Add(got, h)
		require.Less(t, mat.Norm(got, 1), 1e-9*mat.Norm(h, 1))
	})
}

// checkEigen checks that the eigenvectors are orthogonal and that Q L Q' = H.
func checkEigen(t *testing.T, c *secondOrder, h *mat.Dense) {
	n := len(c.w)
	values := make([]float64, n)
	q := mat.NewDense(n, n, nil)
	c.eigen(q.RawMatrix().Data, values)
	var product, qq mat.Dense
	product.Mul(q, mat.NewDiagDense(n, values))
	product.Mul(&product, q.T())
	product.Sub(&product, h)
	require.Less(t, mat.Norm(&product, 1), 1e-13*mat.Norm(h, 1))
	qq.Mul(q.T(), q)
	for i := range n {
		require.Positive(t, values[i])
		for j := range n {
			require.InDelta(t, map[bool]float64{true: 1}[i == j], qq.At(i, j), 1e-15)
		}
	}
}

// For s = (1, -r u) and z = (1, r u) with a unit vector u, H maps z to s with
// w = s/sqrt(d), d = 1 - r^2, and the eigenvalues are (1 + r)^2/d, its inverse,
// and 1. The smallest is known to the relative accuracy of the largest, which is
// that of d.
func TestEigenvaluesNearTheBoundary(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		for _, d := range []float64{1e-2, 1e-6, 1e-10} {
			s, z := make([]float64, n), make([]float64, n)
			r := math.Sqrt(1 - d)
			s[0], z[0] = 1, 1
			s[n-1], z[n-1] = -r, r
			c := newSecondOrder(n)
			require.True(t, c.scale(s, z))
			q, values := make([]float64, n*n), make([]float64, n)
			c.eigen(q, values)
			require.InEpsilon(t, (1+r)*(1+r)/d, values[0], 1e-15/d+1e-12)
			require.InEpsilon(t, d/((1+r)*(1+r)), values[1], 1e-15/d+1e-12)
			require.InEpsilon(t, 1, values[0]*values[1], 1e-14)
		}
	}
}

// With d of combined, the step ds = -d - H dz of a given dz solves the
// linearised complementarity of the scaled variables: for the orthant that is
// s dz + z ds = target - s z - dsa dza, entry by entry.
func TestCombinedOfTheOrthant(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	n, target := 7, 0.4
	c := newNonnegative(n)
	s, z := interior(rng, c, n, 1), interior(rng, c, n, 1)
	require.True(t, c.scale(s, z))
	dsa, dza, dz := make([]float64, n), make([]float64, n), make([]float64, n)
	d, h := make([]float64, n), make([]float64, n)
	for i := range n {
		dsa[i], dza[i], dz[i] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	}
	c.combined(d, s, z, dsa, dza, target)
	c.mulH(h, dz)
	for i := range n {
		ds := -d[i] - h[i]
		require.InDelta(t, target-s[i]*z[i]-dsa[i]*dza[i], s[i]*dz[i]+z[i]*ds, 1e-10)
	}
}

// In the second-order cone, with a zero affine step, the full step of combined
// and dz = 0 leads to the point whose scaled product is target e: the scaled s
// becomes target lambda^-1.
func TestCombinedOfTheSecondOrderCone(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, n := range []int{2, 5, 30} {
		c := newSecondOrder(n)
		s, z := interior(rng, c, n, 0.5), interior(rng, c, n, 0.7)
		require.True(t, c.scale(s, z))
		d, zero, work := make([]float64, n), make([]float64, n), make([]float64, n)
		target := 0.3
		c.combined(d, s, z, zero, work, target)
		next := make([]float64, n)
		for i := range n {
			next[i] = s[i] - d[i]
		}
		// W^-1 next o lambda = target e
		scaled := make([]float64, n)
		c.mulWinv(scaled, next)
		require.InDelta(t, target, dot(scaled, c.lambda), 1e-10)
		for i := 1; i < n; i++ {
			require.InDelta(t, 0, scaled[0]*c.lambda[i]+c.lambda[0]*scaled[i], 1e-10)
		}
	}
}

// mulWinv writes W^-1 v into out: W^-1 = eta^-1 [w0 -w1'; -w1 I + w1 w1'/(1 + w0)].
func (c *secondOrder) mulWinv(out, v []float64) {
	dot := 0.0
	w := c.w[:len(v)]
	for i := 1; i < len(v); i++ {
		dot += w[i] * v[i]
	}
	head := v[0]
	f := -head + dot/(1+w[0])
	out[0] = (w[0]*head - dot) / c.eta
	for i := 1; i < len(v); i++ {
		out[i] = (v[i] + f*w[i]) / c.eta
	}
}

// W and W^-1 are inverse, W z = W^-1 s, and W'W = H.
func TestSecondOrderScalingIdentities(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{2, 3, 12} {
		c := newSecondOrder(n)
		s, z := interior(rng, c, n, 0.1), interior(rng, c, n, 2)
		require.True(t, c.scale(s, z))
		a, b := make([]float64, n), make([]float64, n)
		c.mulW(a, z)
		c.mulWinv(b, s)
		require.InDeltaSlice(t, a, b, 1e-10)
		c.mulWinv(b, a)
		require.InDeltaSlice(t, z, b, 1e-10)
		c.mulW(b, a)
		require.InDeltaSlice(t, s, b, 1e-9)
	}
}

// The end of the longest step is on the boundary, and no step is longer than the limit.
func TestStepEndsOnTheBoundary(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		for range 50 {
			s, z := interior(rng, c, n, 0.5), interior(rng, c, n, 0.5)
			ds, dz := make([]float64, n), make([]float64, n)
			for i := range n {
				ds[i], dz[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			a := c.step(s, z, ds, dz, 10)
			require.GreaterOrEqual(t, a, 0.0)
			require.LessOrEqual(t, a, 10.0)
			for i := range n {
				s[i] += a * ds[i]
				z[i] += a * dz[i]
			}
			worst := max(c.shift(s), c.shift(z))
			require.LessOrEqual(t, worst, 1e-9)
			if a < 10 {
				require.InDelta(t, 0, worst, 1e-9)
			}
		}
	})
}

func TestScaleRejectsPointsOutside(t *testing.T) {
	require.False(t, newNonnegative(2).scale([]float64{1, 0}, []float64{1, 1}))
	require.False(t, newSecondOrder(2).scale([]float64{1, 1}, []float64{1, 0}))
	require.False(t, newSecondOrder(3).scale([]float64{1, 0, 0}, []float64{math.NaN(), 0, 0}))
}

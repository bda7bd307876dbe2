package factor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A factor that gains and loses rows is that of the matrix.
func TestCholeskyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 12
	a := mat.NewDense(n, n+3, nil)
	for i := range n {
		for j := range n + 3 {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var h mat.Dense
	h.Mul(a, a.T())
	var c Cholesky
	var set []int
	for step := range 60 {
		if len(set) == n || len(set) > 3 && step%3 == 0 {
			k := rng.IntN(len(set))
			set = append(set[:k], set[k+1:]...)
			c.Remove(k)
		} else {
			i := 0
			for in := true; in; {
				i, in = rng.IntN(n), false
				for _, m := range set {
					in = in || m == i
				}
			}
			row := make([]float64, len(set))
			for l, m := range set {
				row[l] = h.At(i, m)
			}
			require.True(t, c.Add(row, h.At(i, i), 0))
			set = append(set, i)
		}
		v := make([]float64, len(set))
		for l := range v {
			v[l] = float64(1 + l)
		}
		c.Solve(v)
		for l, i := range set {
			sum := 0.0
			for k, m := range set {
				sum += h.At(i, m) * v[k]
			}
			require.InDelta(t, float64(1+l), sum, 1e-9)
		}
	}
	require.False(t, c.Add(make([]float64, len(set)), 0, 0))
}

// An updated factor is that of the changed matrix.
func TestCholeskyUpdate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const k = 7
	a := make([][]float64, k)
	for i := range a {
		a[i] = make([]float64, k)
		for j := range a[i] {
			a[i][j] = r.NormFloat64()
		}
	}
	v := make([]float64, k)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	matrix := func(times float64) func(i, j int) float64 {
		return func(i, j int) float64 { return floats.Dot(a[i], a[j]) + times*v[i]*v[j] }
	}
	var plain, plus, c Cholesky
	require.True(t, plain.Factor(k, matrix(0)))
	require.True(t, plus.Factor(k, matrix(1)))
	require.True(t, c.Factor(k, matrix(0)))
	c.Grow(slices.Clone(v))
	for i := range c.rows {
		require.InDeltaSlice(t, plus.rows[i], c.rows[i], 1e-10)
	}
	w := slices.Clone(v)
	c.Forward(w)
	c.Shrink(w, 1-floats.Dot(w, w))
	for i := range c.rows {
		require.InDeltaSlice(t, plain.rows[i], c.rows[i], 1e-10)
	}
	floats.Scale(100, v) // more than there is
	c.Forward(v)
	require.Negative(t, 1-floats.Dot(v, v))
}

// Rows come and go, and vectors times themselves; L L' stays the matrix.
func TestCholeskyChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 12
	var c Cholesky
	var have [][]float64
	var b []float64
	var m [][]float64 // the matrix
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	for range 300 {
		switch {
		case len(have) > 0 && (len(have) == n || rng.IntN(3) == 0):
			k := rng.IntN(len(have))
			have, b = append(have[:k:k], have[k+1:]...), append(b[:k:k], b[k+1:]...)
			m = append(m[:k:k], m[k+1:]...)
			for i := range m {
				m[i] = append(m[i][:k:k], m[i][k+1:]...)
			}
			c.Remove(k)
		case len(have) > 0 && rng.IntN(3) == 0:
			v := random(len(have))
			for i := range m {
				floats.AddScaled(m[i], v[i], v)
			}
			c.Grow(v)
		case len(have) > 0 && rng.IntN(3) == 0: // as much as leaves a quarter
			v := random(len(have))
			w := append([]float64(nil), v...)
			c.Forward(w)
			scale := 0.5 / floats.Norm(w, 2)
			floats.Scale(scale, v)
			floats.Scale(scale, w)
			for i := range m {
				floats.AddScaled(m[i], -v[i], v)
			}
			c.Shrink(w, 1-floats.Dot(w, w))
		default:
			v := random(n)
			products := make([]float64, len(have))
			for i := range have {
				products[i] = floats.Dot(have[i], v)
				m[i] = append(m[i], products[i])
			}
			diagonal := floats.Dot(v, v) + 1
			m = append(m, append(append([]float64(nil), products...), diagonal))
			require.True(t, c.Add(products, diagonal, 1e-14*diagonal))
			have, b = append(have, v), append(b, rng.NormFloat64())
		}
		require.Equal(t, len(have), c.Order())
		for i := range m {
			for j := range i + 1 {
				require.InDelta(t, m[i][j], floats.Dot(c.Row(i)[:j+1], c.Row(j)[:j+1]), 1e-9)
			}
		}
		x := append([]float64(nil), b...)
		c.Solve(x)
		for i := range m {
			require.InDelta(t, b[i], floats.Dot(m[i], x), 1e-6)
		}
	}
	c = Cholesky{}
	require.True(t, c.Add(nil, 4, 0))
	require.False(t, c.Add([]float64{6}, 9, 9e-14), "a multiple of the first row")
	require.Equal(t, 1, c.Order())
}

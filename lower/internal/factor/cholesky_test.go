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
			row := make([]float64, len(set)+1)
			for l, m := range set {
				row[l] = h.At(i, m)
			}
			row[len(set)] = h.At(i, i)
			require.True(t, c.Add(row, 0))
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
	require.False(t, c.Add(append(append([]float64(nil), make([]float64, len(set))...), 0), 0))
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
	require.True(t, c.Update(slices.Clone(v), 1))
	for i := range c.rows {
		require.InDeltaSlice(t, plus.rows[i], c.rows[i], 1e-10)
	}
	require.True(t, c.Update(slices.Clone(v), -1))
	for i := range c.rows {
		require.InDeltaSlice(t, plain.rows[i], c.rows[i], 1e-10)
	}
	floats.Scale(100, v)
	require.False(t, c.Update(v, -1))
}

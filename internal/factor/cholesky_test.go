package factor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

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
			require.True(t, c.Add(products, diagonal))
			have, b = append(have, v), append(b, rng.NormFloat64())
		}
		require.Equal(t, len(have), c.Order())
		for i := range m {
			for j := range i + 1 {
				require.InDelta(t, m[i][j], floats.Dot(c.rows[i][:j+1], c.rows[j][:j+1]), 1e-9)
			}
		}
		x := append([]float64(nil), b...)
		c.Solve(x)
		for i := range m {
			require.InDelta(t, b[i], floats.Dot(m[i], x), 1e-6)
		}
	}
	c = Cholesky{}
	require.True(t, c.Add(nil, 4))
	require.False(t, c.Add([]float64{6}, 9), "a multiple of the first row")
	require.Equal(t, 1, c.Order())
}

func TestDefinite(t *testing.T) {
	var f Definite
	for _, k := range []int{1, 7, 40, 23, 150} { // the room is used again
		a := mat.NewSymDense(k, nil)
		want, right := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
		for i := range k {
			want.SetVec(i, math.Sin(float64(i+1)))
			for j := range i + 1 {
				a.SetSym(i, j, math.Exp(-math.Abs(float64(i-j))/3))
			}
		}
		fill := func(j int, column []float64) {
			for i := j; i < k; i++ {
				column[i] = a.At(i, j)
			}
		}
		require.True(t, f.Factor(k, fill))
		right.MulVec(a, want)
		f.Solve(right.RawVector().Data)
		require.InDeltaSlice(t, want.RawVector().Data, right.RawVector().Data, 1e-12)
		a.SetSym(k-1, k-1, 0)
		require.False(t, f.Factor(k, fill))
	}
}

// The products of the root's vectors add up to a matrix of a lower rank, and there are as many as that.
func TestRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n, rank = 7, 3
	a := mat.NewSymDense(n, nil)
	for range rank {
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, rng.NormFloat64())
		}
		a.SymRankOne(a, 1, v)
	}
	root := Root(a.RawSymmetric().Data, n, 1e-10)
	require.Len(t, root, rank)
	for _, v := range root {
		a.SymRankOne(a, -1, mat.NewVecDense(n, v))
	}
	require.Less(t, mat.Norm(a, 2), 1e-12)
}

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

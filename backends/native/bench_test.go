package native

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
)

// lasso lower level EN
func enLower(n, p int, r1, r2 float64, seed uint64) *backends.Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	X := mat.NewDense(n, p, nil)
	y := make([]float64, n)
	for i := 0; i < n; i++ {
		for j := 0; j < p; j++ {
			X.Set(i, j, rng.NormFloat64())
			if j < 15 {
				y[i] += X.At(i, j)
			}
		}
		y[i] += 2 * rng.NormFloat64()
	}
	// vars b(p) u(p) e(n); rows: zero n: e + X b = y ; nonneg: b-u<=0, -b-u<=0, sum u<=r1 ; soc p+2
	N := 2*p + n
	m := n + 2*p + 1 + p + 2
	var ptr, ind []int
	var val []float64
	ptr = []int{0}
	for j := 0; j < p; j++ {
		for i := 0; i < n; i++ {
			ind = append(ind, i)
			val = append(val, X.At(i, j))
		}
		ind = append(ind, n+j, n+p+j, n+2*p+1+2+j)
		val = append(val, 1, -1, -1)
		ptr = append(ptr, len(ind))
	}
	for j := 0; j < p; j++ {
		ind = append(ind, n+j, n+p+j, n+2*p)
		val = append(val, -1, -1, 1)
		ptr = append(ptr, len(ind))
	}
	for i := 0; i < n; i++ {
		ind = append(ind, i)
		val = append(val, 1)
		ptr = append(ptr, len(ind))
	}
	b := make([]float64, m)
	copy(b, y)
	b[n+2*p] = r1
	b[n+2*p+1] = r2 + .5
	b[n+2*p+2] = r2 - .5
	pp := make([]int, N+1)
	var pi []int
	var pv []float64
	for j := 0; j < N; j++ {
		if j >= 2*p {
			pi = append(pi, j)
			pv = append(pv, 1/float64(n))
		}
		pp[j+1] = len(pi)
	}
	return &backends.Problem{P: sparse.NewCSC(N, N, pp, pi, pv), Q: make([]float64, N), A: sparse.NewCSC(m, N, ptr, ind, val), B: b,
		Cones: []backends.Cone{backends.Zero(n), backends.Nonnegative(2*p + 1), backends.SecondOrder(p + 2)}}
}

func BenchmarkLower(b *testing.B) {
	for _, p := range []int{60, 80, 250, 2500} {
		pr := enLower(100, p, 5, 2, 1)
		be := Backend{}
		b.Run("", func(b *testing.B) {
			s, _ := be.Setup(pr, backends.Options{})
			b.ReportAllocs()
			its := 0
			for b.Loop() {
				sol, _ := s.Solve(context.Background())
				its += sol.Iterations
			}
			b.ReportMetric(float64(its)/float64(b.N), "iters")
		})
		b.Run("setup", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				be.Setup(pr, backends.Options{})
			}
		})
	}
}

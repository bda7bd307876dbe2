package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// reportFlops reports flops a call as GFlop/s.
func reportFlops(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFlop/s")
}

func randoms(n int) []float64 {
	rng := rand.New(rand.NewPCG(31, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = 1e-3 * rng.NormFloat64()
	}
	return x
}

var benchSizes = []int{16, 64, 100, 128, 256, 500, 1000}

// BenchmarkKernels runs each kernel with the shapes that supernodes give and, for products and solves, gonum's of the
// same: that stores by rows, so that its C = A'B with A k x m, B k x n is what our columns are to it. Copies of what a
// kernel overwrites count as time.
func BenchmarkKernels(b *testing.B) {
	run := func(name string, flops float64, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			reportFlops(b, flops)
		})
	}
	var g gonum.Implementation
	shapes := [][3]int{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 4}} // m x n products of k
	for _, k := range []int{1, 4, 8, 16, 32, 50, 100, 300, 3000} {
		shapes = append(shapes, [3]int{100, 100, k})
	}
	for _, n := range benchSizes {
		shapes = append(shapes, [3]int{n, n, n})
	}
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		x, y, z, at := randoms(m*k), randoms(n*k), randoms(m*n), fmt.Sprintf("/m=%d/n=%d/k=%d", m, n, k)
		run("gemm"+at, 2*float64(m*n*k), func() { GemmNT(m, n, k, x, m, y, n, z, m) })
		run("gonum's gemm"+at, 2*float64(m*n*k), func() {
			g.Dgemm(blas.Trans, blas.NoTrans, n, m, k, -1, y, n, x, m, 1, z, m)
		})
		if m == n {
			run("syrk"+at, float64(n*(n+1)*k), func() { SyrkNT(n, k, x, n, y, n, z, n) })
		}
	}
	for _, n := range benchSizes {
		a, x, y, z := randoms(n*n), randoms(n), randoms(n), make([]float64, n*n)
		l, square, at := unitLower(rand.New(rand.NewPCG(37, 38)), n), float64(n)*float64(n), "/"+sizeName(n)
		run("gemv"+at, 2*square, func() { GemvN(n, n, a, n, x, y) })
		run("gemv of A'"+at, 2*square, func() { GemvT(n, n, a, n, x, y) })
		run("gonum's gemv"+at, 2*square, func() { g.Dgemv(blas.Trans, n, n, -1, a, n, x, 1, 1, y, 1) })
		run("trsv"+at, square, func() { TrsvN(n, l.slice(), l.ld, x) })
		run("trsv of L'"+at, square, func() { TrsvT(n, l.slice(), l.ld, x) })
		run("trsm"+at, square*float64(n), func() { copy(z, a); TrsmRightLT(n, n, l.slice(), l.ld, z, n) })
	}
}

// BenchmarkLDL counts n^3/3 flops, and the copy of the matrix as time.
func BenchmarkLDL(b *testing.B) {
	for _, n := range append([]int{1, 4, 8, 32}, append(benchSizes, 2000)...) {
		b.Run(sizeName(n), func(b *testing.B) { benchmarkLDL(b, rand.New(rand.NewPCG(35, 36)), n) })
	}
}

func benchmarkLDL(b *testing.B, rng *rand.Rand, n int) {
	q := quasiDefinite(rng, n)
	fresh := q.clone()
	d, s := make([]float64, n), signs(n)
	for b.Loop() {
		copy(q.all, fresh.all)
		LDL(n, q.slice(), q.ld, d, s, 0, 1)
	}
	reportFlops(b, float64(n)*float64(n)*float64(n)/3)
}

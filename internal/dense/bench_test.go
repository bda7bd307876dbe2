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

func BenchmarkGemmNT(b *testing.B) {
	for _, s := range gemmShapes() {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("m=%d/n=%d/k=%d", m, n, k), func(b *testing.B) {
			x, y, z := randoms(m*k), randoms(n*k), randoms(m*n)
			for b.Loop() {
				GemmNT(m, n, k, x, m, y, n, z, m)
			}
			reportFlops(b, 2*float64(m)*float64(n)*float64(k))
		})
	}
}

// gemmShapes are cubes, and the panels that supernodes give.
func gemmShapes() [][3]int {
	shapes := [][3]int{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 4}}
	for _, k := range []int{1, 4, 8, 16, 32, 50, 100, 300, 3000} {
		shapes = append(shapes, [3]int{100, 100, k})
	}
	for _, n := range benchSizes {
		shapes = append(shapes, [3]int{n, n, n})
	}
	return shapes
}

// BenchmarkGonumDgemm is the same product by gonum, which stores by rows: C = A'B
// with A k x m, B k x n is what our columns are to it.
func BenchmarkGonumDgemm(b *testing.B) {
	for _, s := range gemmShapes() {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("m=%d/n=%d/k=%d", m, n, k), func(b *testing.B) {
			x, y, z := randoms(m*k), randoms(n*k), randoms(m*n)
			for b.Loop() {
				gonum.Implementation{}.Dgemm(blas.Trans, blas.NoTrans, n, m, k, -1, y, n, x, m, 1, z, m)
			}
			reportFlops(b, 2*float64(m)*float64(n)*float64(k))
		})
	}
}

func BenchmarkSyrkNT(b *testing.B) {
	shapes := [][2]int{{100, 4}, {100, 50}, {100, 300}, {100, 3000}}
	for _, n := range benchSizes {
		shapes = append(shapes, [2]int{n, n})
	}
	for _, s := range shapes {
		n, k := s[0], s[1]
		b.Run(fmt.Sprintf("n=%d/k=%d", n, k), func(b *testing.B) {
			x, y, z := randoms(n*k), randoms(n*k), randoms(n*n)
			for b.Loop() {
				SyrkNT(n, k, x, n, y, n, z, n)
			}
			reportFlops(b, float64(n)*float64(n+1)*float64(k))
		})
	}
}

// BenchmarkTrsmRightLT counts the copy of X as time.
func BenchmarkTrsmRightLT(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(sizeName(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(33, 34))
			l, x := unitLower(rng, n), make([]float64, n*n)
			fresh := randoms(n * n)
			for b.Loop() {
				copy(x, fresh)
				TrsmRightLT(n, n, l.slice(), l.ld, x, n)
			}
			reportFlops(b, float64(n)*float64(n)*float64(n))
		})
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

func BenchmarkGemv(b *testing.B) {
	for _, n := range benchSizes {
		a, x, y := randoms(n*n), randoms(n), randoms(n)
		flops := 2 * float64(n) * float64(n)
		b.Run("N/"+sizeName(n), func(b *testing.B) {
			for b.Loop() {
				GemvN(n, n, a, n, x, y)
			}
			reportFlops(b, flops)
		})
		b.Run("T/"+sizeName(n), func(b *testing.B) {
			for b.Loop() {
				GemvT(n, n, a, n, x, y)
			}
			reportFlops(b, flops)
		})
		b.Run("gonum/"+sizeName(n), func(b *testing.B) {
			for b.Loop() {
				gonum.Implementation{}.Dgemv(blas.Trans, n, n, -1, a, n, x, 1, 1, y, 1)
			}
			reportFlops(b, flops)
		})
	}
}

func BenchmarkTrsv(b *testing.B) {
	for _, n := range benchSizes {
		rng := rand.New(rand.NewPCG(37, 38))
		l, x := unitLower(rng, n), randoms(n)
		b.Run("N/"+sizeName(n), func(b *testing.B) {
			for b.Loop() {
				TrsvN(n, l.slice(), l.ld, x)
			}
			reportFlops(b, float64(n)*float64(n))
		})
		b.Run("T/"+sizeName(n), func(b *testing.B) {
			for b.Loop() {
				TrsvT(n, l.slice(), l.ld, x)
			}
			reportFlops(b, float64(n)*float64(n))
		})
	}
}

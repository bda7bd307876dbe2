//go:build amd64 && !noasm

package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkLevels runs the main kernels with every set of kernels that the CPU has,
// beside the peak: a strip whose operands stay in one cache line.
func BenchmarkLevels(b *testing.B) {
	best := level
	defer func() { level = best }()
	for l, name := range []string{"go", "avx2", "avx512"} {
		if l > best {
			continue
		}
		level = l
		b.Run("peak/"+name, func(b *testing.B) {
			x := randoms(64)
			z := make([]float64, 24*8)
			r, c := rowsPerBlock(), columnsPerStrip()
			for b.Loop() {
				gemmStrip(c, r, 1000, x, 0, r, x, 0, z, r, 0)
			}
			reportFlops(b, 2*float64(r*c)*1000)
		})
		for _, s := range [][3]int{{2, 2, 2}, {8, 8, 8}, {100, 100, 4}, {100, 100, 100}, {128, 128, 128}, {500, 500, 500}} {
			m, n, k := s[0], s[1], s[2]
			b.Run(fmt.Sprintf("gemm/m=%d/n=%d/k=%d/%s", m, n, k, name), func(b *testing.B) {
				x, y, z := randoms(m*k), randoms(n*k), randoms(m*n)
				for b.Loop() {
					GemmNT(m, n, k, x, m, y, n, z, m)
				}
				reportFlops(b, 2*float64(m)*float64(n)*float64(k))
			})
		}
		b.Run("syrk/n=100/k=50/"+name, func(b *testing.B) {
			x, y, z := randoms(100*50), randoms(100*50), randoms(100*100)
			for b.Loop() {
				SyrkNT(100, 50, x, 100, y, 100, z, 100)
			}
			reportFlops(b, 100*101*50)
		})
		for _, n := range []int{8, 32, 100, 500} {
			b.Run(fmt.Sprintf("ldl/n=%d/%s", n, name), func(b *testing.B) {
				benchmarkLDL(b, rand.New(rand.NewPCG(35, 36)), n)
			})
		}
	}
}

package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// guard marks the entries that a kernel must neither read nor write: it is a NaN, so
// that reading it shows in the result, with a payload that shows writing it.
var guard = math.Float64frombits(0x7ff8_dead_beef_0001)

// window is a rows x cols matrix inside a larger slice full of guards.
type window struct {
	rows, cols, ld int
	off            int
	all            []float64
}

func (w *window) slice() []float64 { return w.all[w.off : len(w.all)-5] }

func (w *window) at(i, j int) float64 { return w.all[w.off+i+j*w.ld] }

func (w *window) set(i, j int, v float64) { w.all[w.off+i+j*w.ld] = v }

func newWindow(rng *rand.Rand, rows, cols int) *window {
	w := &window{rows: rows, cols: cols, ld: rows + rng.IntN(6), off: 3 + rng.IntN(5)}
	w.ld = max(w.ld, 1)
	w.all = make([]float64, w.off+w.ld*cols+rows+8)
	for i := range w.all {
		w.all[i] = guard
	}
	for j := range cols {
		for i := range rows {
			w.set(i, j, 4*rng.Float64()-2) // the same on every machine, which NormFloat64 is not
		}
	}
	return w
}

func (w *window) clone() *window {
	c := *w
	c.all = append([]float64(nil), w.all...)
	return &c
}

// requireWithin checks got against want where touched(i, j), and that every other
// word of got has the bits that before has.
func requireWithin(t *testing.T, want func(i, j int) float64, before, got *window, tol float64,
	touched func(i, j int) bool) {
	t.Helper()
	seen := make([]bool, len(got.all))
	for j := range got.cols {
		for i := range got.rows {
			if !touched(i, j) {
				continue
			}
			seen[got.off+i+j*got.ld] = true
			w, g := want(i, j), got.at(i, j)
			if !(math.Abs(g-w) <= tol*(1+math.Abs(w))) {
				t.Fatalf("entry (%d, %d) of %d x %d is %v, want %v", i, j, got.rows, got.cols, g, w)
			}
		}
	}
	for i, s := range seen {
		if !s && math.Float64bits(got.all[i]) != math.Float64bits(before.all[i]) {
			t.Fatalf("word %d of a %d x %d window with offset %d and stride %d was overwritten: %v", i, got.rows, got.cols,
				got.off, got.ld, got.all[i])
		}
	}
}

func everywhere(i, j int) bool { return true }
func lower(i, j int) bool      { return i >= j }

// gridOfSizes covers every remainder of the register blocks and some sizes past
// the cache blocks.
func gridOfSizes(rng *rand.Rand) [][3]int {
	var sizes [][3]int
	for m := 1; m <= 27; m++ {
		for n := 1; n <= 9; n++ {
			sizes = append(sizes, [3]int{m, n, 1 + rng.IntN(7)})
		}
	}
	for range 60 {
		sizes = append(sizes, [3]int{1 + rng.IntN(130), 1 + rng.IntN(60), 1 + rng.IntN(100)})
	}
	return append(sizes, [3]int{1, 1, 1}, [3]int{1, 1, 400}, [3]int{3, 2, 700}, [3]int{100, 100, 50}, [3]int{301, 17, 530},
		[3]int{49, 130, 600}, [3]int{520, 40, 260}, [3]int{0, 3, 2}, [3]int{3, 0, 2}, [3]int{3, 2, 0})
}

func TestGemmNT(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, s := range gridOfSizes(rng) {
			m, n, k := s[0], s[1], s[2]
			a, b, c := newWindow(rng, m, k), newWindow(rng, n, k), newWindow(rng, m, n)
			before, a0, b0 := c.clone(), a.clone(), b.clone()
			GemmNT(m, n, k, a.slice(), a.ld, b.slice(), b.ld, c.slice(), c.ld)
			requireWithin(t, func(i, j int) float64 {
				sum := before.at(i, j)
				for l := range k {
					sum -= a0.at(i, l) * b0.at(j, l)
				}
				return sum
			}, before, c, 1e-13*float64(k+1), everywhere)
			requireSameBits(t, a0, a)
			requireSameBits(t, b0, b)
		}
	})
}

func requireSameBits(t *testing.T, want, got *window) {
	t.Helper()
	requireWithin(t, nil, want, got, 0, func(i, j int) bool { return false })
}

func TestSyrkNT(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		require.Zero(t, blockRows%rowsPerBlock(), "panels of packed rows end with their block")
		require.Zero(t, blockRows%columnsPerStrip(), "strips end at the diagonal blocks")
		rng := rand.New(rand.NewPCG(3, 4))
		for _, s := range gridOfSizes(rng) {
			n, k := s[0], s[2]
			if raceEnabled && n*n*k > 1<<22 {
				continue // minutes of checking there
			}
			a, c := newWindow(rng, n, k), newWindow(rng, n, n)
			for j := range n {
				for i := range j {
					c.set(i, j, guard)
				}
			}
			b := newWindow(rng, n, k)
			for l := range k {
				d := rng.NormFloat64()
				for i := range n {
					b.set(i, l, a.at(i, l)*d)
				}
			}
			before := c.clone()
			SyrkNT(n, k, a.slice(), a.ld, b.slice(), b.ld, c.slice(), c.ld)
			requireWithin(t, func(i, j int) float64 {
				sum := before.at(i, j)
				for l := range k {
					sum -= a.at(i, l) * b.at(j, l)
				}
				return sum
			}, before, c, 1e-13*float64(k+1), lower)
		}
	})
}

// unitLower is an n x n window of which only the part below the diagonal is no guard.
// Its entries shrink with n, so that its inverse stays small.
func unitLower(rng *rand.Rand, n int) *window {
	l := newWindow(rng, n, n)
	for j := range n {
		for i := range n {
			if i <= j {
				l.set(i, j, guard)
			} else {
				l.set(i, j, l.at(i, j)/math.Sqrt(float64(n)))
			}
		}
	}
	return l
}

func TestTrsmRightLT(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, s := range append(gridOfSizes(rng), [3]int{40, 150, 0}, [3]int{13, 200, 0}) {
			m, n := s[0], s[1]
			l, x := unitLower(rng, n), newWindow(rng, m, n)
			before := x.clone()
			TrsmRightLT(m, n, l.slice(), l.ld, x.slice(), x.ld)
			// X L' must give back the old X.
			requireWithin(t, func(i, j int) float64 {
				residual := before.at(i, j) - x.at(i, j)
				for q := range j {
					residual -= x.at(i, q) * l.at(j, q)
				}
				return x.at(i, j) + residual
			}, before, x, 1e-12, everywhere)
		}
	})
}

func TestSolvePanel(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(19, 20))
		for _, s := range append(gridOfSizes(rng), [3]int{40, 150, 0}, [3]int{250, 140, 0}) {
			m, n := s[0], s[1]
			l, a, w, dInv := unitLower(rng, n), newWindow(rng, m, n), newWindow(rng, m, n), newWindow(rng, n, 1)
			a0, w0 := a.clone(), w.clone()
			Within{}.SolvePanel(m, n, l.slice(), l.ld, dInv.slice(), a.slice(), a.ld, w.slice(), w.ld)
			// W L' must be the old A, and the new A is W diag(dInv).
			requireWithin(t, func(i, j int) float64 {
				residual := a0.at(i, j) - w.at(i, j)
				for q := range j {
					residual -= w.at(i, q) * l.at(j, q)
				}
				return w.at(i, j) + residual
			}, w0, w, 1e-12, everywhere)
			requireWithin(t, func(i, j int) float64 { return w.at(i, j) * dInv.at(j, 0) }, a0, a, 0, everywhere)
		}
	})
}

func TestScaleColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for m := 0; m <= 40; m++ {
			k := rng.IntN(5)
			a, b, d := newWindow(rng, m, k), newWindow(rng, m, k), newWindow(rng, k, 1)
			a0, b0 := a.clone(), b.clone()
			want := func(i, j int) float64 { return a0.at(i, j) * d.at(j, 0) }
			ScaleColumns(m, k, a.slice(), a.ld, d.slice(), b.slice(), b.ld)
			requireWithin(t, want, b0, b, 0, everywhere)
			requireSameBits(t, a0, a)
			ScaleColumns(m, k, a.slice(), a.ld, d.slice(), a.slice(), a.ld)
			requireWithin(t, want, a0, a, 0, everywhere)
		}
	})
}

func TestGemv(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		for m := 0; m <= 70; m++ {
			for n := range 12 {
				a := newWindow(rng, m, n)
				x, y := newWindow(rng, n, 1), newWindow(rng, m, 1)
				y0 := y.clone()
				GemvN(m, n, a.slice(), a.ld, x.slice(), y.slice())
				requireWithin(t, func(i, _ int) float64 {
					sum := y0.at(i, 0)
					for j := range n {
						sum -= a.at(i, j) * x.at(j, 0)
					}
					return sum
				}, y0, y, 1e-13, everywhere)

				x, y = newWindow(rng, m, 1), newWindow(rng, n, 1)
				y0 = y.clone()
				GemvT(m, n, a.slice(), a.ld, x.slice(), y.slice())
				requireWithin(t, func(j, _ int) float64 {
					sum := y0.at(j, 0)
					for i := range m {
						sum -= a.at(i, j) * x.at(i, 0)
					}
					return sum
				}, y0, y, 1e-13, everywhere)
			}
		}
	})
}

func TestTrsv(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for n := range 70 {
			l, x := unitLower(rng, n), newWindow(rng, n, 1)
			x0 := x.clone()
			TrsvN(n, l.slice(), l.ld, x.slice())
			requireWithin(t, func(i, _ int) float64 {
				residual := x0.at(i, 0) - x.at(i, 0)
				for j := range i {
					residual -= l.at(i, j) * x.at(j, 0)
				}
				return x.at(i, 0) + residual
			}, x0, x, 1e-12, everywhere)

			x = x0.clone()
			TrsvT(n, l.slice(), l.ld, x.slice())
			requireWithin(t, func(j, _ int) float64 {
				residual := x0.at(j, 0) - x.at(j, 0)
				for i := j + 1; i < n; i++ {
					residual -= l.at(i, j) * x.at(i, 0)
				}
				return x.at(j, 0) + residual
			}, x0, x, 1e-12, everywhere)
		}
	})
}

func TestDotAndAxpy(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 14))
		for n := range 70 {
			x, y := newWindow(rng, n, 1), newWindow(rng, n, 1)
			xs, ys := x.slice()[:n], y.slice()
			want := 0.0
			for i := range n {
				want += xs[i] * ys[i]
			}
			assert.InDelta(t, want, Dot(xs, ys), 1e-13*float64(n+1))
			y0 := y.clone()
			Axpy(1.5, xs, ys)
			requireWithin(t, func(i, _ int) float64 { return y0.at(i, 0) + 1.5*x.at(i, 0) }, y0, y, 1e-15, everywhere)
		}
		assert.False(t, math.Signbit(Dot(nil, nil)))
	})
}

func TestShapeMisusePanics(t *testing.T) {
	v := make([]float64, 10)
	for name, f := range map[string]func(){
		"short A":        func() { GemmNT(3, 2, 4, v, 3, v, 2, v, 3) },
		"short B":        func() { GemmNT(3, 4, 3, v, 3, v, 4, v, 3) },
		"ld below rows":  func() { GemmNT(3, 2, 1, v, 2, v, 2, v, 3) },
		"syrk":           func() { SyrkNT(4, 1, v, 4, v, 4, v, 4) },
		"trsm L":         func() { TrsmRightLT(1, 4, v, 4, v, 1) },
		"trsm X":         func() { TrsmRightLT(4, 3, v, 3, v, 4) },
		"panel W":        func() { Within{}.SolvePanel(3, 3, v, 3, v, v, 3, v[:8], 3) },
		"panel dInv":     func() { Within{}.SolvePanel(1, 3, v, 3, v[:2], v, 1, v, 1) },
		"scale d":        func() { ScaleColumns(1, 5, v, 1, v[:4], v, 1) },
		"gemv x":         func() { GemvN(1, 5, v, 1, v[:4], v) },
		"gemv y":         func() { GemvT(1, 5, v, 1, v, v[:4]) },
		"trsv x":         func() { TrsvN(3, v, 3, v[:2]) },
		"trsv transpose": func() { TrsvT(3, v, 3, v[:2]) },
		"dot":            func() { Dot(v, v[:3]) },
		"axpy":           func() { Axpy(1, v, v[:3]) },
		"ldl sign":       func() { LDL(3, v, 3, v, make([]int8, 2), 0, 1) },
		"ldl d":          func() { LDL(3, v, 3, v[:2], make([]int8, 3), 0, 1) },
	} {
		assert.Panics(t, f, name)
	}
}

func TestNoAllocations(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, n, k = 150, 140, 90
		rng := rand.New(rand.NewPCG(17, 18))
		a, c, q := newWindow(rng, m, k), newWindow(rng, m, m), quasiDefinite(rng, n)
		d, s := make([]float64, n), signs(n)
		fresh := q.clone()
		allocs := testing.AllocsPerRun(20, func() {
			GemmNT(m, m, k, a.slice(), a.ld, a.slice(), a.ld, c.slice(), c.ld)
			SyrkNT(m, k, a.slice(), a.ld, a.slice(), a.ld, c.slice(), c.ld)
			copy(q.all, fresh.all)
			LDL(n, q.slice(), q.ld, d, s, 0, 1)
			TrsvN(n, q.slice(), q.ld, d)
			Axpy(2, d, d)
			_ = Dot(d, d)
		})
		if !raceEnabled { // with it the pool forgets at random
			assert.Less(t, allocs, 1.0)
		}
	})
}

func TestConcurrentCallsGiveTheSameBytes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, k = 260, 270 // large enough to pack
		rng := rand.New(rand.NewPCG(27, 28))
		a := newWindow(rng, m, k)
		run := func() []float64 {
			c := make([]float64, m*m)
			GemmNT(m, m, k, a.slice(), a.ld, a.slice(), a.ld, c, m)
			SyrkNT(m, k, a.slice(), a.ld, a.slice(), a.ld, c, m)
			return c
		}
		want := run()
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { assert.True(t, slices.Equal(want, run())) })
		}
		group.Wait()
	})
}

func sizeName(n int) string { return fmt.Sprintf("n=%d", n) }

// What cancels leaves the rounding of sums and products: (1 + e)(1 - e) - 1 = -e^2, and 1e100 + 1 - 1e100.
func TestSum(t *testing.T) {
	var product, far Sum
	product.AddProduct(1+0x1p-30, 1-0x1p-30)
	product.Add(-1)
	require.Equal(t, -0x1p-60, product.Value())
	for _, v := range []float64{1e100, 1, -1e100} {
		far.Add(v)
	}
	require.Equal(t, 1.0, far.Value())
}

func TestCleared(t *testing.T) {
	v := []float64{1, 2, 3}
	require.Equal(t, []float64{0, 0}, Cleared(v, 2))
	require.Equal(t, []float64{0, 0, 3}, v)
	require.Equal(t, []float64{0, 0, 0, 0}, Cleared(v, 4))
	require.NotNil(t, Cleared[int](nil, 0))
}

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
// kernel overwrites count as time. GODEBUG=cpu.avx512f=off has those of the level below.
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
		b.Run(sizeName(n), func(b *testing.B) {
			q := quasiDefinite(rand.New(rand.NewPCG(35, 36)), n)
			fresh := q.clone()
			d, s := make([]float64, n), signs(n)
			for b.Loop() {
				copy(q.all, fresh.all)
				LDL(n, q.slice(), q.ld, d, s, 0, 1)
			}
			reportFlops(b, float64(n)*float64(n)*float64(n)/3)
		})
	}
}

package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// signs are + for the first two thirds, then -.
func signs(n int) []int8 {
	s := make([]int8, n)
	for i := range s {
		s[i] = 1
		if 3*i >= 2*n {
			s[i] = -1
		}
	}
	return s
}

// quasiDefinite has positive and negative definite diagonal blocks as signs says,
// anything off them, and guards above the diagonal.
func quasiDefinite(rng *rand.Rand, n int) *window {
	w := newWindow(rng, n, n)
	s := signs(n)
	for j := range n {
		for i := range n {
			switch {
			case i < j:
				w.set(i, j, guard)
			case i == j:
				w.set(i, j, float64(s[i])*(1+2*math.Sqrt(float64(n))))
			}
		}
	}
	return w
}

func TestLDLGivesBackTheMatrix(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(21, 22))
		sizes := []int{64, 100, 127, 128, 129, 150, 257}
		if !raceEnabled {
			sizes = append(sizes, 430)
		}
		for n := range 45 {
			sizes = append(sizes, n)
		}
		for _, n := range sizes {
			a := quasiDefinite(rng, n)
			before := a.clone()
			d := newWindow(rng, n, 1)
			d0 := d.clone()
			require.Zero(t, LDL(n, a.slice(), a.ld, d.slice(), signs(n), 0, 1))
			requireWithin(t, func(i, _ int) float64 { return d.at(i, 0) }, d0, d, 0, everywhere)
			// A_ij = sum over l <= j of L_il d_l L_jl, L_jj = 1.
			requireWithin(t, func(i, j int) float64 {
				product := d.at(j, 0)
				if i > j {
					product *= a.at(i, j)
				}
				for l := range j {
					product += a.at(i, l) * d.at(l, 0) * a.at(j, l)
				}
				residual := (before.at(i, j) - product) / (1 + math.Abs(before.at(i, i)))
				if math.IsNaN(residual) {
					return residual
				}
				return a.at(i, j) + residual // the diagonal of a is unspecified
			}, before, a, 1e-13*float64(n), lower)
			for i, s := range signs(n) {
				assert.Positive(t, float64(s)*d.at(i, 0))
			}
		}
	})
}

// Every third pivot of D is wrong in sign or too small, and must be replaced; the
// factors are then those of the matrix with these pivots.
func TestLDLReplacesPivots(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const eps, delta = 1e-3, 0.5
		for _, n := range []int{1, 2, 7, 8, 9, 40, 131, 200} {
			rng := rand.New(rand.NewPCG(23, uint64(n)))
			l, a, s := unitLower(rng, n), newWindow(rng, n, n), signs(n)
			want, moved := make([]float64, n), make([]float64, n) // pivots after replacement, and how far they were off
			bad := 0
			for j := range n {
				want[j] = float64(s[j]) * (1 + rng.Float64())
				if j%3 == 0 {
					old := 0.9 * []float64{0, eps, -3}[(j/3)%3]
					want[j] = float64(s[j]) * max(delta, -old)
					moved[j] = float64(s[j])*old - want[j]
					bad++
				}
				l.set(j, j, 1)
			}
			for j := range n {
				for i := j; i < n; i++ {
					sum := 0.0
					for q := range j + 1 {
						sum += l.at(i, q) * want[q] * l.at(j, q)
					}
					a.set(i, j, sum)
				}
				a.set(j, j, a.at(j, j)+moved[j])
			}
			d := make([]float64, n)
			require.Equal(t, bad, LDL(n, a.slice(), a.ld, d, s, eps, delta))
			assert.InDeltaSlice(t, want, d, 1e-10)
			for j := range n {
				for i := j + 1; i < n; i++ {
					require.InDelta(t, l.at(i, j), a.at(i, j), 1e-10)
				}
			}
		}
	})
}

func TestLDLPivotAtEpsIsReplaced(t *testing.T) {
	d := []float64{0}
	assert.Equal(t, 1, LDL(1, []float64{1e-8}, 1, d, []int8{1}, 1e-8, 1e-4))
	assert.Equal(t, []float64{1e-4}, d)
	assert.Equal(t, 1, LDL(1, []float64{1e-9}, 1, d, []int8{-1}, 1e-8, 1e-4))
	assert.Equal(t, []float64{-1e-4}, d)
	assert.Equal(t, 0, LDL(1, []float64{2e-8}, 1, d, []int8{1}, 1e-8, 1e-4))
	assert.Equal(t, []float64{2e-8}, d)
}

func TestLDLKeepsNaN(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(25, 26))
		const n = 60
		a := quasiDefinite(rng, n)
		a.set(40, 3, math.NaN())
		d := make([]float64, n)
		LDL(n, a.slice(), a.ld, d, signs(n), 0, 1)
		assert.True(t, math.IsNaN(d[40]))
		assert.False(t, math.IsNaN(d[39]))
	})
}

// bits is the sum of what all kernels answer on windows of all sizes of registers and caches. It is that of every
// level, and of every architecture with fused products, as each entry is one sum in one order.
const bits = "d315ae4a278b2b4f"

// TestLevelsGiveTheSameBits: the answers are the same to the last bit at every level.
func TestLevelsGiveTheSameBits(t *testing.T) {
	if raceEnabled {
		t.Skip("the same kernels, slowly")
	}
	if fma(1+0x1p-30, 1+0x1p-30, -1-0x1p-29) == 0 {
		t.Skip("products are rounded")
	}
	eachLevel(t, func(t *testing.T) { require.Equal(t, bits, kernelBits()) })
}

// kernelBits runs every kernel on the same numbers and sums up the bits of the answers.
func kernelBits() string {
	hash := sha256.New()
	add := func(v ...float64) {
		for _, x := range v {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	rng := rand.New(rand.NewPCG(41, 42))
	for _, s := range append(gridOfSizes(rng), [3]int{261, 70, 520}, [3]int{70, 300, 300}) {
		m, n, k := s[0], s[1], s[2]
		a, b, c := newWindow(rng, m, k), newWindow(rng, n, k), newWindow(rng, m, n)
		GemmNT(m, n, k, a.slice(), a.ld, b.slice(), b.ld, c.slice(), c.ld)
		add(c.all...)

		c = newWindow(rng, m, m)
		SyrkNT(m, k, a.slice(), a.ld, a.slice(), a.ld, c.slice(), c.ld)
		add(c.all...)

		l, x, w, dInv := unitLower(rng, n), newWindow(rng, m, n), newWindow(rng, m, n), newWindow(rng, n, 1)
		Within{}.SolvePanel(m, n, l.slice(), l.ld, dInv.slice(), x.slice(), x.ld, w.slice(), w.ld)
		add(x.all...)
		add(w.all...)
		TrsmRightLT(m, n, l.slice(), l.ld, x.slice(), x.ld)
		add(x.all...)

		v, u := newWindow(rng, n, 1), newWindow(rng, m, 1)
		TrsvN(n, l.slice(), l.ld, v.slice())
		add(v.all...)
		TrsvT(n, l.slice(), l.ld, v.slice())
		add(v.all...)
		v = newWindow(rng, n, 1)
		GemvN(m, n, x.slice(), x.ld, v.slice(), u.slice())
		add(u.all...)
		GemvT(m, n, x.slice(), x.ld, u.slice(), v.slice())
		add(v.all...)

		for i := range u.rows { // products too small for numbers have a sign
			u.set(i, 0, math.Ldexp(u.at(i, 0), -800))
		}
		GemvT(m, 1, u.slice(), u.ld, u.slice(), dInv.slice())
		add(dInv.all...)
		if m > 0 {
			add(Dot(u.slice()[:m], u.slice()))
			Axpy(1.7, x.slice()[:m], u.slice())
			add(u.all...)
		}

		q, d := quasiDefinite(rng, m), make([]float64, m)
		sign := signs(m)
		for i := range sign {
			if rng.IntN(5) == 0 {
				sign[i] = -sign[i] // pivots that are replaced
			}
		}
		LDL(m, q.slice(), q.ld, d, sign, 1e-3, 0.5)
		add(d...)
		for j := range q.cols {
			for i := j + 1; i < q.rows; i++ {
				add(q.at(i, j))
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// TestWithin runs each kernel with a Stop that is looked at as often as it can be. Not reached,
// it changes no bit, and nor do threads. Reached, the kernel leaves at the next block.
func TestWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.Float64() - 0.5
		}
		return v
	}
	const n, k, narrow, long = 700, 300, 40, 4*stripRows + 1
	a, b, c, tall := random(n*n), random(n*n), random(long*narrow/4), random(long*narrow/4)
	const tallest = longVector / 8 // for products with vectors, of 32 columns
	many := random(32 * tallest)
	for i := range many {
		many[i] *= 1e-3 // the triangle of it is well conditioned
	}
	for j := range n {
		c[j+j*n] = n
	}
	sign, dInv := make([]int8, n), random(n)
	for i := range sign {
		sign[i] = 1
	}
	for _, kernel := range []struct {
		name string
		run  func(w Within, out []float64)
	}{
		{"GemmNT", func(w Within, out []float64) { w.GemmNT(n, n, k, a, n, b, n, out, n) }},
		{"GemmNT, narrow", func(w Within, out []float64) { w.GemmNT(n, narrow, n, a, n, b, n, out, n) }},
		{"GemmNT, long", func(w Within, out []float64) { w.GemmNT(long, narrow/4, narrow/4, tall, long, b, n, out, long) }},
		{"SyrkNT", func(w Within, out []float64) { w.SyrkNT(n, k, a, n, b, n, out, n) }},
		{"SyrkNT, small", func(w Within, out []float64) { w.SyrkNT(blockRows, n, a, n, b, n, out, n) }},
		{"TrsmRightLT", func(w Within, out []float64) { w.TrsmRightLT(n, n, a, n, out, n) }},
		{"SolvePanel", func(w Within, out []float64) { w.SolvePanel(n, n, a, n, dInv, out, n, make([]float64, n*n), n) }},
		{"GemvN", func(w Within, out []float64) { w.GemvN(tallest, 32, many, tallest, many, out) }},
		{"GemvT", func(w Within, out []float64) { w.GemvT(tallest, 32, many, tallest, many, out) }},
		{"TrsvN", func(w Within, out []float64) { w.TrsvN(2*longSolve, many, 2*longSolve, out) }},
		{"TrsvT", func(w Within, out []float64) { w.TrsvT(2*longSolve, many, 2*longSolve, out) }},
		{"LDL", func(w Within, out []float64) { w.LDL(n, out, n, make([]float64, n), sign, 0, 1) }},
	} {
		t.Run(kernel.name, func(t *testing.T) {
			plain, within := slices.Clone(c), slices.Clone(c)
			kernel.run(Within{}, plain)
			s, ctx := stop.Every(1), stoptest.After(1<<30)
			s.Begin(ctx, 0)
			kernel.run(Within{Stop: s}, within)
			assert.True(t, slices.Equal(plain, within), "a Stop that is not reached changes the result")
			assert.Greater(t, ctx.Looks(), 2, "looks")
			for threads := range 5 {
				shared := slices.Clone(c)
				kernel.run(Within{Threads: threads}, shared)
				assert.True(t, slices.Equal(plain, shared), "%d threads change the result", threads)
			}
			whole := ctx.Looks()
			for _, at := range []int{0, 1, whole / 2} {
				ctx := stoptest.After(at)
				s.Begin(ctx, 0)
				kernel.run(Within{Stop: s}, slices.Clone(c))
				assert.Equal(t, at+1, ctx.Looks(), "looks after the end was reached")
			}
		})
	}
}

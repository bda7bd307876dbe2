package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// Every other pivot of D is wrong in sign or too small, and must be replaced; the
// factors are then those of the matrix with these pivots.
func TestLDLReplacesPivots(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const eps, delta = 1e-3, 0.5
		for _, n := range []int{1, 2, 7, 8, 9, 40, 131, 200} {
			rng := rand.New(rand.NewPCG(23, uint64(n)))
			l := unitLower(rng, n)
			s := signs(n)
			want := make([]float64, n) // pivots after replacement
			a := newWindow(rng, n, n)
			bad := 0
			for j := range n {
				want[j] = float64(s[j]) * (1 + rng.Float64())
			}
			// The matrix with the pivots wanted, then diag entries moved by old - new pivot.
			for j := range n {
				for i := j; i < n; i++ {
					sum := 0.0
					for q := 0; q <= j; q++ {
						li, lj := 1.0, 1.0
						if q < i {
							li = l.at(i, q)
						}
						if q < j {
							lj = l.at(j, q)
						}
						sum += li * want[q] * lj
					}
					a.set(i, j, sum)
				}
			}
			for j := 0; j < n; j += 3 {
				old := []float64{0, eps, -3}[(j/3)%3] * float64(s[j]) // what the pivot would be
				if old != 0 {
					old *= 0.9
				}
				// The off-diagonal part of column j is L_ij want_j; with want_j the
				// replacement its factor stays L when the pivot is replaced.
				replaced := float64(s[j]) * max(delta, -old*float64(s[j]))
				scaleBy := replaced / want[j]
				for i := j; i < n; i++ {
					for q := j; q <= i; q++ {
						li, lq := 1.0, 1.0
						if i > j {
							li = l.at(i, j)
						}
						if q > j {
							lq = l.at(q, j)
						}
						a.set(i, q, a.at(i, q)+(scaleBy-1)*want[j]*li*lq)
					}
				}
				want[j] = replaced
				a.set(j, j, a.at(j, j)+old-want[j])
				bad++
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

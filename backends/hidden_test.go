package backends

import (
	"math"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
)

// TestHiddenResiduals has points whose residuals are nothing beside the largest numbers, and far from optimal all the
// same.
func TestHiddenResiduals(t *testing.T) {
	diagonal := func(d ...float64) *sparse.CSC {
		out := sparse.NewCSC(len(d), len(d), make([]int, len(d)+1), make([]int, len(d)), d)
		for j := range d {
			out.RawMatrix().Indptr[j+1], out.RawMatrix().Ind[j] = j+1, j
		}
		return out
	}
	exp := func(e int) float64 { return math.Ldexp(1, e) }
	for _, c := range []struct {
		name                  string
		p                     *Problem
		x, s, z               []float64 // optimal
		wrong, wrongS, wrongZ []float64
	}{
		// -2^28 u + v/32 + 2^-24 v^2 with u <= 2^-14: v = -2^18, where the second part is -4096 beside -2^14. At v = 0 the
		// residual 1/32 is 2^-33 of the largest term.
		{
			name: "the gradient of a column",
			p: &Problem{
				P: diagonal(0, exp(-23)), Q: []float64{-exp(28), exp(-5)}, A: sparse.NewCSC(1, 2, []int{0, 1, 1}, []int{0},
					[]float64{exp(-6)}),
				B: []float64{exp(-20)}, Cones: []Cone{Nonnegative(1)},
			},
			x: []float64{exp(-14), -exp(18)}, s: []float64{0}, z: []float64{exp(34)},
			wrong: []float64{exp(-14), 0}, wrongS: []float64{0}, wrongZ: []float64{exp(34)},
		},
		// 2^21 u - w with w = 2^14, u >= 0.0686 and, written in numbers of 2^-15, u >= 0.07. At u = 0.0686 the residual is
		// 3e-12 of the largest term, and the objective 2 % too low.
		{
			name: "a row",
			p: &Problem{
				Q: []float64{exp(21), -1}, A: sparse.NewCSC(3, 2, []int{0, 2, 3}, []int{0, 1, 2}, []float64{-exp(-15), -1, 1}),
				B: []float64{-exp(-15) * 0.07, -0.0686, exp(14)}, Cones: []Cone{Nonnegative(2), Zero(1)},
			},
			x: []float64{0.07, exp(14)}, s: []float64{0, 0.07 - 0.0686, 0}, z: []float64{exp(36), 0, 1},
			wrong: []float64{0.0686, exp(14)}, wrongS: []float64{0, 0, 0}, wrongZ: []float64{0, exp(21), 1},
		},
		// 3/2 2^20 u - 3/2 2^50 v with u >= -2^30, v = 1, and a constant at its upper bound, 2^25, whose multiplier may be
		// anything. At u = 0 the residual of q is 2^-30 of it, and half of the objective is missing.
		{
			name: "multipliers of rows that say nothing",
			p: &Problem{
				Q: []float64{1.5 * exp(20), -1.5 * exp(50)}, A: sparse.NewCSC(3, 2, []int{0, 1, 2}, []int{0, 2}, []float64{-16, 1}),
				B: []float64{exp(36), exp(25), 1}, Cones: []Cone{Box([]float64{exp(36) - exp(34), -exp(24)},
					[]float64{1.5 * exp(36), exp(25)}), Zero(1)},
			},
			x: []float64{-exp(30), 1}, s: []float64{exp(36) - exp(34), exp(25), 0}, z: []float64{1.5 * exp(16), 0,
				1.5 * exp(50)},
			wrong: []float64{0, 1}, wrongS: []float64{exp(36), exp(25), 0}, wrongZ: []float64{0, -exp(43), 1.5 * exp(50)},
		},
	} {
		judge := NewJudge(c.p)
		assert.True(t, judge.Optimal(c.x, c.s, c.z, 1e-8), c.name)
		r, _, _ := Recheck(c.p, c.wrong, c.wrongS, c.wrongZ)
		assert.Less(t, r.Max(), 1e-8, c.name)
		assert.False(t, judge.Optimal(c.wrong, c.wrongS, c.wrongZ, 1e-8), c.name)
	}
}

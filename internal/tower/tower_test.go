package tower

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
)

// cones draws some with plain ones between them.
func cones(rng *rand.Rand) []backends.Cone {
	out := []backends.Cone{backends.Nonnegative(rng.IntN(3))}
	for range 1 + rng.IntN(3) {
		w := make([]float64, 1+rng.IntN(5))
		sum := 0.0
		for i := range w {
			w[i] = 0.1 + rng.Float64()
			sum += w[i]
		}
		for i := range w {
			w[i] /= sum
		}
		c := backends.GeneralizedPower(w, 1+rng.IntN(3))
		if rng.IntN(2) == 0 {
			c = backends.DualGeneralizedPower(w, c.Dim-len(w))
		}
		out = append(out, c, backends.SecondOrder(2))
	}
	return out
}

// distances are the largest of a point and of multipliers over the cones.
func distances(cones []backends.Cone, s, z []float64) (primal, dual float64) {
	at := 0
	for _, c := range cones {
		primal = max(primal, c.Distance(s[at:at+c.Dim]))
		dual = max(dual, c.DualDistance(z[at:at+c.Dim]))
		at += c.Dim
	}
	return primal, dual
}

// TestExtend compares membership in the tower with that in the cones, for points and multipliers near the boundary on
// both sides.
func TestExtend(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	all := func(backends.Cone) bool { return true }
	counts := [2]int{}
	for range 500 {
		given := cones(rng)
		tower := New(3, given, all)
		require.NotNil(t, tower)
		m := tower.height
		s, z := make([]float64, m), make([]float64, m)
		at := 0
		for _, c := range given { // on the boundary, then off it by a hundredth
			off := 1 + 0.01*float64(rng.IntN(3)-1)
			draw := func(distance func([]float64) float64, s []float64) {
				for i := range s {
					if s[i] = rng.NormFloat64(); c.Weights != nil && i < len(c.Weights) {
						s[i] = 0.1 + math.Abs(s[i])
					} else if c.Weights != nil {
						s[i] *= 0.1
					}
				}
				if c.Weights == nil {
					for i := range s {
						s[i] = 1 / float64(1+i)
					}
					return
				}
				scale := 1.0
				for tail := s[len(c.Weights):]; distance(s) == 0; scale *= 1.001 {
					for i := range tail {
						tail[i] *= 1.001
					}
				}
				for i := len(c.Weights); i < c.Dim; i++ {
					s[i] *= off
				}
			}
			if c.Dim > 0 {
				draw(c.Distance, s[at:at+c.Dim])
				draw(c.DualDistance, z[at:at+c.Dim])
			}
			at += c.Dim
		}
		p := tower.Extend(backends.Point{X: []float64{1, 2, 3}, S: s, Z: z})
		primal, dual := distances(given, s, z)
		inTower, inDual := distances(tower.cones, p.S, p.Z)
		for _, d := range [][2]float64{{primal, inTower}, {dual, inDual}} {
			assert.Equal(t, d[0] > 1e-12, d[1] > 1e-12, "%v: %g in the cones, %g in the tower", given, d[0], d[1])
			if d[0] > 1e-12 {
				counts[1]++
			} else {
				counts[0]++
			}
		}
		dot := func(a, b []float64) (sum float64) {
			for i := range a {
				sum += a[i] * b[i]
			}
			return sum
		}
		assert.InDelta(t, dot(s, z), dot(p.S, p.Z), 1e-12*(1+math.Abs(dot(s, z)))*float64(m))
		back := tower.Recover(p)
		assert.InDeltaSlice(t, s, back.S, 1e-14)
		assert.InDeltaSlice(t, z, back.Z, 1e-14)
		assert.Equal(t, []float64{1, 2, 3}, back.X)
	}
	assert.Greater(t, counts[0], 50)
	assert.Greater(t, counts[1], 50)
}

// TestProblem has s = b - Ax and A'z of both forms agree, with the columns of the tower at 0.
func TestProblem(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for range 100 {
		p := &backends.Problem{Cones: cones(rng), Q: []float64{1, 2, 3}}
		for _, c := range p.Cones {
			for range c.Dim {
				p.B = append(p.B, rng.NormFloat64())
			}
		}
		m := len(p.B)
		a := sparse.NewDOK(m, 3)
		for range 2 * m {
			a.Set(rng.IntN(m), rng.IntN(3), rng.NormFloat64())
		}
		p.A = a.ToCSC()
		p.P = sparse.NewCSC(3, 3, []int{0, 1, 2, 3}, []int{0, 1, 2}, []float64{1, 2, 3})
		tower := New(3, p.Cones, func(backends.Cone) bool { return true })
		q := tower.Problem(p)
		require.NoError(t, q.Validate())
		x, z := []float64{0.5, -1, 2}, make([]float64, m)
		s := append([]float64{}, p.B...)
		for i := range m {
			z[i] = math.Abs(rng.NormFloat64())
			for j := range x {
				s[i] -= p.A.At(i, j) * x[j]
			}
		}
		at := tower.Extend(backends.Point{X: x, S: s, Z: z})
		n, rows := q.Dims()
		for i := range rows {
			v := q.B[i]
			for j := range n {
				v -= q.A.At(i, j) * at.X[j]
			}
			assert.InDelta(t, at.S[i], v, 1e-13)
		}
		for j := range n {
			want, got := 0.0, 0.0
			for i := range rows {
				got += q.A.At(i, j) * at.Z[i]
			}
			for i := range m {
				if j < 3 {
					want += p.A.At(i, j) * z[i]
				}
			}
			assert.InDelta(t, want, got, 1e-13)
		}
		for i := range 3 {
			assert.Equal(t, p.P.At(i, i), q.P.At(i, i))
		}
	}
}

// TestOthersStay keeps cones that are not asked for.
func TestOthersStay(t *testing.T) {
	short, long := backends.GeneralizedPower([]float64{0.5, 0.5}, 2), backends.GeneralizedPower([]float64{0.25, 0.25, 0.5},
		1)
	assert.Nil(t, New(1, []backends.Cone{short, backends.PSD(2)}, func(c backends.Cone) bool { return c.Dim > 4 }))
	var none *Tower
	p := &backends.Problem{}
	assert.Same(t, p, none.Problem(p))
	tower := New(1, []backends.Cone{short, long}, func(c backends.Cone) bool { return len(c.Weights) > 2 })
	assert.Equal(t, []backends.Cone{short, backends.Power(0.25), backends.Power(0.25 / 0.75)}, tower.cones)
}

package tower

import (
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

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

// TestProblem has s = b - Ax and A'z of both forms agree for any point of the rewriting, with the columns of the tower
// at 0.
func TestProblem(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	normal := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = rng.NormFloat64()
		}
		return out
	}
	for range 100 {
		p := &backends.Problem{Cones: cones(rng), Q: []float64{1, 2, 3}}
		m := 0
		for _, c := range p.Cones {
			m += c.Dim
		}
		p.B = normal(m)
		a := sparse.NewDOK(m, 3)
		for range 2 * m {
			a.Set(rng.IntN(m), rng.IntN(3), rng.NormFloat64())
		}
		p.A = a.ToCSC()
		p.P = sparse.NewCSC(3, 3, []int{0, 1, 2, 3}, []int{0, 1, 2}, []float64{1, 2, 3})
		tower := New(3, p.Cones, func(backends.Cone) bool { return true })
		require.NotNil(t, tower)
		q := tower.Problem(p)
		require.NoError(t, q.Validate())
		n, rows := q.Dims()
		at := backends.Point{X: normal(n), Z: normal(rows)}
		at.S = q.Slack(at.X)
		of := tower.Recover(at)
		assert.InDeltaSlice(t, p.Slack(of.X), of.S, 1e-13)
		var dual, want mat.VecDense
		dual.MulVec(q.A.T(), mat.NewVecDense(rows, at.Z))
		want.MulVec(p.A.T(), mat.NewVecDense(m, of.Z))
		assert.InDeltaSlice(t, want.RawVector().Data, dual.RawVector().Data[:3], 1e-13)
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

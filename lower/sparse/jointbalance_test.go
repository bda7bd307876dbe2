package sparse

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// Shifted slopes add up to 0 and are slopes, their products with the features are those of gonum, and their bound is below the least objective and reaches it.
// Where the shift leaves the slopes there is none.
func TestShiftedSlopes(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	const n, p = 60, 7
	x := mat.NewDense(n, p, nil)
	y, weights := make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range p {
			x.Set(i, j, rng.NormFloat64()+float64(j))
		}
		y[i], weights[i] = math.Copysign(1, x.At(i, 0)+rng.NormFloat64()), 0.5+rng.Float64()
	}
	for name, l := range map[string]loss{"squares": squares{}, "logistic": logLoss{}} {
		for _, v := range [][]float64{nil, weights} {
			g, err := newJoint(l, name == "squares", Sample{X: design.New(x), Y: y, Weights: v}, Sample{X: design.New(x), Y: y}, true)
			require.NoError(t, err)
			s := g.Joint().(*jointSolver)
			w := &lower.JointWeights{Train: 1, Penalties: []float64{0.02, 0.01}}
			for range 30 {
				require.NoError(t, s.Model(ctx, nil))
				_, err := s.Solve(ctx, w)
				require.NoError(t, err)
			}
			at := s.X()
			values := g.Values(at)
			best := values.Train + 0.02*values.Penalties[0] + 0.01*values.Penalties[1]

			for _, away := range []float64{0, 1e-3, 1e-2} {
				b := [][]float64{at[0], {at[1][0] + away}}
				f := g.predict(training, b)
				look := jointLook{slopes: make([]float64, n), products: make([]float64, p)}
				for i, e := range f {
					look.slopes[i] = g.rows[training].slope(i, e)
				}
				product := func(u []float64) []float64 {
					var out mat.VecDense
					out.MulVec(x.T(), mat.NewVecDense(n, u))
					return out.RawVector().Data
				}
				copy(look.products, product(look.slopes))
				a, c := s.shifted(ctx, look)
				require.NotNil(t, a, "%s %g", name, away)
				require.InDelta(t, 0, floats.Sum(a), 1e-12)
				require.InDeltaSlice(t, product(a), c, 1e-11)
				bound := s.dual(a, c, 0.02, 0.01)
				require.LessOrEqual(t, bound, best+1e-12, "%s %g", name, away)
				require.InDelta(t, best, bound, 1e-5+away, "%s %g", name, away)
			}
			if name == "logistic" {
				look := jointLook{slopes: make([]float64, n), products: make([]float64, p)}
				for i := range y {
					look.slopes[i] = 1e-9 * y[i]
				}
				look.slopes[0] = 0.4 * y[0]
				a, _ := s.shifted(ctx, look)
				require.Nil(t, a)
			}
		}
	}
}

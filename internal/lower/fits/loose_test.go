package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/sparse"
)

// Radii that hold nothing back leave the maximum of the likelihood, where the bound of the multipliers says nothing until the gradient is rounding. The
// maximum is Newton's, in this test.
func TestLogisticWithinLooseRadii(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n, p = 6750, 100
		x, y := mat.NewDense(n, p, nil), make([]float64, n)
		truth := make([]float64, p)
		for j := range 20 {
			truth[j] = rng.NormFloat64()
		}
		for i := range n {
			f := 0.0
			for j := range p {
				v := rng.NormFloat64()
				x.Set(i, j, v)
				f += v * truth[j]
			}
			y[i] = math.Copysign(1, f+2*rng.NormFloat64())
		}
		b := mat.NewVecDense(p, nil)
		value := 0.0
		for range 30 {
			var f, gradient, step mat.VecDense
			f.MulVec(x, b)
			slope, root := mat.NewVecDense(n, nil), mat.NewDense(n, p, nil)
			value = 0
			for i := range n {
				q := 1 / (1 + math.Exp(y[i]*f.AtVec(i)))
				value += math.Log1p(math.Exp(-y[i]*f.AtVec(i))) / n
				slope.SetVec(i, -y[i]*q/n)
				for j := range p {
					root.Set(i, j, x.At(i, j)*math.Sqrt(q*(1-q)/n))
				}
			}
			gradient.MulVec(x.T(), slope)
			var hessian mat.Dense
			hessian.Mul(root.T(), root)
			require.NoError(t, step.SolveVec(&hessian, &gradient))
			b.SubVec(b, &step)
		}
		l1, l2 := 0.0, 0.0
		for j := range p {
			l1 += math.Abs(b.AtVec(j))
			l2 += b.AtVec(j) * b.AtVec(j) / 2
		}
		rows := NewRows(x, y)
		m, err := Logistic(rows, rows, false, sparse.Terms{})
		require.NoError(t, err)
		for _, share := range []float64{1.05, 1.23, 3} {
			at, err := m.Within().Solve(ctx, []float64{share * l1, share * l2}, 7e-10)
			require.NoError(t, err)
			require.True(t, at.Solved, "seed %d, share %v, gap %v", seed, share, at.Gap)
			require.InDelta(t, value, at.Loss, 1e-8)
			for j := range p {
				require.InDelta(t, b.AtVec(j), at.X[0][j], 1e-3)
			}
		}
	}
}

package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// Of several points a solve starts from that of the least objective, computed here anew from the coefficients, with factors of penalties; from each of them it comes to the same.
func TestMultinomialStart(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(5, 1))
	const n, p, k = 60, 4, 3
	columns, class := make([]float64, n*p), make([]float64, n)
	for i := range columns {
		columns[i] = rng.NormFloat64()
	}
	for i := range class {
		class[i] = float64(i % k)
	}
	rows := Rows{X: design.FromColumns(n, p, columns), Y: class}
	factors := []float64{1, 2, 0.5, 1}
	m, err := NewMultinomial(rows, rows, k, true, sparse.Terms{Factors: factors})
	require.NoError(t, err)
	require.NotNil(t, m.Traits().Start)
	var points []*lower.Point
	for _, lambda := range [][]float64{{0.05, 0.01}, {0.01, 0.01}, {1e-3, 1}, {1e-3, 1e-3}} {
		pt, err := m.Solve(ctx, lambda, 1e-10, nil)
		require.NoError(t, err)
		points = append(points, pt)
	}
	objective := func(pt *lower.Point, lambda []float64) float64 {
		sum := pt.Validation // the validation rows are those of the training
		for e, b := range pt.X[0] {
			sum += factors[e/k] * (lambda[0]*math.Abs(b) + lambda[1]*b*b/2)
		}
		return sum
	}
	for _, lambda := range [][]float64{{0.045, 0.01}, {0.011, 0.012}, {2e-3, 0.9}, {1e-3, 1e-4}} {
		from := m.Traits().Start(lambda, points)
		for _, pt := range points {
			require.LessOrEqual(t, objective(from, lambda), objective(pt, lambda)*(1+1e-12))
		}
		want, err := m.Solve(ctx, lambda, 1e-10, nil)
		require.NoError(t, err)
		for _, start := range points {
			pt, err := m.Solve(ctx, lambda, 1e-10, start)
			require.NoError(t, err)
			require.InDelta(t, objective(want, lambda), objective(pt, lambda), 1e-9)
		}
	}
}

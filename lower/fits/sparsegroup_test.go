package fits

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/tune/hypergradient"
)

func triples(p int) [][]int {
	var groups [][]int
	for j := 0; j < p; j += 3 {
		groups = append(groups, []int{j, j + 1, j + 2})
	}
	return groups
}

func TestSparseGroupHypergradient(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, share := range []float64{0.3, 0.1, 0.03} {
			train, val := generated(t, "60-30-0-p90", 4, false)
			m, err := NewSparseGroupLasso(train, val, triples(90), intercept)
			require.NoError(t, err)
			lambda := make([]float64, m.Dim())
			for i := range lambda {
				lambda[i] = share * m.LambdaMax() * (1 + 0.1*math.Sin(float64(i)))
			}
			at, err := m.Solve(context.Background(), lambda, 1e-15, nil)
			require.NoError(t, err)
			require.True(t, at.Solved)
			g, err := m.Traits().Gradient(context.Background(), at, lower.GradientOptions{})
			require.NoError(t, err)
			scale := floats.Norm(g, math.Inf(1))
			for i := range g {
				require.InDelta(t, difference(t, m, at, i), g[i], 1e-5*scale, "%v %g %d", intercept, share, i)
			}
		}
	}
}

func TestSparseGroupSearch(t *testing.T) {
	train, val := generated(t, "80-60-0-p90", 5, false)
	m, err := NewSparseGroupLasso(train, val, triples(90), false)
	require.NoError(t, err)
	var path float64
	for i, lambda := range m.Traits().Path() {
		at, err := m.Solve(context.Background(), lambda, 1e-10, nil)
		require.NoError(t, err)
		if i == 0 || at.Validation < path {
			path = at.Validation
		}
	}
	for _, run := range []func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result, error){hypergradient.IGJO, hypergradient.HOAG} {
		r, err := run(context.Background(), m, hypergradient.Settings{MaxIter: 40})
		require.NoError(t, err)
		require.Less(t, r.Best.Validation, 0.95*path)
	}
	_, err = hypergradient.IFDM(context.Background(), m, hypergradient.Settings{})
	require.ErrorContains(t, err, "no forward mode")
	_, err = NewSparseGroupLasso(train, val, triples(60), false)
	require.ErrorContains(t, err, "feature 60 is in no group")
}

package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// By default the weighted lasso takes two iterations, and its lambda are near a common one. The refit's coefficients are the solution for
// these lambda on the training rows, those that are saved on all rows, by the conditions of optimality.
func TestCaution(t *testing.T) {
	ctx := context.Background()
	s, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 60, Test: 200, Features: 80, Nonzeros: 6}, 4)
	require.NoError(t, err)
	m, err := wlasso.New(s, wlasso.Options{})
	require.NoError(t, err)
	c := m.Caution()
	require.NotNil(t, c)
	res, err := tune.Run(ctx, m, tune.Config{})
	require.NoError(t, err)
	require.Equal(t, dca.Converged, res.Status)
	require.Equal(t, c.Settings.MaxIter, res.Iterations)
	require.Contains(t, res.Message, "Config.StopFolds 1")

	optimal := func(b []float64, rows ...*dataset.Data) {
		n := 0.0
		gradient := make([]float64, len(b))
		for _, d := range rows {
			n += float64(len(d.Y))
		}
		for _, d := range rows {
			for i, y := range d.Y {
				row := d.Dense().RawRowView(i)
				floats.AddScaled(gradient, (floats.Dot(row, b)-y)/n, row)
			}
		}
		in := 0
		for j, g := range gradient {
			require.LessOrEqual(t, math.Abs(g), res.Lambda[j]*(1+1e-3))
			if math.Abs(b[j]) > 1e-3 {
				in++
				require.InEpsilon(t, res.Lambda[j], math.Abs(g), 1e-3)
				require.Less(t, g*b[j], 0.0)
			}
		}
		require.Greater(t, in, 5)
	}
	optimal(res.Selection.X[0], s.Train)
	optimal(res.RefitFit.Coefficients, s.Train, s.Val)

	// f w <= max(gamma, f w), so that lambda >= f^t w, and lambda = w where the start has no coefficient.
	common := 0.0
	for _, l := range res.Lambda {
		common = math.Max(common, l)
	}
	least := floats.Min(res.Lambda)
	require.Less(t, least, 0.9*common)
	require.GreaterOrEqual(t, least, math.Pow(c.Floor, c.Temper)*common*0.3)

	for _, config := range []tune.Config{{StopFolds: 1}, {MaxIter: 3}, {GapTol: 1e-3, MaxIter: 5}, {Preset: tune.PresetPaper}, {Init: []float64{1}}} {
		other, err := tune.Run(ctx, m, config)
		require.NoError(t, err)
		require.NotContains(t, other.Message, "common")
		require.False(t, other.Selection.Weighted)
	}
	grid, err := tune.Run(ctx, m, tune.Config{Method: tune.MethodGrid})
	require.NoError(t, err)
	require.True(t, grid.Selection.Weighted)
	require.Less(t, *res.Refit.Test, 1.05**grid.Refit.Test)
}

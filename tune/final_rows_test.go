package tune_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

func weighted(t *testing.T, seed uint64) (*dataset.Split, *regression.Model) {
	t.Helper()
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 60, Nonzeros: 5}, seed)
	require.NoError(t, err)
	m := must.Of(regression.WeightedLasso(split, regression.Options{}))(t)
	return split, m
}

// The refit on all rows solves the lower level of the union at the same radii.
func TestFinalRows(t *testing.T) {
	split, m := weighted(t, 3)
	r := must.Of(tune.VFiDCA(context.Background(), m, tune.Config{Rung: tune.RungFree}))(t)
	require.Equal(t, tune.FinalAll, r.TrainedOn)
	require.Equal(t, r.LowerLevel.Validation, r.Refit.Validation)
	require.NotEqual(t, *r.LowerLevel.Test, *r.Refit.Test)

	// KKT conditions of min 1/(2n) |X b - y|^2 s.t. |b_j| <= r_j over the union.
	b := r.RefitFit.Coefficients
	gradient, n := make([]float64, len(b)), 0.0
	for _, d := range []*dataset.Data{split.Train, split.Val} {
		for i, y := range d.Y {
			row := d.Dense().RawRowView(i)
			residual := -y
			for j, v := range row {
				residual += v * b[j]
			}
			for j, v := range row {
				gradient[j] += residual * v
			}
			n++
		}
	}
	top := 0.0
	for _, radius := range r.Radii {
		top = max(top, radius)
	}
	for j, g := range gradient {
		g /= n
		radius := r.Radii[j]
		require.LessOrEqual(t, b[j], radius+1e-3*top) // a radius of nearly 0 is kept a little open
		require.GreaterOrEqual(t, b[j], -radius-1e-3*top)
		switch {
		case b[j] > -0.9*radius && b[j] < 0.9*radius && radius > 0.1*top:
			require.InDelta(t, 0, g, 1e-4)
		case b[j] >= 0.9*radius && radius > 0.1*top:
			require.Less(t, g, 1e-4)
		case b[j] <= -0.9*radius && radius > 0.1*top:
			require.Greater(t, g, -1e-4)
		}
	}

	r = must.Of(tune.VFiDCA(context.Background(), m, tune.Config{Final: tune.FinalTrain}))(t)
	require.Equal(t, tune.FinalTrain, r.TrainedOn)
	require.Equal(t, r.LowerLevel, r.Refit)
	_, err := tune.VFiDCA(context.Background(), m, tune.Config{Final: "some"})
	require.ErrorContains(t, err, `unknown final rows "some"; known are: train, all`)
}

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

// Where rows are few for the coefficients that count, weights of their own predict better, and the bridge finds them.
// What it ends in is a solution of the lower level at the weights reported. A final fit to all rows has none, nor has a
// rung that was asked for.
func TestBridge(t *testing.T) {
	ctx := context.Background()
	s, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 60, Test: 500, Features: 80, Nonzeros: 40, SNR: 10}, 2)
	require.NoError(t, err)
	m := must.Of(regression.WeightedLasso(s, regression.Options{}))(t)
	run := func(c tune.Config) *tune.Result {
		r := must.Of(tune.Run(ctx, m, c))(t)
		return r
	}
	r := run(tune.Config{Final: tune.FinalTrain})
	require.Len(t, r.Ladder, 4)
	last := r.Ladder[3]
	require.Equal(t, tune.RungBridge, last.Name)
	require.True(t, last.Taken)
	require.Negative(t, last.Above)
	require.Contains(t, r.Message, "the rung bridge")
	optimal(t, r, []*dataset.Data{s.Train}, func(f, y float64) float64 { return f - y })

	base := 0
	for r.Ladder[base].Above > r.Ladder[base].StandardError {
		base++
	}
	without := run(tune.Config{Final: tune.FinalTrain, Rung: r.Ladder[base].Name})
	require.Less(t, r.Refit.Validation, without.Refit.Validation)
	require.Less(t, *r.Refit.Test, *without.Refit.Test)
	require.Len(t, run(tune.Config{}).Ladder, 3)
}

package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// undecided is a weighted lasso whose weights are drawn by the exponent of its caution.
type undecided struct{ *wlasso.Model }

func (undecided) HoldBack(int) []problems.HeldBack { return nil }

// By ten draws each: where a few coefficients stand out, the exponent that rows held back choose predicts new rows of the same truth better than the model's own; where many count
// little, or the validation rows are few, it predicts them as well.
func TestExponentByRows(t *testing.T) {
	if testing.Short() {
		t.Skip("sixty runs")
	}
	for name, c := range map[string]struct {
		config dataset.Config
		most   float64 // of the mean of the logarithms of the ratios
	}{
		"few":      {dataset.Config{Train: 100, Val: 100, Test: 500, Features: 250, Nonzeros: 10}, -0.01},
		"many":     {dataset.Config{Train: 100, Val: 60, Test: 500, Features: 120, Nonzeros: 100}, 0.01},
		"few rows": {dataset.Config{Train: 100, Val: 18, Test: 500, Features: 250, Nonzeros: 10}, 0.01},
	} {
		sum := 0.0
		const draws = 10
		for seed := range uint64(draws) {
			s, _, err := dataset.Generate(c.config, 100+seed)
			require.NoError(t, err)
			m, err := wlasso.New(s, wlasso.Options{})
			require.NoError(t, err)
			chosen, err := tune.Run(context.Background(), m, tune.Config{})
			require.NoError(t, err)
			require.Contains(t, chosen.Message, "as far as validation rows held back say")
			own, err := tune.Run(context.Background(), undecided{m}, tune.Config{})
			require.NoError(t, err)
			require.NotContains(t, own.Message, "held back")
			sum += math.Log(*chosen.Refit.Test / *own.Refit.Test)
		}
		t.Logf("%s: %.4f", name, sum/draws)
		require.LessOrEqual(t, sum/draws, c.most, name)
	}
}

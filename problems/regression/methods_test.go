package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// VF-iDCA is no worse than a grid, by a split as by folds, and errors are what the definitions of the losses say.
func TestMethods(t *testing.T) {
	type splits = []*dataset.Split
	type checking = func(m *regression.Model, best *tune.Result, parts splits)
	final := func(method string) tune.Config {
		return tune.Config{Method: method, Evaluations: 25, Final: tune.FinalTrain}
	}
	both := func(s *dataset.Split, folds int, build constructor, o options, check checking) {
		cv := folded(t, s, folds)
		for _, rows := range []dataset.Division{s, cv} {
			m, err := build(rows, o)
			grid, best := tuned(t, final(tune.MethodGrid))(m, err), tuned(t, final(tune.MethodVFiDCA))(m, err)
			require.LessOrEqual(t, best.Refit.Validation, grid.Refit.Validation*1.005)
			require.Positive(t, m.Advice().StandardError(best.Selection.X))
			check(m, best, rows.Parts())
			if m.Name() == "cox" {
				hoag := tuned(t, tune.Config{Method: tune.MethodHOAG, Final: tune.FinalTrain})(m, err)
				require.LessOrEqual(t, hoag.Refit.Validation, grid.Refit.Validation*1.02)
			}
		}
	}
	s := timedSplit(3, 50)
	both(s, 3, regression.Cox, options{Standardize: true}, func(m *regression.Model, best *tune.Result, parts splits) {
		require.InEpsilon(t, 2*halfDeviance(s.Test, best.RefitFit)/events(s.Test.Y), *best.Refit.Test, 1e-9)
		want := 2 * halfDeviance(parts[0].Val, best.RefitFit) / events(parts[0].Val.Y)
		if len(parts) > 1 {
			require.False(t, best.Trace[0].Iterates())
			want = 0
			for k, f := range m.FoldFits(best.Selection.X) {
				all := dataset.Stack(parts[k].Train, parts[k].Val)
				want += 2 * (halfDeviance(all, f) - halfDeviance(parts[k].Train, f)) / events(s.Train.Y)
			}
		}
		require.InEpsilon(t, want, best.Refit.Validation, 1e-9)
		require.True(t, best.RefitFit.Hazard)
		base := m.Baseline(best.RefitFit)
		require.Len(t, base.Hazard, len(base.Times))
		require.IsIncreasing(t, base.Hazard)
	})
	labels := map[float64]string{3: "low", 5: "mid", 8: "high"}
	o := options{Intercept: true, Standardize: true, Label: func(y float64) string { return labels[y] }}
	s = classesSplit(3, 50)
	both(s, 2, regression.Multinomial, o, func(m *regression.Model, best *tune.Result, parts splits) {
		require.Nil(t, m.Baseline(best.RefitFit))
		require.Equal(t, []string{"low", "mid", "high"}, best.RefitFit.Targets)
		require.Equal(t, []float64{3, 5, 8}, best.RefitFit.Labels)
		require.InEpsilon(t, meanMultinomial(s.Test, best.RefitFit), *best.Refit.Test, 1e-9)
		if len(parts) == 1 {
			require.InEpsilon(t, meanMultinomial(s.Val, best.RefitFit), best.Refit.Validation, 1e-9)
		}
	})
}

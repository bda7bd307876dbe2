package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// The selection of each method is a solution of the lower level, as the conic solver computes it through its radii.
func TestHypergradientsSelectLowerLevelSolutions(t *testing.T) {
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG, tune.MethodLDMMA} {
		for _, preset := range []string{"", tune.PresetPaper} {
			m := model(t, regression.Options{Intercept: true, Standardize: true})
			res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Preset: preset}))(t)
			require.Contains(t, []outcome.Stop{outcome.Converged, outcome.IterationLimit}, res.Status)
			require.Len(t, res.Trace, res.Iterations)
			require.Equal(t, *res.LowerLevel, res.Errors)

			// The conic solver's fit at the selected weights has the same errors.
			at := []tune.Range{{Axis: "lambda1", Low: res.Lambda[0], High: res.Lambda[0]}, {Axis: "lambda2", Low: res.Lambda[1],
				High: res.Lambda[1]}}
			again, err := tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Ranges: at, Evaluations: 1,
				Eps: 1e-11})
			require.NoError(t, err)
			require.InEpsilon(t, again.Refit.Validation, res.Refit.Validation, 1e-4, method)
			grid := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid}))(t)
			if method != tune.MethodHOAG && method != tune.MethodLDMMA && preset == tune.PresetPaper {
				continue // the steps of the paper's programs may end early
			}
			require.Less(t, res.Refit.Validation, 1.01*grid.Refit.Validation, "%s %s", method, preset)
		}
	}
}

// The paper's elastic net has sums of halved squares: its start 0.01 is 0.01 / n here.
func TestPaperDescent(t *testing.T) {
	m := model(t, regression.Options{})
	n := m.Advice().Rows
	res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodIGJO, Preset: tune.PresetPaper}))(t)
	start := res.Trace[0].Lambda
	require.InEpsilonSlice(t, []float64{0.01 / float64(n), 0.01 / float64(n)}, start, 1e-14)
	require.LessOrEqual(t, res.Refit.Validation, *res.Trace[0].Best)
	for _, step := range res.Trace {
		for _, l := range step.Lambda {
			require.GreaterOrEqual(t, l, 1e-5/float64(n))
		}
	}
}

func TestHypergradientsKeepTheBudget(t *testing.T) {
	m := model(t, regression.Options{})
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG} {
		for _, evaluations := range []int{1, 2, 9, 30} {
			res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: evaluations}))(t)
			require.Equal(t, outcome.Converged, res.Status)
			require.LessOrEqual(t, res.Iterations, evaluations)
			require.False(t, math.IsNaN(res.Refit.Validation))
		}
	}
}

func TestHypergradientsBeginAtASelection(t *testing.T) {
	m := model(t, regression.Options{})
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG, tune.MethodLDMMA} {
		both := must.Of(tune.Compare(context.Background(), m, []string{tune.MethodGrid, method}, true,
			tune.Config{Evaluations: 16}))(t)
		require.LessOrEqual(t, both[1].Refit.Validation, both[0].Refit.Validation*(1+1e-6))
		require.InEpsilonSlice(t, both[0].Lambda, both[1].Trace[0].Lambda, 1e-12)
	}
}

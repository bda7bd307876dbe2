package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
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

// By gaps of the lower level weights are found that are as good as those along the hypergradient.
func TestGapsAndHypergradientsAgree(t *testing.T) {
	split := must.Of(input.ReadDir("../problems/regression/testdata/sgl/small"))(t)
	_, p := split.Train.Dims()
	six := must.Of(groups.Equal(p, 6))(t)
	grouped := must.Of(regression.SparseGroupLasso(split, regression.Options{Groups: six}))(t)
	for _, m := range []problems.Model{model(t, regression.Options{}), grouped} {
		errors := map[string]float64{}
		for _, method := range []string{tune.MethodIGJO, tune.MethodLDMMA} {
			res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Final: tune.FinalTrain}))(t)
			require.Equal(t, outcome.Converged, res.Status)
			errors[method] = res.Refit.Validation
		}
		require.Less(t, errors[tune.MethodLDMMA], 1.01*errors[tune.MethodIGJO], m.Name())
	}
}

func TestHypergradientsOfOtherModels(t *testing.T) {
	s := must.First(dataset.Generate(dataset.Config{Train: 40, Val: 30, Test: 50, Features: 60}, 2))(t)
	m := must.Of(regression.WeightedLasso(s, regression.Options{}))(t)
	res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodHOAG, MaxIter: 30}))(t)
	require.Len(t, res.Lambda, 60)
	require.Equal(t, res.Names[3], "x4")
	_, err := tune.Run(context.Background(), other{m}, tune.Config{Method: tune.MethodIGJO})
	require.ErrorContains(t, err, "igjo cannot do the model other")
}

// other has the methods of a model that brings nothing.
type other struct{ problems.Model }

func (other) Name() string { return "other" }

func (other) Advice() problems.Advice { return problems.Advice{} }

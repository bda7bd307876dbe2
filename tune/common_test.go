package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// validated is an elastic net by cross-validation.
func validated(t *testing.T, repeats int) *regression.Model {
	s, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 5, Test: 40, Features: 12, Nonzeros: 4, SNR: 1}, 3)
	require.NoError(t, err)
	folds := must.Of(split.RandomFolds(len(s.Train.Y), 4, repeats, 1, nil))(t)
	return must.Of(regression.ElasticNet(&dataset.CrossValidation{Data: s.Train, Folds: folds, Test: s.Test},
		regression.Options{Intercept: true, Standardize: true}))(t)
}

// at is the validation error of conic programs at weights that all folds share, and the test error of the model of all
// rows.
func at(t *testing.T, m problems.Model, lambda []float64) (validation, test float64) {
	var ranges []tune.Range
	for j, name := range m.Names() {
		ranges = append(ranges, tune.Range{Axis: name, Low: lambda[j], High: lambda[j]})
	}
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Engine: tune.EngineConic,
		Evaluations: 1, Ranges: ranges}))(t)
	require.NotNil(t, r.Refit.Test)
	return r.Refit.Validation, *r.Refit.Test
}

// What VF-iDCA reports of a cross-validation is the error at weights that the folds share, and its model the one of all
// rows at these weights; no weights nearby are better.
func TestCommonWeights(t *testing.T) {
	for _, repeats := range []int{1, 3} {
		m := validated(t, repeats)
		r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
		require.True(t, r.Selection.Weighted)
		lambda := []float64{math.Max(r.Lambda[0], 1e-9), math.Max(r.Lambda[1], 1e-9)}
		validation, test := at(t, m, lambda)
		require.InEpsilon(t, validation, r.Refit.Validation, 1e-5)
		require.InEpsilon(t, test, *r.Refit.Test, 1e-4)
		require.Equal(t, m.Evaluate(r.Selection.X).Validation, r.Refit.Validation)
		for j := range lambda {
			for _, factor := range []float64{0.7, 0.9, 1.1, 1.4} {
				near := []float64{lambda[0], lambda[1]}
				near[j] *= factor
				v, _ := at(t, m, near)
				require.Greater(t, v, r.Refit.Validation*(1-1e-5), "weight %d, factor %v", j, factor)
			}
		}
		paper := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper}))(t)
		require.False(t, paper.Selection.Weighted, "the paper's are radii")
	}
}

// The rule of one standard error takes no more features than the least error, and weights as large as the bound allows.
func TestOneStandardError(t *testing.T) {
	m := validated(t, 1)
	for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG} {
		least := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method}))(t)
		simple := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, OneSE: true}))(t)
		bound := least.Refit.Validation + m.Advice().StandardError(least.Selection.X)
		require.Greater(t, simple.Lambda[0], 1.1*least.Lambda[0], method)
		require.LessOrEqual(t, simple.RefitFit.Used(), least.RefitFit.Used(), method)
		lambda := []float64{simple.Lambda[0], math.Max(simple.Lambda[1], 1e-9)}
		v, _ := at(t, m, lambda)
		require.InEpsilon(t, v, simple.Refit.Validation, 1e-5)
		require.LessOrEqual(t, v, bound*(1+1e-9))
		over, _ := at(t, m, []float64{1.02 * lambda[0], 1.02 * lambda[1]})
		require.Greater(t, over, bound, method)
	}
	_, err := tune.Run(context.Background(), tune.Custom{}, tune.Config{OneSE: true})
	require.Error(t, err)
}

// Rows of separable classes leave weights near zero without a solution; the selection stays among those that have one.
func TestCommonWeightsSeparable(t *testing.T) {
	s, _, err := dataset.Generate(dataset.Config{Train: 40, Val: 5, Test: 20, Features: 30, Nonzeros: 2, SNR: 8}, 2)
	require.NoError(t, err)
	cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	cv.Test = s.Test
	sign := func(y float64) float64 { return math.Copysign(1, y) }
	m := must.Of(regression.Logistic(cv.Map(sign), regression.Options{Intercept: true, Standardize: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	require.NotNil(t, r.Refit)
	require.True(t, r.Selection.Weighted)
	require.Greater(t, r.Lambda[0]+r.Lambda[1], 0.0)
}

// VF-iDCA by folds searches on paths, without iterations unless they are asked for, and finds weights that are no worse
// than a grid's, to the share that the search leaves.
func TestSharedWeightsWithoutIterations(t *testing.T) {
	s, _, err := dataset.Generate(dataset.Config{Train: 14000, Val: 5, Test: 40, Features: 100, Nonzeros: 10, SNR: 1}, 3)
	require.NoError(t, err)
	cv := must.Of(dataset.CrossValidate(s.Train, 4, 1, nil))(t)
	large := must.Of(regression.ElasticNet(cv, regression.Options{Intercept: true}))(t)
	r := must.Of(tune.Run(context.Background(), large, tune.Config{}))(t)
	require.False(t, r.Trace[0].Iterates())
	grid := must.Of(tune.Run(context.Background(), large, tune.Config{Method: tune.MethodGrid}))(t)
	require.LessOrEqual(t, r.Refit.Validation, grid.Refit.Validation*(1+1e-4))

	small := must.Of(tune.Run(context.Background(), validated(t, 1), tune.Config{MaxIter: 200}))(t)
	require.Positive(t, small.Iterations)
	require.True(t, small.Trace[0].Iterates())
}

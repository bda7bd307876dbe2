package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// The curve has the error of the selection in its middle. At a hundred times the weights nothing but the intercept is
// left, whose error and standard error are those of the mean of the training rows.
func TestCurve(t *testing.T) {
	config := must.Of(dataset.Preset("100-20-250-p250"))(t)
	s := must.First(dataset.Generate(config, 1))(t)
	m := must.Of(regression.ElasticNet(s, regression.Options{Standardize: true, Intercept: true}))(t)
	for _, method := range []string{"grid", "hoag"} {
		r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 25, Curve: 4}))(t)
		require.Len(t, r.Curve, 9)
		require.Equal(t, 1.0, r.Curve[4].Factor)
		require.InEpsilon(t, r.Refit.Validation, r.Curve[4].Validation, 1e-6)
		for k, at := range r.Curve {
			require.InEpsilon(t, math.Pow(10, 2-float64(k)/2), at.Factor, 1e-12)
			require.InEpsilon(t, at.Factor*r.Lambda[0], at.Lambda[0], 1e-12)
			require.GreaterOrEqual(t, at.Validation, r.Curve[4].Validation*(1-0.05))
		}
		mean := 0.0
		for _, y := range s.Train.Y {
			mean += y / float64(len(s.Train.Y))
		}
		n, sum, squares := float64(len(s.Val.Y)), 0.0, 0.0
		for _, y := range s.Val.Y {
			loss := (y - mean) * (y - mean) / 2
			sum, squares = sum+loss, squares+loss*loss
		}
		require.InEpsilon(t, sum/n, r.Curve[0].Validation, 1e-6)
		require.InEpsilon(t, math.Sqrt((squares-sum*sum/n)/(n-1)/n), r.Curve[0].StandardError, 1e-6)
	}
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: "hoag"}))(t)
	require.Nil(t, r.Curve)
	_, err := tune.Run(context.Background(), m, tune.Config{Curve: -1})
	require.ErrorContains(t, err, "curve is -1")
}

// The curve has the predictors: that of the refit in its middle, at a hundred times the weights the mean, and in
// between what the final training with these weights gives, on the training rows or on all, and of folds on all.
func TestPath(t *testing.T) {
	config := must.Of(dataset.Preset("100-20-250-p250"))(t)
	s := must.First(dataset.Generate(config, 1))(t)
	cv := must.Of(dataset.CrossValidate(s.Train, 4, 1, nil))(t)
	native := must.Of(backends.Open(backends.Default))(t)
	for _, rows := range []dataset.Division{s, cv} {
		m := must.Of(regression.ElasticNet(rows, regression.Options{Standardize: true, Intercept: true}))(t)
		for _, final := range []string{tune.FinalTrain, tune.FinalAll} {
			if rows == dataset.Division(cv) && final == tune.FinalTrain {
				continue
			}
			c := tune.Config{Method: "grid", Evaluations: 16, Curve: 3}
			if rows != dataset.Division(cv) {
				c.Final = final
			}
			r := must.Of(tune.Run(context.Background(), m, c))(t)
			require.Len(t, r.Curve, 7)
			require.Equal(t, r.RefitFit, r.Curve[3].Fit)
			mean, n := 0.0, 0.0
			for _, part := range []*dataset.Data{s.Train, s.Val} {
				if final == tune.FinalTrain && part == s.Val || rows == dataset.Division(cv) && part == s.Val {
					continue
				}
				for _, y := range part.Y {
					mean, n = mean+y, n+1
				}
			}
			for _, v := range r.Curve[0].Fit.Coefficients {
				require.Zero(t, v)
			}
			require.InDelta(t, mean/n, r.Curve[0].Fit.Intercept, 1e-6*math.Abs(mean/n)+1e-8)
			if final == tune.FinalAll {
				want, _, err := m.Advice().RetrainWeighted(context.Background(), problems.Solver{Backend: native, Fits: true},
					r.Curve[4].Lambda)
				require.NoError(t, err)
				require.InDeltaSlice(t, want.Coefficients, r.Curve[4].Fit.Coefficients, 1e-2)
			}
		}
	}
}

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

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

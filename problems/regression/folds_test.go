package regression_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// crossValidation splits 40 rows of six features into three folds.
func crossValidation(t *testing.T) *dataset.CrossValidation {
	s := modeltest.Split(3, 40, 1, 30, []float64{2, -1, 0, 0.5, 0, 0}, 0.5)
	cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	cv.Test = s.Test
	return cv
}

// lasso is min 1/(2n) |y - X b - b0|^2 + lambda |b|_1 by coordinate descent, written apart from the code under test.
func lasso(d *dataset.Data, lambda float64, intercept bool) (b []float64, b0 float64) {
	n, p := d.Dims()
	b = make([]float64, p)
	r := append([]float64(nil), d.Y...) // y - X b - b0
	for range 3000 {
		if intercept {
			mean := floats.Sum(r) / float64(n)
			b0 += mean
			floats.AddConst(-mean, r)
		}
		for j := range p {
			var g, h float64
			for i := range n {
				x := d.X.At(i, j)
				g += x * (r[i] + x*b[j]) / float64(n)
				h += x * x / float64(n)
			}
			next := math.Copysign(math.Max(0, math.Abs(g)-lambda), g) / h
			for i := range n {
				r[i] -= d.X.At(i, j) * (next - b[j])
			}
			b[j] = next
		}
	}
	return b, b0
}

// within finds the lasso with |b|_1 = r by bisection.
func within(d *dataset.Data, r float64, intercept bool) (b []float64, b0, lambda float64) {
	lo, hi := 0.0, 10.0
	for range 60 {
		lambda = (lo + hi) / 2
		if b, b0 = lasso(d, lambda, intercept); floats.Norm(b, 1) > r {
			lo = lambda
		} else {
			hi = lambda
		}
	}
	return b, b0, lambda
}

// The folds share the radius of the l1 norm: each has the lasso with that norm, found apart by coordinate descent and
// bisection, lambda is the mean of theirs, and the final fit is the lasso of all rows with the same norm.
func TestFoldsShareRadii(t *testing.T) {
	ctx := context.Background()
	cv := crossValidation(t)
	for _, intercept := range []bool{false, true} {
		if !intercept && testing.Short() {
			continue
		}
		m := must.Of(regression.ElasticNet(cv, options{Intercept: intercept, R0: []float64{2.5, 100}}))(t)
		require.True(t, m.Advice().Folds)
		p := m.Program()
		low := must.Of(dca.LowerLevel(ctx, p, dca.Settings{Backend: native(t)}))(t)
		require.Equal(t, backends.Optimal, low.Status)
		each := len(low.X) / 3
		validation, mean := 0.0, 0.0
		for k, f := range cv.Folds {
			b, b0, lambda := within(cv.Data.Rows(f.Train), 2.5, intercept)
			require.InDeltaSlice(t, b, low.X[k*each], 1e-5)
			validation += half(cv.Data.Rows(f.Val), b, b0) / 3
			mean += lambda / 3
		}
		require.InDelta(t, mean, low.Lambda[0], 1e-5)
		e := m.Evaluate(low.X)
		require.InDelta(t, validation, e.Validation, 1e-5)
		require.Nil(t, e.Test)

		b, b0, _ := within(cv.Data, 2.5, intercept)
		fit, test := must.Both(m.Advice().Retrain(ctx, problems.Solver{Backend: native(t), Fits: true}, p.H0))(t)
		require.InDeltaSlice(t, b, fit.Coefficients, 1e-5)
		require.InDelta(t, b0, fit.Intercept, 1e-5)
		require.InDelta(t, half(cv.Test, b, b0), *test, 1e-5)

		// With weights it is the lasso of all rows with that lambda.
		b, b0 = lasso(cv.Data, 0.1, intercept)
		fit, test, err := m.Advice().RetrainWeighted(ctx, problems.Solver{Backend: native(t), Fits: true}, []float64{0.1, 0})
		require.NoError(t, err)
		require.InDeltaSlice(t, b, fit.Coefficients, 1e-5)
		require.InDelta(t, half(cv.Test, b, b0), *test, 1e-5)
	}
}

// half is half the mean squared error of a predictor.
func half(d *dataset.Data, b []float64, b0 float64) float64 {
	r := modeltest.Residuals(d, b)
	floats.AddConst(b0, r)
	return floats.Dot(r, r) / float64(2*len(r))
}

// intercepted makes a model with an intercept.
func (b builder) intercepted(d dataset.Division) (problems.Model, error) {
	return b(d, options{Intercept: true})
}

// ofFolds are models with a constant.
func ofFolds(t *testing.T) map[string]builder {
	return some(t, "elastic-net", "weighted-lasso", "sparse-group-lasso", "group-lasso", "fused-lasso",
		"bounded-elastic-net", "huber", "quantile", "logistic")
}

// The multipliers of radii that the folds share are the derivatives of the mean of their losses, by finite differences.
func TestFoldsDerivative(t *testing.T) {
	ctx := context.Background()
	cv := crossValidation(t)
	for name, build := range ofFolds(t) {
		t.Run(name, func(t *testing.T) {
			m := must.Of(build.intercepted(cv))(t)
			p := m.Program()
			for j := range p.H0 {
				p.H0[j] = 0.6 + 0.05*float64(j)
			}
			value := func(r []float64) *dca.Solution {
				q := p
				q.H0 = r
				s := must.Of(dca.LowerLevel(ctx, q, dca.Settings{Backend: native(t)}))(t)
				require.Equal(t, backends.Optimal, s.Status)
				return s
			}
			at := value(p.H0)
			for j := range p.H0 {
				const step = 1e-4
				up, down := append([]float64(nil), p.H0...), append([]float64(nil), p.H0...)
				up[j] += step
				down[j] -= step
				d := (value(up).Value - value(down).Value) / (2 * step)
				require.InDelta(t, -d, at.Lambda[j], 2e-3*(1+math.Abs(d)), "radius %d", j)
			}
		})
	}
}

// VF-iDCA on folds: what it reports is the mean over the folds, and its last fit has all rows.
func TestFoldsTuned(t *testing.T) {
	cv := crossValidation(t)
	for name, build := range ofFolds(t) {
		t.Run(name, func(t *testing.T) {
			m := must.Of(build.intercepted(cv))(t)
			res := must.Of(tune.Run(context.Background(), m, tune.Config{MaxIter: 4, Tol: 0.05}))(t)
			require.NotNil(t, res.Refit)
			require.Equal(t, tune.FinalAll, res.TrainedOn)
			require.Nil(t, res.LowerLevel)
			require.Greater(t, math.Abs(res.RefitFit.Coefficients[0]), 0.1)
			require.Len(t, res.Selection.X, 6)
		})
	}
}

package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

var termsOfTests = regression.Terms{
	Factors: []float64{1, 0, 2, 1, 0.5, 1},
	Lower:   []float64{0, math.Inf(-1), math.Inf(-1), 0, -0.1, math.Inf(-1)},
	Upper:   []float64{0.4, math.Inf(1), 0.3, math.Inf(1), math.Inf(1), 0},
}

// bound is that of feature j, of one for each or one for all.
func bound(list []float64, j int, none float64) float64 {
	if list == nil {
		return none
	}
	return list[min(j, len(list)-1)]
}

// folded are the training rows of a split in folds, beside its test rows.
func folded(t *testing.T, s *dataset.Split, folds int) *dataset.CrossValidation {
	t.Helper()
	cv := must.Of(dataset.CrossValidate(s.Train, folds, 1, nil))(t)
	cv.Test = s.Test
	return cv
}

// The fits that models bring and the conic programs choose the same: errors, coefficients and constants, by a split as
// by folds, with terms and without, and bounds in the user's units hold.
func TestAgainstConic(t *testing.T) {
	inf := math.Inf(1)
	check := func(
		build constructor, rows dataset.Division, o options, c tune.Config, errors, coefficients float64,
	) problems.Fit {
		t.Helper()
		var results []*tune.Result
		for _, c.Engine = range []string{tune.EngineAuto, tune.EngineConic} {
			r := tuned(t, c)(build(rows, o))
			for j, b := range r.RefitFit.Coefficients {
				j /= max(1, len(r.RefitFit.Targets))
				require.GreaterOrEqual(t, b, bound(o.Terms.Lower, j, -inf)-1e-6)
				require.LessOrEqual(t, b, bound(o.Terms.Upper, j, inf)+1e-6)
			}
			results = append(results, r)
		}
		fit, conic := results[0].RefitFit, results[1].RefitFit
		require.InEpsilon(t, results[1].Refit.Validation, results[0].Refit.Validation, errors, "%s %+v", results[0].Model, o)
		require.InDeltaSlice(t, conic.Coefficients, fit.Coefficients, coefficients, "%s %+v", results[0].Model, o)
		require.InDeltaSlice(t, conic.Intercepts, fit.Intercepts, coefficients)
		return fit
	}
	grid := func(n int, eps float64) tune.Config {
		return tune.Config{Method: tune.MethodGrid, Evaluations: n, Seed: 1, Eps: eps}
	}
	iterated := tune.Config{Method: tune.MethodVFiDCA, GapTol: 1e-6}
	s := modeltest.Split(7, 60, 40, 30, []float64{1, -1, 0.5, -0.5, -1, 1}, 0.7)
	for _, build := range []constructor{
		regression.ElasticNet, regression.BoundedElasticNet, regression.Lasso, regression.Ridge, logisticOf, poissonOf,
	} {
		for _, standardize := range []bool{false, true} {
			o := options{Intercept: true, Standardize: standardize, Terms: termsOfTests}
			require.Negative(t, check(build, s, o, iterated, 2e-3, 0.03).Coefficients[1]) // not penalised
		}
	}

	s = modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	for _, rows := range []dataset.Division{s, folded(t, s, 3)} {
		fit := check(regression.AdaptiveLasso, rows, options{Intercept: true, Standardize: true}, iterated, 1e-3, 0.02)
		require.InDelta(t, 2, fit.Coefficients[0], 0.3)
	}

	s = timedSplit(3, 40)
	for _, rows := range []dataset.Division{s, folded(t, s, 2)} {
		for _, o := range []options{{}, {Standardize: true}, {Ties: "efron", Standardize: true}} {
			check(regression.Cox, rows, o, grid(9, 0), 1e-5, 1e-3)
		}
	}
	s, _ = termed(5, 40)
	for _, rows := range []dataset.Division{s, folded(t, s, 2)} {
		for _, ties := range survival.TieRules() { // with weights and an offset
			o := options{Ties: ties, Standardize: true, Terms: regression.Terms{
				Factors: []float64{1, 1, 0, 1, 2, 1}, Lower: []float64{-0.3}, Upper: []float64{inf, 1, 1, 1, 0.05, 1},
			}}
			check(regression.Cox, rows, o, grid(4, 1e-9), 1e-6, 1e-4)
		}
	}

	for k, terms := range []regression.Terms{
		{}, {}, {Factors: []float64{1, 0, 2, 0.5, 1, 1}},
		{Lower: []float64{0, -inf, -0.1, -inf, -inf, 0}, Upper: []float64{inf, 0.3, 0.1, inf, inf, 0}},
		{Factors: []float64{0, 1, 1, 3, 1, 1}, Lower: []float64{-inf, -0.2, -inf, 0, -inf, -inf}},
	} {
		o := options{Intercept: true, Standardize: k > 0, Terms: terms}
		check(regression.Multinomial, classesSplit(3, 60), o, grid(16, 0), 1e-5, 1e-3)
	}
}

// A net with a loss of its own, here squares, which package glm does not know, is solved by conic programs: its weights
// are twice those of the elastic net, whose loss is half of its.
func TestNetOfAnotherLoss(t *testing.T) {
	squares := regression.Net{Name: "squares", Loss: regression.Loss{
		Sum: func(f convex.Expr, y, _ []float64, _ float64) convex.Expr {
			return convex.SumSquares(convex.Sub(f, y))
		},
		Value: func(f, y []float64, _ float64) float64 { return (f[0] - y[0]) * (f[0] - y[0]) },
		Slope: func(f, y, _ float64) float64 { return 2 * (f - y) },
	}}
	s := modeltest.Split(5, 40, 20, 10, []float64{2, -1, 0.5, 0}, 0.7)
	for _, rows := range []dataset.Division{s, folded(t, s, 3)} {
		at := func(weight float64) tune.Config {
			only := []tune.Range{{Low: weight, High: weight}}
			return tune.Config{Method: tune.MethodGrid, Evaluations: 1, Ranges: only, Eps: 1e-10}
		}
		net := tuned(t, at(0.2))(regression.NewNet(rows, options{Intercept: true}, squares))
		half := tuned(t, at(0.1))(regression.ElasticNet(rows, options{Intercept: true}))
		require.InEpsilon(t, 2*half.Refit.Validation, net.Refit.Validation, 1e-6)
		require.InDeltaSlice(t, half.RefitFit.Coefficients, net.RefitFit.Coefficients, 1e-4)
	}
}

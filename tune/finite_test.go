package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// scored is the model of TestCustomBlocks with one fold, whose errors are finite for some points only.
func scored(finite func(x float64) bool, value float64) tune.Custom {
	return tune.Custom{
		Bilevel: folded("scored", []float64{3}, []float64{1}, halfSquares),
		Score: func(x [][]float64) problems.Errors {
			e := problems.Errors{Validation: math.Pow(x[0][0]-1, 2) / 2}
			if !finite(x[0][0]) {
				e.Validation = value
			}
			return e
		},
	}
}

// requireValid checks what is written about a run, and returns the result as it was read again.
func requireValid(t *testing.T, r *tune.Result) map[string]any {
	text := must.Of(json.Marshal(r))(t)
	var read map[string]any
	require.NoError(t, json.Unmarshal(text, &read))
	for _, e := range r.Trace {
		line := must.Of(json.Marshal(e))(t)
		require.True(t, json.Valid(line))
	}
	return read
}

// No method selects a point whose error is infinite or no number, and none is converged without another.
func TestErrorsThatAreNotFinite(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, method := range []string{"vf-idca", "vf-idca-t", "grid", "random", "tpe", "tpe2", "cma-es"} {
			name := fmt.Sprintf("%v by %s", value, method)
			c := tune.Config{Method: method, Evaluations: 20, Seed: 1, Ranges: []tune.Range{{Low: 0.1, High: 10}}}

			r, err := tune.Run(context.Background(), scored(func(float64) bool { return false }, value), c)
			require.NoError(t, err, name)
			require.Equal(t, outcome.NumericalError, r.Status, name)
			require.Contains(t, r.Message, "not a finite number", name)
			require.Nil(t, r.Refit, name)
			require.Nil(t, r.Selection, name)
			read := requireValid(t, r)
			require.Equal(t, "numerical_error", read["status"])
			require.Nil(t, read["validation_error"], name)
			require.Nil(t, read["refit"], name)

			// Of the points from 1.5 on, the finite ones, the best one met is kept.
			r, err = tune.Run(context.Background(), scored(func(x float64) bool { return x > 1.5 }, value), c)
			require.NoError(t, err, name)
			requireValid(t, r)
			require.NotNil(t, r.Refit, name)
			x := r.Selection.X[0][0]
			require.Greater(t, x, 1.5, name)
			require.InDelta(t, math.Pow(x-1, 2)/2, r.Refit.Validation, 1e-12, name)
			if method == "vf-idca" || method == "vf-idca-t" {
				require.Equal(t, outcome.NumericalError, r.Status, name)
				require.Len(t, r.Trace, r.Iterations, name)
			}
			for _, e := range r.Trace {
				if e.Refit != nil {
					require.False(t, math.IsNaN(e.Refit.Validation) || math.IsInf(e.Refit.Validation, 0), name)
				}
			}
		}
	}
}

// A program whose losses overflow, though the conic solver has found its scaled numbers well.
func TestLossesThatOverflow(t *testing.T) {
	for _, big := range []float64{1e154, 1e160, 1e200, 1e300} {
		for _, method := range []string{"vf-idca", "grid", "tpe", "cma-es"} {
			model := tune.Custom{Bilevel: folded("big", []float64{3 * big}, []float64{big}, halfSquares)}
			r, err := tune.Run(context.Background(), model, tune.Config{Method: method, Evaluations: 5,
				Ranges: []tune.Range{{Low: 0.1, High: 10}}})
			if err != nil {
				continue // the data are refused
			}
			requireValid(t, r)
			require.NotEqual(t, outcome.Converged, r.Status, "%g by %s", big, method)
		}
	}
}

// Targets whose squares overflow are refused with the model.
func TestTargetsTooLarge(t *testing.T) {
	for _, at := range []string{"target", "feature"} {
		s := *sample(t)
		train := *s.Train
		if at == "target" {
			train.Y = append([]float64{-1e71}, train.Y[1:]...)
		} else {
			x := train.Rows([]int{0, 1, 2}).Dense()
			x.Set(0, 0, 1e200)
			train = dataset.Data{X: x, Y: train.Y[:3], Features: train.Features, Target: train.Target}
		}
		s.Train = &train
		_, err := regression.ElasticNet(&s, regression.Options{})
		require.ErrorContains(t, err, "of row 0 is")
		require.ErrorContains(t, err, "expected at most 1e+70")
	}
	require.Empty(t, dataset.Expected(-1e70))
}

// The settings of a run have bounds, in the configuration as in package dca.
func TestSettingsBeyondTheirBounds(t *testing.T) {
	m := model(t, regression.Options{})
	for _, c := range []struct {
		config tune.Config
		want   string
	}{
		{tune.Config{Rho: 1e300}, "rho is 1e+300, expected 1e-12 to 1e+12"},
		{tune.Config{Rho: 1e-300}, "rho is 1e-300, expected 1e-12 to 1e+12"},
		{tune.Config{Delta: 1e30}, "delta is 1e+30"},
		{tune.Config{CAlpha: 1e13}, "c-alpha is 1e+13"},
		{tune.Config{Tol: 2}, "tol is 2, expected 0 to 1"},
		{tune.Config{GapTol: 1e9}, "gap-tol is 1e+09"},
		{tune.Config{Epsilon: 1e13}, "epsilon is 1e+13"},
	} {
		require.ErrorContains(t, c.config.Validate(), c.want)
		_, err := tune.Run(context.Background(), m, c.config)
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, tune.Config{Rho: 1e12, Delta: 1e12, CAlpha: 1e-12, Tol: 1}.Validate())
	// Within the bounds the extremes end in one way or another, with numbers.
	for _, c := range []tune.Config{{Rho: 1e12}, {Rho: 1e-12}, {CAlpha: 1e12, Delta: 1e12}, {Tol: 1e-300, GapTol: 1e-300,
		MaxIter: 40}, {Epsilon: 1e12}} {
		r := must.Of(tune.Run(context.Background(), m, c))(t)
		requireValid(t, r)
	}
}

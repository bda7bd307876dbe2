package fits

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/lower"
)

// A subproblem that may be as inexact as its centre is left there, without a fit; the bound is below the optimum of the subproblem.
func TestAnchoredSubproblem(t *testing.T) {
	const m, n = 80, 70
	train, val := entries(5, m, n, 0)
	require.Greater(t, len(val.Y), 100)
	fit, err := NewCompletion(again(train), val, m, n, nil, false)
	require.NoError(t, err)
	at, err := fit.Solve(context.Background(), []float64{0.1 * fit.LambdaMax()}, 1e-7, nil)
	require.NoError(t, err)
	v := fit.Values(at.X)
	c := &lower.Centre{
		X: [][][]float64{at.X}, R: v.Penalties, Value: v.Train, Gamma: at.Lambda, Alpha: 10, Rho: 1e-2, Low: []float64{1e-3}, High: []float64{1e6}, Tol: 1e-6,
	}
	exact, err := fit.Subproblem([]lower.Bilevel{fit}, 1)(context.Background(), c)
	require.NoError(t, err)
	require.True(t, exact.Solved)
	require.Positive(t, exact.Fits)
	c.Tol = v.Validation
	rough, err := fit.Subproblem([]lower.Bilevel{fit}, 1)(context.Background(), c)
	require.NoError(t, err)
	require.True(t, rough.Solved)
	require.Zero(t, rough.Fits)
	require.Equal(t, at.X, rough.X[0])
	require.InDelta(t, v.Validation, rough.Objective, 1e-12)
	require.LessOrEqual(t, rough.Objective-rough.Gap, exact.Objective)
	require.Less(t, rough.Gap, v.Validation)
}

// again are entries, each twice.
func again(e Entries) Entries {
	n := len(e.Y)
	out := Entries{Row: append(e.Row[:n:n], e.Row...), Col: append(e.Col[:n:n], e.Col...)}
	out.Rows = NewRows(nil, append(e.Y[:n:n], e.Y...))
	return out
}

package fits

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/lower"
)

// difference is the central difference of the refitted validation loss in hyperparameter i.
func difference(t testing.TB, m lower.Fit, at *lower.Point, i int) float64 {
	return differenceAt(t, m, at, i, 1e-5, 1e-15)
}

// differenceAt has steps of a share h of the hyperparameter, and lower levels solved to tol.
func differenceAt(t testing.TB, m lower.Fit, at *lower.Point, i int, h, tol float64) float64 {
	value := func(factor float64) float64 {
		lambda := slices.Clone(at.Lambda)
		lambda[i] *= factor
		pt, err := m.Solve(context.Background(), lambda, tol, at)
		require.NoError(t, err)
		require.True(t, pt.Solved)
		return pt.Validation
	}
	return (value(1+h) - value(1-h)) / (2 * h * at.Lambda[i])
}

// gradients are how hypergradients are compared with differences of relative length h of lower levels solved to tol, to a share of their largest entry,
// and the forward mode with the adjoint one, to forward; 0 where there is none. accuracy is that of systems.
type gradients struct{ tol, h, share, forward, accuracy float64 }

// check compares them at lambda, and returns the point.
func (c gradients) check(t testing.TB, m lower.Fit, lambda []float64, name ...any) *lower.Point {
	t.Helper()
	ctx := context.Background()
	at, err := m.Solve(ctx, lambda, c.tol, nil)
	require.NoError(t, err)
	require.True(t, at.Solved)
	adjoint, err := m.Traits().Gradient(ctx, at, lower.GradientOptions{Tol: c.accuracy})
	require.NoError(t, err)
	scale := floats.Norm(adjoint, math.Inf(1))
	require.Positive(t, scale)
	for i := range lambda {
		require.InDelta(t, differenceAt(t, m, at, i, c.h, c.tol), adjoint[i], c.share*scale, "%v %d", name, i)
	}
	if c.forward > 0 {
		forward, err := m.Traits().Gradient(ctx, at, lower.GradientOptions{Mode: lower.Forward, Tol: c.accuracy})
		require.NoError(t, err)
		require.InDeltaSlice(t, adjoint, forward, c.forward*scale, "%v", name)
	}
	return at
}

// rolling is a share of LambdaMax for each hyperparameter, a little different for each.
func rolling(m lower.Fit, share float64) []float64 {
	lambda := make([]float64, m.Dim())
	for i := range lambda {
		lambda[i] = share * m.LambdaMax() * (1 + 0.1*math.Sin(float64(i)))
	}
	return lambda
}

// descent is a method of package hypergradient.
type descent func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result, error)

// descend checks that methods end below a share of the least validation loss of the path.
func descend(t testing.TB, m lower.Fit, share float64, s hypergradient.Settings, methods ...descent) {
	t.Helper()
	least := math.Inf(1)
	for _, lambda := range m.Traits().Path() {
		at, err := m.Solve(context.Background(), lambda, 1e-10, nil)
		require.NoError(t, err)
		require.True(t, at.Solved)
		least = min(least, at.Validation)
	}
	for _, run := range methods {
		r, err := run(context.Background(), m, s)
		require.NoError(t, err)
		require.Less(t, r.Best.Validation, share*least)
	}
}

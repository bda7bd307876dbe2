package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

func boundedSplit() *dataset.Split {
	return modeltest.Split(6, 50, 40, 30, []float64{3, -2, 0.1, 0, 1, -0.1, 0, 0}, 1)
}

// With g the gradient of loss and l2 part: g + lambda1 sign(b) = 0 between the bounds, g pushes outwards at
// them, and g is within lambda1 at 0, towards a bound at 0 without limit.
func TestBoundedOptimality(t *testing.T) {
	s := boundedSplit()
	inf := math.Inf(1)
	for _, o := range []options{
		{R0: []float64{3, 50}},
		{R0: []float64{50, 2}},
		{R0: []float64{2, 3}, Terms: regression.Terms{Lower: []float64{-1}, Upper: []float64{2}}},
		{R0: []float64{9, 3}, Terms: regression.Terms{Upper: []float64{1, 2, 3, inf, 0.5, inf, 0, 1}}},
	} {
		m := must.Of(regression.BoundedElasticNet(s, o))(t)
		x, lambda := modeltest.LowerLevel(t, m)
		lower, upper := o.Terms.Lower, o.Terms.Upper
		if lower == nil && upper == nil {
			lower = []float64{0}
		}
		for j, g := range modeltest.Gradient(s.Train, modeltest.Residuals(s.Train, x[0])) {
			b, lo, hi := x[0][j], bound(lower, j, -inf), bound(upper, j, inf)
			require.GreaterOrEqual(t, b, lo-1e-6)
			require.LessOrEqual(t, b, hi+1e-6)
			g += lambda[1] * b
			low, high := -lambda[0], lambda[0] // where -g may be
			if math.Abs(b) > 1e-4 {
				low, high = math.Copysign(lambda[0], b), math.Copysign(lambda[0], b)
			}
			if b < lo+1e-4 {
				low = -inf
			}
			if b > hi-1e-4 {
				high = inf
			}
			require.GreaterOrEqual(t, -g, low-1e-3)
			require.LessOrEqual(t, -g, high+1e-3)
		}
	}
}

// Bounds are in the user's units, whatever the model works in, and hold for the iterate too.
func TestBoundedUnits(t *testing.T) {
	s := boundedSplit()
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		n, _ := d.Dims()
		for i := range n {
			d.Dense().Set(i, 0, 1000*d.X.At(i, 0)+3)
		}
	}
	terms := regression.Terms{Lower: []float64{-1}, Upper: []float64{0.002, 1, 1, 1, 0.5, 1, 1, 1}}
	m := must.Of(regression.BoundedElasticNet(s, options{Intercept: true, Standardize: true, Terms: terms}))(t)
	res := modeltest.Solve(t, m, m.DefaultSettings())
	require.Equal(t, outcome.Converged, res.Status, res.Message)
	for _, x := range [][][]float64{res.X, res.Refit} {
		c := m.Fit(x).Coefficients
		require.InDelta(t, 0.002, c[0], 1e-6) // 0.003 without the bound
		require.InDelta(t, -1, c[1], 1e-4)
		require.LessOrEqual(t, c[4], 0.5+1e-6)
		require.Greater(t, c[4], 0.4) // 1 without the bound
	}
}

func TestBoundedNonnegative(t *testing.T) {
	m := must.Of(regression.BoundedElasticNet(boundedSplit(), options{}))(t)
	res := modeltest.Solve(t, m, m.PaperSettings())
	require.Equal(t, outcome.Converged, res.Status)
	for _, x := range [][][]float64{res.X, res.Refit} {
		for _, v := range x[0] {
			require.GreaterOrEqual(t, v, -1e-7)
		}
	}
}

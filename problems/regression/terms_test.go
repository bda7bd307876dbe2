package regression_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// A factor is the weight of a feature: lambda f_j is what a column divided by f_j has with the weight lambda, in the
// lasso.
func TestFactorsScaleColumns(t *testing.T) {
	s := modeltest.Split(3, 60, 40, 30, []float64{1, -1, 0.5, 0, 0, 1}, 0.7)
	factors := []float64{1, 2, 0.5, 1, 3, 0.2}
	termed := must.Of(regression.Lasso(s, options{Terms: regression.Terms{Factors: factors}}))(t)
	scaled := modeltest.Split(3, 60, 40, 30, []float64{1, -1, 0.5, 0, 0, 1}, 0.7)
	for _, d := range []*dataset.Data{scaled.Train, scaled.Val, scaled.Test} {
		for i := range d.Y {
			for j, f := range factors {
				d.Dense().Set(i, j, d.X.At(i, j)/f)
			}
		}
	}
	plain := must.Of(regression.Lasso(scaled, options{}))(t)
	a := must.Of(termed.Penalised())(t)
	b := must.Of(plain.Penalised())(t)
	require.InEpsilon(t, b.LambdaMax(), a.LambdaMax(), 1e-12)
	for _, share := range []float64{0.5, 0.1, 0.01} {
		lambda := []float64{share * a.LambdaMax()}
		x := must.Of(a.Solve(context.Background(), lambda, 1e-12, nil))(t)
		z := must.Of(b.Solve(context.Background(), lambda, 1e-12, nil))(t)
		require.InEpsilon(t, z.Validation, x.Validation, 1e-8)
		for j, f := range factors {
			require.InDelta(t, z.X[0][j]/f, x.X[0][j], 1e-7)
		}
	}
}

// A feature with a factor beyond all measure is left out: the coefficient is 0, the others are those of the table
// without it, and no program has that number in it.
func TestExcludedFeatures(t *testing.T) {
	s := modeltest.Split(3, 60, 40, 50, []float64{2, -1, 0.5, 0}, 1)
	without := &dataset.Split{}
	for _, part := range []struct {
		from *dataset.Data
		to   **dataset.Data
	}{{s.Train, &without.Train}, {s.Val, &without.Val}, {s.Test, &without.Test}} {
		x := part.from.Dense()
		n, _ := x.Dims()
		*part.to = &dataset.Data{X: x.Slice(0, n, 1, 4), Y: part.from.Y, Features: part.from.Features[1:],
			Target: part.from.Target}
	}
	factors := func(first ...float64) regression.Terms { return regression.Terms{Factors: append(first, 1, 2, 1)} }
	for name, build := range some(t, "elastic-net", "lasso", "ridge") {
		for _, c := range []tune.Config{{Method: "vf-idca"}, {Method: "grid", Evaluations: 9},
			{Method: "grid", Evaluations: 4, Engine: tune.EngineConic}, {Method: "vf-idca", Engine: tune.EngineConic}} {
			if c.Method == "grid" {
				c.Ranges = []tune.Range{{Low: 1e-3, High: 1}}
			}
			var fits []tune.Fit
			for _, of := range []struct {
				s     *dataset.Split
				terms regression.Terms
			}{{s, factors(1e12)}, {without, factors()}} {
				m := must.Of(build(of.s, options{Intercept: true, Terms: of.terms}))(t)
				r := must.Of(tune.Run(context.Background(), m, c))(t)
				require.Equal(t, dca.Converged, r.Status, "%s %s: %s", name, c.Method, r.Message)
				fits = append(fits, r.RefitFit)
			}
			require.InDelta(t, 0, fits[0].Coefficients[0], 1e-9, name)
			require.InDeltaSlice(t, fits[1].Coefficients, fits[0].Coefficients[1:], 2e-2, "%s %s", name, c.Method)
		}
	}
}

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
	require.Equal(t, dca.Converged, res.Status, res.Message)
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
	require.Equal(t, dca.Converged, res.Status)
	for _, x := range [][][]float64{res.X, res.Refit} {
		for _, v := range x[0] {
			require.GreaterOrEqual(t, v, -1e-7)
		}
	}
}

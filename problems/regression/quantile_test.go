package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// pinball is the mean loss at a level of residuals prediction minus target.
func pinballOf(level float64, r []float64) float64 {
	sum := 0.0
	for _, v := range r {
		if v < 0 {
			sum -= level * v
		} else {
			sum += (1 - level) * v
		}
	}
	return sum / float64(len(r))
}

// Where the penalties hold nothing back, some solution passes through as many rows as there are
// features: for two features, the best of all pairs of rows.
func TestAgainstEnumeration(t *testing.T) {
	s := modeltest.Split(3, 25, 20, 10, []float64{2, -1}, 1)
	for _, level := range []float64{0.2, 0.5, 0.9} {
		best := math.Inf(1)
		for i := range s.Train.Y {
			for k := range i {
				var b mat.VecDense
				a := mat.NewDense(2, 2, append(mat.Row(nil, i, s.Train.X), mat.Row(nil, k, s.Train.X)...))
				if b.SolveVec(a, mat.NewVecDense(2, []float64{s.Train.Y[i], s.Train.Y[k]})) == nil {
					best = math.Min(best, pinballOf(level, modeltest.Residuals(s.Train, b.RawVector().Data)))
				}
			}
		}
		m := must.Of(regression.Quantile(s, options{Level: level, R0: []float64{100, 100}}))(t)
		x, _ := modeltest.LowerLevel(t, m)
		require.InEpsilon(t, best, pinballOf(level, modeltest.Residuals(s.Train, x[0])), 1e-6)
	}
}

// There are subgradients s of the losses, free in [-q, 1-q] for rows on the fit, with X's/n + lambda2 b +
// lambda1 sign(b) = 0. Those of the rows on the fit follow from the equations of the nonzero coefficients.
func TestQuantileOptimality(t *testing.T) {
	b := make([]float64, 12)
	b[0], b[1], b[5] = 3, -2, 1
	s := modeltest.Split(4, 30, 20, 10, b, 1)
	const level = 0.7
	m := must.Of(regression.Quantile(s, options{Level: level, R0: []float64{4, 4.5}}))(t)
	x, lambda := modeltest.LowerLevel(t, m)
	require.Greater(t, lambda[0], 0.01)
	sub := modeltest.Residuals(s.Train, x[0])
	var on, nonzero []int
	for i, r := range sub {
		switch {
		case math.Abs(r) < 1e-5:
			on, sub[i] = append(on, i), 0
		case r > 0:
			sub[i] = 1 - level
		default:
			sub[i] = -level
		}
	}
	for j, v := range x[0] {
		if math.Abs(v) > 1e-5 {
			nonzero = append(nonzero, j)
		}
	}
	require.NotEmpty(t, on)
	require.Less(t, len(on), len(nonzero)) // so that the equations say something
	g := modeltest.Gradient(s.Train, sub)
	n := float64(len(sub))
	lhs, rhs := mat.NewDense(len(nonzero), len(on), nil), mat.NewVecDense(len(nonzero), nil)
	for k, j := range nonzero {
		for c, i := range on {
			lhs.Set(k, c, s.Train.X.At(i, j)/n)
		}
		rhs.SetVec(k, -g[j]-lambda[1]*x[0][j]-lambda[0]*math.Copysign(1, x[0][j]))
	}
	var free mat.VecDense
	require.NoError(t, free.SolveVec(lhs, rhs))
	for c, i := range on {
		sub[i] = free.AtVec(c)
		require.GreaterOrEqual(t, sub[i], -level-1e-4)
		require.LessOrEqual(t, sub[i], 1-level+1e-4)
	}
	for j, v := range modeltest.Gradient(s.Train, sub) {
		v += lambda[1] * x[0][j]
		if b := x[0][j]; math.Abs(b) > 1e-5 {
			require.InDelta(t, -lambda[0]*math.Copysign(1, b), v, 1e-5)
		} else {
			require.LessOrEqual(t, math.Abs(v), lambda[0]+1e-5)
		}
	}
}

// The share of targets below the predictions is the level, on rows for training and on new ones.
func TestLevel(t *testing.T) {
	s := modeltest.Split(5, 400, 200, 2000, []float64{1, 0, 0, -1}, 1)
	for _, level := range []float64{0.1, 0.5, 0.8} {
		m := must.Of(regression.Quantile(s, options{Level: level, Intercept: true, Standardize: true}))(t)
		res := modeltest.Solve(t, m, m.DefaultSettings())
		require.Equal(t, outcome.Converged, res.Status, res.Message)
		f := m.Fit(res.Refit)
		share := func(d *dataset.Data) (below float64) {
			for i, y := range d.Y {
				if y < f.Value(d.Dense().RawRowView(i)) {
					below += 1 / float64(len(d.Y))
				}
			}
			return below
		}
		require.InDelta(t, level, share(s.Train), 0.03)
		require.InDelta(t, level, share(s.Test), 0.05)
		r := modeltest.Residuals(s.Val, f.Coefficients)
		for i := range r {
			r[i] += f.Intercept
		}
		require.InEpsilon(t, pinballOf(level, r), m.Evaluate(res.Refit).Validation, 1e-9)
	}
}

package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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

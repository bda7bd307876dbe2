package regression_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// split are rows of counts with the means exp(0.5 + a'b).
func countedSplit(seed uint64, train int, b []float64) *dataset.Split {
	s := modeltest.Split(seed, train, 60, 400, b, 0)
	rng := rand.New(rand.NewPCG(seed, 5))
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, f := range d.Y {
			d.Y[i] = -1
			for left := math.Exp(0.5 + f); left >= 0; left += math.Log(rng.Float64()) { // the waiting times of a Poisson process
				d.Y[i]++
			}
		}
	}
	return s
}

var poissonTruth = []float64{0.6, -0.5, 0, 0, 0.3, 0, 0, 0}

// meanLoss is half the mean deviance by its definition.
func meanPoisson(d *dataset.Data, b []float64, b0 float64) (sum float64) {
	for i, y := range d.Y {
		mean := math.Exp(b0 + floats.Dot(b, d.Dense().RawRowView(i)))
		loss := mean - y
		if y > 0 {
			loss += y * math.Log(y/mean)
		}
		sum += loss / float64(len(d.Y))
	}
	return sum
}

// The selected model predicts nearly as well as the true coefficients, with errors in the user's units.
func TestPoissonSelection(t *testing.T) {
	s := countedSplit(2, 150, poissonTruth)
	best := meanPoisson(s.Test, poissonTruth, 0.5)
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		n, _ := d.Dims()
		for i := range n {
			d.Dense().Set(i, 1, 100*d.X.At(i, 1)-40)
		}
	}
	m := must.Of(regression.Poisson(s, options{Intercept: true, Standardize: true}))(t)
	for _, set := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
		res := modeltest.Solve(t, m, set)
		require.Equal(t, outcome.Converged, res.Status, res.Message)
		f := m.Fit(res.Refit)
		require.True(t, f.LogLink)
		e := m.Evaluate(res.Refit)
		require.InEpsilon(t, meanPoisson(s.Val, f.Coefficients, f.Intercept), e.Validation, 1e-9)
		require.InEpsilon(t, meanPoisson(s.Test, f.Coefficients, f.Intercept), *e.Test, 1e-9)
		require.Less(t, *e.Test, 1.1*best)
	}
}

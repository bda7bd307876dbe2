package regression_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// orthogonal has X'X / n = 1, so that least squares and a ridge have coefficients in proportion to a.
func fourier(n int, a, w []float64) *dataset.Split {
	p := len(a)
	data := func(target []float64) *dataset.Data {
		d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "y", Features: []string{"u", "v", "w"}}
		for i := range n {
			for j := range p { // Fourier columns
				x := math.Sqrt2 * math.Cos(2*math.Pi*float64(j+1)*(float64(i)+0.5)/float64(2*n)*2)
				d.Dense().Set(i, j, x)
				d.Y[i] += x * target[j]
			}
		}
		return d
	}
	return &dataset.Split{Train: data(a), Val: data(w)}
}

// On an orthogonal design a pilot by ridge regression is a_j / (1 + mu), so that w_j = (max a / |a_j|)^gamma, and the
// adaptive lasso has the coefficients sign(a_j) max(0, |a_j| - lambda w_j).
func TestAdaptiveClosedForm(t *testing.T) {
	a := []float64{3, -1, 0.5}
	s := fourier(40, a, a) // so that pilots have next to no penalty
	for _, gamma := range []float64{0.5, 1, 2} {
		for _, pilot := range regression.Pilots() {
			m, err := regression.AdaptiveLasso(s, regression.Options{Pilot: pilot, Gamma: gamma})
			require.NoError(t, err)
			fit, err := m.Penalised()
			require.NoError(t, err)
			for _, lambda := range []float64{0.01, 0.1, 0.3} {
				pt, err := fit.Solve(context.Background(), []float64{lambda}, 1e-12, nil)
				require.NoError(t, err)
				got := m.Fit(pt.X).Coefficients
				for j, v := range a {
					want := math.Copysign(math.Max(0, math.Abs(v)-lambda*math.Pow(3/math.Abs(v), gamma)), v)
					require.InDelta(t, want, got[j], 2e-2, "gamma %g, %s, lambda %g, feature %d", gamma, pilot, lambda, j)
				}
			}
		}
	}
}

// The fit and conic programs choose the same, and the final training has a pilot of all rows, in the user's units, by a
// split as by folds.
func TestAdaptiveAgainstConic(t *testing.T) {
	s := modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	cv, err := dataset.CrossValidate(s.Train, 3, 1, nil)
	require.NoError(t, err)
	for _, division := range []dataset.Division{s, cv} {
		var results []*tune.Result
		for _, engine := range []string{tune.EngineAuto, tune.EngineConic} {
			m, err := regression.AdaptiveLasso(division, regression.Options{Intercept: true, Standardize: true})
			require.NoError(t, err)
			r, err := tune.VFiDCA(context.Background(), m, tune.Config{Engine: engine, GapTol: 1e-6})
			require.NoError(t, err)
			results = append(results, r)
		}
		require.InEpsilon(t, results[1].Refit.Validation, results[0].Refit.Validation, 1e-3)
		require.InDeltaSlice(t, results[1].RefitFit.Coefficients, results[0].RefitFit.Coefficients, 0.02)
		require.InDelta(t, 2, results[0].RefitFit.Coefficients[0], 0.3)
	}
}

// Pilots see training rows only: what is next to nothing for the choice of their weight, one of few, changes nothing.
func TestAdaptivePilotsSeeTrainingRows(t *testing.T) {
	fit := func(change float64) []float64 {
		s := modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
		for i := range s.Val.Y {
			s.Val.Y[i] *= change
		}
		m, err := regression.AdaptiveLasso(s, regression.Options{Intercept: true})
		require.NoError(t, err)
		f, err := m.Penalised()
		require.NoError(t, err)
		pt, err := f.Solve(context.Background(), []float64{0.1}, 1e-10, nil)
		require.NoError(t, err)
		return m.Fit(pt.X).Coefficients
	}
	require.Equal(t, fit(1), fit(1+1e-6))
}

// Without any relation to the targets the pilot is nothing, and the model, too.
func TestAdaptiveNothingToFind(t *testing.T) {
	s := modeltest.Split(5, 20, 10, 10, []float64{0, 0}, 0)
	m, err := regression.AdaptiveLasso(s, regression.Options{Intercept: true})
	require.NoError(t, err)
	f, err := m.Penalised()
	require.NoError(t, err)
	require.Zero(t, f.LambdaMax())
}

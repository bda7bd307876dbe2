package regression_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// split has targets 3, 5 and 8, by how large a combination of the features is.
func classesSplit(seed uint64, train int) *dataset.Split {
	s := modeltest.Split(seed, train, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, y := range d.Y {
			switch {
			case y < -1 && d.X.At(i, 3) < 1:
				d.Y[i] = 3
			case y < 1:
				d.Y[i] = 5
			default:
				d.Y[i] = 8
			}
		}
	}
	return s
}

// meanLoss is the mean of minus the logarithm of the probability of the label, from the definition.
func meanMultinomial(d *dataset.Data, f tune.Fit) float64 {
	sum := 0.0
	for i, y := range d.Y {
		total, own := 0.0, 0.0
		for k, v := range f.Values(floats.AddTo(make([]float64, 6), d.Dense().RawRowView(i), make([]float64, 6))) {
			if total += math.Exp(v); f.Labels[k] == y {
				own = math.Exp(v)
			}
		}
		sum -= math.Log(own/total) / float64(len(d.Y))
	}
	return sum
}

// The fit has the answers of the conic program, in penalty form as within radii: errors, coefficients, and the optimum.
func TestMultinomialAgainstConic(t *testing.T) {
	inf := math.Inf(1)
	for k, terms := range []regression.Terms{
		{}, {}, {Factors: []float64{1, 0, 2, 0.5, 1, 1}}, {Lower: []float64{0, -inf, -0.1, -inf, -inf, 0}, Upper: []float64{inf, 0.3, 0.1, inf, inf, 0}},
		{Factors: []float64{0, 1, 1, 3, 1, 1}, Lower: []float64{-inf, -0.2, -inf, 0, -inf, -inf}},
	} {
		standardize := k > 0
		var results []*tune.Result
		for _, engine := range []string{tune.EngineAuto, tune.EngineConic} {
			m, err := regression.Multinomial(classesSplit(3, 60), regression.Options{Intercept: true, Standardize: standardize, Terms: terms})
			require.NoError(t, err)
			r, err := tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Evaluations: 16, Engine: engine, Seed: 1})
			require.NoError(t, err)
			results = append(results, r)
		}
		require.InEpsilon(t, results[1].Refit.Validation, results[0].Refit.Validation, 1e-5)
		require.InDeltaSlice(t, results[1].RefitFit.Coefficients, results[0].RefitFit.Coefficients, 1e-3)
		require.InDeltaSlice(t, results[1].RefitFit.Intercepts, results[0].RefitFit.Intercepts, 1e-3)
	}
}

// VF-iDCA is no worse than a grid, by a split as by folds, and errors are what the definition says they are.
func TestMultinomialMethods(t *testing.T) {
	s := classesSplit(3, 50)
	cv, err := dataset.CrossValidate(s.Train, 2, 1, nil)
	require.NoError(t, err)
	cv.Test = s.Test
	for name, division := range map[string]dataset.Division{"split": s, "folds": cv} {
		m, err := regression.Multinomial(division, regression.Options{Intercept: true, Standardize: true, Label: func(y float64) string { return map[float64]string{3: "low", 5: "mid", 8: "high"}[y] }})
		require.NoError(t, err)
		grid, err := tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Evaluations: 25, Final: tune.FinalTrain})
		require.NoError(t, err)
		best, err := tune.VFiDCA(context.Background(), m, tune.Config{Final: tune.FinalTrain})
		require.NoError(t, err)
		require.LessOrEqual(t, best.Refit.Validation, grid.Refit.Validation*1.005, name)
		require.Equal(t, []string{"low", "mid", "high"}, best.RefitFit.Targets)
		require.Equal(t, []float64{3, 5, 8}, best.RefitFit.Labels)
		require.InEpsilon(t, meanMultinomial(s.Test, best.RefitFit), *best.Refit.Test, 1e-9, name)
		if name == "split" {
			require.InEpsilon(t, meanMultinomial(s.Val, best.RefitFit), best.Refit.Validation, 1e-9)
		}
		require.Positive(t, m.Advice().StandardError(best.Selection.X))
	}
}

func TestMultinomialBadInput(t *testing.T) {
	s := classesSplit(3, 50)
	for want, change := range map[string]func(){
		"validation rows: row 2 has the label 4, which no training row has": func() { s.Val.Y[2] = 4 },
		"test rows: row 1 has the label 4":                                  func() { s.Test.Y[1] = 4 },
	} {
		s = classesSplit(3, 50)
		change()
		_, err := regression.Multinomial(s, regression.Options{})
		require.ErrorContains(t, err, want)
	}
	s = classesSplit(3, 50)
	for want, o := range map[string]regression.Options{
		"3 radii to start from, expected one or 2": {R0: []float64{1, 1, 1}},
	} {
		_, err := regression.Multinomial(s, o)
		require.ErrorContains(t, err, want)
	}
	for i := range s.Train.Y {
		s.Train.Y[i] = 5
	}
	_, err := regression.Multinomial(s, regression.Options{})
	require.ErrorContains(t, err, "all rows have the label 5")
	s = classesSplit(3, 50)
	cv := &dataset.CrossValidation{Data: s.Train, Folds: []split.Fold{{Train: []int{0, 1}, Val: []int{2, 3}}, {Train: []int{2, 3}, Val: []int{0, 1}}}}
	_, err = regression.Multinomial(cv, regression.Options{})
	require.ErrorContains(t, err, "has no training row with the label")
	_, err = regression.Multinomial(nil, regression.Options{})
	require.ErrorContains(t, err, "no data")
}

package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// The fits that models bring end where the conic programs do, on a split and on folds. Where an engine stops, and what
// it calls that, is a matter of rounding at the edge of the tolerance: both have a model, whose validation error is the
// same.
func TestEngines(t *testing.T) {
	s := modeltest.Split(3, 42, 40, 30, []float64{1, -1, 0, 0.5, 0, 0, 0, 0}, 0.5)
	cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	sign := func(y float64) float64 { return math.Copysign(1, y) }
	count := func(y float64) float64 { return math.Floor(math.Exp(0.3*y) + 0.5) }
	presets := []string{"", tune.PresetPaper}
	if testing.Short() {
		presets = presets[:1]
	}
	for name, build := range map[string]func(dataset.Division) (problems.Model, error){
		"elastic-net": func(d dataset.Division) (problems.Model, error) {
			return regression.ElasticNet(d, regression.Options{Intercept: true})
		},
		"logistic": func(d dataset.Division) (problems.Model, error) {
			return regression.Logistic(d.Map(sign), regression.Options{Intercept: true, Standardize: true})
		},
		"poisson": func(d dataset.Division) (problems.Model, error) {
			return regression.Poisson(d.Map(count), regression.Options{Intercept: true})
		},
		"weighted-lasso": func(d dataset.Division) (problems.Model, error) {
			return regression.WeightedLasso(d, regression.Options{Intercept: true})
		},
		"sparse-group-lasso": func(d dataset.Division) (problems.Model, error) {
			g := must.Of(groups.Equal(8, 4))(t)
			return regression.SparseGroupLasso(d, regression.Options{Groups: g, Intercept: true})
		},
		"group-lasso": func(d dataset.Division) (problems.Model, error) {
			g := must.Of(groups.Equal(8, 4))(t)
			return regression.GroupLasso(d, regression.Options{Groups: g, Intercept: true})
		},
	} {
		for _, d := range []dataset.Division{s, cv} {
			for _, preset := range presets {
				m := must.Of(build(d))(t)
				run := func(engine string) *tune.Result {
					r, err := tune.Run(context.Background(), m, tune.Config{Engine: engine, Preset: preset, Init: []float64{3, 2}})
					require.NoError(t, err)
					return r
				}
				fit, conic := run(tune.EngineAuto), run(tune.EngineConic)
				require.Zero(t, fit.BackendSetups, "%s %T %s", name, d, preset)
				for _, r := range []*tune.Result{fit, conic} {
					require.Contains(t, []outcome.Stop{outcome.Converged, dca.Inaccurate}, r.Status, "%s %T %s", name, d, preset)
					require.InEpsilon(t, m.Evaluate(r.Selection.X).Validation, r.Refit.Validation, 1e-9, "%s %T %s", name, d, preset)
				}
				if preset != "" { // rounding decides where an accelerated run ends among iterates of the same refit
					require.InEpsilon(t, conic.Errors.Validation, fit.Errors.Validation, 1e-4, "%s %T %s", name, d, preset)
				}
				require.InEpsilon(t, conic.Refit.Validation, fit.Refit.Validation, 1e-3, "%s %T %s", name, d, preset)
			}
		}
	}
	require.ErrorContains(t, tune.Config{Method: tune.MethodVFiDCA, Engine: "quick"}.Validate(), "known are: auto, conic")
}

// So they do on ladders.
func TestEnginesOnLadders(t *testing.T) {
	s := modeltest.Split(3, 60, 40, 30, []float64{1, -1, 0, 0.5, 0, 0, 0, 0}, 0.5)
	cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	g := must.Of(groups.Equal(8, 4))(t)
	for _, d := range []dataset.Division{s, cv} {
		w := must.Of(regression.WeightedLasso(d, regression.Options{Intercept: true}))(t)
		group := must.Of(regression.SparseGroupLasso(d, regression.Options{Groups: g, Intercept: true}))(t)
		whole := must.Of(regression.GroupLasso(d, regression.Options{Groups: g, Intercept: true}))(t)
		for _, m := range []problems.Model{w, group, whole} {
			run := func(engine string) *tune.Result {
				r := must.Of(tune.Run(context.Background(), m, tune.Config{Engine: engine}))(t)
				require.Equal(t, outcome.Converged, r.Status)
				return r
			}
			fit, conic := run(tune.EngineAuto), run(tune.EngineConic)
			require.Zero(t, fit.BackendSetups, "%s %T", m.Name(), d)
			require.Len(t, fit.Ladder, 3)
			for k, r := range conic.Ladder {
				require.InEpsilon(t, r.Validation, fit.Ladder[k].Validation, 1e-3, "%s %T", m.Name(), d)
				require.Equal(t, r.Taken, fit.Ladder[k].Taken)
			}
			require.InDeltaSlice(t, conic.RefitFit.Coefficients, fit.RefitFit.Coefficients, 0.01, "%s %T", m.Name(), d)
		}
	}
}

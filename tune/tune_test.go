package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

func model(t testing.TB, o regression.Options) *regression.Model {
	s := must.Of(input.ReadDir("../problems/regression/testdata/elasticnet/small"))(t)
	m := must.Of(regression.ElasticNet(s, o))(t)
	return m
}

func TestResultFields(t *testing.T) {
	var events []tune.Event
	res := must.Of(tune.Run(context.Background(), model(t, regression.Options{}), tune.Config{
		Preset: tune.PresetPaper, Seed: 5, Progress: func(e tune.Event) { events = append(events, e) },
	}))(t)
	require.Equal(t, outcome.Converged, res.Status)
	require.Equal(t, fmt.Sprint(res.Trace), fmt.Sprint(events)) // with NaN
	require.Len(t, events, res.Iterations)
	last := events[len(events)-1]
	require.Equal(t, res.Errors, last.Errors)
	require.Equal(t, res.Refit, last.Refit)
	require.Equal(t, res.Lambda[0], res.Hyperparameters["lambda1"])
	require.Equal(t, res.Lambda[1], res.Hyperparameters["lambda2"])
	require.Equal(t, last.H, res.Radii)
	require.Positive(t, res.TimeSeconds)
	require.Positive(t, res.SolverIterations)
	require.Zero(t, res.BackendSetups)
	raw := must.Of(json.Marshal(last))(t)
	line := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &line))
	for _, name := range []string{"k", "step", "t", "alpha", "gap", "distance", "bound", "h", "lambda", "validation_error",
		"test_error", "refit", "elapsed_seconds", "sub_seconds", "lower_seconds"} {
		require.Contains(t, line, name)
	}
	require.InDelta(t, last.Elapsed.Seconds(), line["elapsed_seconds"], 1e-12)
}

func TestOverrides(t *testing.T) {
	res := must.Of(tune.VFiDCA(context.Background(), model(t, regression.Options{}), tune.Config{
		Preset: tune.PresetPaper, Tol: 1e-9, MaxIter: 2, Delta: 7, Init: []float64{8},
	}))(t)
	require.Equal(t, outcome.IterationLimit, res.Status)
	require.Equal(t, 2, res.Iterations)
	require.Equal(t, 1.0, res.Trace[0].Alpha)
	require.Contains(t, []float64{1, 8}, res.Trace[1].Alpha)

	res, err := tune.VFiDCA(context.Background(), model(t, regression.Options{}), tune.Config{Preset: tune.PresetPaper,
		GapTol: 1e-4})
	require.NoError(t, err)
	require.LessOrEqual(t, res.LowerGap, 1e-4)
	require.InEpsilon(t, res.Refit.Validation, res.Errors.Validation, 0.02)
}

func TestBadConfigurations(t *testing.T) {
	for want, c := range map[string]tune.Config{
		"vf-idca":           {Method: "gird"},
		"paper":             {Preset: "papre"},
		"native":            {Backend: "nativ"},
		"tol is -1":         {Tol: -1},
		"rho is NaN":        {Rho: math.NaN()},
		"max-iter is -3":    {MaxIter: -3},
		"time-limit":        {TimeLimit: -time.Second},
		"radius 2 is -1":    {Init: []float64{1, -1}},
		"init has 3 radii":  {Init: []float64{1, 2, 3}},
		"init has 0 radii":  {Init: []float64{}},
		"gap-tol is +Inf":   {GapTol: math.Inf(1)},
		"evaluations is -1": {Method: tune.MethodGrid, Evaluations: -1},
		"at most 1000000":   {Method: tune.MethodGrid, Evaluations: 1_000_001},
		"workers is -2":     {Method: tune.MethodGrid, Workers: -2},
		"upside down":       {Method: tune.MethodTPE, Ranges: []tune.Range{{Low: 2, High: 1}}},
		"positive finite": {Method: tune.MethodTPE,
			Ranges: []tune.Range{{Axis: "lambda1", Low: 0, High: 1}}},
		"known are: lambda1, lambda2": {Method: tune.MethodCMAES,
			Ranges: []tune.Range{{Axis: "lambda", Low: 1, High: 2}}},
		"two ranges of lambda1": {Method: tune.MethodRandom,
			Ranges: []tune.Range{{Axis: "lambda1", Low: 1, High: 2}, {Axis: "lambda1", Low: 1, High: 2}}},
		"range of all axes is 1e-300 to": {Method: tune.MethodTPE, Ranges: []tune.Range{{Low: 1e-300, High: 1e300}}},
		"range of lambda1 is 1 to 1e+101": {Method: tune.MethodGrid,
			Ranges: []tune.Range{{Axis: "lambda1", Low: 1, High: 1e101}}},
		"range of lambda1 is NaN": {Method: tune.MethodGrid, Ranges: []tune.Range{{Axis: "lambda1", Low: math.NaN(),
			High: 1}}},
		"known are: common, each":           {Method: tune.MethodRandom, Scope: "kind"},
		"2 axes has more than the 3 points": {Method: tune.MethodGrid, Evaluations: 3},
	} {
		_, err := tune.Run(context.Background(), model(t, regression.Options{}), c)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, tune.Check(model(t, regression.Options{}), c), want, "before any work")
	}
	widest := tune.Config{Method: tune.MethodRandom, Evaluations: 5, Ranges: []tune.Range{{Low: 1e-100, High: 1e100}}}
	r := must.Of(tune.Run(context.Background(), model(t, regression.Options{}), widest))(t)
	requireValid(t, r)
	require.IsIncreasing(t, tune.Methods())
	require.Subset(t, tune.Methods(), []string{"vf-idca", "vf-idca-t", "grid", "random", "tpe", "tpe2", "cma-es"})
	require.Equal(t, []string{"paper"}, tune.Presets())
}

// A run that is cancelled after its first iteration has that one, and its refit.
func TestCancelledByProgress(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	config := tune.Config{Preset: tune.PresetPaper, Tol: 1e-9, Progress: func(tune.Event) { cancel() }}
	res := must.Of(tune.VFiDCA(ctx, model(t, regression.Options{}), config))(t)
	require.Equal(t, outcome.Cancelled, res.Status)
	require.Equal(t, 1, res.Iterations)
	require.NotNil(t, res.Refit)
}

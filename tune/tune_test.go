package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

func model(t testing.TB, o regression.Options) *regression.Model {
	s := must.Of(input.ReadDir("../problems/regression/testdata/elasticnet/small"))(t)
	return must.Of(regression.ElasticNet(s, o))(t)
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

func TestBadConfigurations(t *testing.T) {
	for want, c := range map[string]tune.Config{
		"vf-idca":                {Method: "gird"},
		"paper":                  {Preset: "papre"},
		"native":                 {Backend: "nativ"},
		"known are: auto, conic": {Engine: "quick"},
		"tol is -1":              {Tol: -1},
		"rho is NaN":             {Rho: math.NaN()},
		"max-iter is -3":         {MaxIter: -3},
		"time-limit":             {TimeLimit: -time.Second},
		"radius 2 is -1":         {Init: []float64{1, -1}},
		"init has 3 radii":       {Init: []float64{1, 2, 3}},
		"init has 0 radii":       {Init: []float64{}},
		"gap-tol is +Inf":        {GapTol: math.Inf(1)},
		"evaluations is -1":      {Method: tune.MethodGrid, Evaluations: -1},
		"at most 1000000":        {Method: tune.MethodGrid, Evaluations: 1_000_001},
		"workers is -2":          {Method: tune.MethodGrid, Workers: -2},
		"upside down":            {Method: tune.MethodTPE, Ranges: []tune.Range{{Low: 2, High: 1}}},
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

// A run tells where it is, in words, before each piece of work and in its order.
func TestPlaces(t *testing.T) {
	places := func(m problems.Model, c tune.Config) (list []string) {
		c.Begin = func(p dca.Place) { list = append(list, p.String()) }
		must.Of(tune.Run(context.Background(), m, c))(t)
		return list
	}
	net := model(t, regression.Options{})
	list := places(net, tune.Config{MaxIter: 1})
	require.Regexp(t, "start: point 1 of [0-9]+", list[0])
	require.Equal(t, []string{"start: lower level", "iteration 1: subproblem", "iteration 1: lower level", "final fit"},
		list[len(list)-4:])

	var searched []string
	for k := range 5 {
		searched = append(searched, fmt.Sprintf("point %d of 4", k))
	}
	require.Equal(t, append(searched, "final fit"), places(net, tune.Config{Method: tune.MethodGrid, Evaluations: 4,
		Workers: 1}))
	require.Equal(t, append(slices.Clone(searched[:4]), "final fit"),
		places(net, tune.Config{Method: tune.MethodTPE, Evaluations: 4}))
	list = places(net, tune.Config{Method: tune.MethodHOAG, Evaluations: 9})
	require.Equal(t, "fit 0 of at most 9", list[0])
	require.Equal(t, "final fit", list[len(list)-1])

	lasso := must.Of(regression.WeightedLasso(sample(t), regression.Options{}))(t)
	require.Contains(t, places(lasso, tune.Config{MaxIter: 3}), "iteration 1: subproblem")
}

func weighted(t *testing.T, seed uint64) (*dataset.Split, *regression.Model) {
	t.Helper()
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 60, Nonzeros: 5}, seed)
	require.NoError(t, err)
	m := must.Of(regression.WeightedLasso(split, regression.Options{}))(t)
	return split, m
}

// The refit on all rows solves the lower level of the union at the same radii.
func TestFinalRows(t *testing.T) {
	split, m := weighted(t, 3)
	r := must.Of(tune.VFiDCA(context.Background(), m, tune.Config{Rung: tune.RungFree}))(t)
	require.Equal(t, tune.FinalAll, r.TrainedOn)
	require.Equal(t, r.LowerLevel.Validation, r.Refit.Validation)
	require.NotEqual(t, *r.LowerLevel.Test, *r.Refit.Test)

	// KKT conditions of min 1/(2n) |X b - y|^2 s.t. |b_j| <= r_j over the union.
	b := r.RefitFit.Coefficients
	gradient, n := make([]float64, len(b)), 0.0
	for _, d := range []*dataset.Data{split.Train, split.Val} {
		for i, y := range d.Y {
			row := d.Dense().RawRowView(i)
			residual := -y
			for j, v := range row {
				residual += v * b[j]
			}
			for j, v := range row {
				gradient[j] += residual * v
			}
			n++
		}
	}
	top := 0.0
	for _, radius := range r.Radii {
		top = max(top, radius)
	}
	for j, g := range gradient {
		g /= n
		radius := r.Radii[j]
		require.LessOrEqual(t, b[j], radius+1e-3*top) // a radius of nearly 0 is kept a little open
		require.GreaterOrEqual(t, b[j], -radius-1e-3*top)
		switch {
		case b[j] > -0.9*radius && b[j] < 0.9*radius && radius > 0.1*top:
			require.InDelta(t, 0, g, 1e-4)
		case b[j] >= 0.9*radius && radius > 0.1*top:
			require.Less(t, g, 1e-4)
		case b[j] <= -0.9*radius && radius > 0.1*top:
			require.Greater(t, g, -1e-4)
		}
	}

	r = must.Of(tune.VFiDCA(context.Background(), m, tune.Config{Final: tune.FinalTrain}))(t)
	require.Equal(t, tune.FinalTrain, r.TrainedOn)
	require.Equal(t, r.LowerLevel, r.Refit)
	_, err := tune.VFiDCA(context.Background(), m, tune.Config{Final: "some"})
	require.ErrorContains(t, err, `unknown final rows "some"; known are: train, all`)
}

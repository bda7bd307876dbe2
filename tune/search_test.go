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
	"gonum.org/v1/gonum/mat"

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

func sample(t testing.TB) *dataset.Split {
	return must.Of(input.ReadDir("../problems/regression/testdata/elasticnet/small"))(t)
}

// descend minimises 1/(2n) |y - Xb|^2 + sum_j lambda1_j |b_j| + lambda2/2 |b|^2 one coordinate after the other.
func descend(d *dataset.Data, lambda1 func(j int) float64, lambda2 float64) []float64 {
	n, p := d.Dims()
	b, r := make([]float64, p), slices.Clone(d.Y)
	for range 20000 {
		moved := 0.0
		for j := range p {
			x := mat.Col(nil, j, d.X)
			rho, norm := 0.0, 0.0
			for i, v := range x {
				rho += v * (r[i] + v*b[j]) / float64(n)
				norm += v * v / float64(n)
			}
			next := math.Copysign(math.Max(0, math.Abs(rho)-lambda1(j)), rho) / (norm + lambda2)
			for i, v := range x {
				r[i] -= v * (next - b[j])
			}
			moved = math.Max(moved, math.Abs(next-b[j]))
			b[j] = next
		}
		if moved < 1e-11 {
			break
		}
	}
	return b
}

func halfMeanSquare(d *dataset.Data, b []float64) float64 {
	sum := 0.0
	for i, y := range d.Y {
		e := y - mat.Dot(d.Dense().RowView(i), mat.NewVecDense(len(b), b))
		sum += e * e
	}
	return sum / (2 * float64(len(d.Y)))
}

// All points of a grid, against coordinate descent.
func TestGridAgainstCoordinateDescent(t *testing.T) {
	s := sample(t)
	r := must.Of(tune.Run(context.Background(), model(t, regression.Options{}), tune.Config{
		Method: tune.MethodGrid, Evaluations: 9,
		Ranges: []tune.Range{{Axis: "lambda1", Low: 0.01, High: 1}, {Axis: "lambda2", Low: 0.1, High: 10}},
	}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.Equal(t, 9, r.Iterations)
	require.Len(t, r.Trace, 9)
	k, least := 0, math.Inf(1)
	for _, lambda2 := range []float64{10, 1, 0.1} {
		for _, lambda1 := range []float64{1, 0.1, 0.01} {
			e := r.Trace[k]
			k++
			require.Equal(t, k, e.K)
			require.InEpsilonSlice(t, []float64{lambda1, lambda2}, e.Lambda, 1e-12)
			b := descend(s.Train, func(int) float64 { return lambda1 }, lambda2)
			require.InEpsilon(t, halfMeanSquare(s.Val, b), e.Refit.Validation, 1e-4)
			require.InEpsilon(t, halfMeanSquare(s.Test, b), *e.Refit.Test, 1e-4)
			least = math.Min(least, e.Refit.Validation)
			require.Equal(t, least, *e.Best)
		}
	}
	require.Equal(t, least, r.Refit.Validation)
	require.Equal(t, *r.LowerLevel, r.Errors)
	b := descend(s.Train, func(int) float64 { return r.Lambda[0] }, r.Lambda[1])
	norm1, norm2 := 0.0, 0.0
	for _, v := range b {
		norm1 += math.Abs(v)
		norm2 += v * v / 2
	}
	require.InEpsilon(t, norm1, r.Radii[0], 1e-4)
	require.InEpsilon(t, norm2, r.Radii[1], 1e-4)
}

// With a weight of its own for each feature, the points are those of the draws and the fits weighted lassos.
func TestEachAgainstCoordinateDescent(t *testing.T) {
	s := sample(t)
	m := must.Of(regression.WeightedLasso(s, regression.Options{}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodRandom, Evaluations: 5, Seed: 3,
		Scope: tune.ScopeEach}))(t)
	for _, e := range r.Trace {
		require.NotEqual(t, e.Lambda[0], e.Lambda[1])
		b := descend(s.Train, func(j int) float64 { return e.Lambda[j] }, 0)
		require.InEpsilon(t, halfMeanSquare(s.Val, b), e.Refit.Validation, 1e-3)
	}
	require.Len(t, r.Hyperparameters, len(m.Names()))
}

// plain are the parts of a result that must not change from run to run.
func plain(t *testing.T, r *tune.Result) string {
	c := *r
	c.TimeSeconds, c.SetupSeconds = 0, 0
	trace := slices.Clone(r.Trace)
	for i := range trace {
		trace[i].Elapsed = 0
		trace[i].SubSeconds, trace[i].LowerSeconds = 0, 0
	}
	raw := must.Of(json.Marshal([]any{c, c.RefitFit, trace, c.Selection}))(t)
	return string(raw)
}

// The same seed gives the same bytes with any number of workers, another seed others.
func TestWorkersDoNotMatter(t *testing.T) {
	for _, method := range tune.Methods() {
		run := func(workers int, seed int64) string {
			r, err := tune.Run(context.Background(), model(t, regression.Options{}), tune.Config{Method: method, Evaluations: 30,
				Workers: workers, Seed: seed, Preset: tune.PresetPaper})
			require.NoError(t, err)
			r.Seed = 0
			return plain(t, r)
		}
		one := run(1, 5)
		require.Equal(t, one, run(3, 5), method)
		require.Equal(t, one, run(0, 5), method)
		switch method {
		case tune.MethodRandom, tune.MethodTPE, tune.MethodTPE2, tune.MethodCMAES:
			require.NotEqual(t, one, run(1, 6), method)
		default:
			require.Equal(t, one, run(1, 6), method)
		}
	}
}

// Points lie between the bounds, whatever the method, and the axes that are given are met.
func TestRanges(t *testing.T) {
	for _, method := range []string{tune.MethodGrid, tune.MethodRandom, tune.MethodTPE, tune.MethodTPE2,
		tune.MethodCMAES} {
		r := must.Of(tune.Run(context.Background(), model(t, regression.Options{}), tune.Config{
			Method: method, Evaluations: 30, Ranges: []tune.Range{{Axis: "lambda2", Low: 0.5, High: 0.7},
				{Low: 0.01, High: 0.02}},
		}))(t)
		for _, e := range r.Trace {
			require.GreaterOrEqual(t, e.Lambda[0], 0.01*(1-1e-12))
			require.LessOrEqual(t, e.Lambda[0], 0.02*(1+1e-12))
			require.GreaterOrEqual(t, e.Lambda[1], 0.5*(1-1e-12))
			require.LessOrEqual(t, e.Lambda[1], 0.7*(1+1e-12))
		}
	}
	paper := must.Of(tune.Run(context.Background(), model(t, regression.Options{}), tune.Config{Method: tune.MethodGrid,
		Preset: tune.PresetPaper}))(t)
	require.Equal(t, 100, paper.Iterations)
	require.InEpsilonSlice(t, []float64{1e-2, 1e-2}, paper.Trace[0].Lambda, 1e-12)
	require.InEpsilonSlice(t, []float64{1e-5, 1e-5}, paper.Trace[99].Lambda, 1e-12)
}

// A chain goes on from what was selected: the start of vf-idca are the radii, a search is around the lambda.
func TestCompareChain(t *testing.T) {
	m := model(t, regression.Options{})
	c := tune.Config{Evaluations: 25, Seed: 1}
	alone := must.Of(tune.Compare(context.Background(), m, []string{tune.MethodGrid, tune.MethodVFiDCA}, false, c))(t)
	chained, err := tune.Compare(context.Background(), m, []string{tune.MethodGrid, tune.MethodVFiDCA, tune.MethodRandom},
		true, c)
	require.NoError(t, err)
	require.Equal(t, plain(t, alone[0]), plain(t, chained[0]))
	require.LessOrEqual(t, chained[1].Refit.Validation, chained[0].Refit.Validation*(1+1e-6))
	require.NotEqual(t, alone[1].Trace[0].H, chained[1].Trace[0].H)
	for _, e := range chained[2].Trace {
		for j, l := range e.Lambda {
			if from := chained[1].Lambda[j]; from > 0 {
				require.InDelta(t, 0, math.Log10(l/from), 2)
			}
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = func(tune.Event) { cancel() }
	stopped := must.Of(tune.Compare(ctx, m, []string{tune.MethodGrid, tune.MethodVFiDCA}, false, c))(t)
	require.Len(t, stopped, 1)
	require.Equal(t, outcome.Cancelled, stopped[0].Status)
	_, err = tune.Compare(context.Background(), m, nil, false, c)
	require.Error(t, err)
}

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

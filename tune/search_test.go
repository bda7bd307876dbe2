package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
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

// labelled is a table of two classes, with folds.
func labelled(t testing.TB, n, p int) *dataset.CrossValidation {
	rng := rand.New(rand.NewPCG(4, 9))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Target: "y"}
	for j := range p {
		d.Features = append(d.Features, fmt.Sprintf("f%d", j+1))
	}
	for i := range n {
		y := float64(2*(i%2) - 1)
		for j := range p {
			d.Dense().Set(i, j, rng.NormFloat64()+y/float64(1+j))
		}
		d.Y = append(d.Y, y)
	}
	return must.Of(dataset.CrossValidate(d, 3, 1, nil))(t)
}

// stopModels are models of all kinds: with and without folds, with ladders.
func stopModels(t testing.TB) map[string]problems.Model {
	cv := labelled(t, 45, 6)
	cv.Test = cv.Data
	out := map[string]problems.Model{}
	out["svm"] = must.Of(svm.New(cv, svm.Options{}))(t)
	out["elastic net, folds"] = must.Of(regression.ElasticNet(cv, regression.Options{Intercept: true}))(t)
	out["elastic net"] = model(t, regression.Options{Intercept: true, Standardize: true})
	out["weighted lasso"] = must.Of(regression.WeightedLasso(sample(t), regression.Options{Intercept: true}))(t)
	out["logistic"] = must.Of(regression.Logistic(cv, regression.Options{Intercept: true}))(t)
	return out
}

// Wherever a run is stopped, what it returns is consistent: the refit's validation error is that of the selection, its
// coefficients are finite, some of the runs of VF-iDCA that are stopped leave a model, and what is not called cancelled
// is complete.
func TestStoppedAnywhere(t *testing.T) {
	for name, m := range stopModels(t) {
		for _, c := range []tune.Config{{}, {MaxIter: 9}, {Method: "tpe", Evaluations: 6}, {Method: "hoag"}} {
			at := fmt.Sprintf("%s by %s %d", name, c.Method, c.MaxIter)
			models := 0
			whole := must.Of(tune.Run(context.Background(), m, c))(t)
			for n := 1; ; n += 1 + n/4 + n*n/100 {
				ctx := stoptest.After(n)
				r, err := tune.Run(ctx, m, c)
				require.NoError(t, err, at)
				requireValid(t, r)
				if r.Refit != nil {
					models++
					require.True(t, r.RefitFit.Finite(), at)
					require.NotNil(t, r.Selection, at)
					require.InDelta(t, m.Evaluate(r.Selection.X).Validation, r.Refit.Validation, 1e-12, at)
					require.Contains(t, []string{tune.FinalTrain, tune.FinalAll, tune.FinalFolds}, r.TrainedOn)
				}
				if ctx.Looks() <= n {
					require.NotNil(t, r.Refit, at)
					break
				}
				if r.Status != outcome.Cancelled { // then it was complete
					require.Equal(t, whole.Status, r.Status, "%s after %d polls: %s", at, n, r.Message)
					require.Equal(t, whole.RefitFit, r.RefitFit)
				}
			}
			if c.Method == "" { // searches: TestStoppedAtEvents
				require.Greater(t, models, 1, "%s: no model from a run that was stopped", at)
			}
		}
	}
}

// Stopped at any line of its trace, a run keeps the best point of those before.
func TestStoppedAtEvents(t *testing.T) {
	for name, m := range stopModels(t) {
		for _, method := range []string{"vf-idca", "grid", "random", "tpe", "cma-es", "igjo", "hoag"} {
			for stop := 1; stop < 5; stop++ {
				ctx, cancel := context.WithCancel(context.Background())
				seen := 0
				r, err := tune.Run(ctx, m, tune.Config{Method: method, Evaluations: 8, Workers: 1, Progress: func(tune.Event) {
					if seen++; seen == stop {
						cancel()
					}
				}})
				require.NoError(t, err)
				requireValid(t, r)
				at := fmt.Sprintf("%s by %s after %d", name, method, stop)
				require.NotNil(t, r.Refit, at)
				require.True(t, r.RefitFit.Finite(), at)
				require.InDelta(t, m.Evaluate(r.Selection.X).Validation, r.Refit.Validation, 1e-12, at)
				if seen < stop {
					break
				}
				require.Equal(t, outcome.Cancelled, r.Status, at)
				cancel()
			}
		}
	}
}

// A deadline of the caller's context is a time limit, as that of the configuration is.
func TestDeadline(t *testing.T) {
	ctx, end := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer end()
	for _, method := range tune.Methods() {
		for limit, ctx := range map[time.Duration]context.Context{0: ctx, time.Nanosecond: context.Background()} {
			r := must.Of(tune.Run(ctx, model(t, regression.Options{}), tune.Config{Method: method, TimeLimit: limit}))(t)
			require.Equal(t, outcome.TimeLimit, r.Status, method)
			require.Nil(t, r.Refit)
			must.Of(json.Marshal(r))(t)
		}
	}
}

// trained is a model of folds whose final training is another one.
type trained struct {
	*regression.Model
	train func(ctx context.Context) (problems.Fit, *float64, error)
}

func (m trained) Advice() problems.Advice {
	a := m.Model.Advice()
	a.Retrain = func(ctx context.Context, _ problems.Solver, _ []float64) (problems.Fit, *float64, error) {
		return m.train(ctx)
	}
	a.RetrainWeighted = a.Retrain
	return a
}

// After a stop the final training is made if it is fast. One that is not is not waited for: the mean of the folds' fits
// is the model.
func TestFinalTrainingAfterAStop(t *testing.T) {
	cv := labelled(t, 45, 6)
	cv.Test = cv.Data
	net := must.Of(regression.ElasticNet(cv, regression.Options{Intercept: true}))(t)
	for _, method := range []string{"vf-idca", "grid"} {
		for _, limit := range []bool{false, true} {
			run := func(train func(ctx context.Context) (problems.Fit, *float64, error)) *tune.Result {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				c := tune.Config{Method: method, Progress: func(tune.Event) { cancel() }}
				if limit {
					var end context.CancelFunc
					ctx, end = context.WithCancel(context.Background())
					defer end()
					c.TimeLimit = time.Hour
					c.Progress = nil
					c.MaxIter, c.Evaluations = 2, 4
				}
				return must.Of(tune.Run(ctx, trained{net, train}, c))(t)
			}
			var r *tune.Result
			for range 50 { // a busy machine may have no turn for it within its time
				r = run(func(ctx context.Context) (problems.Fit, *float64, error) {
					return problems.Fit{Coefficients: []float64{1, 2, 3, 4, 5, 6}}, nil, ctx.Err()
				})
				if r.TrainedOn == tune.FinalAll {
					break
				}
			}
			require.Equal(t, tune.FinalAll, r.TrainedOn)
			require.Nil(t, r.LowerLevel)
			require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, r.RefitFit.Coefficients)
			if limit {
				require.NotEqual(t, outcome.TimeLimit, r.Status)
				continue // an hour is not waited for
			}
			require.Equal(t, outcome.Cancelled, r.Status)

			forever := make(chan struct{})
			r = run(func(context.Context) (problems.Fit, *float64, error) { <-forever; return problems.Fit{}, nil, nil })
			close(forever)
			require.Equal(t, outcome.Cancelled, r.Status)
			require.Equal(t, tune.FinalFolds, r.TrainedOn)
			require.Contains(t, r.Message, "mean of the folds' fits")
			require.Equal(t, net.Fit(r.Selection.X), r.RefitFit)
			require.InDelta(t, halfMeanSquareOf(cv.Data, r.RefitFit), *r.Refit.Test, 1e-12)
		}
	}
}

func halfMeanSquareOf(d *dataset.Data, f problems.Fit) float64 {
	sum := 0.0
	for i, y := range d.Y {
		e := y - f.Value(d.Dense().RawRowView(i))
		sum += e * e
	}
	return sum / (2 * float64(len(d.Y)))
}

// How a final training ended is how the run ends, whatever was reached before: one that missed its tolerances is not
// called converged, and one that was cancelled, or that its deadline stopped before the timer of the context has had a
// turn, as on a busy machine, leaves the mean of the folds' fits.
func TestHowTheFinalTrainingEnds(t *testing.T) {
	net := must.Of(regression.ElasticNet(labelled(t, 45, 6), regression.Options{Intercept: true}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		train   func(ctx context.Context) (problems.Fit, error)
		status  outcome.Stop
		on      string
		message string
	}{
		{func(context.Context) (problems.Fit, error) { return problems.Fit{}, nil }, outcome.Converged, tune.FinalAll, ""},
		{func(context.Context) (problems.Fit, error) { return problems.Fit{Inaccurate: true}, nil }, dca.Inaccurate,
			tune.FinalAll, "missed its tolerances"},
		{func(context.Context) (problems.Fit, error) {
			return problems.Fit{}, &problems.TrainingError{Status: backends.TimeLimit}
		}, outcome.TimeLimit, tune.FinalFolds, "mean of the folds' fits"},
		{func(context.Context) (problems.Fit, error) {
			return problems.Fit{}, &problems.TrainingError{Status: backends.Cancelled}
		}, outcome.Cancelled, tune.FinalFolds, "mean of the folds' fits"},
		{func(ctx context.Context) (problems.Fit, error) {
			cancel()
			<-ctx.Done()
			return problems.Fit{}, ctx.Err()
		}, outcome.Cancelled, tune.FinalFolds, "mean of the folds' fits"},
	} {
		r := must.Of(tune.Run(ctx, trained{net, func(ctx context.Context) (problems.Fit, *float64, error) {
			fit, err := c.train(ctx)
			fit.Coefficients = make([]float64, 6)
			return fit, nil, err
		}}, tune.Config{Method: tune.MethodGrid, Evaluations: 4}))(t)
		require.Equal(t, c.status, r.Status)
		require.NotNil(t, r.Refit)
		require.Equal(t, c.on, r.TrainedOn)
		require.Contains(t, r.Message, c.message)
		require.Equal(t, c.status == dca.Inaccurate, strings.Contains(r.Message, "missed its tolerances"))
	}
}

// blocked is a model whose fit is never made.
type blocked struct {
	*regression.Model
	begun func()
	wait  chan struct{}
}

func (m blocked) Advice() problems.Advice {
	a := m.Model.Advice()
	a.Fit = func() (lower.Fit, error) {
		m.begun()
		<-m.wait
		return nil, nil
	}
	return a
}

// A run does not wait for a fit that is being made when its context ends, and has nothing then.
func TestStoppedWhileAFitIsMade(t *testing.T) {
	wait := make(chan struct{})
	defer close(wait)
	for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodTPE, tune.MethodHOAG} {
		ctx, cancel := context.WithCancel(context.Background())
		m := blocked{model(t, regression.Options{}), cancel, wait}
		r, err := tune.Run(ctx, m, tune.Config{Method: method})
		require.NoError(t, err, method)
		require.Equal(t, outcome.Cancelled, r.Status, method)
		require.Nil(t, r.Refit, method)
		require.Empty(t, r.Trace, method)
	}
}

package regression_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// outliers are normal data in which every tenth target of the training and validation rows is far off.
func outliers() *dataset.Split {
	s := modeltest.Split(1, 60, 40, 200, []float64{3, -2, 0, 0, 1, 0, 0, 0, 0, 0}, 0.5)
	for _, d := range []*dataset.Data{s.Train, s.Val} {
		for i := range d.Y {
			if i%10 == 3 {
				d.Y[i] += 60
			}
		}
	}
	return s
}

// The threshold is half the spread of the targets times 1.345: medians of 1 and of deviations 0 1 1 1 2 3 399.
func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want float64
	}{{[]float64{-2, 0, 0, 1, 2, 3, 400}, 1.345 / 0.6745 / 2}, {[]float64{5, 5, 5, 9}, 1}, {[]float64{5}, 1}} {
		d := &dataset.Data{X: mat.NewDense(len(c.y), 1, nil), Y: c.y, Features: []string{"a"}}
		m := must.Of(regression.Huber(&dataset.Split{Train: d, Val: d}, options{}))(t)
		require.InDelta(t, c.want, m.Options().Threshold, 1e-12)
	}
}

// On this table a subproblem that began at the end of the last one had nothing left of mu, and a residual that fell by
// a hundredth in ten iterations: where a warm start gets on so slowly, another start has to follow.
func TestWarmStartThatStalls(t *testing.T) {
	d := must.Of(input.ReadFile("testdata/huber.csv", "y"))(t)
	folds := must.Of(split.By{}.Folds(len(d.Y), 3, 3, 1, nil))(t)
	cv := &dataset.CrossValidation{Data: d, Folds: folds}
	m := must.Of(regression.Huber(cv, options{Standardize: true, Intercept: true}))(t)
	r := must.Of(tune.Run(t.Context(), m, tune.Config{MaxIter: 200}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.Empty(t, r.Message)
}

// offset gives the rows of a cross-validation an offset.
func offset(t *testing.T) *dataset.CrossValidation {
	cv, _ := counted(t)
	for _, d := range []*dataset.Data{cv.Data, cv.Test} {
		d.Offset = make([]float64, len(d.Y))
		for i := range d.Offset {
			d.Offset[i] = float64(i%7) - 2.5
		}
	}
	return cv
}

func TestOffsetRefused(t *testing.T) {
	cv := offset(t)
	_, err := regression.Multinomial(classified(cv, 3), options{})
	require.ErrorContains(t, err, "rows with an offset")
	_, err = svm.New(classified(cv, 2).(*dataset.CrossValidation), svm.Options{})
	require.ErrorContains(t, err, "rows with an offset")
	cv.Data.Offset = cv.Data.Offset[1:]
	_, err = regression.ElasticNet(cv, options{})
	require.ErrorContains(t, err, "entries of the offset")
}

// ships are the damage incidents of McCullagh and Nelder, Generalized Linear Models (1989), table 6.2: type, year of
// construction, period of operation, months of service and incidents.
var ships = [][5]float64{
	{1, 60, 60, 127, 0}, {1, 60, 75, 63, 0}, {1, 65, 60, 1095, 3}, {1, 65, 75, 1095, 4}, {1, 70, 60, 1512, 6},
	{1, 70, 75, 3353, 18}, {1, 75, 75, 2244, 11},
	{2, 60, 60, 44882, 39}, {2, 60, 75, 17176, 29}, {2, 65, 60, 28609, 58}, {2, 65, 75, 20370, 53}, {2, 70, 60, 7064, 12},
	{2, 70, 75, 13099, 44}, {2, 75, 75, 7117, 18},
	{3, 60, 60, 1179, 1}, {3, 60, 75, 552, 1}, {3, 65, 60, 781, 0}, {3, 65, 75, 676, 1}, {3, 70, 60, 783, 6},
	{3, 70, 75, 1948, 2}, {3, 75, 75, 274, 1},
	{4, 60, 60, 251, 0}, {4, 60, 75, 105, 0}, {4, 65, 60, 288, 0}, {4, 65, 75, 192, 0}, {4, 70, 60, 349, 2},
	{4, 70, 75, 1208, 11}, {4, 75, 75, 2051, 4},
	{5, 60, 60, 45, 0}, {5, 65, 60, 789, 7}, {5, 65, 75, 437, 7}, {5, 70, 60, 1157, 5}, {5, 70, 75, 2161, 12},
	{5, 75, 75, 542, 1},
}

// shipData have the logarithm of the months of service as offset.
func shipData() *dataset.Data {
	d := &dataset.Data{Target: "incidents", Features: []string{"B", "C", "D", "E", "65", "70", "75", "period 75"}}
	x := mat.NewDense(len(ships), 8, nil)
	for i, s := range ships {
		for j, is := range []bool{s[0] == 2, s[0] == 3, s[0] == 4, s[0] == 5, s[1] == 65, s[1] == 70, s[1] == 75,
			s[2] == 75} {
			if is {
				x.Set(i, j, 1)
			}
		}
		d.Y, d.Offset = append(d.Y, s[4]), append(d.Offset, math.Log(s[3]))
	}
	d.X = x
	return d
}

// TestShips: almost without a penalty the fit has the estimates of the table's log-linear model with the log of the
// months of service as offset (section 6.3.2 there).
func TestShips(t *testing.T) {
	want := []float64{-0.54334, -0.68740, -0.07596, 0.32558, 0.69714, 0.81843, 0.45343, 0.38447}
	d := shipData()
	m := must.Of(regression.Poisson(&dataset.Split{Train: d, Val: d}, options{Intercept: true}))(t)
	fit := must.Of(m.Penalised())(t)
	pt := must.Of(fit.Solve(context.Background(), []float64{0, 1e-8}, 1e-14, nil))(t)
	require.InDeltaSlice(t, want, pt.X[0], 2e-5)
	require.InDelta(t, -6.40590, pt.X[1][0], 2e-5)
	require.InDelta(t, 38.69505/2/34, m.Evaluate(pt.X).Validation, 1e-6) // the deviance published with it
	require.InEpsilon(t, m.Evaluate(pt.X).Validation, pt.Validation, 1e-9)
}

// TestOffsetByConicPrograms: both engines and the errors know the offset, and a constant one goes into the intercept.
func TestOffsetByConicPrograms(t *testing.T) {
	run := func(change func(d *dataset.Data), c tune.Config) *tune.Result {
		d := shipData()
		change(d)
		cv := must.Of(dataset.CrossValidate(d, 2, 1, nil))(t)
		m := must.Of(regression.Poisson(cv, options{Standardize: true, Intercept: true}))(t)
		c.Method, c.Evaluations, c.Ranges = tune.MethodGrid, 4, []tune.Range{{Low: 0.01, High: 0.3}}
		return must.Of(tune.Run(context.Background(), m, c))(t)
	}
	fast := run(func(*dataset.Data) {}, tune.Config{})
	// coefficients are known to the root of it
	conic := run(func(*dataset.Data) {}, tune.Config{Engine: tune.EngineConic, Eps: 1e-11})
	require.InEpsilon(t, fast.Refit.Validation, conic.Refit.Validation, 1e-5)
	require.InDeltaSlice(t, fast.RefitFit.Coefficients, conic.RefitFit.Coefficients, 1e-3)
	shifted := run(func(d *dataset.Data) {
		for i := range d.Offset {
			d.Offset[i] += 2
		}
	}, tune.Config{})
	require.InDeltaSlice(t, fast.RefitFit.Coefficients, shifted.RefitFit.Coefficients, 1e-5)
	require.InDelta(t, fast.RefitFit.Intercept-2, shifted.RefitFit.Intercept, 1e-5)
	constant := run(func(d *dataset.Data) {
		for i := range d.Offset {
			d.Offset[i] = 1
		}
	}, tune.Config{})
	none := run(func(d *dataset.Data) { d.Offset = nil }, tune.Config{})
	require.InDeltaSlice(t, none.RefitFit.Coefficients, constant.RefitFit.Coefficients, 1e-5)
	require.InDelta(t, none.RefitFit.Intercept-1, constant.RefitFit.Intercept, 1e-5)
	require.Greater(t, none.Refit.Validation, 1.2*fast.Refit.Validation) // exposures differ by a factor of a thousand
}

// separable are rows whose labels the first of four features tells apart.
func separable(rng *rand.Rand, n int) *dataset.Data {
	x, y := mat.NewDense(n, 4, nil), make([]float64, n)
	for i := range y {
		y[i] = float64(2*(i%2) - 1)
		x.SetRow(i, []float64{y[i] + rng.NormFloat64()/4, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
	}
	return &dataset.Data{X: x, Y: y, Features: []string{"a", "b", "c", "d"}}
}

// Where the rows of each fold tell the labels apart, the selected weights are small, but not below eight decades of the
// largest of interest, |X'y|_max / (2n), rows that the model has not seen have small errors, and smaller ones than with
// the weights within four decades of it. Iterations are made where they are asked for.
func TestSeparableFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	table := separable(rng, 60)
	cv := must.Of(dataset.CrossValidate(table, 5, 1, nil))(t)
	cv.Test = separable(rng, 2000)
	m := must.Of(regression.Logistic(cv, options{Intercept: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	require.False(t, r.Trace[0].Iterates())
	top := 0.0
	for j := range 4 {
		top = math.Max(top, math.Abs(floats.Dot(mat.Col(nil, j, table.X), table.Y))/120)
	}
	require.Greater(t, math.Max(r.Lambda[0], r.Lambda[1]), 1e-8*top)
	require.Less(t, *r.Refit.Test, 0.005)
	for e := 0.0; e >= -4; e-- {
		l := top * math.Pow(10, e)
		_, test, err := m.Advice().RetrainWeighted(context.Background(), problems.Solver{Backend: native(t), Fits: true},
			[]float64{l, l})
		require.NoError(t, err)
		require.Greater(t, *test, *r.Refit.Test, "lambda %g", l)
	}
	iterated := must.Of(tune.Run(context.Background(), m, tune.Config{MaxIter: 1}))(t)
	require.True(t, iterated.Trace[0].Iterates())
}

// Where labels are drawn with the probabilities of a model, and no features tell them apart, the weights are not next
// to nothing, and no pair of weights of a grid over six decades has an error of the folds that is smaller by more than
// a thousandth.
func TestFarDownOnNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	x, y := mat.NewDense(60, 6, nil), make([]float64, 60)
	for i := range y {
		for j := range 6 {
			x.Set(i, j, rng.NormFloat64())
		}
		y[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-x.At(i, 0))) {
			y[i] = 1
		}
	}
	cv, err := dataset.CrossValidate(&dataset.Data{X: x, Y: y, Features: []string{"a", "b", "c", "d", "e", "f"}}, 5, 1,
		nil)
	require.NoError(t, err)
	m := must.Of(regression.Logistic(cv, options{Intercept: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	grid := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Engine: tune.EngineConic,
		Evaluations: 16, Ranges: []tune.Range{{Low: 1e-6, High: 1}}}))(t)
	require.Less(t, r.Refit.Validation, grid.Refit.Validation*(1+1e-3))
	require.Greater(t, r.Lambda[0]+r.Lambda[1], 1e-3)
}

// The ranges of searches go down as far as the errors of folds fall: where features tell the labels apart, to weights
// below those of the path, with smaller errors of further rows than there.
func TestSeparableRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	table := separable(rng, 60)
	cv := must.Of(dataset.CrossValidate(table, 5, 1, nil))(t)
	m := must.Of(regression.Logistic(cv, options{Intercept: true}))(t)
	least := math.Inf(1)
	for _, lambda := range m.Program().Path {
		least = min(least, floats.Max(lambda))
	}
	for _, method := range []string{tune.MethodGrid, tune.MethodTPE} {
		r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 16, Seed: 1}))(t)
		require.Less(t, floats.Max(r.Lambda), least/5, method)
		within := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 16, Seed: 1,
			Ranges: []tune.Range{{Low: least, High: 1}}}))(t)
		require.Less(t, r.Refit.Validation, within.Refit.Validation/2, method)
	}
}

// A feature with a factor beyond all measure is left out: the coefficient is 0, the others are those of the table
// without it, and no program has that number in it.
func TestExcludedFeatures(t *testing.T) {
	s := modeltest.Split(3, 60, 40, 50, []float64{2, -1, 0.5, 0}, 1)
	without := &dataset.Split{}
	for _, part := range []struct {
		from *dataset.Data
		to   **dataset.Data
	}{{s.Train, &without.Train}, {s.Val, &without.Val}, {s.Test, &without.Test}} {
		x := part.from.Dense()
		n, _ := x.Dims()
		*part.to = &dataset.Data{X: x.Slice(0, n, 1, 4), Y: part.from.Y, Features: part.from.Features[1:],
			Target: part.from.Target}
	}
	factors := func(first ...float64) regression.Terms { return regression.Terms{Factors: append(first, 1, 2, 1)} }
	for name, build := range some(t, "elastic-net", "lasso", "ridge") {
		for _, c := range []tune.Config{{Method: "vf-idca"}, {Method: "grid", Evaluations: 9},
			{Method: "grid", Evaluations: 4, Engine: tune.EngineConic}, {Method: "vf-idca", Engine: tune.EngineConic}} {
			if c.Method == "grid" {
				c.Ranges = []tune.Range{{Low: 1e-3, High: 1}}
			}
			var fits []problems.Fit
			for _, of := range []struct {
				s     *dataset.Split
				terms regression.Terms
			}{{s, factors(1e12)}, {without, factors()}} {
				m := must.Of(build(of.s, options{Intercept: true, Terms: of.terms}))(t)
				r := must.Of(tune.Run(context.Background(), m, c))(t)
				require.Equal(t, outcome.Converged, r.Status, "%s %s: %s", name, c.Method, r.Message)
				fits = append(fits, r.RefitFit)
			}
			require.InDelta(t, 0, fits[0].Coefficients[0], 1e-9, name)
			require.InDeltaSlice(t, fits[1].Coefficients, fits[0].Coefficients[1:], 2e-2, "%s %s", name, c.Method)
		}
	}
}

// pairs is the sparse group lasso with the loss 1/2 |b - a|^2, in groups of two features.
func pairs(t *testing.T, a []float64) *regression.Model {
	g := must.Of(groups.Equal(len(a), len(a)/2))(t)
	d := orthogonal(a...)
	return must.Of(regression.SparseGroupLasso(&dataset.Split{Train: d, Val: d}, options{Groups: g}))(t)
}

// shrunk is the solution: the values, shrunk by the weight of the 1-norm, and then the groups.
func shrunk(a, lambda []float64) []float64 {
	b, l1 := make([]float64, len(a)), lambda[len(lambda)-1]
	for j, v := range a {
		b[j] = soft(v, l1)
	}
	for g, w := range lambda[:len(lambda)-1] {
		pair := b[2*g : 2*g+2]
		factor := 0.0
		if size := math.Hypot(pair[0], pair[1]); size > w {
			factor = 1 - w/size
		}
		pair[0], pair[1] = factor*pair[0], factor*pair[1]
	}
	return b
}

// A weight of 3e12, which a search may walk to, leaves those beside it as they are: in the final training, by the
// fit and by conic programs.
func TestOneLargeWeight(t *testing.T) {
	ctx := context.Background()
	a := []float64{3, -2, 1, 4, -2, 0.5, 2, 2}
	m := pairs(t, a)
	for _, lambda := range [][]float64{{3e12, 1, 0.5, 0.25, 0.1}, {3e12, 1, 0, 1e-9, 0.1}, {3e12, 1e12, 3, 1e-12, 1e-3}} {
		want := shrunk(a, lambda)
		fit := must.First(m.Advice().RetrainWeighted(ctx, problems.Solver{Backend: native(t), Fits: true}, lambda))(t)
		require.InDeltaSlice(t, want, fit.Coefficients, 1e-5)
		form := must.Of(dca.NewPenalized(m.Program(), dca.Settings{Backend: native(t)}))(t)
		s := must.Of(form.Solve(ctx, lower.Positive(lambda), nil))(t)
		require.InDeltaSlice(t, want, s.X[0], 1e-4)
	}
}

// Conic programs with weights of 24 decades have the solution, or say that they have not.
func TestConicWeightsOfManyScales(t *testing.T) {
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		a, lambda := make([]float64, 8), make([]float64, 5)
		for j := range a {
			a[j] = 2 * rng.NormFloat64()
		}
		for j := range lambda {
			lambda[j] = math.Pow(10, 24*rng.Float64()-12)
		}
		lambda[4] = math.Min(lambda[4], 1)
		form := must.Of(dca.NewPenalized(pairs(t, a).Program(), dca.Settings{Backend: native(t)}))(t)
		s := must.Of(form.Solve(context.Background(), lambda, nil))(t)
		if s.Status == backends.Optimal {
			require.InDeltaSlice(t, shrunk(a, lambda), s.X[0], 1e-4, "seed %d", seed)
		}
	}
}

// A conic program that is stopped early leaves no model, one that says so, or the solution.
func TestTrainingSaysHowItEnded(t *testing.T) {
	a, lambda := []float64{3, -2, 1, 4, -2, 0.5, 2, 2}, []float64{4, 1, 0.5, 0.25, 0.1}
	m := pairs(t, a)
	inaccurate := 0
	for most := 1; most < 30; most++ {
		s := problems.Solver{Backend: native(t), Options: backends.Options{MaxIterations: most}}
		fit, err := problems.TrainWeighted(context.Background(), m.Program(), s, lambda, m.Fit)
		var failed *problems.TrainingError
		switch {
		case errors.As(err, &failed):
		case fit.Inaccurate:
			inaccurate++
		default:
			require.InDeltaSlice(t, shrunk(a, lambda), fit.Coefficients, 1e-4)
		}
	}
	require.Positive(t, inaccurate)
}

// A search along the hypergradient lets no weight grow beyond where its group is zero for certain, and the model
// that it ends with predicts: of these rows, one group's weight went to 1e11, and no coefficient was left in the
// final training.
func TestSearchKeepsWeights(t *testing.T) {
	c := must.Of(dataset.InGroups.Preset("300-100-100-p600-m30"))(t)
	split := must.First(dataset.Generate(c, 4))(t)
	g := must.Of(groups.Equal(c.Features, c.Groups))(t)
	m := must.Of(regression.SparseGroupLasso(split, options{Groups: g}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodIGJO}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	fit := must.Of(m.Penalised())(t)
	for _, w := range r.Lambda {
		require.LessOrEqual(t, w, lower.MostShare*fit.LambdaMax())
	}
	nothing := 0.0
	for _, y := range split.Test.Y {
		nothing += y * y / 2 / float64(len(split.Test.Y))
	}
	require.Less(t, *r.Refit.Test, nothing/3)
}

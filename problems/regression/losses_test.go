package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
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
	folds := must.Of(split.RandomFolds(len(d.Y), 3, 3, 1, nil))(t)
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

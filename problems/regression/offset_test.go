package regression_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

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

package matcomp_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
)

var (
	_ problems.Model = (*matcomp.Model)(nil)
)

func small(t testing.TB) *matcomp.Data {
	t.Helper()
	return must.Of(matcomp.ReadDir("testdata/small", 0))(t)
}

func newModel(t testing.TB, d *matcomp.Data, o matcomp.Options) *matcomp.Model {
	t.Helper()
	return must.Of(matcomp.New(d, o))(t)
}

// lower solves the lower level at the radii.
func lower(t testing.TB, m *matcomp.Model, radii []float64) *dca.Solution {
	t.Helper()
	b := must.Of(backends.Open("native"))(t)
	p := m.Program()
	p.H0 = radii
	low := must.Of(dca.LowerLevel(context.Background(), p, dca.Settings{Backend: b}))(t)
	require.Equal(t, backends.Optimal, low.Status)
	return low
}

// gradients are those of the training loss of the small data in theta, beta and Gamma, and the loss.
func gradients(d *matcomp.Data, x [][]float64) (theta, beta []float64, gamma *mat.Dense, loss float64) {
	p := len(d.Row.Names)
	theta, beta, gamma = make([]float64, p), make([]float64, len(x[0])-p), mat.NewDense(d.Rows, d.Cols, nil)
	n := float64(len(d.Train))
	for _, e := range d.Train {
		row, col := d.Row.X.RawRowView(e.Row), d.Col.X.RawRowView(e.Col)
		r := floats.Dot(row, x[0][:p]) + floats.Dot(col, x[0][p:]) + x[1][e.Row*d.Cols+e.Col] - e.Value
		loss += r * r / (2 * n)
		floats.AddScaled(theta, r/n, row)
		floats.AddScaled(beta, r/n, col)
		gamma.Set(e.Row, e.Col, r/n)
	}
	return theta, beta, gamma, loss
}

func singular(a mat.Matrix) []float64 {
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	return svd.Values(nil)
}

// The lower level meets its optimality conditions: with the gradients G of the loss,
//
//	|G|_2 <= lambda_0,  <G, Gamma> = -lambda_0 |Gamma|_*,  |Gamma|_* = r_0 where lambda_0 > 0,
//
// and the same with Euclidean norms for each group.
func TestLowerLevelIsOptimal(t *testing.T) {
	d := small(t)
	m := newModel(t, d, matcomp.Options{})
	for _, radii := range [][]float64{{3, .3, .2, .2, .1}, {8, 1, 5, .1, .1}, {1, .01, .02, .03, .04},
		{4, 1e-4, .5, 1e-4, .1}} {
		low := lower(t, m, radii)
		theta, beta, gamma, loss := gradients(d, low.X)
		require.InDelta(t, loss, low.Value, 1e-6)
		x := mat.NewDense(d.Rows, d.Cols, low.X[1])
		norm, inner := floats.Sum(singular(x)), 0.0
		for i := range d.Rows {
			inner += floats.Dot(gamma.RawRowView(i), x.RawRowView(i))
		}
		require.Positive(t, low.Lambda[0])
		require.InDelta(t, radii[0], norm, 1e-5)
		require.InDelta(t, singular(gamma)[0], low.Lambda[0], 1e-5)
		require.InDelta(t, -low.Lambda[0]*norm, inner, 1e-5)
		for s, side := range []struct {
			x, g   []float64
			groups [][]int
		}{{low.X[0][:len(theta)], theta, d.Row.Groups.Members}, {low.X[0][len(theta):], beta, d.Col.Groups.Members}} {
			for k, members := range side.groups {
				size, slope, inner := 0.0, 0.0, 0.0
				for _, j := range members {
					size, slope, inner = math.Hypot(size, side.x[j]), math.Hypot(slope, side.g[j]), inner+side.x[j]*side.g[j]
				}
				j := 1 + 2*s + k
				require.LessOrEqual(t, size, radii[j]+2e-6)
				if low.Lambda[j] < 1e-6 {
					require.Less(t, slope, 1e-5)
					continue
				}
				// At the radius 0 every larger number is a multiplier too; near 0, where VF-iDCA stays, only this one.
				require.InDelta(t, slope, low.Lambda[j], 1e-5, "group %d, radius %v", j, radii[j])
				require.InDelta(t, -low.Lambda[j]*size, inner, 1e-5)
			}
		}
	}
}

// The runs of an independent implementation in Python, see testdata/README.md.
func TestAgainstPython(t *testing.T) {
	raw := must.Of(os.ReadFile("testdata/small/vfidca_cvxpy.json"))(t)
	var runs []struct {
		R0         []float64   `json:"r0"`
		Tol        float64     `json:"tol"`
		Iterations int         `json:"iterations"`
		Validation float64     `json:"validation_error"`
		Test       float64     `json:"test_error"`
		Radii      []float64   `json:"radii"`
		Trace      [][]float64 `json:"trace"`
	}
	require.NoError(t, json.Unmarshal(raw, &runs))
	require.Len(t, runs, 3)
	for _, run := range runs {
		m := newModel(t, small(t), matcomp.Options{})
		s := m.PaperSettings()
		s.Tol, s.HoldZeros = run.Tol, false
		res := modeltest.Solve(t, m, s, run.R0...)
		require.Equal(t, outcome.Converged, res.Status)
		require.Equal(t, run.Iterations, res.Iterations)
		e := m.Evaluate(res.X)
		require.InDelta(t, run.Validation, e.Validation, 1e-5)
		require.InEpsilon(t, run.Test, *e.Test, 1e-3)
		require.InDeltaSlice(t, run.Radii, res.H, 2e-3)
		for k, want := range run.Trace {
			it := res.Trace[k]
			require.InDelta(t, want[0], it.UpperValue, 1e-4)
			require.Equal(t, want[2], it.Alpha)
			require.InDelta(t, want[3], it.Step, 1e-3*want[3]+1e-4)
			require.InDelta(t, want[4], it.T, 1e-4)
			if k > 0 { // theirs is the lower value at the start of the iteration
				require.InDelta(t, want[1], res.Trace[k-1].LowerValue, 1e-4)
			}
		}
	}
}

// Without features the model is Gamma alone, with an intercept Gamma plus a constant, whose gradient vanishes.
func TestWithoutFeatures(t *testing.T) {
	d := small(t)
	d.Row, d.Col = matcomp.Features{}, matcomp.Features{}
	m := newModel(t, d, matcomp.Options{Intercept: true})
	require.Equal(t, []string{"nuclear"}, m.Names())
	low := lower(t, m, []float64{3})
	require.Empty(t, low.X[0])
	g, sum, loss := mat.NewDense(d.Rows, d.Cols, nil), 0.0, 0.0
	for _, e := range d.Train {
		r := low.X[1][e.Row*d.Cols+e.Col] + low.X[2][0] - e.Value
		g.Set(e.Row, e.Col, r/float64(len(d.Train)))
		sum += r
		loss += r * r / float64(2*len(d.Train))
	}
	require.InDelta(t, 0, sum, 1e-4)
	require.InDelta(t, loss, low.Value, 1e-6)
	require.InDelta(t, singular(g)[0], low.Lambda[0], 1e-5)

	fit := m.Fit(low.X)
	require.Empty(t, fit.Coefficients)
	require.NotNil(t, fit.Matrix)
	for _, e := range d.Test {
		require.InDelta(t, low.X[1][e.Row*d.Cols+e.Col]+low.X[2][0], fit.Matrix.At(e.Row, e.Col), 1e-4)
	}
}

// Standardised, a model does not depend on the units of values and features.
func TestUnits(t *testing.T) {
	d := small(t)
	other := small(t)
	for _, list := range [][]matcomp.Entry{other.Train, other.Val, other.Test} {
		for k := range list {
			list[k].Value = 100 + 7*list[k].Value
		}
	}
	for i := range other.Rows {
		other.Row.X.Set(i, 1, 1000*other.Row.X.At(i, 1)-3)
	}
	o := matcomp.Options{Standardize: true, Intercept: true}
	m, changed := newModel(t, d, o), newModel(t, other, o)
	radii := []float64{3, .3, .2, .2, .1}
	one, two := lower(t, m, radii), lower(t, changed, radii)
	require.InDelta(t, one.Value, two.Value, 1e-7)
	a, b := m.Fit(one.X), changed.Fit(two.X)
	require.InDelta(t, 7*a.Coefficients[0], b.Coefficients[0], 1e-3)
	require.InDelta(t, 7*a.Coefficients[1], 1000*b.Coefficients[1], 1e-3)
	for i := range d.Rows {
		for j := range d.Cols {
			require.InDelta(t, 100+7*a.Matrix.At(i, j), b.Matrix.At(i, j), 1e-2)
		}
	}
	require.InEpsilon(t, 49*m.Evaluate(one.X).Validation, changed.Evaluate(two.X).Validation, 1e-4)
}

// Errors are half the mean squared error of the matrix that Fit returns.
func TestFitAndEvaluate(t *testing.T) {
	d := small(t)
	m := newModel(t, d, matcomp.Options{Standardize: true, Intercept: true})
	low := lower(t, m, []float64{5, .5, .5, .5, .5})
	fit, e := m.Fit(low.X), m.Evaluate(low.X)
	require.Equal(t, []string{"row:f1", "row:f2", "row:f3", "row:f4", "col:f1", "col:f2", "col:f3", "col:f4"},
		fit.Features)
	half := func(list []matcomp.Entry) float64 {
		sum := 0.0
		for _, e := range list {
			r := fit.Matrix.At(e.Row, e.Col) - e.Value
			sum += r * r / float64(2*len(list))
		}
		return sum
	}
	require.InDelta(t, half(d.Val), e.Validation, 1e-5)
	require.InDelta(t, half(d.Test), *e.Test, 1e-5)
	rows, cols := fit.Matrix.Dims()
	require.Equal(t, []int{d.Rows, d.Cols}, []int{rows, cols})
	d.Test = nil
	require.Nil(t, newModel(t, d, matcomp.Options{}).Evaluate(low.X[:2]).Test)
}

// The start of the path is where everything becomes zero, by the definition of the weights.
func TestPathStartsAtZero(t *testing.T) {
	d := small(t)
	m := newModel(t, d, matcomp.Options{})
	path := m.Program().Path
	require.NotEmpty(t, path)
	theta, beta, gamma, _ := gradients(d, [][]float64{make([]float64, 8), make([]float64, d.Rows*d.Cols)})
	group := 0.0
	for k := range 2 {
		for _, g := range [][]float64{theta, beta} {
			group = math.Max(group, math.Hypot(g[2*k], g[2*k+1]))
		}
	}
	share := path[0][0] / singular(gamma)[0]
	require.Less(t, share, 1.0)
	require.InEpsilon(t, share, path[0][1]/group, 1e-6)
	require.Len(t, path, 24)
	for k, lambda := range path {
		require.Equal(t, lambda[1], lambda[4])
		if k%8 > 0 {
			require.Less(t, lambda[0], path[k-1][0])
			require.Less(t, lambda[1], path[k-1][1])
		} else {
			require.Equal(t, path[0][0], lambda[0])
		}
	}
	require.InDeltaSlice(t, []float64{3, 1. / 3}, []float64{path[8][1] / path[0][1], path[16][1] / path[0][1]}, 1e-12)
	d.Row, d.Col = matcomp.Features{}, matcomp.Features{}
	require.Len(t, newModel(t, d, matcomp.Options{}).Program().Path, 8)
}

// Retraining at the same radii on entries of both sets solves the lower level for those.
func TestRetrain(t *testing.T) {
	d := small(t)
	m := newModel(t, d, matcomp.Options{})
	b := must.Of(backends.Open("native"))(t)
	radii := []float64{3, .3, .2, .2, .1}
	fit, test := must.Both(m.Advice().Retrain(context.Background(), problems.Solver{Backend: b, Fits: true}, radii))(t)
	require.NotNil(t, test)
	all := small(t)
	all.Train = append(append([]matcomp.Entry{}, d.Train...), d.Val...)
	all.Val = []matcomp.Entry{d.Test[0]}
	all.Test = d.Test[1:]
	want := newModel(t, all, matcomp.Options{})
	low := lower(t, want, radii)
	for j, c := range want.Fit(low.X).Coefficients {
		require.InDelta(t, c, fit.Coefficients[j], 1e-4)
	}
}

func TestBadData(t *testing.T) {
	for want, spoil := range map[string]func(*matcomp.Data){
		"no training entries":                             func(d *matcomp.Data) { d.Train = nil },
		"no validation entries":                           func(d *matcomp.Data) { d.Val = nil },
		"a matrix of 0 x 10":                              func(d *matcomp.Data) { d.Rows = 0 },
		"outside a matrix of 12 x 10 with indices from 0": func(d *matcomp.Data) { d.Val[2].Row = 12 },
		"is at (0, -1)":                                   func(d *matcomp.Data) { d.Test[0] = matcomp.Entry{Col: -1} },
		"is there twice":                                  func(d *matcomp.Data) { d.Val[0] = d.Train[0] },
		"is NaN, expected a finite":                       func(d *matcomp.Data) { d.Train[3].Value = math.NaN() },
		"features of 12 columns":                          func(d *matcomp.Data) { d.Col = d.Row },
		"3 names for 4 row features":                      func(d *matcomp.Data) { d.Row.Names = d.Row.Names[:3] },
		"groups of the row features": func(d *matcomp.Data) {
			d.Row.Groups = &groups.Groups{Names: []string{"a"}, Members: [][]int{{0, 1, 2}}}
		},
		"but no features":             func(d *matcomp.Data) { d.Row.X = nil },
		`feature "f2" of row 1 is +I`: func(d *matcomp.Data) { d.Row.X.Set(1, 1, math.Inf(1)) },
	} {
		d := small(t)
		spoil(d)
		_, err := matcomp.New(d, matcomp.Options{})
		require.ErrorContains(t, err, want)
	}
	_, err := matcomp.New(nil, matcomp.Options{})
	require.ErrorContains(t, err, "no data")
}

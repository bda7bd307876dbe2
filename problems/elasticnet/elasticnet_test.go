package elasticnet_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/table/input"
)

func solve(t *testing.T, m *elasticnet.Model, s dca.Settings) *dca.Result {
	t.Helper()
	var err error
	s.Backend, err = backends.Open("native")
	require.NoError(t, err)
	res, err := dca.Solve(context.Background(), m.Program(), s)
	require.NoError(t, err)
	return res
}

func small(t testing.TB) *dataset.Split {
	s, err := input.ReadDir("testdata/small")
	require.NoError(t, err)
	return s
}

// The runs of an independent implementation in Python, see testdata/README.md.
func TestAgainstPython(t *testing.T) {
	raw, err := os.ReadFile("testdata/small/vfidca_cvxpy.json")
	require.NoError(t, err)
	var runs []struct {
		Tol        float64   `json:"tol"`
		Iterations int       `json:"iterations"`
		Validation float64   `json:"validation_error"`
		Test       float64   `json:"test_error"`
		Radii      []float64 `json:"radii"`
		Lambda     []float64 `json:"lambda"`
		Refit      struct {
			Validation float64 `json:"validation_error"`
			Test       float64 `json:"test_error"`
		} `json:"refit"`
		Trace [][]float64 `json:"trace"`
	}
	require.NoError(t, json.Unmarshal(raw, &runs))
	require.Len(t, runs, 2)
	m, err := elasticnet.New(small(t), elasticnet.Options{})
	require.NoError(t, err)
	for _, run := range runs {
		s := m.PaperSettings()
		s.Tol = run.Tol
		res := solve(t, m, s)
		require.Equal(t, dca.Converged, res.Status)
		require.Equal(t, run.Iterations, res.Iterations)
		e := m.Evaluate(res.X)
		require.InEpsilon(t, run.Validation, e.Validation, 1e-3)
		require.InEpsilon(t, run.Test, *e.Test, 1e-3)
		require.InEpsilon(t, run.Validation, res.UpperValue, 1e-3)
		refit := m.Evaluate(res.Refit)
		require.InEpsilon(t, run.Refit.Validation, refit.Validation, 1e-3)
		require.InEpsilon(t, run.Refit.Test, *refit.Test, 1e-3)
		for j := range run.Radii {
			require.InEpsilon(t, run.Radii[j], res.H[j], 1e-3)
			require.InDelta(t, run.Lambda[j], res.Lambda[j], 1e-3)
		}
		for k, want := range run.Trace {
			it := res.Trace[k]
			require.InEpsilon(t, want[0], it.UpperValue, 1e-3)
			require.Equal(t, want[2], it.Alpha)
			require.InDelta(t, want[3], it.Step, 1e-4)
			require.InDelta(t, want[4], it.T, 1e-3)
			if k > 0 { // theirs is the lower value at the start of the iteration
				require.InEpsilon(t, want[1], res.Trace[k-1].LowerValue, 1e-3)
			}
		}
	}
}

// Every record keeps the promises of the method.
func TestRecords(t *testing.T) {
	m, err := elasticnet.New(small(t), elasticnet.Options{})
	require.NoError(t, err)
	s := m.PaperSettings()
	s.Tol = 1e-2
	res := solve(t, m, s)
	for i, it := range res.Trace {
		require.Less(t, it.Residual, 1e-7)
		require.LessOrEqual(t, it.TrainValue-it.LowerValue, it.T+1e-7)
		if i > 0 {
			require.LessOrEqual(t, it.Distance, it.Bound)
		}
		require.GreaterOrEqual(t, it.Lambda[0], 0.0)
		require.GreaterOrEqual(t, it.Lambda[1], 0.0)
	}
	require.Positive(t, res.Stats.Updates)
	require.LessOrEqual(t, res.Stats.Setups, 2+res.Iterations)
}

// The refit solves the penalised elastic net with the reported multipliers: its
// subgradient condition is checked entry by entry.
func TestLambdaIsThePenalty(t *testing.T) {
	split := small(t)
	m, err := elasticnet.New(split, elasticnet.Options{R0: []float64{6, 2}})
	require.NoError(t, err)
	s := m.PaperSettings()
	s.MaxIter = 1
	res := solve(t, m, s)
	b := res.Refit[0]
	n, p := split.Train.X.Dims()
	r := make([]float64, n)
	for i := range n {
		r[i] = mat.Dot(split.Train.Dense().RowView(i), mat.NewVecDense(p, b)) - split.Train.Y[i]
	}
	for j := range p {
		g := 0.0
		for i := range n {
			g += split.Train.X.At(i, j) * r[i] / float64(n)
		}
		g += res.Lambda[1] * b[j]
		if math.Abs(b[j]) > 1e-4 {
			require.InDelta(t, -res.Lambda[0]*math.Copysign(1, b[j]), g, 1e-4)
		} else {
			require.LessOrEqual(t, math.Abs(g), res.Lambda[0]+1e-4)
		}
	}
}

// With GapTol the iterate and the refit agree, and no tolerance of the plain method gets a
// lower validation value of the refit from the same start.
func TestGapTolerance(t *testing.T) {
	m, err := elasticnet.New(small(t), elasticnet.Options{})
	require.NoError(t, err)
	plain := m.PaperSettings()
	plain.Tol = 1e-3
	want := solve(t, m, plain)

	s := m.PaperSettings()
	s.GapTol = 1e-4
	res := solve(t, m, s)
	require.Equal(t, dca.Converged, res.Status)
	require.LessOrEqual(t, res.Gap, 1e-4)
	require.InEpsilon(t, res.RefitValue, res.UpperValue, 0.011)
	require.LessOrEqual(t, res.RefitValue, want.RefitValue*1.002)
	require.Less(t, res.Iterations, 40)
}

// Permuting rows and columns permutes the result.
func TestInvariance(t *testing.T) {
	split := small(t)
	turned := &dataset.Split{Train: reversed(split.Train), Val: reversed(split.Val), Test: reversed(split.Test)}
	a, err := elasticnet.New(split, elasticnet.Options{})
	require.NoError(t, err)
	b, err := elasticnet.New(turned, elasticnet.Options{})
	require.NoError(t, err)
	x, y := solve(t, a, a.PaperSettings()), solve(t, b, b.PaperSettings())
	require.Equal(t, x.Iterations, y.Iterations)
	require.InDeltaSlice(t, x.H, y.H, 1e-4)
	p := len(x.X[0])
	for j := range p {
		require.InDelta(t, x.X[0][j], y.X[0][p-1-j], 1e-4)
		require.InDelta(t, x.Refit[0][j], y.Refit[0][p-1-j], 1e-4)
	}
}

// reversed turns the order of rows and columns around.
func reversed(d *dataset.Data) *dataset.Data {
	n, p := d.Dims()
	out := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Features: d.Features, Target: d.Target}
	for i := range n {
		out.Y[i] = d.Y[n-1-i]
		for j := range p {
			out.Dense().Set(i, j, d.X.At(n-1-i, p-1-j))
		}
	}
	return out
}

// The same problem gives the same bytes.
func TestDeterminism(t *testing.T) {
	run := func() string {
		m, err := elasticnet.New(small(t), elasticnet.Options{})
		require.NoError(t, err)
		res := solve(t, m, m.DefaultSettings())
		out, err := json.Marshal([]any{res.X, res.H, res.Lambda, res.Refit, res.Gap, res.KKT, res.Iterations})
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, run(), run())
}

// Standardised with an intercept, the predictor does not depend on the units of the data.
func TestUnitsOfTheData(t *testing.T) {
	split := small(t)
	other := &dataset.Split{Train: scaled(split.Train), Val: scaled(split.Val), Test: scaled(split.Test)}
	o := elasticnet.Options{Intercept: true, Standardize: true}
	a, err := elasticnet.New(split, o)
	require.NoError(t, err)
	b, err := elasticnet.New(other, o)
	require.NoError(t, err)
	x, y := solve(t, a, a.DefaultSettings()), solve(t, b, b.DefaultSettings())
	require.Equal(t, dca.Converged, x.Status)
	f, g := a.Fit(x.Refit), b.Fit(y.Refit)
	for j, c := range f.Coefficients {
		require.InDelta(t, 100*c/float64(j+1), g.Coefficients[j], 1e-2)
	}
	require.InEpsilon(t, 1e4*a.Evaluate(x.Refit).Validation, b.Evaluate(y.Refit).Validation, 1e-4)
}

// scaled multiplies column j by j + 1 and shifts it, and the target by 100.
func scaled(d *dataset.Data) *dataset.Data {
	n, p := d.Dims()
	out := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Features: d.Features, Target: d.Target}
	for i := range n {
		out.Y[i] = 100*d.Y[i] + 5000
		for j := range p {
			out.Dense().Set(i, j, d.X.At(i, j)*float64(j+1)-30)
		}
	}
	return out
}

// Constant and duplicate columns, and a single row, are data like any other.
func TestAwkwardData(t *testing.T) {
	split := small(t)
	for _, d := range []*dataset.Data{split.Train, split.Val, split.Test} {
		n, _ := d.Dims()
		for i := range n {
			d.Dense().Set(i, 3, 2.5)
			d.Dense().Set(i, 5, d.X.At(i, 4))
		}
	}
	single := &dataset.Split{Train: split.Train.Rows([]int{0}), Val: split.Val}
	for _, s := range []*dataset.Split{split, single} {
		for _, o := range []elasticnet.Options{{}, {Intercept: true, Standardize: true}} {
			m, err := elasticnet.New(s, o)
			require.NoError(t, err)
			for _, set := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
				res := solve(t, m, set)
				if s != single {
					require.Equal(t, dca.Converged, res.Status, res.Message)
				} // else the lower level interpolates: any end will do that has a refit
				require.NotNil(t, res.Refit)
				f := m.Fit(res.Refit)
				require.InDelta(t, f.Coefficients[4], f.Coefficients[5], 1e-2)
			}
		}
	}
}

// Where the radii hold nothing back, the refit is the least-norm interpolation X'(XX')^-1 y.
func TestLeastNormRefit(t *testing.T) {
	split := small(t)
	split.Train = split.Train.Rows([]int{0, 1, 2, 3, 4})
	m, err := elasticnet.New(split, elasticnet.Options{R0: []float64{300, 300}})
	require.NoError(t, err)
	s := m.PaperSettings()
	s.MaxIter = 1
	res := solve(t, m, s)
	require.True(t, res.LeastNorm)
	var gram, coef, want mat.Dense
	x := split.Train.X
	gram.Mul(x, x.T())
	require.NoError(t, coef.Solve(&gram, mat.NewVecDense(5, split.Train.Y)))
	want.Mul(x.T(), &coef)
	for j, v := range res.Refit[0] {
		require.InDelta(t, want.At(j, 0), v, 1e-3)
	}
}

func TestBadOptions(t *testing.T) {
	for _, r0 := range [][]float64{{1, 2, 3}, {-1, 1}, {math.NaN(), 1}} {
		_, err := elasticnet.New(small(t), elasticnet.Options{R0: r0})
		require.Error(t, err)
	}
	_, err := elasticnet.New(&dataset.Split{}, elasticnet.Options{})
	require.Error(t, err)
}

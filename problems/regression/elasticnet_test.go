package regression_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

func small(t testing.TB) *dataset.Split {
	s, err := input.ReadDir("testdata/elasticnet/small")
	require.NoError(t, err)
	return s
}

// The runs of an independent implementation in Python, see testdata/README.md.
func TestElasticNetAgainstPython(t *testing.T) {
	within := modeltest.Within{Errors: 1e-3, Radii: 1e-3, Lambda: 1e-3, Trace: 1e-3, Step: 1e-4}
	modeltest.AgainstPython(t, "testdata/elasticnet/small", 2, within, func(float64) tune.Model {
		m, err := regression.ElasticNet(small(t), regression.Options{})
		require.NoError(t, err)
		return m
	})
}

// Every record keeps the promises of the method.
func TestRecords(t *testing.T) {
	m, err := regression.ElasticNet(small(t), regression.Options{})
	require.NoError(t, err)
	s := m.PaperSettings()
	s.Tol = 1e-2
	res := modeltest.Solve(t, m, s)
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

// The refit solves the penalised elastic net with the reported multipliers.
func TestElasticNetOptimality(t *testing.T) {
	split := small(t)
	m, err := regression.ElasticNet(split, regression.Options{R0: []float64{6, 2}})
	require.NoError(t, err)
	modeltest.ElasticOptimality(t, m, split.Train, false, func(y, f float64) float64 { return f - y })
}

// With GapTol the iterate and the refit agree, and no tolerance of the plain method gets a
// lower validation value of the refit from the same start.
func TestGapTolerance(t *testing.T) {
	m, err := regression.ElasticNet(small(t), regression.Options{})
	require.NoError(t, err)
	plain := m.PaperSettings()
	plain.Tol = 1e-3
	want := modeltest.Solve(t, m, plain)

	s := m.PaperSettings()
	s.GapTol = 1e-4
	res := modeltest.Solve(t, m, s)
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
	a, err := regression.ElasticNet(split, regression.Options{})
	require.NoError(t, err)
	b, err := regression.ElasticNet(turned, regression.Options{})
	require.NoError(t, err)
	x, y := modeltest.Solve(t, a, a.PaperSettings()), modeltest.Solve(t, b, b.PaperSettings())
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
		m, err := regression.ElasticNet(small(t), regression.Options{})
		require.NoError(t, err)
		res := modeltest.Solve(t, m, m.DefaultSettings())
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
	o := regression.Options{Intercept: true, Standardize: true}
	a, err := regression.ElasticNet(split, o)
	require.NoError(t, err)
	b, err := regression.ElasticNet(other, o)
	require.NoError(t, err)
	x, y := modeltest.Solve(t, a, a.DefaultSettings()), modeltest.Solve(t, b, b.DefaultSettings())
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
		for _, o := range []regression.Options{{}, {Intercept: true, Standardize: true}} {
			m, err := regression.ElasticNet(s, o)
			require.NoError(t, err)
			for _, set := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
				res := modeltest.Solve(t, m, set)
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
	m, err := regression.ElasticNet(split, regression.Options{R0: []float64{300, 300}})
	require.NoError(t, err)
	s := m.PaperSettings()
	s.MaxIter = 1
	res := modeltest.Solve(t, m, s)
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

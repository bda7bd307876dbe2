package regression_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
)

func small(t testing.TB) *dataset.Split {
	return must.Of(input.ReadDir("testdata/elasticnet/small"))(t)
}

// With GapTol the iterate and the refit agree, and no tolerance of the plain method gets a
// lower validation value of the refit from the same start.
func TestGapTolerance(t *testing.T) {
	m := must.Of(regression.ElasticNet(small(t), options{}))(t)
	plain := m.PaperSettings()
	plain.Tol = 1e-3
	want := modeltest.Solve(t, m, plain)

	s := m.PaperSettings()
	s.GapTol = 1e-4
	res := modeltest.Solve(t, m, s)
	require.Equal(t, outcome.Converged, res.Status)
	require.LessOrEqual(t, res.Gap, 1e-4)
	require.InEpsilon(t, res.RefitValue, res.UpperValue, 0.011)
	require.LessOrEqual(t, res.RefitValue, want.RefitValue*1.002)
	require.Less(t, res.Iterations, 40)
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
		for _, o := range []options{{}, {Intercept: true, Standardize: true}} {
			m := must.Of(regression.ElasticNet(s, o))(t)
			for _, set := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
				res := modeltest.Solve(t, m, set)
				if s != single {
					require.Equal(t, outcome.Converged, res.Status, res.Message)
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
	m := must.Of(regression.ElasticNet(split, options{R0: []float64{300, 300}}))(t)
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

// The runs of an independent implementation in Python, see README.md beside the data.
func TestAgainstPython(t *testing.T) {
	within := modeltest.Within{Errors: 1e-3, Radii: 1e-3, Lambda: 1e-3, Trace: 1e-3, Step: 1e-4}
	modeltest.AgainstPython(t, "testdata/elasticnet/small", 2, within, func(float64) problems.Model {
		return must.Of(regression.ElasticNet(small(t), options{}))(t)
	})
	split, g := smallGroups(t)
	// Multipliers of the size of ECOS's tolerance, divided by rho, move its radii in each iteration.
	within = modeltest.Within{Errors: 2e-3, Radii: 3e-3, Lambda: 2e-3, Trace: 3e-3, Step: 1e-3}
	modeltest.AgainstPython(t, "testdata/sgl/small", 3, within, func(r0 float64) problems.Model {
		return must.Of(regression.SparseGroupLasso(split, options{Groups: g, R0: []float64{r0}}))(t)
	})
}

// Permuting rows and features, and renumbering the groups, permutes the result.
func TestInvariance(t *testing.T) {
	split, g := smallGroups(t)
	_, p := split.Train.Dims()
	at := func(j int) int { return (7 * j) % p } // 7 and p have no common divisor
	turned := split.Map(func(y float64) float64 { return y }).(*dataset.Split)
	for _, d := range []*dataset.Data{turned.Train, turned.Val, turned.Test} {
		n, _ := d.Dims()
		from := d.X
		d.X = mat.NewDense(n, p, nil)
		slices.Reverse(d.Y)
		for i := range n {
			for j := range p {
				d.Dense().Set(i, j, from.At(n-1-i, at(j)))
			}
		}
	}
	number, other := make([]int, p), make([]int, p)
	for k, members := range g.Members {
		for _, j := range members {
			number[j] = k
		}
	}
	for j := range p {
		other[j] = 10 - number[at(j)]
	}
	h := must.Of(groups.Of(other))(t)
	for _, c := range []struct {
		build constructor
		a, b  options
	}{
		{regression.ElasticNet, options{}, options{}},
		{
			regression.SparseGroupLasso, options{Groups: g, R0: []float64{1.5}}, options{Groups: h, R0: []float64{1.5}},
		},
	} {
		a := must.Of(c.build(split, c.a))(t)
		b := must.Of(c.build(turned, c.b))(t)
		x, y := modeltest.Solve(t, a, a.PaperSettings()), modeltest.Solve(t, b, b.PaperSettings())
		require.Equal(t, x.Iterations, y.Iterations)
		for j := range p {
			require.InDelta(t, x.X[0][at(j)], y.X[0][j], 1e-4)
			require.InDelta(t, x.Refit[0][at(j)], y.Refit[0][j], 1e-4)
		}
		if groups := len(x.H) - 1; groups > 1 {
			slices.Reverse(y.H[:groups])
		}
		require.InDeltaSlice(t, x.H, y.H, 1e-4)
	}
}

// Standardised with an intercept, the predictor does not depend on the units of the data, nor does the threshold by
// default of a Huber regression.
func TestUnitsOfTheData(t *testing.T) {
	o := options{Intercept: true, Standardize: true}
	for _, c := range []struct {
		build        constructor
		rows         func() *dataset.Split
		coefficients float64
	}{{regression.ElasticNet, func() *dataset.Split { return small(t) }, 1e-2}, {regression.Huber, outliers, 0.05}} {
		wide := c.rows().Map(func(y float64) float64 { return 100*y + 5000 }).(*dataset.Split)
		for _, d := range []*dataset.Data{wide.Train, wide.Val, wide.Test} {
			d.Dense().Apply(func(_, j int, v float64) float64 { return v*float64(j+1) - 30 }, d.Dense())
		}
		a := must.Of(c.build(c.rows(), o))(t)
		b := must.Of(c.build(wide, o))(t)
		require.InDelta(t, 100*a.Options().Threshold, b.Options().Threshold, 1e-9)
		x, y := modeltest.Solve(t, a, a.DefaultSettings()), modeltest.Solve(t, b, b.DefaultSettings())
		require.Equal(t, outcome.Converged, x.Status)
		f, g := a.Fit(x.Refit), b.Fit(y.Refit)
		for j, v := range f.Coefficients {
			require.InDelta(t, 100*v/float64(j+1), g.Coefficients[j], c.coefficients)
		}
		require.InEpsilon(t, 1e4*a.Evaluate(x.Refit).Validation, b.Evaluate(y.Refit).Validation, 1e-4)
	}
}

func smallGroups(t testing.TB) (*dataset.Split, *groups.Groups) {
	s := must.Of(input.ReadDir("testdata/sgl/small"))(t)
	g := must.Of(groups.ReadDir("testdata/sgl/small", s.Train.Features, false))(t)
	return s, g
}

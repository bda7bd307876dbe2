package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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

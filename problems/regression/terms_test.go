package regression_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// A factor is the weight of a feature: lambda f_j is what a column divided by f_j has with the weight lambda, in the
// lasso.
func TestFactorsScaleColumns(t *testing.T) {
	s := modeltest.Split(3, 60, 40, 30, []float64{1, -1, 0.5, 0, 0, 1}, 0.7)
	factors := []float64{1, 2, 0.5, 1, 3, 0.2}
	termed := must.Of(regression.Lasso(s, options{Terms: regression.Terms{Factors: factors}}))(t)
	scaled := modeltest.Split(3, 60, 40, 30, []float64{1, -1, 0.5, 0, 0, 1}, 0.7)
	for _, d := range []*dataset.Data{scaled.Train, scaled.Val, scaled.Test} {
		for i := range d.Y {
			for j, f := range factors {
				d.Dense().Set(i, j, d.X.At(i, j)/f)
			}
		}
	}
	plain := must.Of(regression.Lasso(scaled, options{}))(t)
	a := must.Of(termed.Penalised())(t)
	b := must.Of(plain.Penalised())(t)
	require.InEpsilon(t, b.LambdaMax(), a.LambdaMax(), 1e-12)
	for _, share := range []float64{0.5, 0.1, 0.01} {
		lambda := []float64{share * a.LambdaMax()}
		x := must.Of(a.Solve(context.Background(), lambda, 1e-12, nil))(t)
		z := must.Of(b.Solve(context.Background(), lambda, 1e-12, nil))(t)
		require.InEpsilon(t, z.Validation, x.Validation, 1e-8)
		for j, f := range factors {
			require.InDelta(t, z.X[0][j]/f, x.X[0][j], 1e-7)
		}
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

func boundedSplit() *dataset.Split {
	return modeltest.Split(6, 50, 40, 30, []float64{3, -2, 0.1, 0, 1, -0.1, 0, 0}, 1)
}

// Bounds are in the user's units, whatever the model works in, and hold for the iterate too.
func TestBoundedUnits(t *testing.T) {
	s := boundedSplit()
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		n, _ := d.Dims()
		for i := range n {
			d.Dense().Set(i, 0, 1000*d.X.At(i, 0)+3)
		}
	}
	terms := regression.Terms{Lower: []float64{-1}, Upper: []float64{0.002, 1, 1, 1, 0.5, 1, 1, 1}}
	m := must.Of(regression.BoundedElasticNet(s, options{Intercept: true, Standardize: true, Terms: terms}))(t)
	res := modeltest.Solve(t, m, m.DefaultSettings())
	require.Equal(t, outcome.Converged, res.Status, res.Message)
	for _, x := range [][][]float64{res.X, res.Refit} {
		c := m.Fit(x).Coefficients
		require.InDelta(t, 0.002, c[0], 1e-6) // 0.003 without the bound
		require.InDelta(t, -1, c[1], 1e-4)
		require.LessOrEqual(t, c[4], 0.5+1e-6)
		require.Greater(t, c[4], 0.4) // 1 without the bound
	}
}

// chain are groups of four features that share one with the next.
func chain() *groups.Groups {
	g := &groups.Groups{}
	for k := range 5 {
		g.Names = append(g.Names, string(rune('a'+k)))
		g.Members = append(g.Members, []int{3 * k, 3*k + 1, 3*k + 2, 3*k + 3})
	}
	return g
}

func chainSplit() *dataset.Split {
	b := make([]float64, 16)
	for j := range 4 {
		b[j] = float64(j + 1)
	}
	b[9] = -2
	return modeltest.Split(8, 40, 30, 50, b, 2)
}

// Groups have their names, and overlapping ones have no fit.
func TestOverlappingGroups(t *testing.T) {
	m := must.Of(regression.GroupLasso(chainSplit(), options{Groups: chain()}))(t)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, m.Names())
	require.Equal(t, 5, m.Options().Groups.Len())
	require.Nil(t, must.Of(m.Penalised())(t))
	apart := must.Of(regression.GroupLasso(chainSplit(), options{Groups: must.Of(groups.Equal(16, 4))(t)}))(t)
	require.Equal(t, 4, must.Of(apart.Penalised())(t).Dim())
}

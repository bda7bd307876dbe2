package regression_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

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
	for standardize, by := range map[bool]float64{false: 1, true: 1000} {
		within := map[bool]float64{false: 1e-2, true: 1e-3}[standardize] // without units radii hold it back a little, too
		s := boundedSplit()
		for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
			n, _ := d.Dims()
			for i := range n {
				d.Dense().Set(i, 0, by*d.X.At(i, 0)+3)
			}
		}
		terms := regression.Terms{Lower: []float64{-1}, Upper: []float64{2 / by, 1, 1, 1, 0.5, 1, 1, 1}}
		m := must.Of(regression.BoundedElasticNet(s, options{Intercept: true, Standardize: standardize, Terms: terms}))(t)
		res := modeltest.Solve(t, m, m.DefaultSettings())
		require.Equal(t, outcome.Converged, res.Status, res.Message)
		for _, x := range [][][]float64{res.X, res.Refit} {
			c := m.Fit(x).Coefficients
			require.InDelta(t, 2, by*c[0], within) // 3 without the bound
			require.InDelta(t, -1, c[1], 1e-4)
			require.LessOrEqual(t, c[4], 0.5+1e-6)
			require.Greater(t, c[4], 0.4) // 1 without the bound
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
	c, count := must.Both(dataset.GroupedPreset("300-100-100-p600-m30"))(t)
	split := must.First(dataset.Generate(c, 4))(t)
	g := must.Of(groups.Equal(c.Features, count))(t)
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

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
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

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
	backend := must.Of(backends.Open("native"))(t)
	for _, lambda := range [][]float64{{3e12, 1, 0.5, 0.25, 0.1}, {3e12, 1, 0, 1e-9, 0.1}, {3e12, 1e12, 3, 1e-12, 1e-3}} {
		want := shrunk(a, lambda)
		fit := must.First(m.Advice().RetrainWeighted(ctx, problems.Solver{Backend: backend, Fits: true}, lambda))(t)
		require.InDeltaSlice(t, want, fit.Coefficients, 1e-5)
		form := must.Of(dca.NewPenalized(m.Program(), dca.Settings{Backend: backend}))(t)
		s := must.Of(form.Solve(ctx, lower.Positive(lambda), nil))(t)
		require.InDeltaSlice(t, want, s.X[0], 1e-4)
	}
}

// Conic programs with weights of 24 decades have the solution, or say that they have not.
func TestConicWeightsOfManyScales(t *testing.T) {
	backend := must.Of(backends.Open("native"))(t)
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
		form := must.Of(dca.NewPenalized(pairs(t, a).Program(), dca.Settings{Backend: backend}))(t)
		s := must.Of(form.Solve(context.Background(), lambda, nil))(t)
		if s.Status == backends.Optimal {
			require.InDeltaSlice(t, shrunk(a, lambda), s.X[0], 1e-4, "seed %d", seed)
		}
	}
}

// A conic program that is stopped early leaves no model, one that says so, or the solution.
func TestTrainingSaysHowItEnded(t *testing.T) {
	backend := must.Of(backends.Open("native"))(t)
	a, lambda := []float64{3, -2, 1, 4, -2, 0.5, 2, 2}, []float64{4, 1, 0.5, 0.25, 0.1}
	m := pairs(t, a)
	inaccurate := 0
	for most := 1; most < 30; most++ {
		s := problems.Solver{Backend: backend, Options: backends.Options{MaxIterations: most}}
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

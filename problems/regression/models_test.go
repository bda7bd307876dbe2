package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// builder makes a model of rows with real targets, which those of other models are made of.
type builder func(dataset.Division, options) (problems.Model, error)

// options are those of all regressions.
type options = regression.Options

// constructor is that of a regression.
type constructor func(dataset.Division, options) (*regression.Model, error)

// models are all regressions of six features.
func models(t *testing.T) map[string]builder {
	t.Helper()
	g := must.Of(groups.Equal(6, 3))(t)
	with := func(build constructor, change func(o *options)) builder {
		return func(d dataset.Division, o options) (problems.Model, error) {
			change(&o)
			return build(d, o)
		}
	}
	grouped := func(o *options) { o.Groups = g }
	return map[string]builder{
		"elastic-net":         of(regression.ElasticNet),
		"lasso":               of(regression.Lasso),
		"ridge":               of(regression.Ridge),
		"bounded-elastic-net": of(regression.BoundedElasticNet),
		"weighted-lasso":      of(regression.WeightedLasso),
		"adaptive-lasso":      of(regression.AdaptiveLasso),
		"fused-lasso":         of(regression.FusedLasso),
		"group-lasso":         with(regression.GroupLasso, grouped),
		"sparse-group-lasso":  with(regression.SparseGroupLasso, grouped),
		"huber":               with(regression.Huber, func(o *options) { o.Threshold = 0.5 }),
		"quantile":            with(regression.Quantile, func(o *options) { o.Level = 0.3 }),
		"cox":                 of(regression.Cox),
		"logistic": func(d dataset.Division, o options) (problems.Model, error) {
			return regression.Logistic(classified(d, 2), o)
		},
		"weighted-logistic": func(d dataset.Division, o options) (problems.Model, error) {
			return regression.WeightedLogistic(classified(d, 2), o)
		},
		"weighted-poisson": func(d dataset.Division, o options) (problems.Model, error) {
			return regression.WeightedPoisson(counts(d), o)
		},
		"poisson": func(d dataset.Division, o options) (problems.Model, error) {
			return regression.Poisson(counts(d), o)
		},
		"multinomial": func(d dataset.Division, o options) (problems.Model, error) {
			return regression.Multinomial(classified(d, 3), o)
		},
	}
}

// some are those of these names.
func some(t *testing.T, names ...string) map[string]builder {
	all, out := models(t), map[string]builder{}
	for _, name := range names {
		out[name] = all[name]
	}
	return out
}

func native(t testing.TB) backends.ConicBackend {
	t.Helper()
	return must.Of(backends.Open("native"))(t)
}

func of(build constructor) builder {
	return func(d dataset.Division, o options) (problems.Model, error) { return build(d, o) }
}

// logisticOf is a logistic regression of the signs of real targets, poissonOf a Poisson regression of counts.
func logisticOf(d dataset.Division, o options) (*regression.Model, error) {
	return regression.Logistic(classified(d, 2), o)
}

func poissonOf(d dataset.Division, o options) (*regression.Model, error) {
	return regression.Poisson(counts(d), o)
}

// tuned is the result of a model by a configuration.
func tuned(t *testing.T, c tune.Config) func(m *regression.Model, err error) *tune.Result {
	return func(m *regression.Model, err error) *tune.Result {
		t.Helper()
		require.NoError(t, err)
		return must.Of(tune.Run(context.Background(), m, c))(t)
	}
}

// solved is the point of the fit of a model to a gap, at weights.
func solved(t *testing.T, m *regression.Model, gap float64, lambda ...float64) *lower.Point {
	t.Helper()
	fit := must.Of(m.Penalised())(t)
	return must.Of(fit.Solve(context.Background(), lambda, gap, nil))(t)
}

// classified has two labels, or three, in the place of the targets; nil has none.
func classified(d dataset.Division, classes int) dataset.Division {
	return mapped(d, func(y float64) float64 {
		k := 0.0
		if y > 0 {
			k++
		}
		if classes > 2 && y > 2 {
			k++
		}
		return k
	})
}

// counts has counts in the place of the targets.
func counts(d dataset.Division) dataset.Division {
	return mapped(d, func(y float64) float64 { return math.Floor(math.Exp(math.Min(2, y/3))) })
}

func mapped(d dataset.Division, f func(y float64) float64) dataset.Division {
	if dataset.Check(d) != nil {
		return d
	}
	return d.Map(f)
}

// compressed has sparse tables.
func compressed(d dataset.Division) dataset.Division {
	cv := d.(*dataset.CrossValidation)
	return &dataset.CrossValidation{Data: cv.Data.Compress(), Folds: cv.Folds, Test: cv.Test.Compress()}
}

// labelledSplit are rows whose label is 7 with probability 1/(1 + exp(-a'b)), and 2 otherwise.
func labelledSplit(seed uint64, train int, b []float64) *dataset.Split {
	s := modeltest.Split(seed, train, 60, 400, b, 0)
	rng := rand.New(rand.NewPCG(seed, 5))
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, f := range d.Y {
			d.Y[i] = 2
			if rng.Float64() < 1/(1+math.Exp(-f)) {
				d.Y[i] = 7
			}
		}
	}
	return s
}

// countedSplit are rows of counts with the means exp(0.5 + a'b).
func countedSplit(seed uint64, train int, b []float64) *dataset.Split {
	s := modeltest.Split(seed, train, 60, 400, b, 0)
	rng := rand.New(rand.NewPCG(seed, 5))
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, f := range d.Y {
			d.Y[i] = -1
			for left := math.Exp(0.5 + f); left >= 0; left += math.Log(rng.Float64()) { // the waiting times of a Poisson process
				d.Y[i]++
			}
		}
	}
	return s
}

var (
	logisticTruth = []float64{2, -1.5, 0, 0, 1, 0, 0, 0}
	poissonTruth  = []float64{0.6, -0.5, 0, 0, 0.3, 0, 0, 0}
)

// split has targets 3, 5 and 8, by how large a combination of the features is.
func classesSplit(seed uint64, train int) *dataset.Split {
	s := modeltest.Split(seed, train, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, y := range d.Y {
			switch {
			case y < -1 && d.X.At(i, 3) < 1:
				d.Y[i] = 3
			case y < 1:
				d.Y[i] = 5
			default:
				d.Y[i] = 8
			}
		}
	}
	return s
}

// meanLoss is the mean of minus the logarithm of the probability of the label, from the definition.
func meanMultinomial(d *dataset.Data, f problems.Fit) float64 {
	sum := 0.0
	for i, y := range d.Y {
		total, own := 0.0, 0.0
		for k, v := range f.Values(floats.AddTo(make([]float64, 6), d.Dense().RawRowView(i), make([]float64, 6))) {
			if total += math.Exp(v); f.Labels[k] == y {
				own = math.Exp(v)
			}
		}
		sum -= math.Log(own/total) / float64(len(d.Y))
	}
	return sum
}

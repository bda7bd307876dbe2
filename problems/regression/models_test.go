package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/adaptive"
	"github.com/conetune/conetune/problems/bounded"
	"github.com/conetune/conetune/problems/cox"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/fused"
	"github.com/conetune/conetune/problems/grouplasso"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/huber"
	lassos "github.com/conetune/conetune/problems/lasso"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/multinomial"
	"github.com/conetune/conetune/problems/poisson"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// builder makes a model of rows with real targets, which those of other models are made of.
type builder func(dataset.Division, regression.Options) (tune.Model, error)

// models are all regressions of six features.
func models(t *testing.T) map[string]builder {
	t.Helper()
	g, err := groups.Equal(6, 3)
	require.NoError(t, err)
	return map[string]builder{
		"elastic-net":         of(elasticnet.New),
		"lasso":               of(lassos.New),
		"ridge":               of(ridge.New),
		"bounded-elastic-net": of(bounded.New),
		"wlasso":              of(wlasso.New),
		"adaptive-lasso": func(d dataset.Division, o regression.Options) (tune.Model, error) {
			return adaptive.New(d, "", 0, o)
		},
		"fused":      func(d dataset.Division, o regression.Options) (tune.Model, error) { return fused.New(d, 0, o) },
		"grouplasso": func(d dataset.Division, o regression.Options) (tune.Model, error) { return grouplasso.New(d, g, o) },
		"sgl":        func(d dataset.Division, o regression.Options) (tune.Model, error) { return sgl.New(d, g, o) },
		"huber":      func(d dataset.Division, o regression.Options) (tune.Model, error) { return huber.New(d, 0.5, o) },
		"quantile":   func(d dataset.Division, o regression.Options) (tune.Model, error) { return quantile.New(d, 0.3, o) },
		"logistic": func(d dataset.Division, o regression.Options) (tune.Model, error) {
			return logistic.New(classified(d, 2), o)
		},
		"poisson": func(d dataset.Division, o regression.Options) (tune.Model, error) { return poisson.New(counts(d), o) },
		"multinomial": func(d dataset.Division, o regression.Options) (tune.Model, error) {
			return multinomial.New(classified(d, 3), multinomial.Options{
				R0: o.R0, Intercept: o.Intercept, Standardize: o.Standardize, Terms: o.Terms,
			})
		},
		"cox": func(d dataset.Division, o regression.Options) (tune.Model, error) {
			return cox.New(d, cox.Options{R0: o.R0, Standardize: o.Standardize, Terms: o.Terms})
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

func of[M tune.Model](build func(dataset.Division, regression.Options) (M, error)) builder {
	return func(d dataset.Division, o regression.Options) (tune.Model, error) { return build(d, o) }
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

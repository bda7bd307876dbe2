package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// outliers are normal data in which every tenth target of the training and validation rows is far off.
func outliers() *dataset.Split {
	s := modeltest.Split(1, 60, 40, 200, []float64{3, -2, 0, 0, 1, 0, 0, 0, 0, 0}, 0.5)
	for _, d := range []*dataset.Data{s.Train, s.Val} {
		for i := range d.Y {
			if i%10 == 3 {
				d.Y[i] += 60
			}
		}
	}
	return s
}

// The threshold is half the spread of the targets times 1.345: medians of 1 and of deviations 0 1 1 1 2 3 399.
func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want float64
	}{{[]float64{-2, 0, 0, 1, 2, 3, 400}, 1.345 / 0.6745 / 2}, {[]float64{5, 5, 5, 9}, 1}, {[]float64{5}, 1}} {
		d := &dataset.Data{X: mat.NewDense(len(c.y), 1, nil), Y: c.y, Features: []string{"a"}}
		m := must.Of(regression.Huber(&dataset.Split{Train: d, Val: d}, options{}))(t)
		require.InDelta(t, c.want, m.Options().Threshold, 1e-12)
	}
}

// On this table a subproblem that began at the end of the last one had nothing left of mu, and a residual that fell by
// a hundredth in ten iterations: where a warm start gets on so slowly, another start has to follow.
func TestWarmStartThatStalls(t *testing.T) {
	d := must.Of(input.ReadFile("testdata/huber.csv", "y"))(t)
	folds := must.Of(split.RandomFolds(len(d.Y), 3, 3, 1, nil))(t)
	cv := &dataset.CrossValidation{Data: d, Folds: folds}
	m := must.Of(regression.Huber(cv, options{Standardize: true, Intercept: true}))(t)
	r := must.Of(tune.Run(t.Context(), m, tune.Config{MaxIter: 200}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.Empty(t, r.Message)
}

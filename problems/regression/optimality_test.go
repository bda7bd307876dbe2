package regression_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// The refit solves the penalised form with the reported multipliers: s'X/n + lambda2 b + lambda1 sign(b) = 0, with s
// the slopes of the loss.
func TestElasticOptimality(t *testing.T) {
	few := func(s *dataset.Split) *dataset.Split { // exponential cones take long
		s.Val = s.Val.Rows(indices.Range(0, 10))
		return s
	}
	several := severalSplit()
	first := func(d *dataset.Data) *dataset.Data {
		out := *d
		out.Targets, out.TargetNames = mat.NewDense(len(d.Y), 1, d.Y), nil
		return &out
	}
	one := &dataset.Split{Train: first(several.Train), Val: first(several.Val)} // with one target it is the elastic net
	residual := func(y, f float64) float64 { return f - y }
	for _, c := range []struct {
		build constructor
		rows  *dataset.Split
		slope func(y, f float64) float64
		o     []options
	}{
		{regression.ElasticNet, small(t), residual, []options{{R0: []float64{6, 2}}}},
		{regression.MultiTask, one, residual, []options{{R0: []float64{3, 50}}}},
		{regression.Huber, outliers(), func(y, f float64) float64 { return math.Max(-0.9, math.Min(0.9, f-y)) }, []options{
			{Threshold: 0.9, R0: []float64{4, 50}}, {Threshold: 0.9, R0: []float64{50, 3}},
			{Threshold: 0.9, R0: []float64{4, 3}},
		}},
		{
			regression.Logistic, few(labelledSplit(1, 24, logisticTruth)),
			func(y, f float64) float64 { return -signOf(y) / (1 + math.Exp(signOf(y)*f)) },
			[]options{
				{R0: []float64{2, 50}}, {R0: []float64{50, 0.5}, Intercept: true}, {R0: []float64{1.5, 0.4}, Intercept: true},
			},
		},
		{
			regression.Poisson, few(countedSplit(1, 30, poissonTruth)), func(y, f float64) float64 { return math.Exp(f) - y },
			[]options{
				{R0: []float64{0.8, 50}}, {R0: []float64{50, 0.1}, Intercept: true}, {R0: []float64{0.7, 0.1}, Intercept: true},
			},
		},
	} {
		for _, o := range c.o {
			m := must.Of(c.build(c.rows, o))(t)
			modeltest.ElasticOptimality(t, m, c.rows.Train, o.Intercept, c.slope)
		}
	}
}

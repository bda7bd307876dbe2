package evaluate

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func named(t *testing.T, list []Metric, name string) Metric {
	t.Helper()
	for _, m := range list {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "there is no "+name)
	return Metric{}
}

// The values are those of scikit-learn 1.x: r2_score, mean_squared_error, mean_absolute_error, d2_tweedie_score and
// mean_poisson_deviance, mean_pinball_loss, roc_auc_score, log_loss, brier_score_loss, accuracy_score.
func TestValues(t *testing.T) {
	y, f := []float64{3, -0.5, 2, 7, 4.2, 1.1}, []float64{2.5, 0, 2, 8, 3.9, 2}
	base := []float64{2, 2, 2, 2, 2, 2}
	s := Sample{Y: y, Value: f, Base: base}
	for name, want := range map[string]float64{R2: 0.9295361127422196, RMSE: 0.6324555320336759, MAE: 0.5333333333333333} {
		require.InEpsilon(t, want, named(t, s.Regression(), name).Value, 1e-12, name)
	}
	require.InDelta(t, 0.18666666666666668, named(t, s.Quantile(0.8), Pinball).Value, 1e-14)
	coverage := named(t, s.Quantile(0.8), Coverage)
	require.InDelta(t, 4.0/6, coverage.Value, 1e-14) // 2 <= 2 counts
	// The standard error of a share is sqrt(p (1 - p) / (n - 1)).
	require.InDelta(t, math.Sqrt(2.0/9/5), coverage.StandardError, 1e-14)

	c := Sample{Y: []float64{0, 3, 1, 0, 5, 2}, Value: []float64{0.4, 2.2, 1.5, 0.3, 4.1, 2.6}, Base: base}
	for name, want := range map[string]float64{DevianceExplained: 0.8197695429949986, Deviance: 0.36417528049585474,
		MAE: 0.5833333333333334} {
		require.InEpsilon(t, want, named(t, c.Counts(), name).Value, 1e-12, name)
	}

	half := []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}
	l := Sample{Y: []float64{0, 1, 1, 0, 1, 0, 1, 0}, Value: []float64{-1.2, 0.4, 2.1, 0.4, -0.3, -2, 1.5, 0.9},
		Base: half}
	for name, want := range map[string]float64{AUC: 0.78125, LogLoss: 0.528585362943004, Brier: 0.18348540119054924,
		ErrorRate: 0.375} {
		require.InEpsilon(t, want, named(t, l.Labels(true), name).Value, 1e-12, name)
	}
	require.Len(t, l.Labels(false), 2)
	// Of fair coins: log 2, 1/4, 1/2.
	for name, want := range map[string]float64{AUC: 0.5, LogLoss: math.Ln2, Brier: 0.25, ErrorRate: 0.5} {
		require.InEpsilon(t, want, named(t, l.Labels(true), name).Base, 1e-12, name)
	}
	// The definition of DeLong's by all pairs, and the standard deviation of the losses over the root of n, by numpy.
	require.InEpsilon(t, 0.18221724671391565, named(t, l.Labels(true), AUC).StandardError, 1e-12)
	require.InEpsilon(t, 0.15067039972954166, named(t, l.Labels(true), LogLoss).StandardError, 1e-12)
}

// The standard errors agree with the jackknife of scikit-learn's measures, whose difference from the delta method is of
// order 1/n.
func TestStandardErrors(t *testing.T) {
	var s Sample
	for k := range 200 {
		i := float64(k)
		f := 3 * math.Sin(1.3*i)
		s.Value, s.Base = append(s.Value, f), append(s.Base, 0)
		s.Y = append(s.Y, f+math.Cos(2.1*i)+0.5*math.Sin(0.7*i))
	}
	for name, want := range map[string]float64{R2: 0.010973272476273803, RMSE: 0.027931066681682895,
		MAE: 0.029076705171733122} {
		require.InEpsilon(t, want, named(t, s.Regression(), name).StandardError, 0.02, name)
	}
	// The same predictions from two repeats are as exact as those of one.
	twice := Sample{Y: append(s.Y, s.Y...), Value: append(s.Value, s.Value...), Base: append(s.Base, s.Base...)}
	for range 2 {
		for i := range 200 {
			twice.Row = append(twice.Row, i)
		}
	}
	for k, m := range twice.Regression() {
		require.InEpsilon(t, s.Regression()[k].Value, m.Value, 1e-12)
		require.InEpsilon(t, s.Regression()[k].StandardError, m.StandardError, 1e-12)
	}
}

// What the rows cannot tell is null, and nothing panics.
func TestNothingToSay(t *testing.T) {
	constant := Sample{Y: []float64{2, 2}, Value: []float64{1, 3}, Base: []float64{2, 2}}
	require.True(t, math.IsNaN(named(t, constant.Regression(), R2).Value))
	require.Equal(t, 1.0, named(t, constant.Regression(), RMSE).Value)
	rounded := Sample{} // whose mean is none of the targets, as sums are rounded
	for range 39 {
		rounded.Y, rounded.Value, rounded.Base = append(rounded.Y, 3.3), append(rounded.Value, 3.3), append(rounded.Base, 3.3)
	}
	require.True(t, math.IsNaN(named(t, rounded.Regression(), R2).Value))
	require.True(t, math.IsNaN(named(t, rounded.Counts(), DevianceExplained).Base))
	one := Sample{Y: []float64{1}, Value: []float64{0.2}, Base: []float64{0.5}}
	require.True(t, math.IsNaN(named(t, one.Regression(), MAE).StandardError))
	require.True(t, math.IsNaN(named(t, one.Labels(true), AUC).Value))
	text := must.Of(json.Marshal(named(t, one.Labels(true), AUC)))(t)
	require.JSONEq(t, `{"value": null, "standard_error": null, "baseline": 0.5, "without_penalty": null}`, string(text))
	exact := Sample{Y: []float64{1, 2}, Value: []float64{1, 2}, Base: []float64{1, 1}}
	require.Zero(t, named(t, exact.Regression(), RMSE).StandardError)
	none := Sample{Y: []float64{0, 0}, Value: []float64{0.1, 0.1}, Base: []float64{0, 0}}
	require.InDelta(t, 0.2, named(t, none.Counts(), Deviance).Value, 1e-15)
}

// Weights that are integers give the values of rows that are there as often.
func TestWeightsOfRows(t *testing.T) {
	s := &Sample{Y: []float64{1, 2, 4, 3}, Value: []float64{1.5, 1, 3.5, 3.25}, Base: []float64{2, 2.5, 2, 2.5},
		Weight: []float64{1, 3, 2, 1}}
	often := &Sample{}
	for i, w := range s.Weight {
		for range int(w) {
			often.Y, often.Value, often.Base = append(often.Y, s.Y[i]), append(often.Value, s.Value[i]),
				append(often.Base, s.Base[i])
			often.Row = append(often.Row, i)
		}
	}
	got, want := s.Regression(), often.Regression()
	for k := range want {
		require.InDelta(t, want[k].Value, got[k].Value, 1e-12)
		require.InDelta(t, want[k].Base, got[k].Base, 1e-12)
		require.InDelta(t, want[k].StandardError, got[k].StandardError, 1e-12) // a row that is repeated counts once
	}
	// Of labels, too; the area among them.
	for _, of := range []*Sample{s, often} {
		for i, y := range of.Y {
			of.Y[i], of.Value[i], of.Base[i] = indicator(y > 2), of.Value[i]-2, 0.4
		}
	}
	s.Y[0], often.Y[0] = 1, 1
	got, want = s.Labels(true), often.Labels(true)
	for k := range want {
		require.InDelta(t, want[k].Value, got[k].Value, 1e-12)
		require.InDelta(t, want[k].Base, got[k].Base, 1e-12)
		require.InDelta(t, want[k].StandardError, got[k].StandardError, 1e-12)
	}
}

// A row of weight 2 counts twice in the confusion table, and one of weight 0 not at all.
func TestConfusion(t *testing.T) {
	d := Sample{Y: []float64{0, 0, 1, 1}, Value: []float64{-1, 2, 3, -0.5}}
	require.Equal(t, [][]float64{{1, 1}, {1, 1}}, d.Confusion(2))
	d.Weight = []float64{2, 1, 0, 0.5}
	require.Equal(t, [][]float64{{2, 1}, {0.5, 0}}, d.Confusion(2))
	d.Value, d.Probability = []float64{0, 2, 1, 1}, make([][]float64, 4)
	require.Equal(t, [][]float64{{2, 0, 1}, {0, 0.5, 0}, {0, 0, 0}}, d.Confusion(3))
}

// Worked out by hand: of four rows one is called wrong, and the probabilities of what came true are 1/2, 1/4, 1/2 and
// 1.
func TestClasses(t *testing.T) {
	s := Sample{Y: []float64{0, 1, 2, 2}, Value: make([]float64, 4)}
	p := [][]float64{{0.5, 0.25, 0.25}, {0.5, 0.25, 0.25}, {0.25, 0.25, 0.5}, {0, 0, 1}}
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	m := s.Classes(p, [][]float64{third, third, third, third})
	require.Equal(t, ErrorRate, m[0].Name)
	require.InDelta(t, 0.25, m[0].Value, 1e-15)
	require.InDelta(t, 0.75, m[0].Base, 1e-15)
	require.Equal(t, LogLoss, m[1].Name)
	require.InDelta(t, math.Ln2, m[1].Value, 1e-15)
	require.InDelta(t, math.Log(3), m[1].Base, 1e-15)
	require.InDeltaSlice(t, []float64{0.25, 0.75}, Softmax([]float64{800, 800 + math.Log(3)}), 1e-12)
}

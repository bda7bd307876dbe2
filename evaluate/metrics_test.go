package evaluate

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
)

func named(t *testing.T, list []Metric, name string) Metric {
	t.Helper()
	k := slices.IndexFunc(list, func(m Metric) bool { return m.Name == name })
	require.GreaterOrEqual(t, k, 0, "there is no "+name)
	return list[k]
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

// ranked are 60 rows with tied scores and weights, by a rule that decide.py has, too.
func ranked(weights bool) *Sample {
	s := &Sample{}
	for i := range 60 {
		s.Value, s.Base = append(s.Value, float64(37*i%41)/10-2), append(s.Base, 0.1)
		s.Y = append(s.Y, indicator(61*i%97 < 37*i%41))
		if weights {
			s.Weight = append(s.Weight, float64(1+i%3))
		}
	}
	return s
}

// none are left out.
func none(int) bool { return false }

// Thresholds and their measures are those of scikit-learn, by cmd/conetune/testdata/decide.py.
func TestDecisionMeasures(t *testing.T) {
	for _, c := range []struct {
		rule    string
		weights bool
		measure string
		at      float64
		value   float64
	}{
		{"f1", false, F1, -0.25, 1 - 0.5217391304347826}, {"f1", true, F1, -0.25, 1 - 0.4639175257731959},
		{"balanced-error", false, BalancedError, -0.25, 0.28125},
		{"balanced-error", true, BalancedError, -0.25, 0.2824933687002653},
		{"1:10", false, Cost, -0.25, 0.55}, {"1:10", true, Cost, -1.15, 0.5666666666666667},
	} {
		s := ranked(c.weights)
		s.Rule = must.Of(ParseRule(c.rule))(t)
		at := s.Rule.threshold(s, s.tied(), none)
		require.InDelta(t, c.at, at, 1e-12, c.rule)
		s.decideAt(slices.Repeat([]float64{at}, 60))
		list := s.decided(s.Labels(false))
		require.Equal(t, c.measure, list[0].Name)
		precision := map[bool]float64{false: 0.34936157796451917, true: 0.3774838807859248}[c.weights]
		require.InDelta(t, precision, named(t, list, AveragePrecision).Value, 1e-12)
		require.InDelta(t, c.value, list[0].Value, 1e-12, c.rule)
	}
	// Of rows of one label nothing can be chosen; where nothing is worth its cost no row is called, or all are.
	s := ranked(false)
	s.Y, s.Value, s.losses.logOdds = []float64{1, 1, 1}, []float64{-1, 0, 1}, true
	rule := must.Of(ParseRule("1:1"))(t)
	require.Equal(t, 0.5, rule.threshold(s, s.tied(), none))
	s.Y = []float64{0, 1, 0}
	called := func() (n int) {
		s.decideAt(slices.Repeat([]float64{rule.threshold(s, s.tied(), none)}, 3))
		for i := range s.Y {
			n += int(indicator(s.called(i)))
		}
		return n
	}
	require.Zero(t, called())
	rule = must.Of(ParseRule("0.1:9"))(t)
	require.Equal(t, 2, called())
	s.Y = []float64{1, 1, 0}
	require.Equal(t, 3, called())
	for _, text := range []string{"", "f2", "1:", "0:1", "1:Inf", "NaN", "1:2:3"} {
		_, err := ParseRule(text)
		require.ErrorContains(t, err, "expected balanced-error, f1,", text)
	}
}

// The standard errors agree with the jackknife of scikit-learn's measures, by the same program.
func TestDecisionErrors(t *testing.T) {
	s := ranked(false)
	s.Decisions = Decisions{Rule: &Rule{Measure: F1}}
	for name, want := range map[string]float64{F1: 0.09829868861449376, BalancedError: 0.06844329223192465,
		AveragePrecision: 0.11455290156845957} {
		require.InEpsilon(t, want, named(t, s.decided(nil), name).StandardError, 0.03, name)
	}
}

// Of classes the last one is told from all others, and the label is the last one above the threshold, and else the most
// probable of the others.
func TestDecidedClasses(t *testing.T) {
	s := &Sample{Y: []float64{0, 1, 2, 2}, Value: make([]float64, 4)}
	s.Fit.Labels = []float64{0, 1, 2}
	s.Probability = [][]float64{{0.5, 0.25, 0.25}, {0.4, 0.5, 0.1}, {0.25, 0.35, 0.4}, {0.45, 0.25, 0.3}}
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	s.Share = [][]float64{third, third, third, third}
	s.Decisions = Decisions{Rule: must.Of(ParseRule("f1"))(t)}
	last := s.Last()
	require.Equal(t, []float64{0, 0, 1, 1}, last.Y)
	require.InDelta(t, math.Log(0.4/0.6), last.Value[2], 1e-15)
	require.InDelta(t, 0.275, s.Rule.threshold(last, last.tied(), none), 1e-15)
	s.decideAt([]float64{0.275, 0.275, 0.275, 0.275})
	require.Equal(t, []float64{0, 1, 2, 2}, s.Value)
	require.Zero(t, s.decided(s.Classes(s.Probability, s.Share))[0].Value-1) // F1 of no mistake
}

func diabetes(t *testing.T) *dataset.Data {
	t.Helper()
	table := must.Of(input.ReadFile("../examples/diabetes.csv", "y"))(t)
	return &dataset.Data{X: table.X, Y: table.Y}
}

// The coefficients of LinearRegression of scikit-learn 1.9.1.
func TestLeastSquares(t *testing.T) {
	s := must.Of(fitPlain(plainSquares, diabetes(t), true))(t)
	require.InDelta(t, -334.567138519, s.Intercept, 1e-6)
	require.InDeltaSlice(t, []float64{-0.036361224, -22.85964809, 5.602962092, 1.116807993, -1.089996334, 0.746450456,
		0.372004715, 6.533831936, 68.483124965, 0.280116989}, s.Coefficients, 1e-7)
}

// A fit of maximum likelihood leaves residuals that are orthogonal to the columns, by the weights of the rows.
func TestLikelihoodEquations(t *testing.T) {
	for kind, mean := range map[plainKind]func(float64) float64{
		plainSquares:  func(f float64) float64 { return f },
		plainLogistic: func(f float64) float64 { return 1 / (1 + math.Exp(-f)) }, plainPoisson: math.Exp,
	} {
		d := diabetes(t)
		n, p := d.Dims()
		for i, y := range d.Y {
			d.Weights, d.Offset = append(d.Weights, float64(1+i%3)), append(d.Offset, float64(i%5)/10)
			switch kind {
			case plainLogistic:
				d.Y[i] = map[bool]float64{true: 1}[y > 140]
			case plainPoisson:
				d.Y[i] = math.Round(y / 50)
			}
		}
		s := must.Of(fitPlain(kind, d, true))(t)
		b, constant := s.Coefficients, s.Intercept
		slope, size := make([]float64, p+1), make([]float64, p+1)
		for i := range n {
			left := d.Weights[i] * (d.Y[i] - mean(constant+d.Dot(i, b)+d.Offset[i]))
			for j := range p + 1 {
				v := 1.0
				if j < p {
					v = d.X.At(i, j)
				}
				slope[j] += left * v
				size[j] += math.Abs(left * v)
			}
		}
		for j := range slope {
			require.InDelta(t, 0, slope[j]/size[j], 1e-9, "kind %d, column %d", kind, j)
		}
	}
}

func TestWithoutFit(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6})
	for _, y := range [][]float64{{0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0}} {
		_, err := fitPlain(plainLogistic, &dataset.Data{X: x, Y: y}, true)
		require.ErrorIs(t, err, errInfinite)
	}
	group := mat.NewDense(6, 1, []float64{0, 0, 0, 1, 1, 1}) // one group has both labels, the other one, and no counts
	_, err := fitPlain(plainLogistic, &dataset.Data{X: group, Y: []float64{0, 1, 0, 1, 1, 1}}, true)
	require.ErrorIs(t, err, errInfinite)
	_, err = fitPlain(plainPoisson, &dataset.Data{X: group, Y: []float64{2, 1, 0, 0, 0, 0}}, true)
	require.ErrorIs(t, err, errInfinite)
	wide := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 7})
	_, err = fitPlain(plainSquares, &dataset.Data{X: wide, Y: []float64{1, 2}}, true)
	require.ErrorIs(t, err, errRows)
	// The second column is twice the first: it has the coefficient 0.
	twice := mat.NewDense(4, 2, []float64{1, 2, 2, 4, 3, 6, 5, 10})
	s := must.Of(fitPlain(plainSquares, &dataset.Data{X: twice, Y: []float64{3, 5, 7, 11}}, true))(t)
	require.InDelta(t, 1, s.Intercept, 1e-9)
	require.InDeltaSlice(t, []float64{2, 0}, s.Coefficients, 1e-9)
}

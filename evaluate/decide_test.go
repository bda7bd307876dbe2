package evaluate

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
)

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
	s := must.Of(fitPlain(plainSquares, diabetes(t), true, nil))(t)
	require.InDelta(t, -334.567138519, s.Constant, 1e-6)
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
		s := must.Of(fitPlain(kind, d, true, nil))(t)
		half := d.Rows(seq(0, n, 2))
		part := must.Of(fitPlain(kind, half, true, nil))(t)
		again := must.Of(fitPlain(kind, half, true, s))(t)
		require.InDelta(t, part.Constant, again.Constant, 1e-6*math.Abs(part.Constant), "from another start")
		for j, v := range part.Coefficients {
			require.InDelta(t, v, again.Coefficients[j], 1e-6*math.Abs(v)+1e-9)
		}
		b, constant := s.Coefficients, s.Constant
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

// Of one indicator the fit has the logarithms of the odds, and of the mean counts, of its two groups.
func TestTwoGroups(t *testing.T) {
	x := mat.NewDense(8, 1, []float64{0, 0, 0, 0, 1, 1, 1, 1})
	s := must.Of(fitPlain(plainLogistic, &dataset.Data{X: x, Y: []float64{1, 0, 0, 0, 1, 1, 1, 0}}, true, nil))(t)
	require.InDelta(t, -math.Log(3), s.Constant, 1e-9)
	require.InDelta(t, 2*math.Log(3), s.Coefficients[0], 1e-9)
	s = must.Of(fitPlain(plainPoisson, &dataset.Data{X: x, Y: []float64{1, 0, 3, 0, 5, 9, 1, 1}}, true, nil))(t)
	require.InDelta(t, 0, s.Constant, 1e-9)
	require.InDelta(t, math.Log(4), s.Coefficients[0], 1e-9)
}

func TestWithoutFit(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6})
	for _, y := range [][]float64{{0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0}} {
		_, err := fitPlain(plainLogistic, &dataset.Data{X: x, Y: y}, true, nil)
		require.ErrorIs(t, err, errInfinite)
	}
	group := mat.NewDense(6, 1, []float64{0, 0, 0, 1, 1, 1}) // one group has both labels, the other one, and no counts
	_, err := fitPlain(plainLogistic, &dataset.Data{X: group, Y: []float64{0, 1, 0, 1, 1, 1}}, true, nil)
	require.ErrorIs(t, err, errInfinite)
	_, err = fitPlain(plainPoisson, &dataset.Data{X: group, Y: []float64{2, 1, 0, 0, 0, 0}}, true, nil)
	require.ErrorIs(t, err, errInfinite)
	wide := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 7})
	_, err = fitPlain(plainSquares, &dataset.Data{X: wide, Y: []float64{1, 2}}, true, nil)
	require.ErrorIs(t, err, errRows)
	// The second column is twice the first: it has the coefficient 0.
	twice := mat.NewDense(4, 2, []float64{1, 2, 2, 4, 3, 6, 5, 10})
	s := must.Of(fitPlain(plainSquares, &dataset.Data{X: twice, Y: []float64{3, 5, 7, 11}}, true, nil))(t)
	require.InDelta(t, 1, s.Constant, 1e-9)
	require.InDeltaSlice(t, []float64{2, 0}, s.Coefficients, 1e-9)
}

func seq(from, to, step int) (out []int) {
	for i := from; i < to; i += step {
		out = append(out, i)
	}
	return out
}

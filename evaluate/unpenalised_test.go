package evaluate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
)

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

package sparse

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
)

// Errors say what is wrong with the rows, the terms of features, the weights of penalties and the start.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	m, y := lowertest.Sample(9, 5, 3, 2, 1)
	x, ones := design.New(m), slices.Repeat([]float64{1}, 5)
	wrong := mat.DenseCopyOf(m)
	wrong.Set(2, 1, inf)
	explained := make([]float64, 5) // by the first feature
	for i := range explained {
		explained[i] = math.Copysign(1, m.At(i, 0)-floats.Sum(mat.Col(nil, 0, m))/5)
	}
	squares := func(s Sample, t Terms) (*Fit, error) { return Squares(s, true, t) }
	logistic := func(s Sample, t Terms) (*Fit, error) { return Logistic(s, true, t) }
	plain := func(s Sample, t Terms) (*Fit, error) { return Logistic(s, false, t) }
	poisson := func(s Sample, t Terms) (*Fit, error) { return Poisson(s, true, t) }
	cox := func(s Sample, t Terms) (*Fit, error) { return Cox(s, survival.Breslow, t) }
	classes := func(s Sample, t Terms) (*Fit, error) { return Multinomial(s, 3, true, t) }
	single := func(s Sample, t Terms) (*Fit, error) { return Multinomial(s, 1, true, t) }
	for _, c := range []struct {
		want string
		of   func(s Sample, t Terms) (*Fit, error)
		rows Sample
		term Terms
	}{
		{"4 targets for 5 rows", squares, Sample{X: x, Y: y[:4]}, Terms{}},
		{"target of row 2 is NaN", squares, Sample{X: x, Y: []float64{0, 1, nan, 3, 4}}, Terms{}},
		{"column 1", squares, Sample{X: design.New(wrong), Y: y}, Terms{}},
		{"no rows", squares, Sample{X: design.FromColumns(0, 3, nil)}, Terms{}},
		{"label of row 0", plain, Sample{X: x, Y: y}, Terms{}},
		{"4 labels for 5 rows", plain, Sample{X: x, Y: y[:4]}, Terms{}},
		{"all labels are 1", logistic, Sample{X: x, Y: ones}, Terms{}},
		{"4 targets for 5 rows", poisson, Sample{X: x, Y: ones[:4]}, Terms{}},
		{"target of row 1 is -1", poisson, Sample{X: x, Y: []float64{1, -1, 2, 1, 1}}, Terms{}},
		{"target of row 1 is NaN", poisson, Sample{X: x, Y: []float64{1, nan, 2, 1, 1}}, Terms{}},
		{"target of row 1 is +Inf", poisson, Sample{X: x, Y: []float64{1, inf, 2, 1, 1}}, Terms{}},
		{"all targets are 0", poisson, Sample{X: x, Y: make([]float64, 5)}, Terms{}},
		{"4 times for 5 rows", cox, Sample{X: x, Y: ones[:4]}, Terms{}},
		{"time of row 0 is +Inf", cox, Sample{X: x, Y: []float64{inf, 1, 1, 1, 1}}, Terms{}},
		{"no event has other rows", cox, Sample{X: x, Y: []float64{-1, -2, -3, -4, -5}}, Terms{}},
		{"so that there is nothing to f", cox, Sample{X: x, Y: []float64{-1, -1, -1, -1, 2}}, Terms{}},
		{"4 classes for 5 rows", classes, Sample{X: x, Y: []float64{0, 1, 2, 0}}, Terms{}},
		{"class of row 2 is 3", classes, Sample{X: x, Y: []float64{0, 1, 3, 2, 0}}, Terms{}},
		{"no row has class 1", classes, Sample{X: x, Y: []float64{0, 2, 0, 2, 0}}, Terms{}},
		{"class of row 0 is -1, ", classes, Sample{X: x, Y: []float64{-1, 2, 0, 2, 0}}, Terms{}},
		{"expected at least 2", single, Sample{X: x, Y: make([]float64, 5)}, Terms{}},
		{"weight of row 1 is 0", logistic, Sample{X: x, Y: explained, Weights: []float64{1, 0, 1, 1, 1}}, Terms{}},
		{"1 weights and 0 entries", logistic, Sample{X: x, Y: explained, Weights: []float64{1}}, Terms{}},
		{"offset of row 0 is NaN", logistic, Sample{X: x, Y: explained, Offset: []float64{nan, 1, 1, 1, 1}}, Terms{}},
		{"0 weights and 3 entries of the", logistic, Sample{X: x, Y: explained, Offset: []float64{1, 2, 3}}, Terms{}},
		{"2 factors for 3 features", squares, Sample{X: x, Y: y}, Terms{Factors: []float64{1, 1}}},
		{"factor of feature 1 is -1", squares, Sample{X: x, Y: y}, Terms{Factors: []float64{1, -1, 1}}},
		{"lower bound of feature 2 is 1", squares, Sample{X: x, Y: y}, Terms{Lower: []float64{0, 0, 1}}},
		{"upper bound of feature 0 is", squares, Sample{X: x, Y: y}, Terms{Upper: []float64{nan, 0, 1}}},
		{"explain the targets by themselves", logistic, Sample{X: x, Y: explained}, Terms{Factors: []float64{0, 1, 1}}},
	} {
		_, err := c.of(c.rows, c.term)
		require.ErrorContains(t, err, c.want)
	}
	labels := []float64{0, 1, 1, 1, 0} // or counts, or times
	for k, of := range []func(s Sample, t Terms) (*Fit, error){squares, poisson, cox, classes} {
		if k == 3 {
			labels[4] = 2
		}
		g := must.Of(of(Sample{X: x, Y: labels}, Terms{}))(t)
		for _, w := range [][2]float64{{0, 0}, {-1, 1}, {nan, 1}, {inf, 0}} {
			_, err := g.solve(context.Background(), w[0], w[1], 0, nil)
			require.ErrorContains(t, err, "expected finite numbers, not negative, one of them positive")
		}
		_, err := g.solve(context.Background(), 1, 1, nan, nil)
		require.ErrorContains(t, err, "tolerance NaN")
		_, err = g.solve(context.Background(), 1, 1, 0, &Solution{B: make([]float64, 2)})
		require.ErrorContains(t, err, "start has 2 coefficients")
	}
	g := must.Of(squares(Sample{X: x, Y: y}, Terms{}))(t)
	_, err := g.Solve(context.Background(), &glm.Weights{Norm: make([]float64, 3), L2: make([]float64, 2)}, 0, nil)
	require.ErrorContains(t, err, "3, 0 and 2 weights for 3 units")
}

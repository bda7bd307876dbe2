package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// table is n rows of p normal features with different means and scales, of which the
// second is constant.
func table(seed uint64, n, p int) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "y"}
	for j := range p {
		d.Features = append(d.Features, string(rune('a'+j)))
	}
	for i := range n {
		for j := range p {
			d.Dense().Set(i, j, float64(j)+math.Pow(3, float64(j%4))*rng.NormFloat64())
		}
		d.Dense().Set(i, 1, 7)
		d.Y[i] = 40 + 5*d.X.At(i, 0) + 10*rng.NormFloat64()
	}
	return d
}

func sample() *dataset.Split {
	return &dataset.Split{Train: table(1, 12, 5), Val: table(2, 7, 5), Test: table(3, 9, 5)}
}

// One feature: the lasso's coefficient is soft thresholding of x'y/n at lambda.
func TestLambdaMax(t *testing.T) {
	one := &dataset.Data{X: mat.NewDense(4, 1, []float64{1, 2, -1, 0}), Y: []float64{2, 3, 1, 0}, Features: []string{"a"},
		Target: "y"}
	d := must.Of(newData(&dataset.Split{Train: one, Val: one}, Options{}, Net{}))(t)
	require.InDelta(t, (2.0+6-1)/4, d.LambdaMax(), 1e-15)
	path := d.Path(3)
	require.Len(t, path, 3)
	require.InDelta(t, d.LambdaMax()*1e-3, path[2], 1e-15)
	require.InDelta(t, path[1]/path[0], path[2]/path[1], 1e-12)

	// With an intercept only the centred target counts: y - 1.5 = 0.5, 1.5, -0.5, -1.5.
	d = must.Of(newData(&dataset.Split{Train: one, Val: one}, Options{Intercept: true}, Net{}))(t)
	require.InDelta(t, (0.5+3+0.5)/4, d.LambdaMax(), 1e-15)

	flat := &dataset.Data{X: one.X, Y: []float64{1, 1, 1, 1}, Features: one.Features, Target: "y"}
	d = must.Of(newData(&dataset.Split{Train: flat, Val: flat}, Options{Intercept: true, Standardize: true}, Net{}))(t)
	require.Nil(t, d.Path(3))
}

// Equal targets are counted, or their weights added, and the best constant stays.
func TestTally(t *testing.T) {
	values, sums := tally([]float64{3, 1, 3, 3, 2, 1}, nil)
	require.Equal(t, []float64{3, 1, 2}, values)
	require.Equal(t, []float64{3, 2, 1}, sums)
	values, sums = tally([]float64{3, 1, 3}, []float64{0.5, 2, 4})
	require.Equal(t, []float64{3, 1}, values)
	require.Equal(t, []float64{4.5, 2}, sums)
	// The best constant is where the derivatives balance: the mean, or its logarithm.
	y := []float64{1, 1, 1, 4, 100}
	require.InDelta(t, 107.0/5, constant(squares, y, nil, 2), 1e-12)
	require.InDelta(t, math.Log(107.0/5), constant(poissonLoss, y, nil, 1), 1e-12)
	require.InDelta(t, math.Log(107.0/5), constant(poissonLoss, []float64{1, 4, 100}, []float64{3, 1, 1}, 1), 1e-12)
}

// Factors of 1 beside tiny ones exclude nothing, nor do factors that are all large.
func TestNothingExcluded(t *testing.T) {
	for _, factors := range [][]float64{{1e-9, 1, 1, 1, 1}, {1e9, 2e9, 1e9, 1e9, 1e9}} {
		m := must.Of(ElasticNet(sample(), Options{Intercept: true, Terms: Terms{Factors: factors}}))(t)
		require.Equal(t, factors, m.data.terms.Factors)
		require.Nil(t, m.data.terms.Upper)
	}
}

// Values in gaps are those of the fold, for the loss as for the error.
func TestGapsOfFolds(t *testing.T) {
	rows := &dataset.Data{X: mat.NewDense(4, 1, []float64{1, 9, 2, 9}), Y: []float64{1, 2, 3, 4}, Features: []string{"a"},
		Target: "y"}
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 3}, Val: []int{0, 2}}}
	cv := &dataset.CrossValidation{Data: rows, Folds: folds, Gaps: &dataset.Gaps{Row: []int{1, 3}, Feature: []int{0, 0},
		Values: [][]float64{{1.5, 1.5}, {5, 5}}}}
	d := must.Of(newData(cv, Options{}, Net{}))(t)
	// b = 1 in the first fold: residuals 1.5 - 2 and 1.5 - 4; b = 2 in the second: 2 - 1 and 4 - 3. Halves of the mean
	// squares.
	require.InDelta(t, ((0.25+6.25)/4+(1.0+1.0)/4)/2, (&Model{data: d}).Evaluate([][]float64{{1}, {2}}).Validation, 1e-15)
	// 1/n a'(ab - y) at b = 0 in the second: -(5 2 + 5 4)/2.
	require.InDelta(t, -15, d.gradient(d.parts[1]().train, []float64{0, 0})[0], 1e-15)
}

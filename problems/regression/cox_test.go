package regression_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table"
)

// timed makes times that fall with the targets, with ties, of which two thirds are events.
func timed(s *dataset.Split) *dataset.Split {
	return s.Map(func(y float64) float64 {
		return survival.Row(math.Ceil(20*math.Exp(-math.Tanh(y/2))), math.Mod(math.Abs(y)*1e3, 3) < 2)
	}).(*dataset.Split)
}

func timedSplit(seed uint64, train int) *dataset.Split {
	return timed(modeltest.Split(seed, train, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7))
}

// halfDeviance is that of rows among themselves, from the definition with Breslow's rule.
func halfDeviance(d *dataset.Data, f problems.Fit) (sum float64) {
	for i, y := range d.Y {
		if y < 0 {
			continue
		}
		risk, ties := 0.0, 0.0
		for j, v := range d.Y {
			if math.Abs(v) >= y {
				risk += math.Exp(f.Value(mat.Row(nil, j, d.X)))
			}
			if v == y {
				ties++
			}
		}
		sum += math.Log(risk/ties) - f.Value(mat.Row(nil, i, d.X))
	}
	return sum
}

func events(y []float64) (n float64) {
	for _, v := range y {
		if v > 0 {
			n++
		}
	}
	return n
}

// lung are the rows of R's data set of that name (Loprinzi et al. 1994) that have age, sex and ph.ecog.
func lung(t *testing.T) *dataset.Data {
	f := must.Of(table.Read("testdata/lung.csv", table.Options{}))(t)
	d := must.Of(table.Choose(f, table.Wanted{Targets: []string{"time", "status"}, Features: []string{"age", "sex",
		"ph.ecog"}, Missing: table.DropRows}))(t)
	e := must.Of(d.Fit(d.Rows()))(t)
	r := must.Of(e.Read(f, d.Targets(), false))(t)
	data, values := r.Encode(d.Rows(), false), r.Targets(d.Rows())
	for i, v := range values[0] {
		data.Y[i] = survival.Row(v, values[1][i] == 2)
	}
	return data
}

// coxph(Surv(time, status) ~ age + sex + ph.ecog, lung) of R's survival: coefficients 0.011067, -0.552612 and 0.463728,
// logarithms of the likelihood -744.4805 and -729.2301, concordance 0.637 with the standard error 0.025, on 227 rows.
func TestLung(t *testing.T) {
	rows := lung(t)
	require.Len(t, rows.Y, 227)
	for _, standardize := range []bool{false, true} {
		m, err := regression.Cox(&dataset.Split{Train: rows, Val: rows}, options{Ties: "efron", Standardize: standardize})
		require.NoError(t, err)
		fit := must.Of(m.Penalised())(t)
		pt := must.Of(fit.Solve(context.Background(), []float64{1e-9, 1e-10}, 1e-12, nil))(t)
		f := m.Fit(pt.X)
		require.InDeltaSlice(t, []float64{0.011067, -0.552612, 0.463728}, f.Coefficients, 2e-6)
		zero := m.Evaluate([][]float64{make([]float64, 3)}).Validation
		require.InDelta(t, 2*(744.4805-729.2301), 164*(zero-m.Evaluate(pt.X).Validation), 2e-4)
		values := make([]float64, len(rows.Y))
		for i := range values {
			values[i] = f.Value(mat.Row(nil, i, rows.X))
		}
		c, se := survival.Concordance(survival.Part{Y: rows.Y, F: values})
		require.InDelta(t, 0.637, c, 5e-4)
		require.InDelta(t, 0.025, se, 5e-4)
		mean := 0.0
		for _, v := range values {
			mean += v / 227
		}
		require.InDelta(t, 0, mean, 1e-12)
	}
}

// termed are the rows of a split with weights 1 to 3 and an offset, and those repeated as often as their weights say.
func termed(seed uint64, train int) (weighted, repeated *dataset.Split) {
	weighted, repeated = timedSplit(seed, train), &dataset.Split{}
	for from, to := range map[*dataset.Data]**dataset.Data{weighted.Train: &repeated.Train, weighted.Val: &repeated.Val,
		weighted.Test: &repeated.Test} {
		var rows []int
		from.Offset = make([]float64, len(from.Y))
		weights := make([]float64, len(from.Y))
		for i := range from.Y {
			from.Offset[i], weights[i] = math.Sin(float64(3*i)), float64(1+i%3)
			rows = append(rows, slices.Repeat([]int{i}, 1+i%3)...)
		}
		*to = from.Rows(rows)
		from.Weights = weights
	}
	return weighted, repeated
}

// All folds together have the fits and the errors of one fold after the other, by the whole second derivatives: with
// ties, weights, an offset, factors and bounds.
func TestCoxTogether(t *testing.T) {
	s, _ := termed(9, 60)
	for _, weights := range []bool{false, true} {
		if !weights {
			s.Train.Weights = nil
		}
		cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
		for _, o := range []options{
			{}, {Ties: "efron", Standardize: true},
			{Ties: "efron", Terms: regression.Terms{
				Factors: []float64{1, 1, 0, 1, 2, 1}, Lower: []float64{-0.3, -9, -9, -9, -9, -9}, Upper: []float64{9, 1, 9, 1, 0.05,
					1},
			}},
		} {
			m := must.Of(regression.Cox(cv, o))(t)
			alone := must.Of(m.Penalised())(t)
			together := must.Of(m.Advice().Together(context.Background()))(t)
			var one, all *lower.Point
			for _, lambda := range [][]float64{{0.3, 0.03}, {0.1, 1e-4}, {0.02, 0.01}, {1e-3, 1e-5}, {1e-5, 1e-5}} {
				one = must.Of(alone.Solve(context.Background(), lambda, 1e-11, one))(t)
				all = must.Of(together.Solve(context.Background(), lambda, 1e-9, all))(t)
				require.True(t, all.Solved, "weights %g of %+v: gap %g", lambda, o, all.Gap)
				require.InEpsilon(t, one.Validation, all.Validation, 1e-5)
				require.InEpsilonSlice(t, one.Folds, all.Folds, 1e-4)
				require.InEpsilon(t, m.Evaluate(all.X).Validation, all.Validation, 1e-9)
				for f := range one.X {
					require.InDeltaSlice(t, one.X[f], all.X[f], 1e-3)
				}
			}
		}
	}
}

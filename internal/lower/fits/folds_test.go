package fits

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

// The gradient of the mean over the folds is its finite difference, and its values are the means of folds solved apart.
func TestFolds(t *testing.T) {
	ctx := context.Background()
	s := must.First(dataset.Generate(dataset.Config{Train: 60, Val: 1, Features: 12, Nonzeros: 4}, 5))(t)
	cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	rows := func(index []int) Rows {
		d := s.Train.Rows(index)
		return Rows{X: design.New(d.X), Y: d.Y}
	}
	for _, kind := range kinds {
		var models []lower.Fit
		for _, f := range cv.Folds {
			m := must.Of(kind.make(rows(f.Train), rows(f.Val), true))(t)
			models = append(models, m)
		}
		mean := must.Of(lower.NewFolds(models))(t)
		folds := mean
		lambda := slices.Repeat([]float64{0.07 * folds.LambdaMax()}, folds.Dim())
		at := must.Of(folds.Solve(ctx, lambda, 1e-15, nil))(t)
		require.True(t, at.Solved)
		sum, most := 0.0, 0.0
		for k, m := range models {
			pt := must.Of(m.Solve(ctx, lambda, 1e-15, nil))(t)
			require.InDeltaSlice(t, pt.X[0], at.X[2*k], 1e-9)
			sum += pt.Validation / 3
			most = max(most, m.LambdaMax())
		}
		require.InDelta(t, sum, at.Validation, 1e-9)
		require.Equal(t, most, folds.LambdaMax())
		require.Len(t, folds.Traits().Path()[0], folds.Dim())
		for _, mode := range []lower.Mode{lower.Adjoint, lower.Forward} {
			g := must.Of(folds.Traits().Gradient(ctx, at, mode, 1e-10))(t)
			for i := range g {
				require.InDelta(t, difference(t, folds, at, i), g[i], 1e-4, "%s %s %d", kind.name, mode, i)
			}
		}
	}
	_, err := lower.NewFolds(nil)
	require.ErrorContains(t, err, "no folds")
	one := must.Of(Lasso(rows([]int{0, 1, 2}), rows([]int{3, 4}), false, sparse.Terms{}))(t)
	two := must.Of(ElasticNet(rows([]int{0, 1, 2}), rows([]int{3, 4}), false, sparse.Terms{}))(t)
	_, err = lower.NewFolds([]lower.Fit{one, two})
	require.ErrorContains(t, err, "fold 1 has 2 hyperparameters, fold 0 has 1")
}

// Fits of a table in few rows have the values, gradients and certificates of those of all its rows.
func TestSquaresRowsKeepFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(6000, 30, nil), make([]float64, 6000)
	for i := range y {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64() + 0.5*row[max(0, j-1)] + 2
		}
		y[i] = row[0] - row[3] + 0.1*row[7] + rng.NormFloat64()
	}
	split := func(rows func(mat.Matrix, []float64) Rows) (train, val Rows) {
		return rows(x.Slice(0, 6000-3500, 0, 30), y[:2500]), rows(x.Slice(2500, 6000, 0, 30), y[2500:])
	}
	_, val := split(NewRows)
	_, few := split(SquaresRows)
	require.Equal(t, 32, few.X.Rows())
	small := SquaresRows(x, y)
	require.Equal(t, 32, small.X.Rows())
	for _, intercept := range []bool{false, true} {
		for _, kind := range kinds {
			all := must.Of(kind.make(NewRows(x, y), val, intercept))(t)
			reduced := must.Of(kind.make(small, few, intercept))(t)
			require.InEpsilon(t, all.LambdaMax(), reduced.LambdaMax(), 1e-10)
			for _, share := range []float64{0.3, 0.01, 1e-4} {
				lambda := make([]float64, all.Dim())
				for i := range lambda {
					lambda[i] = share * all.LambdaMax() / float64(1+i%3)
				}
				want := must.Of(all.Solve(context.Background(), lambda, 1e-12, nil))(t)
				got := must.Of(reduced.Solve(context.Background(), lambda, 1e-12, nil))(t)
				require.True(t, got.Solved)
				require.InEpsilon(t, want.Validation, got.Validation, 1e-9)
				for v := range want.X {
					require.InDeltaSlice(t, want.X[v], got.X[v], 1e-8)
				}
				first := must.Of(all.Traits().Gradient(context.Background(), want, lower.Adjoint, 1e-10))(t)
				second := must.Of(reduced.Traits().Gradient(context.Background(), got, lower.Adjoint, 1e-10))(t)
				require.InDeltaSlice(t, first, second, 1e-7)
			}
		}
	}
}

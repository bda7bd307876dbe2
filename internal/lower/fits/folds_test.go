package fits

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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

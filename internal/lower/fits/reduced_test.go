package fits

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

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

package regression_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// normal is the ridge regression of the rows by its normal equations, (X'X/n + lambda I) b = X'y/n.
func normalEquations(d *dataset.Data, lambda float64) *mat.VecDense {
	n, p := d.Dims()
	var gram mat.Dense
	gram.Mul(d.X.T(), d.X)
	gram.Scale(1/float64(n), &gram)
	for j := range p {
		gram.Set(j, j, gram.At(j, j)+lambda)
	}
	var right, b mat.VecDense
	right.MulVec(d.X.T(), mat.NewVecDense(n, d.Y))
	right.ScaleVec(1/float64(n), &right)
	if err := b.SolveVec(&gram, &right); err != nil {
		panic(err)
	}
	return &b
}

func halfOf(d *dataset.Data, b *mat.VecDense) float64 {
	n, _ := d.Dims()
	var f mat.VecDense
	f.MulVec(d.X, b)
	f.SubVec(&f, mat.NewVecDense(n, d.Y))
	return mat.Dot(&f, &f) / float64(2*n)
}

// Every method ends near the best weight of a fine grid of normal equations, and what it reports is their solution at
// its weight.
func TestNormalEquations(t *testing.T) {
	for seed := range uint64(3) {
		s, _, err := dataset.Generate(dataset.Config{Train: 30, Val: 30, Test: 30, Features: 20, Nonzeros: 10, SNR: 0.7},
			seed+1)
		require.NoError(t, err)
		best := halfOf(s.Val, normalEquations(s.Train, 1e-4))
		for lambda := 1e-4; lambda < 1e4; lambda *= 1.02 {
			best = min(best, halfOf(s.Val, normalEquations(s.Train, lambda)))
		}
		for _, engine := range tune.Engines() {
			m := must.Of(regression.Ridge(s, options{}))(t)
			for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG} {
				r, err := tune.Run(context.Background(), m, tune.Config{Method: method, Engine: engine, Final: tune.FinalTrain})
				require.NoError(t, err)
				require.NotNil(t, r.Refit, "%s %s", engine, method)
				b := normalEquations(s.Train, r.Lambda[0])
				require.InEpsilon(t, halfOf(s.Val, b), r.Refit.Validation, 1e-4, "%s %s", engine, method)
				require.Less(t, r.Refit.Validation, best*1.002, "%s %s, lambda %v", engine, method, r.Lambda)
				require.GreaterOrEqual(t, r.Refit.Validation, best*(1-1e-4))
				for j, c := range r.RefitFit.Coefficients {
					require.InDelta(t, b.AtVec(j), c, 2e-3, "%s %s", engine, method)
				}
			}
		}
	}
}

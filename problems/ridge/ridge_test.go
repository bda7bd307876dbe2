package ridge_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/tune"
)

// normal is the ridge regression of the rows by its normal equations, (X'X/n + lambda I) b = X'y/n.
func normal(d *dataset.Data, lambda float64) *mat.VecDense {
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

func half(d *dataset.Data, b *mat.VecDense) float64 {
	n, _ := d.Dims()
	var f mat.VecDense
	f.MulVec(d.X, b)
	f.SubVec(&f, mat.NewVecDense(n, d.Y))
	return mat.Dot(&f, &f) / float64(2*n)
}

// Every method ends near the best weight of a fine grid of normal equations, and what it reports is their solution at its weight.
func TestNormalEquations(t *testing.T) {
	for seed := range uint64(3) {
		s, _, err := dataset.Generate(dataset.Config{Train: 30, Val: 30, Test: 30, Features: 20, Nonzeros: 10, SNR: 0.7}, seed+1)
		require.NoError(t, err)
		best := half(s.Val, normal(s.Train, 1e-4))
		for lambda := 1e-4; lambda < 1e4; lambda *= 1.02 {
			best = min(best, half(s.Val, normal(s.Train, lambda)))
		}
		for _, engine := range tune.Engines() {
			m, err := ridge.New(s, ridge.Options{})
			require.NoError(t, err)
			for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG} {
				r, err := tune.Run(context.Background(), m, tune.Config{Method: method, Engine: engine, Final: tune.FinalTrain})
				require.NoError(t, err)
				require.NotNil(t, r.Refit, "%s %s", engine, method)
				b := normal(s.Train, r.Lambda[0])
				require.InEpsilon(t, half(s.Val, b), r.Refit.Validation, 1e-4, "%s %s", engine, method)
				require.Less(t, r.Refit.Validation, best*1.002, "%s %s, lambda %v", engine, method, r.Lambda)
				require.GreaterOrEqual(t, r.Refit.Validation, best*(1-1e-4))
				for j, c := range r.RefitFit.Coefficients {
					require.InDelta(t, b.AtVec(j), c, 2e-3, "%s %s", engine, method)
				}
			}
		}
	}
}

func TestBadOptions(t *testing.T) {
	s, _, err := dataset.Generate(dataset.Config{Train: 10, Val: 10, Features: 3}, 1)
	require.NoError(t, err)
	_, err = ridge.New(s, ridge.Options{R0: -1})
	require.ErrorContains(t, err, "ridge")
	_, err = ridge.New(nil, ridge.Options{})
	require.Error(t, err)
}

// With more features than training rows the validation rows are weighed, see tune/evidence.go. On solutions of normal equations: what is chosen is the point of the path with the
// largest likelihood times the root of its weight, or is better than that by more than the standard error of the rows' differences; and the
// model is that of all rows with the weight chosen.
func TestEvidence(t *testing.T) {
	stayed := 0
	for seed := range uint64(8) {
		s, _, err := dataset.Generate(dataset.Config{Train: 18, Val: 12, Test: 30, Features: 20, Nonzeros: 10, SNR: 0.7}, seed+1)
		require.NoError(t, err)
		m, err := ridge.New(s, ridge.Options{})
		require.NoError(t, err)
		r, err := tune.Run(context.Background(), m, tune.Config{})
		require.NoError(t, err)
		require.True(t, r.Selection.Weighted)

		start, most := 0.0, math.Inf(-1)
		for _, w := range m.Program().Path {
			if v := 0.5*math.Log(w[0]) - 6*math.Log(half(s.Val, normal(s.Train, w[0]))); v > most {
				start, most = w[0], v
			}
		}
		if math.Abs(math.Log(r.Lambda[0]/start)) < 1e-3 {
			stayed++
		} else {
			from, to := losses(s.Val, normal(s.Train, start)), losses(s.Val, normal(s.Train, r.Lambda[0]))
			mean, square := 0.0, 0.0
			for i := range from {
				mean += (from[i] - to[i]) / 12
			}
			for i := range from {
				square += math.Pow(from[i]-to[i]-mean, 2)
			}
			require.Greater(t, mean, math.Sqrt(square/11/12), "seed %d", seed)
		}
		b := normal(dataset.Stack(s.Train, s.Val), r.Lambda[0])
		for j, c := range r.RefitFit.Coefficients {
			require.InDelta(t, b.AtVec(j), c, 2e-3)
		}
	}
	require.Greater(t, stayed, 0)
	require.Less(t, stayed, 8)

	s, _, err := dataset.Generate(dataset.Config{Train: 30, Val: 12, Test: 30, Features: 20, Nonzeros: 10, SNR: 0.7}, 1)
	require.NoError(t, err)
	m, err := ridge.New(s, ridge.Options{})
	require.NoError(t, err)
	r, err := tune.Run(context.Background(), m, tune.Config{})
	require.NoError(t, err)
	require.False(t, r.Selection.Weighted, "there are fewer features than training rows")
}

// losses are half the squared errors of the rows.
func losses(d *dataset.Data, b *mat.VecDense) []float64 {
	var f mat.VecDense
	f.MulVec(d.X, b)
	out := make([]float64, len(d.Y))
	for i, y := range d.Y {
		out[i] = (f.AtVec(i) - y) * (f.AtVec(i) - y) / 2
	}
	return out
}

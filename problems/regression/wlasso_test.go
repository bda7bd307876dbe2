package regression_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// orthogonal has l(b) = 1/2 |b - a|^2 and L(b) = 1/2 |b - w|^2.
func orthogonal(a, w []float64) *dataset.Split {
	p := len(a)
	root := math.Sqrt(float64(p))
	data := func(target []float64) *dataset.Data {
		d := &dataset.Data{X: mat.NewDense(p, p, nil), Target: "y"}
		for j, v := range target {
			d.Dense().Set(j, j, root)
			d.Y = append(d.Y, root*v)
			d.Features = append(d.Features, fmt.Sprint("x", j))
		}
		return d
	}
	return &dataset.Split{Train: data(a), Val: data(w)}
}

// The program falls apart into features: b_j is w_j brought into [0, a_j] (a_j > 0), and
// lambda_j = a_j - b_j.
func TestWeightedClosedForm(t *testing.T) {
	a, w := []float64{3, 2, -2, 4}, []float64{1, 5, -0.5, 2}
	want := []float64{1, 2, -0.5, 2}
	m, err := regression.WeightedLasso(orthogonal(a, w), regression.Options{})
	require.NoError(t, err)
	backend, err := backends.Open("native")
	require.NoError(t, err)
	for _, s := range []dca.Settings{{Tol: 1e-4, MaxIter: 500}, {Tol: 1e-4, GapTol: 1e-8, Agreement: 1e-3}} {
		s.Backend = backend
		res, err := dca.Solve(context.Background(), m.Program(), s)
		require.NoError(t, err)
		require.Equal(t, dca.Converged, res.Status)
		for j, b := range want {
			require.InDelta(t, b, res.Refit[0][j], 3e-2, "feature %d", j)
			require.InDelta(t, math.Abs(a[j])-math.Abs(b), res.Lambda[j], 3e-2, "feature %d", j)
		}
	}
}

func TestWeightedOptions(t *testing.T) {
	s := orthogonal([]float64{1, 2}, []float64{1, 1})
	m, err := regression.WeightedLasso(s, regression.Options{})
	require.NoError(t, err)
	require.Equal(t, []float64{1, 1}, m.Program().H0)
	require.Equal(t, []string{"x0", "x1"}, m.Names())
	m, err = regression.WeightedLasso(s, regression.Options{R0: []float64{3, 4}, Intercept: true, Standardize: true})
	require.NoError(t, err)
	require.Equal(t, []float64{3, 4}, m.Program().H0)
}

package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// steps are normal data with piecewise constant coefficients.
func steps(train int) *dataset.Split {
	b := make([]float64, 30)
	for j := 8; j < 14; j++ {
		b[j] = 2
	}
	for j := 20; j < 30; j++ {
		b[j] = -1
	}
	return modeltest.Split(7, train, 40, 100, b, 2)
}

// differ is D b by its definition.
func differ(b []float64, order int) []float64 {
	for range order {
		next := make([]float64, len(b)-1)
		for j := range next {
			next[j] = b[j+1] - b[j]
		}
		b = next
	}
	return b
}

// transposed is D'v: the derivative of v'D b in b.
func transposed(v []float64, order int) []float64 {
	for range order {
		next := make([]float64, len(v)+1)
		for j, c := range v {
			next[j] -= c
			next[j+1] += c
		}
		v = next
	}
	return v
}

// prox solves min 1/2 |b - a|^2 + l1 |b|_1 + l2 |D b|_1 by projected gradient steps on the dual
// min 1/2 |a - u - D'v|^2 over |u_i| <= l1, |v_i| <= l2, with b = a - u - D'v.
func prox(a []float64, l1, l2 float64, order int) []float64 {
	u, v := make([]float64, len(a)), make([]float64, len(a)-order)
	primal := func() []float64 {
		b := transposed(v, order)
		for j := range b {
			b[j] = a[j] - u[j] - b[j]
		}
		return b
	}
	clip := func(x, c float64) float64 { return math.Max(-c, math.Min(c, x)) }
	step := 1 / (1 + math.Pow(4, float64(order))) // |D|^2 <= 4^order
	for range 50000 {
		b := primal()
		for j, g := range b {
			u[j] = clip(u[j]+step*g, l1)
		}
		for j, g := range differ(b, order) {
			v[j] = clip(v[j]+step*g, l2)
		}
	}
	return primal()
}

// With X = sqrt(n) I the lower level is a proximal map.
func TestProximalMap(t *testing.T) {
	noisy := []float64{0.1, -0.2, 3.2, 2.8, 3.1, 2.9, -0.1, 0.3, -1.1, -0.8, -1.2, 0.2}
	for order := 1; order <= 2; order++ {
		d := orthogonal(noisy...)
		for _, r0 := range [][]float64{{8, 6}, {20, 3}, {10, 12}, {4, 9}} {
			m := must.Of(regression.FusedLasso(&dataset.Split{Train: d, Val: d}, options{Order: order, R0: r0}))(t)
			x, lambda := modeltest.LowerLevel(t, m)
			want := prox(noisy, lambda[0], lambda[1], order)
			require.InDeltaSlice(t, want, x[0], 1e-3, "order %d, radii %v, lambda %v", order, r0, lambda)
		}
	}
}

// On piecewise constant coefficients the model beats what it is without fusion.
func TestFusedSelection(t *testing.T) {
	s := steps(25)
	m := must.Of(regression.FusedLasso(s, options{}))(t)
	res := modeltest.Solve(t, m, m.DefaultSettings())
	require.Equal(t, outcome.Converged, res.Status, res.Message)
	require.Greater(t, res.Lambda[1], 0.01)
	require.Less(t, *m.Evaluate(res.Refit).Test, 6.0) // 2 is the noise, 19 the variance of the signal by half
	free := m.Program()
	free.Hi = []float64{math.Inf(1), 1e4}
	free.Lo = []float64{0, 1e4}
	free.H0 = []float64{10, 1e4}
	lasso := modeltest.Solve(t, tune.Custom{Bilevel: free}, m.PaperSettings())
	require.Greater(t, *m.Evaluate(lasso.Refit).Test, 1.5**m.Evaluate(res.Refit).Test)
}

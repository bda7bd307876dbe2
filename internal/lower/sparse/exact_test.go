package sparse

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// Equal columns in use make the matrix of a Newton step singular.
func TestEqualColumns(t *testing.T) {
	x, y := lowertest.Sample(8, 30, 20, 4, 1)
	twice := mat.NewDense(30, 40, nil)
	twice.Augment(x, x)
	g := must.Of(Squares(Sample{X: design.New(twice), Y: y}, false, Terms{}))(t)
	w1, w2 := 1e-3*g.LambdaMax(), 0.0
	start := &Solution{B: make([]float64, 40)}
	for j := range start.B {
		start.B[j] = 1
	}
	s := must.Of(g.solve(context.Background(), w1, w2, 1e-12, start))(t)
	require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status)
	once := must.Of(Squares(Sample{X: design.New(x), Y: y}, false, Terms{}))(t)
	want := must.Of(once.solve(context.Background(), w1, w2, 1e-12, nil))(t)
	require.InEpsilon(t, want.Objective, s.Objective, 1e-10)
}

// Solutions with many coefficients of a sparse design satisfy the optimality conditions.
func TestManyCoefficients(t *testing.T) {
	const n, p = 1300, 2600
	rng := rand.New(rand.NewPCG(4, 9))
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		y[i] = rng.NormFloat64()
		for range 12 {
			v := 0.5 + rng.Float64()
			x.Set(i, rng.IntN(1+rng.IntN(p)), v)
			y[i] += v * float64(rng.IntN(3)-1)
		}
	}
	for _, intercept := range []bool{false, true} {
		c := problem{kind: "squares", x: x, y: y, intercept: intercept}
		g := c.fit(t, compressedColumns(x))
		c.l1, c.l2 = []float64{0.01 * g.LambdaMax()}, []float64{1e-4 * g.LambdaMax()}
		s := c.solve(t, g, 1e-12, nil)
		require.Greater(t, len(support(s)), 1000)
		c.optimal(t, s, 1e-6*g.LambdaMax(), "")
	}
}

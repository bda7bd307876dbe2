package sparse

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/lower"
)

// The conditions of optimality, computed from the definition, and the gap.
func TestLogisticOptimality(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, storage := range []string{"dense", "sparse"} {
			for _, shape := range []struct{ n, p int }{{80, 10}, {40, 100}} {
				for _, ratio := range []float64{0.5, 0.1, 0.01} {
					for _, l2 := range []float64{0, 1e-2} {
						name := fmt.Sprint(intercept, storage, shape, ratio, l2)
						x, y := lowertest.Sample(9, shape.n, shape.p, 4, 0.6)
						for i := range y {
							y[i] = math.Copysign(1, y[i]-3)
						}
						data := design.New(x)
						if storage == "sparse" {
							data = design.New(matrices.Compress(x))
						}
						g, err := Logistic(Sample{X: data, Y: y}, intercept, Terms{})
						require.NoError(t, err)
						l1 := ratio * g.LambdaMax()
						s, err := g.Solve(context.Background(), l1, l2, 1e-11, nil)
						require.NoError(t, err)
						require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, name)
						n := float64(shape.n)
						u, value := make([]float64, shape.n), 0.0
						for i := range u {
							m := y[i] * (floats.Dot(x.RawRowView(i), s.B) + s.B0[0])
							u[i] = y[i] / (1 + math.Exp(m))
							value += math.Log1p(math.Exp(-m)) / n
						}
						if intercept {
							require.InDelta(t, 0, floats.Sum(u)/n, 1e-6, name)
						}
						for j, b := range s.B {
							c := -l2 * b
							for i := range u {
								c += x.At(i, j) * u[i] / n
							}
							if b != 0 {
								require.InDelta(t, math.Copysign(l1, b), c, 1e-5*g.LambdaMax(), name)
							} else {
								require.LessOrEqual(t, math.Abs(c), l1+1e-5*g.LambdaMax(), name)
							}
							value += l1*math.Abs(b) + l2*b*b/2
						}
						require.InEpsilon(t, value, s.Objective, 1e-9, name)
					}
				}
			}
		}
	}
}

// At LambdaMax all coefficients vanish, and the intercept is the logarithm of the odds.
func TestLogisticTrivial(t *testing.T) {
	x, y := lowertest.Sample(9, 30, 8, 4, 1)
	ones := 0.0
	for i := range y {
		if y[i] = math.Copysign(1, y[i]-3); y[i] > 0 {
			ones++
		}
	}
	g, err := Logistic(Sample{X: design.New(x), Y: y}, true, Terms{})
	require.NoError(t, err)
	s, err := g.Solve(context.Background(), g.LambdaMax()*(1+1e-12), 0, 0, nil)
	require.NoError(t, err)
	require.Empty(t, s.Support)
	require.InDelta(t, math.Log(ones/(30-ones)), s.B0[0], 1e-6)
	s, err = g.Solve(context.Background(), g.LambdaMax()*0.99, 0, 0, nil)
	require.NoError(t, err)
	require.NotEmpty(t, s.Support)
}

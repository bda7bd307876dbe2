package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/internal/lowertest"
)

// From any start the homotopy and Newton's method on the dual reach the optimality conditions, in one call.
func TestExactSolvers(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, storage := range []string{"dense", "sparse", "prepared"} {
			for _, shape := range []struct{ n, p int }{{120, 40}, {40, 90}, {30, 200}} {
				for _, ratio := range []float64{0.5, 0.05, 0.002} {
					for _, start := range []string{"zero", "neighbour", "random"} {
						x, y := lowertest.Sample(5, shape.n, shape.p, 6, 0.6)
						data := design.New(x)
						if storage == "sparse" {
							data = design.New(lowertest.Compress(x))
						}
						g, err := NewRegression(data, y, intercept)
						require.NoError(t, err)
						if storage == "prepared" {
							g.Prepare()
							require.True(t, g.data.Prepared())
						}
						top, rng := g.LambdaMax(), rand.New(rand.NewPCG(7, uint64(shape.p)))
						l1, l2 := make([]float64, shape.p), make([]float64, shape.p)
						for j := range l1 {
							l1[j], l2[j] = ratio*top*float64(1+j%3)/2, 1e-3*float64(1+j%2)
						}
						l1[shape.p/2] = 0
						o := Options{Start: &Solution{B: make([]float64, shape.p)}}
						switch start {
						case "neighbour":
							near := append([]float64(nil), l1...)
							floats.Scale(1.3, near)
							o.Start, err = g.Solve(context.Background(), Weights{near, l2}, Options{})
							require.NoError(t, err)
						case "random":
							for j := range min(shape.n, shape.p) / 2 {
								o.Start.B[j] = rng.NormFloat64()
							}
						}
						for name, method := range map[string]func(*solve, []int) bool{
							"homotopy": func(s *solve, cols []int) bool { return s.homotopy(cols, math.Inf(1)) },
							"dual":     func(s *solve, cols []int) bool { return s.dualNewton(cols) },
						} {
							name = fmt.Sprint(name, " ", intercept, storage, shape, ratio, start)
							s := newSolve(g.data, l1, l2, o)
							s.Residual()
							require.True(t, method(s, s.alive), name)
							at := func(w []float64) func(int) float64 { return func(j int) float64 { return w[j] } }
							require.Less(t, violation(x, y, intercept, at(l1), at(l2), newSolution(&s.Point)), 1e-11*top, name)
						}
					}
				}
			}
		}
	}
}

// Where the path is left early the objective is no larger than at the start.
func TestHomotopyBudget(t *testing.T) {
	x, y := lowertest.Sample(6, 50, 120, 6, 1)
	g, err := NewRegression(design.New(x), y, false)
	require.NoError(t, err)
	l1, l2 := make([]float64, 120), make([]float64, 120)
	for j := range l1 {
		l1[j], l2[j] = 1e-2*g.LambdaMax(), 1e-4
	}
	for _, budget := range []float64{0, 1e4, 3e4, 1e5, 3e5} {
		s := newSolve(g.data, l1, l2, Options{})
		s.Residual()
		before := s.value()
		require.False(t, s.homotopy(s.alive, budget))
		after := s.value()
		require.LessOrEqual(t, after, before)
		s.Residual()
		require.InEpsilon(t, s.value(), after, 1e-12, "the residual belongs to the coefficients")
	}
}

// Equal columns cannot both enter the factor; the solver then goes on without the homotopy.
func TestHomotopyEqualColumns(t *testing.T) {
	x, y := lowertest.Sample(8, 30, 20, 4, 1)
	twice := mat.NewDense(30, 40, nil)
	twice.Augment(x, x)
	g, err := NewRegression(design.New(twice), y, false)
	require.NoError(t, err)
	w := Weights{L1: []float64{1e-3 * g.LambdaMax()}}
	start := &Solution{B: make([]float64, 40)}
	for j := range start.B {
		start.B[j] = 1
	}
	s, err := g.Solve(context.Background(), w, Options{Start: start, Tol: 1e-12})
	require.NoError(t, err)
	require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
	once, err := NewRegression(design.New(x), y, false)
	require.NoError(t, err)
	want, err := once.Solve(context.Background(), w, Options{Tol: 1e-12})
	require.NoError(t, err)
	require.InEpsilon(t, want.Objective, s.Objective, 1e-10)
}

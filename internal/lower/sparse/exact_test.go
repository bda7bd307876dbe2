package sparse

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/lower"
)

// From any start solves reach the optimality conditions but for rounding.
func TestExact(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, storage := range []string{"dense", "sparse"} {
			for _, shape := range []struct{ n, p int }{{120, 40}, {40, 90}, {30, 200}} {
				for _, ratio := range []float64{0.5, 0.05, 0.002} {
					for _, start := range []string{"zero", "neighbour", "random"} {
						x, y := lowertest.Sample(5, shape.n, shape.p, 6, 0.6)
						data := design.New(x)
						if storage == "sparse" {
							data = design.New(matrices.Compress(x))
						}
						g, err := newRegression(data, y, intercept)
						require.NoError(t, err)
						top, rng := g.LambdaMax(), rand.New(rand.NewPCG(7, uint64(shape.p)))
						l1, l2 := make([]float64, shape.p), make([]float64, shape.p)
						for j := range l1 {
							l1[j], l2[j] = ratio*top*float64(1+j%3)/2, 1e-3*float64(1+j%2)
						}
						l1[shape.p/2] = 0
						o := options{start: &Solution{B: make([]float64, shape.p)}}
						switch start {
						case "neighbour":
							near := append([]float64(nil), l1...)
							floats.Scale(1.3, near)
							o.start, err = g.solve(weights{near, l2}, options{})
							require.NoError(t, err)
						case "random":
							for j := range min(shape.n, shape.p) / 2 {
								o.start.B[j] = rng.NormFloat64()
							}
						}
						name := fmt.Sprint(intercept, storage, shape, ratio, start)
						o.tol = 1e-18
						s, err := g.solve(weights{l1, l2}, o)
						require.NoError(t, err)
						at := func(w []float64) func(int) float64 { return func(j int) float64 { return w[j] } }
						require.Less(t, violation(x, y, intercept, at(l1), at(l2), s), 1e-11*top, name)
					}
				}
			}
		}
	}
}

// Equal columns in use make the matrix of a Newton step singular.
func TestEqualColumns(t *testing.T) {
	x, y := lowertest.Sample(8, 30, 20, 4, 1)
	twice := mat.NewDense(30, 40, nil)
	twice.Augment(x, x)
	g, err := newRegression(design.New(twice), y, false)
	require.NoError(t, err)
	w := weights{l1: []float64{1e-3 * g.LambdaMax()}}
	start := &Solution{B: make([]float64, 40)}
	for j := range start.B {
		start.B[j] = 1
	}
	s, err := g.solve(w, options{start: start, tol: 1e-12})
	require.NoError(t, err)
	require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
	once, err := newRegression(design.New(x), y, false)
	require.NoError(t, err)
	want, err := once.solve(w, options{tol: 1e-12})
	require.NoError(t, err)
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
		g, err := newRegression(design.New(matrices.Compress(x)), y, intercept)
		require.NoError(t, err)
		w := weights{[]float64{0.01 * g.LambdaMax()}, []float64{1e-4 * g.LambdaMax()}}
		s, err := g.solve(w, options{tol: 1e-12})
		require.NoError(t, err)
		require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
		require.Greater(t, len(s.Support), 1000)
		all := func(v []float64) func(int) float64 { return func(int) float64 { return v[0] } }
		require.Less(t, violation(x, y, intercept, all(w.l1), all(w.l2), s), 1e-6*g.LambdaMax())
	}
}

package sparse

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/lower"
)

// violation is the largest violation of the optimality conditions, computed from the definition: it
// centres the data and uses nothing of the package.
func violation(x *mat.Dense, y []float64, intercept bool, w1, w2 func(int) float64, s *Solution) float64 {
	n, p := x.Dims()
	r := make([]float64, n)
	worst := 0.0
	for i := range r {
		r[i] = y[i] - s.B0[0] - floats.Dot(x.RawRowView(i), s.B)
	}
	if intercept {
		worst = math.Abs(floats.Sum(r)) / float64(n)
	}
	for j := range p {
		c := -w2(j) * s.B[j]
		for i := range r {
			c += x.At(i, j) * r[i] / float64(n)
		}
		v := math.Abs(c) - w1(j)
		if s.B[j] != 0 {
			v = math.Abs(c - math.Copysign(w1(j), s.B[j]))
		}
		worst = math.Max(worst, v)
	}
	return worst
}

func TestOptimalityConditions(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, storage := range []string{"dense", "sparse"} {
			for _, shape := range []struct{ n, p int }{{30, 10}, {60, 60}, {40, 300}, {120, 500}} {
				for _, kind := range []string{"lasso", "elastic net", "weighted", "some free", "ridge"} {
					for _, ratio := range []float64{0.5, 0.05, 0.001} {
						name := fmt.Sprint(intercept, storage, shape, kind, ratio)
						x, y := lowertest.Sample(3, shape.n, shape.p, 5, 0.6)
						data := design.New(x)
						if storage == "sparse" {
							data = design.New(matrices.Compress(x))
						}
						g, err := newRegression(data, y, intercept)
						require.NoError(t, err)
						top := g.LambdaMax()
						l1, l2 := []float64{ratio * top}, []float64{0}
						switch kind {
						case "elastic net":
							l2[0] = ratio * top
						case "ridge":
							l1[0], l2[0] = 0, ratio*top
						case "weighted", "some free":
							l1 = make([]float64, shape.p)
							for j := range l1 {
								l1[j] = ratio * top * float64(1+j%4)
								if kind == "some free" && j%20 == 7 {
									l1[j] = 0
								}
							}
						}
						s, err := g.solve(weights{l1, l2}, options{tol: 1e-12})
						require.NoError(t, err)
						require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, name)
						at := func(w []float64) func(int) float64 {
							return func(j int) float64 { return w[min(j, len(w)-1)] }
						}
						require.Less(t, violation(x, y, intercept, at(l1), at(l2), s), 2e-6*top, name)
						require.LessOrEqual(t, s.Gap, 1e-12*g.scale, name)
					}
				}
			}
		}
	}
}

// With orthogonal columns of norm sqrt(n) the elastic net is soft thresholding of X'y / n.
func TestOrthogonalDesign(t *testing.T) {
	const n = 8
	x := mat.NewDense(n, 3, nil)
	for i := range n { // columns of a Hadamard matrix
		x.SetRow(i, []float64{sgn(i & 1), sgn(i & 2), sgn(i&1 ^ i&2>>1)})
	}
	y := []float64{3, 1, -2, 4, 0.5, -1, 2, 6}
	g, err := newRegression(design.New(x), y, false)
	require.NoError(t, err)
	const l1, l2 = 0.4, 0.25
	s, err := g.solve(weights{[]float64{l1}, []float64{l2}}, options{})
	require.NoError(t, err)
	for j := range 3 {
		c := mat.Dot(x.ColView(j), mat.NewVecDense(n, y)) / n
		want := math.Copysign(math.Max(0, math.Abs(c)-l1), c) / (1 + l2)
		require.InDelta(t, want, s.B[j], 1e-12)
	}
}

func sgn(bit int) float64 {
	if bit == 0 {
		return 1
	}
	return -1
}

func TestLambdaMax(t *testing.T) {
	x, y := lowertest.Sample(5, 40, 70, 4, 1)
	for _, intercept := range []bool{false, true} {
		g, err := newRegression(design.New(x), y, intercept)
		require.NoError(t, err)
		top := g.LambdaMax()
		s, err := g.solve(weights{l1: []float64{top}}, options{})
		require.NoError(t, err)
		require.Empty(t, s.Support)
		s, err = g.solve(weights{l1: []float64{0.999 * top}}, options{})
		require.NoError(t, err)
		require.Len(t, s.Support, 1)
	}
}

// The gap bounds the error of the objective at any tolerance.
func TestGapBoundsTheError(t *testing.T) {
	x, y := lowertest.Sample(6, 80, 200, 6, 1)
	g, err := newRegression(design.New(x), y, true)
	require.NoError(t, err)
	w := weights{[]float64{0.02 * g.LambdaMax()}, []float64{1e-3}}
	exact, err := g.solve(w, options{tol: 1e-14})
	require.NoError(t, err)
	for _, tol := range []float64{0.3, 1e-1, 1e-2, 1e-4} {
		s, err := g.solve(w, options{tol: tol})
		require.NoError(t, err)
		require.LessOrEqual(t, s.Gap, tol*g.scale)
		require.LessOrEqual(t, s.Objective-exact.Objective, s.Gap*(1+1e-9)+1e-14*g.scale)
		require.GreaterOrEqual(t, s.Objective, exact.Objective*(1-1e-12))
	}
}

func TestWarmStartAtTheSameTime(t *testing.T) {
	x, y := lowertest.Sample(7, 120, 2000, 8, 1)
	g, err := newRegression(design.New(x), y, true)
	require.NoError(t, err)
	top := g.LambdaMax()
	first, err := g.solve(weights{l1: []float64{0.1 * top}}, options{tol: 1e-12})
	require.NoError(t, err)
	w := weights{l1: []float64{0.09 * top}}
	cold, err := g.solve(w, options{tol: 1e-12})
	require.NoError(t, err)
	warm, err := g.solve(w, options{tol: 1e-12, start: first})
	require.NoError(t, err)
	require.InDeltaSlice(t, cold.B, warm.B, 1e-7)
	var again [4]*Solution
	crew.Each(len(again), len(again), func(i int) {
		again[i], _ = g.solve(w, options{tol: 1e-12, start: first})
	})
	for _, s := range again {
		require.Equal(t, warm, s)
	}
}

// Features without an effect: constant columns with an intercept, zero columns, copies.
func TestDegenerateColumns(t *testing.T) {
	x, y := lowertest.Sample(8, 50, 12, 3, 1)
	for i := range 50 {
		x.Set(i, 1, 7)
		x.Set(i, 2, 0)
		x.Set(i, 5, x.At(i, 4))
		x.Set(i, 6, -2*x.At(i, 4))
	}
	for _, kind := range []weights{{l1: []float64{1e-3}}, {}, {l2: []float64{1e-4}}} {
		g, err := newRegression(design.New(x), y, true)
		require.NoError(t, err)
		s, err := g.solve(kind, options{tol: 1e-12})
		require.NoError(t, err)
		require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
		at := func(w []float64) func(int) float64 {
			return func(int) float64 { return floats.Sum(w) }
		}
		require.Less(t, violation(x, y, true, at(kind.l1), at(kind.l2), s), 1e-6)
		require.Zero(t, s.B[1])
		require.Zero(t, s.B[2])
	}
	g, err := newRegression(design.New(x), make([]float64, 50), true)
	require.NoError(t, err)
	s, err := g.solve(weights{l1: []float64{1}}, options{})
	require.NoError(t, err)
	require.Equal(t, lower.Optimal, s.Status)
	require.Empty(t, s.Support)
}

// Weights near zero and more features than rows: the solution all but interpolates.
func TestTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(9, 50, 300, 5, 1)
	g, err := newRegression(design.New(x), y, false)
	require.NoError(t, err)
	top := g.LambdaMax()
	for _, l1 := range []float64{1e-4, 1e-6} {
		for _, l2 := range []float64{0, 1e-5, 1e-2} {
			s, err := g.solve(weights{[]float64{l1 * top}, []float64{l2 * top}}, options{tol: 1e-10})
			require.NoError(t, err)
			require.Equal(t, lower.Optimal, s.Status, "%g %g", l1, l2)
			require.LessOrEqual(t, s.Gap, 1e-10*g.scale)
		}
	}
}

func TestCancelled(t *testing.T) {
	x, y := lowertest.Sample(10, 50, 300, 5, 1)
	g, err := newRegression(design.New(x), y, false)
	require.NoError(t, err)
	w := weights{l1: []float64{1e-3 * g.LambdaMax()}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := g.solveIn(ctx, w, options{})
	require.NoError(t, err)
	require.Equal(t, lower.Cancelled, s.Status)
}

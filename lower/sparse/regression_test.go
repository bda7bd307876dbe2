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
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/internal/lowertest"
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
							data = design.New(lowertest.Compress(x))
						}
						g, err := NewRegression(data, y, intercept)
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
						s, err := g.Solve(context.Background(), Weights{l1, l2}, Options{Tol: 1e-12})
						require.NoError(t, err)
						require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, name)
						at := func(w []float64) func(int) float64 {
							return func(j int) float64 { return w[min(j, len(w)-1)] }
						}
						require.Less(t, violation(x, y, intercept, at(l1), at(l2), s), 2e-6*top, name)
						require.LessOrEqual(t, s.Gap, 1e-12*g.data.Scale, name)
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
	g, err := NewRegression(design.New(x), y, false)
	require.NoError(t, err)
	const l1, l2 = 0.4, 0.25
	s, err := g.Solve(context.Background(), Weights{[]float64{l1}, []float64{l2}}, Options{})
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
		g, err := NewRegression(design.New(x), y, intercept)
		require.NoError(t, err)
		top := g.LambdaMax()
		s, err := g.Solve(context.Background(), Weights{L1: []float64{top}}, Options{})
		require.NoError(t, err)
		require.Empty(t, s.Support)
		s, err = g.Solve(context.Background(), Weights{L1: []float64{0.999 * top}}, Options{})
		require.NoError(t, err)
		require.Len(t, s.Support, 1)
	}
}

// The gap bounds the error of the objective at any tolerance.
func TestGapBoundsTheError(t *testing.T) {
	x, y := lowertest.Sample(6, 80, 200, 6, 1)
	g, err := NewRegression(design.New(x), y, true)
	require.NoError(t, err)
	w := Weights{[]float64{0.02 * g.LambdaMax()}, []float64{1e-3}}
	exact, err := g.Solve(context.Background(), w, Options{Tol: 1e-14})
	require.NoError(t, err)
	for _, tol := range []float64{0.3, 1e-1, 1e-2, 1e-4} {
		s, err := g.Solve(context.Background(), w, Options{Tol: tol})
		require.NoError(t, err)
		require.LessOrEqual(t, s.Gap, tol*g.data.Scale)
		require.LessOrEqual(t, s.Objective-exact.Objective, s.Gap*(1+1e-9)+1e-14*g.data.Scale)
		require.GreaterOrEqual(t, s.Objective, exact.Objective*(1-1e-12))
	}
}

func TestWarmStartAtTheSameTime(t *testing.T) {
	x, y := lowertest.Sample(7, 120, 2000, 8, 1)
	g, err := NewRegression(design.New(x), y, true)
	require.NoError(t, err)
	top := g.LambdaMax()
	first, err := g.Solve(context.Background(), Weights{L1: []float64{0.1 * top}}, Options{Tol: 1e-12})
	require.NoError(t, err)
	w := Weights{L1: []float64{0.09 * top}}
	cold, err := g.Solve(context.Background(), w, Options{Tol: 1e-12})
	require.NoError(t, err)
	warm, err := g.Solve(context.Background(), w, Options{Tol: 1e-12, Start: first})
	require.NoError(t, err)
	require.InDeltaSlice(t, cold.B, warm.B, 1e-7)
	var again [4]*Solution
	crew.Each(len(again), len(again), func(i int) {
		again[i], _ = g.Solve(context.Background(), w, Options{Tol: 1e-12, Start: first})
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
	for _, kind := range []Weights{{L1: []float64{1e-3}}, {}, {L2: []float64{1e-4}}} {
		g, err := NewRegression(design.New(x), y, true)
		require.NoError(t, err)
		s, err := g.Solve(context.Background(), kind, Options{Tol: 1e-12})
		require.NoError(t, err)
		require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
		at := func(w []float64) func(int) float64 {
			return func(int) float64 { return floats.Sum(w) }
		}
		require.Less(t, violation(x, y, true, at(kind.L1), at(kind.L2), s), 1e-6)
		require.Zero(t, s.B[1])
		require.Zero(t, s.B[2])
	}
	g, err := NewRegression(design.New(x), make([]float64, 50), true)
	require.NoError(t, err)
	s, err := g.Solve(context.Background(), Weights{L1: []float64{1}}, Options{})
	require.NoError(t, err)
	require.Equal(t, lower.Optimal, s.Status)
	require.Empty(t, s.Support)
}

// Weights near zero and more features than rows: the solution all but interpolates.
func TestTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(9, 50, 300, 5, 1)
	g, err := NewRegression(design.New(x), y, false)
	require.NoError(t, err)
	top := g.LambdaMax()
	for _, l1 := range []float64{1e-4, 1e-6} {
		for _, l2 := range []float64{0, 1e-5, 1e-2} {
			s, err := g.Solve(context.Background(), Weights{[]float64{l1 * top}, []float64{l2 * top}}, Options{Tol: 1e-10})
			require.NoError(t, err)
			require.Equal(t, lower.Optimal, s.Status, "%g %g", l1, l2)
			require.LessOrEqual(t, s.Gap, 1e-10*g.data.Scale)
		}
	}
}

func TestCancelled(t *testing.T) {
	x, y := lowertest.Sample(10, 50, 300, 5, 1)
	g, err := NewRegression(design.New(x), y, false)
	require.NoError(t, err)
	w := Weights{L1: []float64{1e-3 * g.LambdaMax()}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := g.Solve(ctx, w, Options{})
	require.NoError(t, err)
	require.Equal(t, lower.Cancelled, s.Status)
}

func TestBadInput(t *testing.T) {
	x, y := lowertest.Sample(11, 5, 3, 1, 1)
	for want, make := range map[string]func() error{
		"4 targets for 5 rows": func() error { _, err := NewRegression(design.New(x), y[:4], false); return err },
		"target of row 2 is NaN": func() error {
			_, err := NewRegression(design.New(x), []float64{0, 1, math.NaN(), 3, 4}, false)
			return err
		},
		"column 1": func() error {
			z := mat.DenseCopyOf(x)
			z.Set(2, 1, math.Inf(1))
			_, err := NewRegression(design.New(z), y, false)
			return err
		},
		"no rows": func() error { _, err := NewRegression(design.FromColumns(0, 3, nil), nil, false); return err },
		"L1[0] is -1": func() error {
			g, _ := NewRegression(design.New(x), y, false)
			_, err := g.Solve(context.Background(), Weights{L1: []float64{-1}}, Options{})
			return err
		},
		"2 weights L2 for 3 features": func() error {
			g, _ := NewRegression(design.New(x), y, false)
			_, err := g.Solve(context.Background(), Weights{L2: []float64{1, 2}}, Options{})
			return err
		},
		"tolerance NaN": func() error {
			g, _ := NewRegression(design.New(x), y, false)
			_, err := g.Solve(context.Background(), Weights{}, Options{Tol: math.NaN()})
			return err
		},
		"start has 2 coefficients": func() error {
			g, _ := NewRegression(design.New(x), y, false)
			_, err := g.Solve(context.Background(), Weights{}, Options{Start: &Solution{B: []float64{1, 2}}})
			return err
		},
	} {
		require.ErrorContains(t, make(), want)
	}
}

// The linear systems against the factored matrix of the definition.
func TestLinearSystems(t *testing.T) {
	x, y := lowertest.Sample(12, 60, 30, 3, 0.5)
	for _, data := range []*design.Matrix{design.New(x), design.New(lowertest.Compress(x))} {
		for _, intercept := range []bool{false, true} {
			g, err := NewRegression(data, y, intercept)
			require.NoError(t, err)
			set, w2 := []int{0, 3, 4, 11, 29}, make([]float64, 30)
			for j := range w2 {
				w2[j] = 0.01 * float64(j)
			}
			want, q := mat.NewDense(5, 5, nil), mat.NewVecDense(5, []float64{1, -2, 0.5, 3, 1})
			for a, i := range set {
				for b, j := range set {
					ci, cj := mat.Col(nil, i, x), mat.Col(nil, j, x)
					if intercept {
						floats.AddConst(-floats.Sum(ci)/60, ci)
						floats.AddConst(-floats.Sum(cj)/60, cj)
					}
					want.Set(a, b, floats.Dot(ci, cj)/60)
				}
				want.Set(a, a, want.At(a, a)+w2[i])
			}
			require.True(t, mat.EqualApprox(want, g.Hessian(set, w2), 1e-12))
			var v mat.VecDense
			require.NoError(t, v.SolveVec(want, q))
			cg := make([]float64, 5)
			require.Less(t, g.ConjugateGradient(context.Background(), set, w2, q.RawVector().Data, cg, 1e-13, 100), 100)
			inverse, err := g.Inverse(context.Background(), set, w2)
			require.NoError(t, err)
			direct := append([]float64(nil), q.RawVector().Data...)
			inverse.Solve(direct)
			require.InDeltaSlice(t, v.RawVector().Data, direct, 1e-10)
			require.InDeltaSlice(t, v.RawVector().Data, cg, 1e-10)
		}
	}
}

// With more coefficients than rows the factor has the order of the rows; conjugate gradients know the solution.
func TestInverseOfManyColumns(t *testing.T) {
	x, y := lowertest.Sample(13, 20, 90, 3, 0.5)
	for _, data := range []*design.Matrix{design.New(x), design.New(lowertest.Compress(x))} {
		for _, intercept := range []bool{false, true} {
			g, err := NewRegression(data, y, intercept)
			require.NoError(t, err)
			var set []int
			w2, q := make([]float64, 90), make([]float64, 60)
			for i := range q {
				set = append(set, i+i/2)
				q[i] = math.Sin(float64(i))
			}
			for j := range w2 {
				w2[j] = 0.01 * float64(1+j)
			}
			require.True(t, g.byRows(set, w2))
			inverse, err := g.Inverse(context.Background(), set, w2)
			require.NoError(t, err)
			want := make([]float64, 60)
			g.ConjugateGradient(context.Background(), set, w2, q, want, 1e-14, 1000)
			inverse.Solve(q)
			require.InDeltaSlice(t, want, q, 1e-9*floats.Norm(want, 2))
			// Tiny weights are left to the matrix of the coefficients.
			for j := range w2 {
				w2[j] = 1e-13
			}
			require.False(t, g.byRows(set, w2))
		}
	}
	_, err := InverseOf(mat.NewSymDense(3, nil))
	require.ErrorContains(t, err, "vanishes or overflows on the 3 coefficients")
}

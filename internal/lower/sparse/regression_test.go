package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

func TestWarmStartAtTheSameTime(t *testing.T) {
	x, y := lowertest.Sample(7, 120, 2000, 8, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{}))(t)
	top := g.LambdaMax()
	first := must.Of(g.solve(context.Background(), 0.1*top, 0, 1e-12, nil))(t)
	w1, w2 := 0.09*top, 0.0
	cold := must.Of(g.solve(context.Background(), w1, w2, 1e-12, nil))(t)
	warm := must.Of(g.solve(context.Background(), w1, w2, 1e-12, first))(t)
	require.InDeltaSlice(t, cold.B, warm.B, 1e-7)
	var again [4]*Solution
	crew.Each(len(again), len(again), func(i int) {
		again[i], _ = g.solve(context.Background(), w1, w2, 1e-12, first)
	})
	for _, s := range again {
		require.Equal(t, warm, s)
	}
}

// Features without an effect: constant columns with an intercept, zero columns, copies, with penalties and without.
func TestDegenerateColumns(t *testing.T) {
	x, y := lowertest.Sample(8, 50, 12, 3, 1)
	for i := range 50 {
		x.Set(i, 1, 7)
		x.Set(i, 2, 0)
		x.Set(i, 5, x.At(i, 4))
		x.Set(i, 6, -2*x.At(i, 4))
	}
	free := Terms{Factors: []float64{1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1}}
	for _, w := range [][]float64{{1e-3, 0}, {0, 0}, {0, 1e-4}, {0.1, 0.01}} {
		for _, terms := range []Terms{{}, free} {
			c := problem{kind: "squares", x: x, y: y, intercept: true, terms: terms, l1: w[:1], l2: w[1:]}
			s := c.solve(t, c.fit(t, design.New(x)), 1e-12, nil)
			c.optimal(t, s, 1e-6, fmt.Sprint(w))
			require.Zero(t, s.B[1])
			require.Zero(t, s.B[2])
		}
	}
	g := must.Of(Squares(Sample{X: design.New(x), Y: make([]float64, 50)}, true, Terms{}))(t)
	s := must.Of(g.solve(context.Background(), 1, 0, 0, nil))(t)
	require.Equal(t, outcome.Converged, s.Status)
	require.Empty(t, support(s))
}

// Weights near zero and more features than rows: the solution all but interpolates.
func TestTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(9, 50, 300, 5, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, false, Terms{}))(t)
	top := g.LambdaMax()
	for _, l1 := range []float64{1e-4, 1e-6} {
		for _, l2 := range []float64{0, 1e-5, 1e-2} {
			s := must.Of(g.solve(context.Background(), l1*top, l2*top, 1e-10, nil))(t)
			require.Equal(t, outcome.Converged, s.Status, "%g %g", l1, l2)
			require.LessOrEqual(t, s.Gap, 1e-10*g.scale)
		}
	}
}

// Lower bounds of far points are below the best value.
func TestBound(t *testing.T) {
	x := design.New(mat.NewDense(6, 2, []float64{1, 0, -1, 2, 0.5, 1, 2, -1, -1, -2, 0.3, 0.1}))
	y := []float64{3, 0, 1, 8, 2, 1}
	classes := Sample{X: x, Y: []float64{0, 1, 2, 0, 1, 2}}
	for name, of := range map[string]func() (*Fit, error){
		"squares":  func() (*Fit, error) { return Squares(Sample{X: x, Y: y}, true, Terms{Factors: []float64{1, 0}}) },
		"poisson":  func() (*Fit, error) { return Poisson(Sample{X: x, Y: y}, true, Terms{}) },
		"logistic": func() (*Fit, error) { return Logistic(Sample{X: x, Y: []float64{1, -1, 1, -1, 1, -1}}, true, Terms{}) },
		"cox": func() (*Fit, error) {
			return Cox(Sample{X: x, Y: y[:]}, survival.Efron, Terms{Upper: []float64{0.2, 0.1}})
		},
		"multinomial": func() (*Fit, error) { return Multinomial(classes, 3, true, Terms{Factors: []float64{2, 1}}) },
	} {
		g, err := of()
		require.NoError(t, err, name)
		for _, w := range [][]float64{{0.3, 0.05}, {0.05, 0}, {0, 0.1}} {
			best := must.Of(g.solve(context.Background(), w[0], w[1], 1e-13, nil))(t)
			for _, b := range [][]float64{{0, 0}, {1, 1}, {-2, 0.3}, {0.4, -0.2}} {
				start := &Solution{B: make([]float64, g.p*g.k), B0: make([]float64, g.k)}
				for e := range start.B {
					lo, hi := g.terms.Lower[e/g.k], g.terms.Upper[e/g.k]
					start.B[e] = math.Max(lo, math.Min(hi, b[e/g.k]/float64(1+e%g.k)))
				}
				s := g.solver()
				require.NoError(t, s.move([][]float64{start.B, start.B0}[:len(g.Shape())]))
				c := must.Of(s.Check(context.Background(), &bilevel.JointWeights{Train: 1, Penalties: w}))(t)
				require.LessOrEqual(t, c.Objective-c.Gap, best.Objective+1e-10, "%s %v", name, w)
				require.GreaterOrEqual(t, c.Objective, best.Objective-1e-10, name)
			}
		}
	}
}

func TestPoissonOfEqualCounts(t *testing.T) {
	x := design.New(mat.NewDense(3, 1, []float64{1, 2, 3}))
	g, err := Poisson(Sample{X: x, Y: []float64{2, 2, 2}}, true, Terms{}) // nothing is left to explain
	require.NoError(t, err)
	s := must.Of(g.solve(context.Background(), 0.1, 0, 0, nil))(t)
	require.Equal(t, outcome.Converged, s.Status)
	require.Zero(t, s.B[0])
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

// A start that is nearly a solution at nearby weights, where the dual bound is poor as w2 is small, is improved upon
// and not given up.
func TestSmoothFromNearby(t *testing.T) {
	x, y := lowertest.Sample(3, 400, 800, 60, 0.1)
	for i, v := range y {
		y[i] = math.Copysign(1, v)
	}
	g := must.Of(Logistic(Sample{X: design.New(matrices.Compress(x)), Y: y}, true, Terms{}))(t)
	for _, share := range []float64{0.3, 0.1, 0.05} {
		for _, w2 := range []float64{1e-3, 1e-5, 1e-7} {
			for _, tol := range []float64{1e-4, 1e-6} {
				l := share * g.LambdaMax()
				s := must.Of(g.solve(context.Background(), l, w2, tol, nil))(t)
				for _, step := range []float64{1e-1, 1e-2, 1e-3, 1e-4} {
					next := must.Of(g.solve(context.Background(), l*(1-step), w2, tol, s))(t)
					require.Equal(t, outcome.Converged, next.Status, "%v %v %v %v: gap %v", share, w2, tol, step, g.Relative(next.Gap))
				}
			}
		}
	}
}

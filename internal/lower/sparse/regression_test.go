package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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

// weighed are rows with weights 1 to 3 and an offset, and the same rows, each as often as its weight says.
func weighed(seed uint64, n, p int, target func(f float64) float64, dense bool) (once, often Sample) {
	rng := rand.New(rand.NewPCG(seed, 7))
	var rows []float64
	var index []int
	x := mat.NewDense(n, p, nil)
	for i := range n {
		f := 0.3
		for j := range p {
			if dense || rng.Float64() < 0.3 {
				x.Set(i, j, rng.NormFloat64())
			}
			f += x.At(i, j) * 0.8 / float64(1+j)
		}
		once.Offset = append(once.Offset, 0.5*rng.NormFloat64())
		once.Y = append(once.Y, target(f+once.Offset[i]+0.3*rng.NormFloat64()))
		once.Weights = append(once.Weights, float64(1+i%3))
		for range 1 + i%3 {
			rows, index = append(rows, x.RawRowView(i)...), append(index, i)
		}
	}
	many := mat.NewDense(len(index), p, rows)
	if once.X, often.X = design.New(x), design.New(many); !dense {
		once.X, often.X = compressedColumns(x), compressedColumns(many)
	}
	for _, i := range index {
		often.Y, often.Offset = append(often.Y, once.Y[i]), append(often.Offset, once.Offset[i])
	}
	floats.Scale(17, once.Weights) // of any unit
	return once, often
}

// TestRowsOfWeight: a row of weight 2 is two rows, with offsets and without, with terms and without.
func TestRowsOfWeight(t *testing.T) {
	ctx := context.Background()
	for _, name := range smooth {
		c := lossesOfTests[name]
		for _, dense := range []bool{true, false} {
			once, often := weighed(3, 60, 12, c.target, dense)
			for _, intercept := range []bool{true, false} {
				for _, terms := range []Terms{{}, {Factors: append([]float64{0, 0, 2}, 1, 1, 1, 1, 1, 1, 1, 1, 1),
					Upper: append([]float64{0.1}, slices.Repeat([]float64{math.Inf(1)}, 11)...)}} {
					a, b := must.Of(c.of(once, intercept, terms))(t), must.Of(c.of(often, intercept, terms))(t)
					require.InEpsilon(t, b.LambdaMax(), a.LambdaMax(), 1e-9, name)
					require.InEpsilon(t, b.scale, a.scale, 1e-9, name)
					for _, share := range []float64{0.5, 0.05} {
						s := must.Of(a.solve(ctx, share*a.LambdaMax(), 0.01, 1e-13, nil))(t)
						r := must.Of(b.solve(ctx, share*a.LambdaMax(), 0.01, 1e-13, nil))(t)
						require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status, name)
						require.InDelta(t, r.Objective, s.Objective, 1e-10, name)
						require.InDelta(t, r.B0[0], s.B0[0], 1e-6, name)
						require.InDeltaSlice(t, r.B, s.B, 1e-6, name)
					}
				}
			}
		}
	}
}

func TestStopped(t *testing.T) {
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	d := design.New(x)
	g := must.Of(Squares(Sample{X: d, Y: y}, true, Terms{}))(t)
	top := g.LambdaMax()
	near := must.Of(g.solve(context.Background(), 0.1*top, 0, 0, nil))(t)
	q := problem{groups: lowertest.EqualGroups(90, 9), l1: []float64{0.05 * top}}
	q.norm = slices.Repeat([]float64{0.1 * top}, len(q.groups))
	groups := must.Of(Groups(Sample{X: d, Y: y}, true, q.groups))(t)
	l := must.Of(Logistic(Sample{X: d, Y: targets("logistic", y)}, true, Terms{}))(t)
	end := func(s *Solution, err error) lowertest.End {
		require.NoError(t, err)
		return lowertest.End{Status: s.Status, Objective: s.Objective}
	}
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"homotopy": func(ctx context.Context) lowertest.End {
			return end(g.solve(ctx, 0.05*top, 0, 1e-12, near))
		},
		"dual Newton": func(ctx context.Context) lowertest.End {
			return end(g.solve(ctx, 1e-3*top, 1e-3, 1e-12, nil))
		},
		"epochs": func(ctx context.Context) lowertest.End {
			return end(g.solve(ctx, 0.2*top, 0, 1e-12, nil))
		},
		"groups": func(ctx context.Context) lowertest.End {
			return end(groups.Solve(ctx, q.weights(groups), 1e-12, nil))
		},
		"logistic": func(ctx context.Context) lowertest.End {
			return end(l.solve(ctx, 0.05*l.LambdaMax(), 1e-3, 0, nil))
		},
	})
}

// A solve ends with its context.
func TestCancelled(t *testing.T) {
	x, y := lowertest.Sample(10, 50, 300, 5, 1)
	for looks := range 3 {
		for kind := range lossesOfTests {
			g := problem{kind: kind, y: targets(kind, y)}.fit(t, design.New(x))
			s := must.Of(g.solve(stoptest.After(looks), 1e-3*g.LambdaMax(), 0, 1e-10, nil))(t)
			require.Equal(t, outcome.Cancelled, s.Status, kind)
		}
		g := must.Of(Cox(Sample{X: design.New(x), Y: y}, survival.Breslow, Terms{}))(t)
		s := must.Of(g.solve(stoptest.After(looks), 1e-3*g.LambdaMax(), 0, 1e-10, nil))(t)
		require.Equal(t, outcome.Cancelled, s.Status)
	}
}

// every third feature has no penalty, and the others have different ones.
func someFactors(p int) []float64 {
	f := make([]float64, p)
	for j := range f {
		f[j] = float64(j%3) * (1 + 0.1*float64(j%4))
		if j > 12 {
			f[j] = 0.5 + float64(j%3)
		}
	}
	return f
}

// someBounds are none, of one sign, of the other, and narrow.
func someBounds(p int) (lower, upper []float64) {
	lower, upper = make([]float64, p), make([]float64, p)
	for j := range p {
		lower[j], upper[j] = math.Inf(-1), math.Inf(1)
		switch j % 4 {
		case 1:
			lower[j] = 0
		case 2:
			upper[j] = 0
		case 3:
			lower[j], upper[j] = -0.2, 0.1
		}
	}
	return lower, upper
}

// At LambdaMax no coefficient is in use but those without a penalty, and with the weight a little smaller one is.
func TestLambdaMax(t *testing.T) {
	for kind := range lossesOfTests {
		for _, way := range []string{"lasso", "factors", "bounds", "both"} {
			for _, intercept := range []bool{false, true} {
				x, y := lowertest.Sample(9, 50, 20, 4, 1)
				c := problem{kind: kind, x: x, y: targets(kind, y), intercept: intercept}
				ways[way](&c, 0)
				g := c.fit(t, design.New(x))
				top := g.LambdaMax()
				penalised := func(share float64) (n int) {
					c.l1, c.l2 = []float64{share * top}, nil
					s := c.solve(t, g, 1e-12, nil)
					c.optimal(t, s, 1e-5*top, fmt.Sprint(kind, way, intercept, share))
					for _, e := range support(s) {
						if g.terms.Factors[e/g.k] > 0 {
							n++
						}
					}
					return n
				}
				require.Zero(t, penalised(1+1e-9), "%s %s", kind, way)
				require.Positive(t, penalised(0.98), "%s %s", kind, way)
				if kind == "squares" && way == "lasso" {
					require.Equal(t, 1, penalised(0.999))
				}
			}
		}
	}
}

// A lasso over three features of which the second is of no use.
func ExampleFit_Solve() {
	x := mat.NewDense(4, 3, []float64{
		1, 1, 1,
		1, -1, -1,
		-1, 1, -1,
		-1, -1, 1,
	})
	g, err := New(nil, Sample{X: design.New(x), Y: []float64{6, 1, 0, 5}}, true, Terms{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := &glm.Weights{Norm: []float64{0.25, 0.25, 0.25}}
	s, err := g.Solve(context.Background(), w, 1e-8, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: b0 = %.2f, b = %.2f\n", s.Status, s.B0[0], s.B)
	// Output: converged: b0 = 3.00, b = [0.25 0.00 2.25]
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

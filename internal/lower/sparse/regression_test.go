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
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// With orthogonal columns of norm sqrt(n) the elastic net is soft thresholding of X'y / n.
func TestOrthogonalDesign(t *testing.T) {
	const n = 8
	x := mat.NewDense(n, 3, nil)
	for i := range n { // columns of a Hadamard matrix
		x.SetRow(i, []float64{sgn(i & 1), sgn(i & 2), sgn(i&1 ^ i&2>>1)})
	}
	y := []float64{3, 1, -2, 4, 0.5, -1, 2, 6}
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, false, Terms{}))(t)
	const l1, l2 = 0.4, 0.25
	s := must.Of(g.Solve(context.Background(), l1, l2, 0, nil))(t)
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

// The gap bounds the error of the objective at any tolerance.
func TestGapBoundsTheError(t *testing.T) {
	x, y := lowertest.Sample(6, 80, 200, 6, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{}))(t)
	w1, w2 := 0.02*g.LambdaMax(), 1e-3
	exact := must.Of(g.Solve(context.Background(), w1, w2, 1e-14, nil))(t)
	for _, tol := range []float64{0.3, 1e-1, 1e-2, 1e-4} {
		s := must.Of(g.Solve(context.Background(), w1, w2, tol, nil))(t)
		require.LessOrEqual(t, s.Gap, tol*g.scale)
		require.LessOrEqual(t, s.Objective-exact.Objective, s.Gap*(1+1e-9)+1e-14*g.scale)
		require.GreaterOrEqual(t, s.Objective, exact.Objective*(1-1e-12))
	}
}

func TestWarmStartAtTheSameTime(t *testing.T) {
	x, y := lowertest.Sample(7, 120, 2000, 8, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{}))(t)
	top := g.LambdaMax()
	first := must.Of(g.Solve(context.Background(), 0.1*top, 0, 1e-12, nil))(t)
	w1, w2 := 0.09*top, 0.0
	cold := must.Of(g.Solve(context.Background(), w1, w2, 1e-12, nil))(t)
	warm := must.Of(g.Solve(context.Background(), w1, w2, 1e-12, first))(t)
	require.InDeltaSlice(t, cold.B, warm.B, 1e-7)
	var again [4]*Solution
	crew.Each(len(again), len(again), func(i int) {
		again[i], _ = g.Solve(context.Background(), w1, w2, 1e-12, first)
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
	for _, w := range [][]float64{{1e-3, 0}, {0, 0}, {0, 1e-4}} {
		c := problem{kind: "squares", x: x, y: y, intercept: true, l1: w[:1], l2: w[1:]}
		s := c.solve(t, c.fit(t, design.New(x)), 1e-12, nil)
		c.optimal(t, s, 1e-6, fmt.Sprint(w))
		require.Zero(t, s.B[1])
		require.Zero(t, s.B[2])
	}
	g := must.Of(Squares(Sample{X: design.New(x), Y: make([]float64, 50)}, true, Terms{}))(t)
	s := must.Of(g.Solve(context.Background(), 1, 0, 0, nil))(t)
	require.Equal(t, lower.Optimal, s.Status)
	require.Empty(t, support(s))
}

// Weights near zero and more features than rows: the solution all but interpolates.
func TestTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(9, 50, 300, 5, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, false, Terms{}))(t)
	top := g.LambdaMax()
	for _, l1 := range []float64{1e-4, 1e-6} {
		for _, l2 := range []float64{0, 1e-5, 1e-2} {
			s := must.Of(g.Solve(context.Background(), l1*top, l2*top, 1e-10, nil))(t)
			require.Equal(t, lower.Optimal, s.Status, "%g %g", l1, l2)
			require.LessOrEqual(t, s.Gap, 1e-10*g.scale)
		}
	}
}

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
	s := must.Of(g.Solve(context.Background(), w1, w2, 1e-12, start))(t)
	require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
	once := must.Of(Squares(Sample{X: design.New(x), Y: y}, false, Terms{}))(t)
	want := must.Of(once.Solve(context.Background(), w1, w2, 1e-12, nil))(t)
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
				s := must.Of(g.Solve(context.Background(), l, w2, tol, nil))(t)
				for _, step := range []float64{1e-1, 1e-2, 1e-3, 1e-4} {
					next := must.Of(g.Solve(context.Background(), l*(1-step), w2, tol, s))(t)
					require.Equal(t, lower.Optimal, next.Status, "%v %v %v %v: gap %v", share, w2, tol, step, g.Relative(next.Gap))
				}
			}
		}
	}
}

// With tiny weights of most groups, more of their features are in use than there are rows.
func TestGroupsWithTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(7, 40, 160, 12, 0.5)
	c := problem{kind: "squares", x: x, y: y, groups: lowertest.EqualGroups(160, 20)}
	g := must.Of(Groups(Sample{X: design.New(x), Y: y}, false, c.groups))(t)
	top := g.GroupLambdaMax(c.groups, true)
	c.l1 = []float64{1e-7 * top}
	for k := range c.groups {
		c.norm = append(c.norm, 1e-7*top)
		if k%4 == 0 {
			c.norm[k] = 0.5 * top
		}
	}
	c.optimal(t, c.solve(t, g, 1e-10, nil), 1e-7*top, "")
}

// Features of any size that files may hold make groups; larger ones are refused.
func TestGroupsOfTinyAndHugeFeatures(t *testing.T) {
	x, y := lowertest.Sample(3, 20, 6, 3, 1)
	x.Scale(1e75, x)
	_, err := Squares(Sample{X: design.New(x), Y: y}, false, Terms{})
	require.ErrorContains(t, err, "column 0 of the design has entries that are not finite or above 1e+70 in size")
	for _, scale := range []float64{1e-300, 1e-160, 1e-75, 1e60, 1e69} {
		x, y := lowertest.Sample(3, 20, 6, 3, 1)
		x.Scale(scale, x)
		for _, intercept := range []bool{false, true} {
			c := problem{groups: lowertest.EqualGroups(6, 3), norm: []float64{0.1, 0.1}}
			g := must.Of(Groups(Sample{X: design.New(x), Y: y}, intercept, c.groups))(t)
			require.Positive(t, g.GroupLambdaMax(c.groups, true))
			c.solve(t, g, 1e-10, nil)
		}
	}
}

// TestGroupsStall has a group of features of 1e6 that are constant to 1e-6 beside small equal ones: rounding leaves a
// gap above the tolerance, and each Newton step moves a little. It has to end.
func TestGroupsStall(t *testing.T) {
	x := mat.NewDense(5, 4, []float64{
		-1.7229740243582905, -1.7229740243582905, 1.9802872038950084e+06, 885042.7901132035,
		-0.00043123825077024964, -0.00043123825077024964, 1.980286928119816e+06, 885041.1017556873,
		-0.04315835586672629, -0.04315835586672629, 1.980287511992284e+06, 885040.5730146944,
		1.2886566824903212, 1.2886566824903212, 1.9802872387793963e+06, 885042.1687790029,
		0.34471866706533255, 0.34471866706533255, 1.9802889067580618e+06, 885040.8613351098,
	})
	c := problem{groups: [][]int{{0, 1, 2, 3}}, norm: []float64{0.001}, l1: []float64{0.001}}
	y := []float64{1.5652475842498528, 1.5652475842498528, 0, 0, 0}
	g := must.Of(Groups(Sample{X: design.New(x), Y: y}, false, c.groups))(t)
	s := c.solve(t, g, 1e-9, nil)
	// by the rounding of the processor
	require.Contains(t, []lower.Status{lower.Stalled, lower.Exhausted, lower.Optimal}, s.Status)
	require.Less(t, g.Relative(s.Gap), 1e-7)
}

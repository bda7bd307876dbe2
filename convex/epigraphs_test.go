package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// definite is a positive definite matrix of order n, row by row.
func definite(rng *rand.Rand, n int) []float64 {
	r := mat.NewDense(n, n, random(rng, n*n))
	var p mat.Dense
	p.Mul(r, r.T())
	for i := range n {
		p.Set(i, i, p.At(i, i)+0.5)
	}
	return p.RawMatrix().Data
}

// positive are n numbers above zero.
func positive(rng *rand.Rand, n int) []float64 {
	v := random(rng, n)
	for i := range v {
		v[i] = math.Exp(v[i])
	}
	return v
}

// graphs are atoms with arguments in their domains, and their values by a formula of their own.
var graphs = []struct {
	name  string
	at    func(rng *rand.Rand) []float64
	f     func(x convex.Operand) convex.Expr
	value func(x []float64) float64
}{
	{"log", func(r *rand.Rand) []float64 { return positive(r, 4) },
		func(x convex.Operand) convex.Expr { return convex.Sum(convex.Neg(convex.Log(x))) },
		func(x []float64) float64 { return -math.Log(x[0] * x[1] * x[2] * x[3]) }},
	{"entropy", func(r *rand.Rand) []float64 { return positive(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.Sum(convex.Neg(convex.Entropy(x))) },
		func(x []float64) float64 { return math.Log(math.Pow(x[0], x[0]) * math.Pow(x[1], x[1])) }},
	{"relative entropy", func(r *rand.Rand) []float64 { return positive(r, 4) },
		func(x convex.Operand) convex.Expr {
			return convex.Sum(convex.RelativeEntropy(convex.Slice(x, 0, 2), convex.Slice(x, 2, 4)))
		},
		func(x []float64) float64 { return x[0]*math.Log(x[0]/x[2]) + x[1]*math.Log(x[1]/x[3]) }},
	{"inverse", func(r *rand.Rand) []float64 { return positive(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.Dot([]float64{1, 2}, convex.Power(x, -1)) },
		func(x []float64) float64 { return 1/x[0] + 2/x[1] }},
	{"power", func(r *rand.Rand) []float64 { return random(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.Sum(convex.Power(x, 2.5)) },
		func(x []float64) float64 { return math.Pow(x[0]*x[0], 1.25) + math.Pow(x[1]*x[1], 1.25) }},
	{"negative power", func(r *rand.Rand) []float64 { return positive(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.Sum(convex.Power(x, -1.5)) },
		func(x []float64) float64 { return 1/math.Sqrt(x[0]*x[0]*x[0]) + 1/math.Sqrt(x[1]*x[1]*x[1]) }},
	{"root", func(r *rand.Rand) []float64 { return positive(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.Sum(convex.Neg(convex.Power(x, 0.5))) },
		func(x []float64) float64 { return -math.Sqrt(x[0]) - math.Sqrt(x[1]) }},
	{"squares over", func(r *rand.Rand) []float64 { return positive(r, 3) },
		func(x convex.Operand) convex.Expr { return convex.QuadOverLin(convex.Slice(x, 0, 2), convex.At(x, 2)) },
		func(x []float64) float64 { return (x[0]*x[0] + x[1]*x[1]) / x[2] }},
	{"quadratic form", func(r *rand.Rand) []float64 { return random(r, 2) },
		func(x convex.Operand) convex.Expr {
			return convex.QuadForm(x, mat.NewSymDense(2, []float64{2, 1, 1, 3}))
		},
		func(x []float64) float64 { return 2*x[0]*x[0] + 2*x[0]*x[1] + 3*x[1]*x[1] }},
	{"3-norm", func(r *rand.Rand) []float64 { return random(r, 3) },
		func(x convex.Operand) convex.Expr { return convex.Norm(x, 3) },
		func(x []float64) float64 {
			return math.Cbrt(math.Pow(math.Abs(x[0]), 3) + math.Pow(math.Abs(x[1]), 3) + math.Pow(math.Abs(x[2]), 3))
		}},
	{"geometric mean", func(r *rand.Rand) []float64 { return positive(r, 3) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.GeoMean(x)) },
		func(x []float64) float64 { return -math.Cbrt(x[0] * x[1] * x[2]) }},
	{"largest", func(r *rand.Rand) []float64 { return random(r, 3) },
		func(x convex.Operand) convex.Expr { return convex.SumLargest(x, 1.5) },
		func(x []float64) float64 {
			top, least := floats.Max(x), floats.Min(x)
			return top + (floats.Sum(x)-top-least)/2
		}},
	{"squared sums", func(r *rand.Rand) []float64 { return random(r, 3) },
		func(x convex.Operand) convex.Expr { return convex.SumSquares(convex.CumSum(x)) },
		func(x []float64) float64 {
			return x[0]*x[0] + (x[0]+x[1])*(x[0]+x[1]) + (x[0]+x[1]+x[2])*(x[0]+x[1]+x[2])
		}},
	{"sums of squares", func(r *rand.Rand) []float64 { return random(r, 4) },
		func(x convex.Operand) convex.Expr {
			return convex.Sum(convex.CumSum(convex.Reshape(convex.Power(x, 2), 2, 2)))
		},
		func(x []float64) float64 { return 2*(x[0]*x[0]+x[1]*x[1]) + x[2]*x[2] + x[3]*x[3] }},
	{"total variation", func(r *rand.Rand) []float64 { return random(r, 3) }, convex.TotalVariation,
		func(x []float64) float64 { return math.Abs(x[1]-x[0]) + math.Abs(x[2]-x[1]) }},
	{"total variation in two dimensions", func(r *rand.Rand) []float64 { return random(r, 4) },
		func(x convex.Operand) convex.Expr { return convex.TotalVariation(convex.Reshape(x, 2, 2)) },
		func(x []float64) float64 {
			return math.Hypot(x[1]-x[0], x[2]-x[0]) + math.Abs(x[3]-x[1]) + math.Abs(x[3]-x[2])
		}},
	{"largest eigenvalue", func(r *rand.Rand) []float64 { return definite(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.LambdaMax(convex.Reshape(x, 2, 2)) },
		func(x []float64) float64 { return (x[0]+x[3])/2 + math.Hypot((x[0]-x[3])/2, x[1]) }},
	{"determinant", func(r *rand.Rand) []float64 { return definite(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.LogDet(convex.Reshape(x, 2, 2))) },
		func(x []float64) float64 { return -math.Log(x[0]*x[3] - x[1]*x[2]) }},
	{"trace of the inverse", func(r *rand.Rand) []float64 { return definite(r, 2) },
		func(x convex.Operand) convex.Expr { return convex.TraceInverse(convex.Reshape(x, 2, 2)) },
		func(x []float64) float64 { return (x[0] + x[3]) / (x[0]*x[3] - x[1]*x[2]) }},
	{"matrix fraction", func(r *rand.Rand) []float64 { return append(random(r, 2), definite(r, 2)...) },
		func(x convex.Operand) convex.Expr {
			return convex.MatrixFrac(convex.Slice(x, 0, 2), convex.Reshape(convex.Slice(x, 2, 6), 2, 2))
		},
		func(x []float64) float64 {
			return (x[0]*x[0]*x[5] - 2*x[0]*x[1]*x[3] + x[1]*x[1]*x[2]) / (x[2]*x[5] - x[3]*x[4])
		}},
	{"spectral norm", func(r *rand.Rand) []float64 { return random(r, 4) },
		func(x convex.Operand) convex.Expr { return convex.SpectralNorm(convex.Reshape(x, 2, 2)) },
		func(x []float64) float64 {
			sum, det := floats.Dot(x, x), x[0]*x[3]-x[1]*x[2]
			return math.Sqrt((sum + math.Sqrt(sum*sum-4*det*det)) / 2)
		}},
}

// At a point that is given, the value of an atom, of its cones, and of a formula are one; its multiplier as a
// constraint is that of the same constraint on a variable. Near the point there is none where the function and its
// tangent plane disagree.
func TestGraphs(t *testing.T) {
	for _, g := range graphs {
		t.Run(g.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 5))
			for range 5 {
				at := g.at(rng)
				want := g.value(at)
				m := convex.NewModel()
				x, bound := m.Vector("x", len(at)), m.Vector("bound", 1)
				f := g.f(x)
				require.InDelta(t, want, f.Eval(convex.Point{x: at})[0], 1e-9*(1+math.Abs(want)))
				m.Minimize(convex.Add(convex.Scale(2, f), bound))
				below := m.Le("", f, bound)
				fixed := m.Eq("", x, at)

				r := must.Of(m.Solve(context.Background()))(t)
				require.Equal(t, backends.Optimal, r.Status, r.Message)
				require.InDelta(t, 3*want, r.Objective, 1e-6*(1+math.Abs(want)))
				require.InDelta(t, 1, r.Dual(below)[0], 1e-5)
				// The multipliers of the equations are minus three subgradients: the tangent plane is below.
				slope := r.Dual(fixed)
				for range 20 {
					near := g.at(rng)
					plane := want
					for i := range near {
						plane += -slope[i] / 3 * (near[i] - at[i])
					}
					require.LessOrEqual(t, plane, g.value(near)+1e-4*(1+math.Abs(want)+floats.Norm(slope, 1)))
				}
			}
		})
	}
}

// Outside of its domain an atom has no value, and a program no point.
func TestGraphDomains(t *testing.T) {
	for _, f := range []func(x convex.Operand) convex.Expr{
		convex.TraceInverse, func(x convex.Operand) convex.Expr { return convex.Neg(convex.Log(x)) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.Entropy(x)) },
		func(x convex.Operand) convex.Expr { return convex.Power(x, -1) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.LogDet(x)) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.Power(x, 0.3)) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.Power(x, 0.5)) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.Norm(x, -1)) },
		func(x convex.Operand) convex.Expr { return convex.Power(x, -2) },
		func(x convex.Operand) convex.Expr { return convex.RelativeEntropy(x, 1) },
		func(x convex.Operand) convex.Expr { return convex.QuadOverLin(1, x) },
		func(x convex.Operand) convex.Expr { return convex.Neg(convex.GeoMean(convex.Stack(x, 1))) },
	} {
		m := convex.NewModel()
		x := m.Vector("x", 1)
		require.Equal(t, math.Inf(1), f(x).Eval(convex.Point{x: {-1}})[0])
		m.Minimize(convex.Sum(f(x)))
		m.Eq("", x, -1)
		r := must.Of(m.Solve(context.Background()))(t)
		require.Equal(t, backends.PrimalInfeasible, r.Status)
	}
	m := convex.NewModel()
	x := m.Vector("x", 3)
	for _, f := range []convex.Expr{
		convex.Power(x, 0), convex.Norm(x, 0), convex.SumLargest(x, 4), convex.Power(convex.Log(x), 2),
		convex.Exp(convex.Log(x)), convex.Add(convex.Exp(x), convex.Log(x)), convex.Scale(x, x), convex.Add("x", 1),
		convex.LambdaMax(x), convex.QuadOverLin(x, x), convex.MatrixFrac(x, x), convex.SpectralNorm(convex.Reshape(x, 2, 2)),
		convex.TotalVariation(convex.Reshape(x, 2, 2)), convex.RelativeEntropy(x, m.Vector("y", 2)),
		convex.QuadForm(x, mat.NewSymDense(2, nil)), convex.QuadForm(x, mat.NewDiagDense(3, []float64{1, 1, -1})),
	} {
		require.Error(t, f.Err())
	}
	require.Error(t, m.Matrix("z", 2, 3, convex.Symmetric()).Err())
	require.Error(t, convex.Trace(x).Err())
}

// The multiplier of a cone is that of its rows: min t over (t, 3, 4) in the second-order cone has (1, -3/5, -4/5).
func TestConeMultiplier(t *testing.T) {
	m := convex.NewModel()
	x := m.Vector("t", 1)
	m.Minimize(x)
	cone := m.In("", backends.SecondOrder(3), x, []float64{3, 4})
	inDelta(t, []float64{1, -0.6, -0.8}, must.Of(m.Solve(t.Context()))(t).Dual(cone), 1e-4)
	m.In("", backends.Exponential(), x)
	_, err := m.Compile()
	require.ErrorContains(t, err, "dimension 3")
}

package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
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

// traced is an expression together with its value, computed entry by entry
// without the package, at one point.
type traced struct {
	a     convex.Expr
	value []float64
	hasP  bool // a parameter is in it
}

// world is a model with a point to evaluate at.
type world struct {
	m      *convex.Model
	vars   []*convex.Variable
	pt     convex.Point
	params []*convex.Parameter
}

func number(t *rapid.T, label string) float64 {
	return float64(rapid.IntRange(-4, 4).Draw(t, label)) / 2
}

func numbers(t *rapid.T, n int, label string) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = number(t, label)
	}
	return v
}

func newWorld(t *rapid.T) *world {
	w := &world{m: convex.NewModel(), pt: convex.Point{}}
	for k := range 3 {
		v := w.m.Vector(string(rune('x'+k)), rapid.IntRange(1, 4).Draw(t, "length"))
		w.vars = append(w.vars, v)
		w.pt[v] = numbers(t, v.Len(), "x")
		w.params = append(w.params, w.m.Parameter(string(rune('p'+k)), numbers(t, rapid.IntRange(1, 4).Draw(t, "length"), "p")))
	}
	return w
}

// matrix draws a dense or a sparse matrix.
func matrix(t *rapid.T, rows, cols int) mat.Matrix {
	if rows == cols && rapid.Bool().Draw(t, "diagonal") {
		return mat.NewDiagDense(rows, numbers(t, rows, "M"))
	}
	d := mat.NewDense(rows, cols, numbers(t, rows*cols, "M"))
	switch rapid.IntRange(0, 3).Draw(t, "format") {
	case 1, 2:
		c := sparse.NewCOO(rows, cols, nil, nil, nil)
		for i := rows - 1; i >= 0; i-- {
			for j := range cols {
				if v := d.At(i, j); v != 0 {
					c.Set(i, j, v)
				}
			}
		}
		if rapid.Bool().Draw(t, "by rows") {
			return c.ToCSR()
		}
		return c.ToCSC()
	case 3:
		return mat.DenseCopyOf(d.T()).T()
	}
	return d
}

// expression draws an expression by random operations.
func (w *world) expression(t *rapid.T, depth int) traced {
	if depth == 0 {
		switch rapid.IntRange(0, 3).Draw(t, "leaf") {
		case 0:
			c := numbers(t, rapid.IntRange(1, 4).Draw(t, "length"), "c")
			return traced{convex.Const(c), c, false}
		case 1:
			p := w.params[rapid.IntRange(0, 2).Draw(t, "which")]
			return traced{p, p.Values(), true}
		default:
			v := w.vars[rapid.IntRange(0, 2).Draw(t, "which")]
			return traced{v, w.pt[v], false}
		}
	}
	e := w.expression(t, depth-1)
	n := len(e.value)
	out := traced{hasP: e.hasP}
	switch op := rapid.IntRange(0, 9).Draw(t, "operation"); op {
	case 0, 1: // sum, difference; operands cut to the same length or one
		f := w.expression(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		k := min(n, len(f.value))
		if k > 1 && k < max(n, len(f.value)) {
			e, f = traced{convex.Slice(e.a, 0, k), e.value[:k], e.hasP}, traced{convex.Slice(f.a, 0, k), f.value[:k], f.hasP}
		}
		at := func(v []float64, i int) float64 { return v[i%len(v)] } // broadcast
		sign := 1.0
		if op == 1 {
			sign = -1
			out.a = convex.Sub(e.a, f.a)
		} else {
			out.a = convex.Add(e.a, f.a)
		}
		for i := range max(len(e.value), len(f.value)) {
			out.value = append(out.value, at(e.value, i)+sign*at(f.value, i))
		}
		out.hasP = e.hasP || f.hasP
	case 2:
		c := number(t, "c")
		out.a, out.value = convex.Scale(c, e.a), floats.ScaleTo(make([]float64, n), c, e.value)
	case 3:
		m := matrix(t, rapid.IntRange(1, 4).Draw(t, "rows"), n)
		out.a = convex.Mul(m, e.a)
		rows, _ := m.Dims()
		for i := range rows {
			out.value = append(out.value, floats.Dot(mat.Row(nil, i, m), e.value))
		}
	case 4:
		idx := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 5).Draw(t, "idx")
		out.a = convex.Pick(e.a, idx)
		for _, i := range idx {
			out.value = append(out.value, e.value[i])
		}
	case 5:
		c := numbers(t, n, "c")
		out.a, out.value = convex.Dot(c, e.a), []float64{floats.Dot(c, e.value)}
	case 6:
		f := w.expression(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		out.a = convex.Stack(e.a, f.a, convex.At(e.a, n-1))
		out.value = append(append(append(out.value, e.value...), f.value...), e.value[n-1])
		out.hasP = e.hasP || f.hasP
	case 9: // entries of two in turns, as the rows of a matrix
		f := w.expression(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		k := min(n, len(f.value))
		out.a = convex.Reshape(convex.Beside(convex.Slice(e.a, 0, k), convex.Slice(f.a, 0, k)), 2*k, 1)
		for i := range k {
			out.value = append(out.value, e.value[i], f.value[i])
		}
		out.hasP = e.hasP || f.hasP
	default: // product with a parameter
		p := w.params[rapid.IntRange(0, 2).Draw(t, "which")]
		if e.hasP {
			return e
		}
		if p.Len() != n {
			if p.Len() != 1 && n != 1 {
				return e
			}
			out.a = convex.Scale(p, e.a)
			for i := range max(n, p.Len()) {
				out.value = append(out.value, p.Values()[i%p.Len()]*e.value[i%n])
			}
		} else if op == 7 {
			out.a, out.value = convex.Scale(p, e.a), floats.MulTo(make([]float64, n), p.Values(), e.value)
		} else {
			out.a, out.value = convex.Dot(p, e.a), []float64{floats.Dot(p.Values(), e.value)}
		}
		out.hasP = true
	}
	return out
}

// Every expression has the value of the operations it was made by, directly,
// as rows s = b - Ax of a compiled program, and as objective.
func TestExpressionValues(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		e := w.expression(t, rapid.IntRange(0, 5).Draw(t, "depth"))
		require.NoError(t, e.a.Err())
		require.Equal(t, len(e.value), e.a.Len())
		near(t, e.value, e.a.Eval(w.pt))

		last := convex.At(e.a, e.a.Len()-1)
		w.m.Eq("", 1, e.a)
		w.m.Ge("", e.a, 1)
		w.m.Minimize(last)
		p := must.Of(w.m.Compile())(t)
		problem := must.Of(p.Problem())(t)
		require.NoError(t, problem.Validate())
		var x []float64
		for _, v := range w.vars {
			x = append(x, w.pt[v]...)
		}
		s := mat.NewVecDense(len(problem.B), nil)
		s.MulVec(problem.A, mat.NewVecDense(len(x), x))
		s.SubVec(mat.NewVecDense(len(problem.B), problem.B), s)
		want := make([]float64, 2*len(e.value))
		for i, v := range e.value {
			want[i], want[len(e.value)+i] = v-1, v-1
		}
		near(t, want, s.RawVector().Data)

		// The linear term of the objective is its slope from zero.
		zero := last.Eval(convex.Point{})[0]
		near(t, []float64{e.value[len(e.value)-1] - zero}, []float64{mat.Dot(mat.NewVecDense(len(x), problem.Q),
			mat.NewVecDense(len(x), x))})
	})
}

// near compares with a relative tolerance for rounding.
func near(t require.TestingT, want, got []float64) {
	require.Equal(t, len(want), len(got))
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-11*(1+math.Abs(want[i])) {
			require.InDelta(t, want[i], got[i], 1e-11, "entry %d", i)
		}
	}
}

// The product of sparse matrices has their nonzeros; dense, this one would not fit into any memory.
func TestProductsOfSparseMatricesStaySparse(t *testing.T) {
	const n = 300_000
	start, index, value, factor := make([]int, n+1), make([]int, n), make([]float64, n), make([]float64, n)
	for j := range n {
		start[j+1], index[j], value[j], factor[j] = j+1, (7*j)%n, float64(1+j%3), float64(2+j%5)
	}
	m := convex.NewModel()
	x := m.Vector("x", n)
	at := make([]float64, n)
	for j := range at {
		at[j] = float64(j % 11)
	}
	a := convex.Mul(mat.NewDiagDense(n, factor), convex.Mul(sparse.NewCSC(n, n, start, index, value), x))
	got := a.Eval(convex.Point{x: at})
	for j := range n {
		i := (7 * j) % n
		if want := factor[i] * value[j] * at[j]; got[i] != want {
			t.Fatalf("entry %d is %v, expected %v", i, got[i], want)
		}
	}
	// So have products of matrices of variables, from either side, and sums of all entries before.
	sums, by := convex.CumSum(x), sparse.NewCSC(n, n, start, index, value)
	require.Equal(t, floats.CumSum(make([]float64, n), at), sums.Eval(convex.Point{x: at}))
	for _, other := range []mat.Matrix{by.ToCOO(), by.ToDOK()} {
		require.Equal(t, convex.Mul(by, x).Eval(convex.Point{x: at}), convex.Mul(other, x).Eval(convex.Point{x: at}))
	}
	m.Eq("sums", sums, 1)
	m.Eq("left", convex.Mul(by, convex.Reshape(convex.Stack(x, x), n, 2)), 1)
	m.Eq("right", convex.Mul(convex.Transpose(x), by), 1)
	problem := must.Of(must.Of(m.Compile())(t).Problem())(t)
	require.LessOrEqual(t, problem.A.NNZ(), (3+1+2+1)*n)
}

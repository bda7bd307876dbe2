package convex_test

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

// tracedConvex is a convex expression with its value at the point of a world.
type tracedConvex struct {
	f     convex.Expr
	value []float64
}

// atoms are those of the package, with their values from the definitions.
var atoms = map[string]drawn{
	"linear":   func(_ *rapid.T, a convex.Expr, v []float64) tracedConvex { return tracedConvex{a, v} },
	"squares":  whole(convex.SumSquares, func(v []float64) float64 { return floats.Dot(v, v) }),
	"1-norm":   whole(convex.Norm1, norm(1)),
	"2-norm":   whole(convex.Norm2, norm(2)),
	"inf-norm": whole(convex.NormInf, norm(math.Inf(1))),
	"group norms": func(t *rapid.T, a convex.Expr, v []float64) tracedConvex {
		g := groups(t, len(v), 0)
		return tracedConvex{convex.GroupNorms(a, g), ofGroups(g, v, norm(2))}
	},
	"nuclear norm": func(t *rapid.T, a convex.Expr, v []float64) tracedConvex {
		rows := rapid.IntRange(1, len(v)).Filter(func(k int) bool { return len(v)%k == 0 }).Draw(t, "rows")
		var svd mat.SVD
		svd.Factorize(mat.NewDense(rows, len(v)/rows, v), mat.SVDNone)
		return tracedConvex{convex.NuclearNorm(convex.Reshape(a, rows, len(v)/rows)), []float64{floats.Sum(svd.Values(nil))}}
	},
	"abs": entries(convex.Abs, math.Abs),
	"pos": entries(convex.Pos, func(v float64) float64 { return math.Max(0, v) }),
	"Huber": entries(func(a convex.Operand) convex.Expr { return convex.Huber(a, 1.5) }, func(v float64) float64 {
		if v = math.Abs(v); v <= 1.5 {
			return v * v / 2
		}
		return 1.5*v - 1.125
	}),
	"logistic": entries(convex.Logistic, func(v float64) float64 { return math.Log(1 + math.Exp(v)) }),
	"exp":      entries(convex.Exp, math.Exp),
	"log-sum-exp": func(t *rapid.T, a convex.Expr, v []float64) tracedConvex {
		g := groups(t, len(v), 1)
		return tracedConvex{convex.LogSumExp(a, g...), ofGroups(g, v, floats.LogSumExp)}
	},
}

// norm is that of an order.
func norm(l float64) func(v []float64) float64 {
	return func(v []float64) float64 { return floats.Norm(v, l) }
}

// drawn is an atom of an expression with the value v.
type drawn = func(t *rapid.T, a convex.Expr, v []float64) tracedConvex

// whole is an atom of all entries.
func whole(f func(convex.Operand) convex.Expr, value func([]float64) float64) drawn {
	return func(_ *rapid.T, a convex.Expr, v []float64) tracedConvex {
		return tracedConvex{f(a), []float64{value(v)}}
	}
}

// entries is an atom that works entry by entry.
func entries(f func(convex.Operand) convex.Expr, value func(float64) float64) drawn {
	return func(_ *rapid.T, a convex.Expr, v []float64) tracedConvex {
		out := tracedConvex{f: f(a)}
		for _, x := range v {
			out.value = append(out.value, value(x))
		}
		return out
	}
}

// groups draws lists of entries, of which one may begin with another.
func groups(t *rapid.T, n, least int) [][]int {
	if rapid.Bool().Draw(t, "nested") {
		order := rapid.Permutation(indices.Range(0, n)).Draw(t, "order")
		var out [][]int
		for _, k := range rapid.SliceOfN(rapid.IntRange(least, n), 1, 4).Draw(t, "lengths") {
			out = append(out, order[:k])
		}
		return out
	}
	return rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, n-1), least, 3), 1, 3).Draw(t, "groups")
}

func ofGroups(groups [][]int, v []float64, f func([]float64) float64) (out []float64) {
	for _, g := range groups {
		var part []float64
		for _, i := range g {
			part = append(part, v[i])
		}
		out = append(out, f(part))
	}
	return out
}

// steep are the atoms that are drawn of small numbers only.
var steep = []string{"logistic", "exp", "log-sum-exp"}

// convex draws a convex expression by random operations.
func (w *world) convex(t *rapid.T, depth int) tracedConvex {
	if depth == 0 {
		e := w.expression(t, rapid.IntRange(0, 2).Draw(t, "depth"))
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(atoms))).Draw(t, "atom")
		if slices.Contains(steep, name) && floats.Norm(e.value, math.Inf(1)) > 4 {
			name = "abs"
		}
		return atoms[name](t, e.a, e.value)
	}
	e := w.convex(t, depth-1)
	n := len(e.value)
	var out tracedConvex
	switch rapid.IntRange(0, 5).Draw(t, "operation") {
	case 0: // sum
		f := w.convex(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		if n != len(f.value) && n != 1 {
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			e, n = tracedConvex{convex.At(e.f, i), e.value[i : i+1]}, 1
		}
		out.f = convex.Add(e.f, f.f)
		for i, v := range f.value {
			out.value = append(out.value, e.value[i%n]+v)
		}
	case 1: // affine terms
		a := w.expression(t, rapid.IntRange(0, 1).Draw(t, "depth"))
		out.f, out.value = convex.Sub(e.f, convex.At(a.a, 0)), slices.Clone(e.value)
		floats.AddConst(-a.value[0], out.value)
	case 2:
		c := math.Abs(number(t, "c"))
		out.f, out.value = convex.Scale(c, e.f), floats.ScaleTo(make([]float64, n), c, e.value)
	case 3:
		out.f, out.value = convex.Sum(e.f), []float64{floats.Sum(e.value)}
	case 4:
		c := make([]float64, n)
		for i := range c {
			c[i] = math.Abs(number(t, "c"))
		}
		out.f, out.value = convex.Dot(c, e.f), []float64{floats.Dot(c, e.value)}
	default:
		out.f, out.value = convex.Max(e.f), []float64{floats.Max(e.value)}
	}
	return out
}

// The conic form of every expression is exact: with the variables fixed, the
// least t >= f and the least f are the value of f, the multipliers of
// f_i <= t_i are the weights of t_i in the objective, and the derivatives of
// the least sum of w_i f_i in the weights are the f_i.
func TestConicForms(t *testing.T) {
	backend := native(t)
	proptest.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		e := w.convex(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		require.NoError(t, e.f.Err())
		near(t, e.value, e.f.Eval(w.pt))
		solve := func() *convex.Result {
			p := must.Of(w.m.Compile())(t)
			s := must.Of(p.Solver(convex.SolverOptions{Backend: backend}))(t)
			r := must.Of(s.Solve(context.Background()))(t)
			require.Contains(t, []backends.Status{backends.Optimal, backends.Inaccurate}, r.Status, r.Message)
			require.Less(t, r.Residuals.Max(), 1e-6)
			return r
		}
		for _, v := range w.vars {
			w.m.Eq("", v, w.pt[v])
		}
		total, size := 0.0, 1.0
		for _, v := range e.value {
			total += v
			size += math.Abs(v)
		}
		w.m.Minimize(convex.Sum(e.f))
		require.InDelta(t, total, solve().Objective, 1e-5*size)

		w.weighed(t, e, solve)
		bound := w.m.Vector("t", len(e.value))
		weights := make([]float64, len(e.value))
		for i := range weights {
			weights[i] = float64(i + 1)
		}
		c := w.m.Le("", e.f, bound)

		w.m.Minimize(convex.Dot(weights, bound))
		r := solve()
		for i, v := range r.Value(bound) {
			require.InDelta(t, e.value[i], v, 1e-4*size)
		}
		for i, v := range r.Dual(c) {
			require.InDelta(t, weights[i], v, 1e-4*weights[len(weights)-1])
		}
	})
}

// weighed minimises the sum of the entries, each with a parameter for its weight, where they have one
// of their own, and no other parameters.
func (w *world) weighed(t *rapid.T, e tracedConvex, solve func() *convex.Result) {
	weights := make([]float64, len(e.value))
	for i := range weights {
		weights[i] = float64(i+1) / 2
	}
	by := w.m.Parameter("weights", weights)
	of := convex.Dot(by, e.f)
	if len(e.value) == 1 {
		of = convex.Scale(by, e.f)
	}
	if err := of.Err(); err != nil {
		require.Regexp(t, "product of parameter|has one value", err)
		return
	}
	total, size := 0.0, 1.0
	for i, v := range e.value {
		total += weights[i] * v
		size += weights[i] * math.Abs(v)
	}
	w.m.Minimize(of)
	r := solve()
	require.InDelta(t, total, r.Objective, 1e-5*size)
	near := 1e-4 * (1 + floats.Norm(e.value, math.Inf(1)))
	for i, v := range r.Sensitivity(by) {
		require.InDelta(t, e.value[i], v, near)
	}
}

// tree is a random expression of length 2.
func tree(rng *rand.Rand, x, p convex.Expr, depth int) convex.Expr {
	if depth == 0 {
		return convex.Add(convex.Mul(g(rng.IntN(50), 2, 2), x), random(rng, 2))
	}
	a, b := tree(rng, x, p, depth-1), tree(rng, x, p, rng.IntN(depth))
	return []func() convex.Expr{
		func() convex.Expr { return convex.Add(a, b) }, func() convex.Expr { return convex.Sub(a, b) },
		func() convex.Expr { return convex.Scale(rng.NormFloat64(), a) },
		func() convex.Expr { return convex.Scale(random(rng, 2), a) },
		func() convex.Expr { return convex.Mul(g(rng.IntN(50), 2, 2), a) },
		func() convex.Expr { return convex.Mul([][]float64{{1, 2}, {0, 1}}, a) },
		func() convex.Expr { return convex.Stack(convex.Sum(a), convex.Sum(b)) },
		func() convex.Expr { return convex.Abs(a) }, func() convex.Expr { return convex.Pos(a) },
		func() convex.Expr { return convex.Exp(convex.Scale(0.3, a)) },
		func() convex.Expr { return convex.Power(a, 2) }, func() convex.Expr { return convex.Power(a, 1.5) },
		func() convex.Expr { return convex.Power(convex.Add(a, 3), 0.5) },
		func() convex.Expr { return convex.Power(convex.Add(a, 3), -1) },
		func() convex.Expr { return convex.Log(convex.Add(a, 3)) }, func() convex.Expr { return convex.Logistic(a) },
		func() convex.Expr { return convex.Maximum(a, b) }, func() convex.Expr { return convex.Minimum(a, b) },
		func() convex.Expr { return convex.Stack(convex.Max(a), convex.Norm2(b)) },
		func() convex.Expr { return convex.Stack(convex.LogSumExp(a), convex.Norm1(b)) },
		func() convex.Expr { return convex.Stack(convex.GeoMean(convex.Add(a, 3)), convex.Min(b)) },
		func() convex.Expr { return convex.Huber(a, 0.5) }, func() convex.Expr { return convex.Scale(p, a) },
		func() convex.Expr { return convex.Stack(convex.Scale(convex.Neg(p), convex.Sum(a)), 1) },
		func() convex.Expr { return convex.CumSum(a) },
	}[rng.IntN(25)]()
}

// What the rules accept is no function that a midpoint refutes, nor of another sign, its value is that with a number in
// the place of the parameter, and no random point beats the solution of a program of it. CONETUNE_TREES=100000 tries
// more.
func TestTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	accepted, solved := 0, 0
	trees := 2000
	if n, err := strconv.Atoi(os.Getenv("CONETUNE_TREES")); err == nil {
		trees = n
	}
	for i := range trees {
		m := convex.NewModel()
		x := m.Vector("x", 2, convex.Bounds(-1, 1))
		p := m.Parameter("p", []float64{0.7})
		at := func(e convex.Expr, p []float64) []float64 { return e.Eval(convex.Point{x: p}) }
		draw := func(p convex.Expr) convex.Expr {
			rng := rand.New(rand.NewPCG(9, uint64(i)))
			return tree(rng, x, p, 1+rng.IntN(3))
		}
		e, fixed := draw(p), draw(convex.Const(0.7))
		if e.Err() != nil {
			continue
		}
		accepted++
		sign := map[convex.Curvature]float64{convex.Convex: 1, convex.Concave: -1}[e.Curvature()]
		point := func() []float64 { return []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1} }
		for range 10 {
			p, q := point(), point()
			middle := []float64{(p[0] + q[0]) / 2, (p[1] + q[1]) / 2}
			u, v, mid := at(e, p), at(e, q), at(e, middle)
			require.InDeltaSlice(t, at(fixed, middle), mid, 1e-9*(1+math.Abs(mid[0])+math.Abs(mid[1])))
			for i := range mid {
				if bent := (u[i]+v[i])/2 - mid[i]; sign*bent < -1e-9*(1+math.Abs(u[i])+math.Abs(v[i])) ||
					sign == 0 && math.Abs(bent) > 1e-9*(1+math.Abs(u[i])+math.Abs(v[i])) {
					t.Fatalf("%v is not %v: %v at %v, %v at %v", e, e.Curvature(), u, p, v, q)
				}
				if math.IsInf(mid[i], 0) {
					continue // not in the domain
				}
				require.False(t, e.Sign() == convex.Nonnegative && mid[i] < 0 || e.Sign() == convex.Nonpositive && mid[i] > 0)
			}
		}
		f := convex.Sum(e)
		if m.Minimize(f); sign < 0 {
			m.Maximize(f)
		}
		r := must.Of(m.Solve(t.Context()))(t)
		if r.Status != backends.Optimal {
			continue // no point of the box is in the domain
		}
		solved++
		slack := 1e-6 * (1 + math.Abs(r.Objective))
		require.InDelta(t, r.Objective, r.Value(f)[0], slack+1e-4*math.Abs(r.Objective), "%v", f)
		for range 20 {
			v := f.Eval(convex.Point{x: point()})[0]
			if better := r.Objective - v; better > slack && sign >= 0 || -better > slack && sign < 0 {
				t.Fatalf("%v has %v, and the solution %v", f, v, r.Objective)
			}
		}
	}
	t.Log(accepted, solved)
}

// native returns the backend that the tests solve with.
func native(t testing.TB) backends.ConicBackend {
	return must.Of(backends.Open("native"))(t)
}

// solver compiles a model.
func solver(t testing.TB, m *convex.Model, o convex.SolverOptions) *convex.Solver {
	p := must.Of(m.Compile())(t)
	if o.Backend == nil {
		o.Backend = native(t)
	}
	s := must.Of(p.Solver(o))(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// solve solves and expects an optimal point.
func solve(t testing.TB, s *convex.Solver) *convex.Result {
	r := must.Of(s.Solve(context.Background()))(t)
	require.Equal(t, backends.Optimal, r.Status, r.Message)
	return r
}

// random returns a vector of standard normal numbers.
func random(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// regression returns an n x p matrix of standard normal numbers and a response
// to the first k features with some noise.
func regression(rng *rand.Rand, n, p, k int) (*mat.Dense, []float64) {
	x := mat.NewDense(n, p, random(rng, n*p))
	y := random(rng, n)
	for i := range y {
		y[i] *= 0.5
		for j := range k {
			y[i] += x.At(i, j)
		}
	}
	return x, y
}

func inDelta(t testing.TB, want, got []float64, delta float64, msg ...any) {
	t.Helper()
	require.Len(t, got, len(want), msg...)
	for i := range want {
		if !(math.Abs(want[i]-got[i]) <= delta) {
			require.InDelta(t, want[i], got[i], delta, append([]any{"entry", i}, msg...)...)
		}
	}
}

package convex_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/scs"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// huberTail is the sum of Huber functions.
func huberTail(v []float64, delta float64) (sum float64) {
	for _, x := range v {
		if x = math.Abs(x); x <= delta {
			sum += x * x / 2
		} else {
			sum += delta*x - delta*delta/2
		}
	}
	return sum
}

// The proximal map of c huber is a/(1+c) where that is within the threshold, and a - c delta sign(a) beyond.
func TestHuberProximal(t *testing.T) {
	a := []float64{3, -.5, -2, .1, 1.6, 0}
	const c, delta = .6, 1.
	want := make([]float64, len(a))
	for i, v := range a {
		if want[i] = v / (1 + c); math.Abs(want[i]) > delta {
			want[i] = v - math.Copysign(c*delta, v)
		}
	}
	for _, weighted := range []bool{false, true} {
		for _, scale := range []float64{1, 2} {
			m := convex.NewModel()
			x := m.Variable("x", len(a))
			arg := x.Expr().Scale(scale).Minus(convex.Const(1, 2, 3, 4, 5, 6))
			sum := convex.Huber(arg, delta).Sum()
			f := distance(arg, a).Plus(sum.Scale(c))
			if weighted {
				w := m.Parameter("w", 1)
				require.NoError(t, w.Set([]float64{c}))
				f = distance(arg, a).Plus(sum.Weight(w))
			}
			m.Minimize(f)
			r := solve(t, solver(t, m, precise))
			inDelta(t, want, arg.Eval(r.Point()), 2e-4)
			require.InDelta(t, f.Eval(r.Point())[0], r.Objective, 1e-7)
			require.InDelta(t, huberTail(arg.Eval(r.Point()), delta), sum.Eval(r.Point())[0], 1e-12)
		}
	}
	// Each entry with a weight of its own.
	m := convex.NewModel()
	x, w := m.Variable("x", 3), m.Parameter("w", 3)
	require.NoError(t, w.Set([]float64{.5, 1, 2}))
	m.Minimize(distance(x.Expr(), []float64{1, 4, 9}).Plus(convex.Huber(x.Expr(), delta).WeightedSum(w)))
	r := solve(t, solver(t, m, precise))
	inDelta(t, []float64{1 / 1.5, 3, 7}, r.Value(x), 2e-4)
}

// In constraints: the projection of a on {sum huber <= h} has a - x = dual clip(x, -delta, delta).
func TestHuberConstraint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a := random(rng, 8)
	for i := range a {
		a[i] *= 3
	}
	const delta = .8
	m := convex.NewModel()
	x := m.Variable("x", len(a))
	c := convex.LessEqual(convex.Huber(x.Expr(), delta).Sum(), convex.Const(2))
	m.Constrain(c)
	m.Minimize(distance(x.Expr(), a))
	r := solve(t, solver(t, m, precise))
	require.InDelta(t, 2, huberTail(r.Value(x), delta), 1e-6)
	dual := r.Dual(c)[0]
	require.Positive(t, dual)
	for i, v := range r.Value(x) {
		require.InDelta(t, dual*math.Max(-delta, math.Min(delta, v)), a[i]-v, 1e-3)
	}
	// The entries in bounds of their own.
	m = convex.NewModel()
	x = m.Variable("x", 3)
	c = convex.LessEqual(convex.Huber(x.Expr(), 1), convex.Const(.5, 2, 9))
	m.Constrain(c)
	m.Minimize(distance(x.Expr(), []float64{4, -4, 4}))
	r = solve(t, solver(t, m, precise))
	inDelta(t, []float64{1, -2.5, 4}, r.Value(x), 1e-4)
	inDelta(t, []float64{3, 1.5, 0}, r.Dual(c), 1e-3)
	// Selected entries with other atoms beside them.
	m = convex.NewModel()
	x = m.Variable("x", 3)
	m.Constrain(convex.LessEqual(convex.Huber(x.Expr(), 1).At(1).Plus(convex.Abs(x.Expr().At(0))), convex.Const(3)))
	m.Minimize(distance(x.Expr(), []float64{4, -4, 4}))
	r = solve(t, solver(t, m, precise))
	// 4 - x0 = 4 + x1 = lambda beyond the threshold, and x0 + |x1| - 1/2 = 3.
	inDelta(t, []float64{1.75, -1.75, 4}, r.Value(x), 1e-4)
}

func TestHuberErrors(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 2)
	for _, delta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		m.Minimize(convex.Huber(x.Expr(), delta).Sum())
		_, err := m.Compile()
		require.ErrorContains(t, err, "expected a positive number")
	}
	m.Minimize(convex.Huber(x.Expr(), 1).Scale(-1).Sum())
	_, err := m.Compile()
	require.ErrorContains(t, err, "non-convex")
}

// exponential returns the backends of this build that have exponential cones.
func exponential(t *testing.T) map[string]convex.SolverOptions {
	out := map[string]convex.SolverOptions{}
	for _, name := range backends.Names() {
		b := must.Of(backends.Open(name))(t)
		if b.Capabilities().Supports(backends.ExponentialCone) {
			out[name] = convex.SolverOptions{Backend: b, Options: backends.Options{Eps: 1e-9}}
		}
	}
	if len(out) == 0 {
		t.Skip("no backend of this build has exponential cones")
	}
	return out
}

// The proximal map of c f solves x + c f'(x) = a; the projection on the sum below h has a - x = dual f'(x). Entry by
// entry, the bound h is active where f(a) > h, at the edge where f is h.
func TestLogistic(t *testing.T) {
	sigma := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	proximal(t, convex.Logistic, sigma, 1, math.Log(math.E-1))
}

func TestExp(t *testing.T) { proximal(t, convex.Exp, math.Exp, 2, math.Ln2) }

func proximal(t *testing.T, f func(convex.Affine) convex.Convex, derivative func(float64) float64, bound,
	edge float64) {
	a := []float64{3, -.5, -2, .1, 1.6, 0}
	for name, o := range exponential(t) {
		t.Run(name, func(t *testing.T) {
			m := convex.NewModel()
			x := m.Variable("x", len(a))
			sum := distance(x.Expr(), a).Plus(f(x.Expr()).Sum().Scale(.7))
			m.Minimize(sum)
			r := solve(t, solver(t, m, o))
			for i, v := range r.Value(x) {
				require.InDelta(t, a[i], v+.7*derivative(v), 1e-4)
			}
			require.InDelta(t, sum.Eval(r.Point())[0], r.Objective, 1e-6)

			for _, scale := range []float64{1, 2} {
				m = convex.NewModel()
				x = m.Variable("x", len(a))
				c := convex.LessEqual(f(x.Expr()).Sum().Scale(scale), convex.Const(3*scale))
				m.Constrain(c)
				m.Minimize(distance(x.Expr(), a))
				r = solve(t, solver(t, m, o))
				for i, v := range r.Value(x) {
					require.InDelta(t, a[i]-v, scale*r.Dual(c)[0]*derivative(v), 1e-4)
				}
			}
			m = convex.NewModel()
			x = m.Variable("x", 2)
			c := convex.LessEqual(f(x.Expr()).Scale(3), convex.Const(3*bound, 3*bound))
			m.Constrain(c)
			m.Minimize(distance(x.Expr(), []float64{4, -4}))
			r = solve(t, solver(t, m, o))
			inDelta(t, []float64{edge, -4}, r.Value(x), 1e-4)
			inDelta(t, []float64{(4 - edge) / (3 * derivative(edge)), 0}, r.Dual(c), 1e-3)
		})
	}
}

// softmax is the derivative of the logarithm of the sum of exponentials.
func softmax(v []float64) []float64 {
	out, total := make([]float64, len(v)), floats.LogSumExp(v)
	for i, x := range v {
		out[i] = math.Exp(x - total)
	}
	return out
}

// Values of exponentials, without overflow.
func TestExponentialValues(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 4)
	point := convex.Point{x: {0, 2, -800, 800}}
	logistic := []float64{math.Log(2), math.Log(1 + math.Exp(2)), 0, 800}
	require.InDeltaSlice(t, logistic, convex.Logistic(x.Expr()).Eval(point), 1e-12)
	require.InDeltaSlice(t, []float64{1, math.E * math.E, 0}, convex.Exp(x.Expr()).Eval(point)[:3], 1e-12)
	got := convex.LogSumExp(x.Expr(), [][]int{{0, 1}, {2, 3}, {1}}).Eval(point)
	require.InDeltaSlice(t, []float64{math.Log(1 + math.Exp(2)), 800, 2}, got, 1e-12)
	for _, groups := range [][][]int{{{0, 4}}, {{-1}}, {{}}} {
		m := convex.NewModel()
		m.Minimize(convex.LogSumExp(m.Variable("x", 4).Expr(), groups).Sum())
		_, err := m.Compile()
		require.ErrorContains(t, err, "LogSumExp")
	}
}

// The proximal map of c f solves x + c f'(x) = a, group by group; below a bound, a - x is the multiplier times f'(x).
func TestLogSumExp(t *testing.T) {
	a, groups := []float64{3, -.5, -2, .1, 1.6}, [][]int{{0, 2, 4}, {1, 3}}
	for name, o := range exponential(t) {
		t.Run(name, func(t *testing.T) {
			m := convex.NewModel()
			x := m.Variable("x", len(a))
			f := convex.LogSumExp(x.Expr(), groups)
			sum := distance(x.Expr(), a).Plus(f.Sum().Scale(.7))
			m.Minimize(sum)
			r := solve(t, solver(t, m, o))
			require.InDelta(t, sum.Eval(r.Point())[0], r.Objective, 1e-6)
			for _, group := range groups {
				part := make([]float64, len(group))
				for k, i := range group {
					part[k] = r.Value(x)[i]
				}
				for k, d := range softmax(part) {
					require.InDelta(t, a[group[k]], part[k]+.7*d, 1e-4)
				}
			}

			m = convex.NewModel()
			x = m.Variable("x", len(a))
			c := convex.LessEqual(convex.LogSumExp(x.Expr(), groups).Scale(2), convex.Const(3, 40))
			m.Constrain(c)
			m.Minimize(distance(x.Expr(), a))
			r = solve(t, solver(t, m, o))
			v := r.Value(x)
			part := []float64{v[0], v[2], v[4]}
			require.InDelta(t, 1.5, floats.LogSumExp(part), 1e-5)
			for k, d := range softmax(part) {
				require.InDelta(t, a[groups[0][k]]-part[k], 2*r.Dual(c)[0]*d, 1e-4)
			}
			require.InDelta(t, 0, r.Dual(c)[1], 1e-5)
			require.InDelta(t, a[1], v[1], 1e-5)
		})
	}
}

// Groups that begin with others have the same values, multipliers and minima as groups whose entries come in another
// order, which begin with none.
func TestLogSumExpNested(t *testing.T) {
	nested := [][]int{{0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {0, 1, 2, 3, 4, 5}, {0}}
	apart := [][]int{{1, 0}, {2, 1, 0}, {4, 3, 2, 1, 0}, {3, 1, 2, 0}, {5, 4, 3, 2, 1, 0}, {0}}
	target := []float64{1, -2, 0.5, 3, 0, -1}
	for name, o := range exponential(t) {
		t.Run(name, func(t *testing.T) {
			minimum := func(groups [][]int) ([]float64, []float64, float64) {
				m := convex.NewModel()
				x := m.Variable("x", 6)
				f := convex.LogSumExp(x.Expr(), groups)
				limit := convex.LessEqual(f.Scale(2), convex.Const(3, 3, 4, 4, 5, 0))
				m.Minimize(f.Sum().Plus(convex.SumSquares(x.Expr().Minus(convex.Const(target...)))))
				m.Constrain(limit)
				r := solve(t, solver(t, m, o))
				return r.Value(x), r.Dual(limit), r.Objective
			}
			x, y, value := minimum(nested)
			x2, y2, value2 := minimum(apart)
			require.InDelta(t, value2, value, 1e-6)
			require.InDeltaSlice(t, x2, x, 1e-4)
			require.InDeltaSlice(t, y2, y, 1e-4)
		})
	}
}

package convex_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/scs"
	"github.com/conetune/conetune/convex"
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
		b, err := backends.Open(name)
		require.NoError(t, err)
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

package convex_test

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// differentiated compares the derivative of a model's solution, along a random direction of the parameters from where
// they begin, with differences of solutions, and its adjoint with its transpose.
func differentiated(t *testing.T, rng *rand.Rand, m *convex.Model, params []*convex.Parameter,
	vars ...*convex.Variable) bool {
	t.Helper()
	base, direction, gradient := convex.Change{}, convex.Change{}, convex.Point{}
	f := convex.Const(0)
	for _, p := range params {
		base[p], direction[p] = p.Values(), random(rng, len(p.Values()))
	}
	for _, v := range vars {
		gradient[v] = random(rng, v.Len())
		f = convex.Add(f, convex.Dot(gradient[v], convex.Reshape(v, v.Len(), 1)))
	}
	at := func(step float64) *convex.Result {
		s := solver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-12, MaxIterations: 60}})
		for p, v := range base {
			require.NoError(t, s.Set(p, floats.AddScaledTo(make([]float64, len(v)), v, step, direction[p])))
		}
		return must.Of(s.Solve(context.Background()))(t)
	}
	const h = 5e-2
	sixth, fourth := map[*convex.Variable][]float64{}, map[*convex.Variable][]float64{} // differences of these orders
	for _, v := range vars {
		sixth[v], fourth[v] = make([]float64, v.Len()), make([]float64, v.Len())
	}
	for k, weight := range [][2]float64{{-1, 0}, {9, 5}, {-45, -40}, {}, {45, 40}, {-9, -5}, {1, 0}} {
		if k == 3 {
			continue
		}
		side := at(float64(k-3) * h)
		if side.Value(vars[0]) == nil {
			return false // out of the domain
		}
		for _, v := range vars {
			floats.AddScaled(sixth[v], weight[0]/(60*h), side.Value(v))
			floats.AddScaled(fourth[v], weight[1]/(60*h), side.Value(v))
		}
	}
	for _, v := range vars {
		if !floats.EqualApprox(sixth[v], fourth[v], 3e-6*math.Max(1, floats.Norm(sixth[v], math.Inf(1)))) {
			return false
		}
	}
	r := at(0)
	got := must.Of(r.Derivative(t.Context(), direction))(t)
	forward := 0.0
	for _, v := range vars {
		want := sixth[v]
		inDelta(t, want, got[v], 1e-5*math.Max(1, floats.Norm(want, math.Inf(1))), v.Name())
		forward += floats.Dot(gradient[v], got[v])
	}
	back := must.Of(r.Gradient(t.Context(), f))(t)
	adjoint := 0.0
	for p, d := range direction {
		adjoint += floats.Dot(d, back[p])
	}
	require.InDelta(t, forward, adjoint, 1e-8*math.Max(1, math.Abs(forward)), "the adjoint")
	return true
}

// kinked are atoms without a row in graphs.
var kinked = map[string]func(x convex.Operand) convex.Expr{
	"abs": convex.Norm1, "pos": func(x convex.Operand) convex.Expr { return convex.Sum(convex.Pos(x)) },
	"max": convex.Max, "maximum": func(x convex.Operand) convex.Expr {
		return convex.Maximum(convex.SumSquares(x), convex.Sum(x))
	},
	"min":       func(x convex.Operand) convex.Expr { return convex.Neg(convex.Min(x)) },
	"huber":     func(x convex.Operand) convex.Expr { return convex.Sum(convex.Huber(x, 0.5)) },
	"logistic":  func(x convex.Operand) convex.Expr { return convex.Sum(convex.Logistic(x)) },
	"logsumexp": func(x convex.Operand) convex.Expr { return convex.LogSumExp(x) },
	"exp":       func(x convex.Operand) convex.Expr { return convex.Sum(convex.Exp(x)) },
	"squares":   convex.SumSquares, "norm": convex.Norm2, "largest": convex.NormInf,
	"groups": func(x convex.Operand) convex.Expr {
		return convex.Sum(convex.GroupNorms(x, [][]int{{0, 1}, {2, 3}}))
	},
	"nuclear norm": func(x convex.Operand) convex.Expr { return convex.NuclearNorm(convex.Reshape(x, 2, 2)) },
}

func TestDerivativeOfAtoms(t *testing.T) {
	type atom struct {
		name string
		at   func(rng *rand.Rand) []float64
		f    func(x convex.Operand) convex.Expr
	}
	var atoms []atom
	for _, a := range graphs {
		atoms = append(atoms, atom{a.name, a.at, a.f})
	}
	for _, name := range slices.Sorted(maps.Keys(kinked)) {
		f := kinked[name]
		atoms = append(atoms, atom{name, func(r *rand.Rand) []float64 { return random(r, 4) }, f})
	}
	for _, a := range atoms {
		t.Run(a.name, func(t *testing.T) {
			tried := 0
			for seed := range uint64(8) {
				rng := rand.New(rand.NewPCG(seed, 7))
				at := a.at(rng)
				// The objective has the atom with a weight, and in another model its value bounds it.
				for _, bound := range []bool{false, true} {
					m := convex.NewModel()
					x, p, weight := m.Vector("x", len(at)), m.Parameter("p", at), 0.4
					if bound {
						weight = a.f(convex.Const(at)).Eval(nil)[0]
						weight -= 0.2 * math.Abs(weight)
					}
					w := m.Parameter("w", []float64{weight})
					if bound {
						m.Minimize(convex.SumSquares(convex.Sub(x, p)))
						m.Le("", a.f(x), w)
					} else {
						m.Minimize(convex.Add(convex.SumSquares(convex.Sub(x, p)), convex.Scale(w, a.f(x))))
					}

					if differentiated(t, rng, m, []*convex.Parameter{p, w}, x) {
						tried++
					}
				}
			}
			require.Greater(t, tried, 3)
		})
	}
}

// x = p/|p|^2 in min |x|^2 s.t. p'x = 1, and a ridge towards a parameter with a parameter for its weight, which is a
// factor of what another one adds to.
func TestDerivativeOfFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m := convex.NewModel()
	x, p := m.Vector("x", 3), m.Parameter("p", []float64{1, -2, 0.5})
	m.Eq("", convex.Dot(p, x), 1)
	m.Minimize(convex.SumSquares(x))
	r := must.Of(m.Solve(t.Context()))(t)
	d := must.Of(r.Derivative(t.Context(), convex.Change{p: {1, 0, 0}}))(t)
	const square = 5.25
	inDelta(t, []float64{1/square - 2/square/square, 4 / square / square, -1 / square / square}, d[x], 1e-8)
	require.True(t, differentiated(t, rng, m, []*convex.Parameter{p}, x))

	a, b := regression(rng, 12, 4, 2)
	m = convex.NewModel()
	x, p = m.Vector("x", 4), m.Parameter("p", make([]float64, 4))
	w, c := m.Parameter("w", []float64{3}), m.Parameter("c", make([]float64, 12))
	y := m.Vector("y", 2, convex.Nonneg())
	m.Minimize(convex.Add(convex.SumSquares(convex.Sub(convex.Add(convex.Mul(a, x), c), b)),
		convex.Scale(w, convex.SumSquares(convex.Sub(x, p))), convex.SumSquares(convex.Sub(y, convex.Slice(x, 0, 2)))))
	require.True(t, differentiated(t, rng, m, []*convex.Parameter{p, w, c}, x, y))
}

// The gradient of losses of a fit, with parameters of their own, against differences of the losses.
func TestGradientOfLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a, b := regression(rng, 20, 4, 2)
	other, c := regression(rng, 10, 4, 2)
	m := convex.NewModel()
	x, w, p := m.Vector("x", 4), m.Parameter("w", []float64{0}), m.Parameter("p", make([]float64, 4))
	start, along := []float64{2}, random(rng, 4)
	m.Minimize(convex.Add(convex.SumSquares(convex.Sub(convex.Mul(a, x), b)), convex.Scale(w, convex.SumSquares(x)),
		convex.Dot(p, x)))
	residual := convex.Sub(convex.Mul(other, x), c)
	s := solver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-11}})
	for name, f := range map[string]convex.Expr{
		"squares": convex.SumSquares(residual), "log-sum-exp": convex.LogSumExp(residual),
		"concave": convex.Sum(convex.Log(convex.Add(x, 5))), "affine": convex.Add(convex.Dot(p, x), convex.Sum(x)),
		"sums":     convex.Dot([]float64{1, 2, -1, 3}, convex.CumSum(convex.Add(x, p))),
		"weighted": convex.Add(convex.Scale(w, convex.SumSquares(convex.Sub(x, p))), convex.Dot(p, x)),
	} {
		at := func(h float64) (float64, *convex.Result) {
			require.NoError(t, s.Set(w, []float64{start[0] + h}))
			require.NoError(t, s.Set(p, floats.ScaleTo(make([]float64, 4), 1+h, along)))
			r := solve(t, s)
			return r.Value(f)[0], r
		}
		const h = 1e-2
		want := 0.0
		for k, weight := range []float64{1, -8, 0, 8, -1} {
			v, _ := at(float64(k-2) * h)
			want += weight * v / (12 * h)
		}
		_, r := at(0)
		g := must.Of(r.Gradient(t.Context(), f))(t)
		require.InDelta(t, want, g[w][0]+floats.Dot(g[p], along), 1e-6*math.Max(1, math.Abs(want)), name)
	}
}

// The projection onto the simplex moves by what is left of a direction, on the support, without its mean. That of
// max log det X - tr SX is X = S^-1, with the derivative -S^-1 dS S^-1.
func TestDerivativeClosedForms(t *testing.T) {
	m := convex.NewModel()
	x, p := m.Vector("x", 4, convex.Nonneg()), m.Parameter("p", []float64{0.9, 0.5, -2, 0.4})
	m.Eq("", convex.Sum(x), 1)
	m.Minimize(convex.SumSquares(convex.Sub(x, p)))
	r := must.Of(m.Solve(t.Context()))(t)
	inDelta(t, []float64{1, 0, 0, -1}, must.Of(r.Derivative(t.Context(), convex.Change{p: {3, 2, 7, 1}}))(t)[x], 1e-9)
	inDelta(t, []float64{1, 0, 0, -1}, must.Of(r.Gradient(t.Context(), convex.Dot([]float64{3, 2, 7, 1}, x)))(t)[p], 1e-9)

	rng := rand.New(rand.NewPCG(5, 5))
	const n = 3
	m = convex.NewModel()
	values := definite(rng, n)
	matrix, s := m.Matrix("X", n, n, convex.Symmetric()), m.Parameter("S", values)
	m.Maximize(convex.Sub(convex.LogDet(matrix), convex.Dot(s, convex.Reshape(matrix, n*n, 1))))
	r = solve(t, solver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-11}}))
	direction := mat.NewDense(n, n, definite(rng, n))
	var inverse, want mat.Dense
	require.NoError(t, inverse.Inverse(mat.NewDense(n, n, values)))
	want.Product(&inverse, direction, &inverse)
	want.Scale(-1, &want)
	got := must.Of(r.Derivative(t.Context(), convex.Change{s: direction.RawMatrix().Data}))(t)[matrix]
	inDelta(t, want.RawMatrix().Data, got, 1e-5*mat.Max(&want))
}

// A matrix completion whose rounds have singular vectors differentiates the whole program.
func TestDerivativeOfLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const rows, cols = 14, 12
	var full mat.Dense
	full.Mul(mat.NewDense(rows, 2, random(rng, 2*rows)), mat.NewDense(2, cols, random(rng, 2*cols)))
	known := rng.Perm(rows * cols)[:100]
	y := make([]float64, len(known))
	for k, i := range known {
		y[k] = full.RawMatrix().Data[i]
	}
	var derivative, engine []any
	for _, sets := range []bool{true, false} {
		m := convex.NewModel()
		x, lambda := m.Matrix("X", rows, cols), m.Parameter("lambda", []float64{1})
		m.Minimize(convex.Add(convex.SumSquares(convex.Sub(convex.Pick(x, known), y)),
			convex.Scale(lambda, convex.NuclearNorm(x))))
		make := solver
		if sets {
			make = setsSolver
		}
		r := solve(t, make(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-9}}))
		engine = append(engine, r.Engine)
		derivative = append(derivative, must.Of(r.Derivative(t.Context(), convex.Change{lambda: {1}}))(t)[x])
	}
	require.Equal(t, []any{convex.EngineSingularVectors, convex.EngineBackend}, engine)
	inDelta(t, derivative[1].([]float64), derivative[0].([]float64), 1e-5)
}

// It does not matter who has solved the program, nor whether by an interior point.
func TestDerivativeByBackends(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	m := convex.NewModel()
	x, p := m.Vector("x", 6, convex.Nonneg()), m.Parameter("p", []float64{0.5, 0.3, -0.2, 0.4, 0.1, 0.2})
	m.Eq("", convex.Sum(x), 1)
	m.Le("", convex.Norm2(convex.Sub(x, p)), 0.6)
	m.Minimize(convex.Add(convex.Dot(random(rng, 6), x), convex.NuclearNorm(convex.Reshape(convex.Sub(x, p), 2, 3))))
	var all [][]float64
	for _, b := range matrixBackends(t) {
		r := solve(t, solver(t, m, convex.SolverOptions{Backend: b, Options: backends.Options{Eps: 1e-9}}))
		all = append(all, must.Of(r.Derivative(t.Context(), convex.Change{p: {1, 2, 0, -1, 0, 0.5}}))(t)[x])
	}
	for _, other := range all[1:] {
		inDelta(t, all[0], other, 1e-5)
	}
}

// No problem of the gallery, whose solutions are met in all ways, breaks a derivative; that of nothing is nothing.
func TestDerivativeOfGallery(t *testing.T) {
	for name, build := range gallery {
		m := convex.NewModel()
		build(m)
		r, err := m.Solve(t.Context())
		if err != nil || r.Status != backends.Optimal {
			continue
		}
		d, err := r.Derivative(t.Context(), nil)
		if err != nil {
			require.ErrorIs(t, err, convex.ErrDegenerate, name)
		}
		for _, v := range d {
			require.Zero(t, floats.Norm(v, 1), name)
		}
	}
}

// What has no derivative says so, with the least-norm answer of least squares.
func TestDerivativeDegenerate(t *testing.T) {
	model := func(build func(m *convex.Model, x *convex.Variable, p *convex.Parameter)) (*convex.Result, *convex.Variable,
		*convex.Parameter) {
		m := convex.NewModel()
		x, p := m.Vector("x", 2), m.Parameter("p", []float64{1, 1})
		build(m, x, p)
		return must.Of(m.Solve(t.Context()))(t), x, p
	}
	// The constraint x_0 <= 1 holds with equality and the multiplier zero.
	r, x, p := model(func(m *convex.Model, x *convex.Variable, p *convex.Parameter) {
		m.Le("", convex.At(x, 0), 1)
		m.Minimize(convex.SumSquares(convex.Sub(x, p)))
	})
	d, err := r.Derivative(t.Context(), convex.Change{p: {0, 1}})
	require.ErrorIs(t, err, convex.ErrDegenerate)
	inDelta(t, []float64{0, 1}, d[x], 1e-8)

	// x_1 - x_0 is free.
	free := func(m *convex.Model, x *convex.Variable, p *convex.Parameter) {
		m.Minimize(convex.SumSquares(convex.Sub(convex.Sum(x), convex.Sum(p))))
	}
	r, x, p = model(free)
	d, err = r.Derivative(t.Context(), convex.Change{p: {1, 0}})
	require.ErrorIs(t, err, convex.ErrDegenerate)
	inDelta(t, []float64{0.5, 0.5}, d[x], 1e-8)
	g := must.Of(r.Gradient(t.Context(), convex.Sum(x)))(t)
	inDelta(t, []float64{1, 1}, g[p], 1e-8, "a function of the sum has a gradient")
	_, err = r.Gradient(t.Context(), convex.At(x, 0))
	require.ErrorIs(t, err, convex.ErrDegenerate)

	// x_0 <= p_0 and x_0 <= p_1 hold with equality, so that neither moves alone.
	twice := func(m *convex.Model, x *convex.Variable, p *convex.Parameter) {
		m.Eq("", convex.Stack(convex.At(x, 0), convex.At(x, 0)), p)
		m.Minimize(convex.SumSquares(x))
	}
	r, x, p = model(twice)
	d = must.Of(r.Derivative(t.Context(), convex.Change{p: {1, 1}}))(t)
	inDelta(t, []float64{1, 0}, d[x], 1e-8)
	d, err = r.Derivative(t.Context(), convex.Change{p: {1, 0}})
	require.ErrorIs(t, err, convex.ErrDegenerate)
	inDelta(t, []float64{0.5, 0}, d[x], 1e-8)
}

func TestDerivativeErrors(t *testing.T) {
	m := convex.NewModel()
	x, p := m.Vector("x", 2), m.Parameter("p", make([]float64, 2))
	m.Le("", x, p)
	m.Minimize(convex.SumSquares(convex.Sub(x, 3)))
	s := solver(t, m, convex.SolverOptions{})
	r := solve(t, s)
	other := convex.NewModel()
	for _, change := range []convex.Change{{p: {1}}, {other.Parameter("q", make([]float64, 2)): {1, 1}}, {nil: nil}, {{}: {}}} {
		_, err := r.Derivative(t.Context(), change)
		require.Error(t, err)
	}
	y := other.Vector("y", 2)
	for _, f := range []convex.Operand{nil, x, other.Parameter("q", make([]float64, 2)), convex.Sum(y), convex.SumSquares(y),
		convex.Add(convex.Sum(x), convex.Sum(y)), convex.Sum(m.Vector("late", 2)), convex.Log(convex.Sub(convex.Sum(x), 1))} {
		_, err := r.Gradient(t.Context(), f)
		require.Error(t, err, "%v", f)
	}
	_, err := r.Derivative(t.Context(), convex.Change{p: {math.Inf(1), 0}})
	require.ErrorContains(t, err, "finite")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Derivative(ended, convex.Change{p: {1, 0}})
	require.ErrorIs(t, err, context.Canceled)
	_, err = r.Gradient(ended, convex.SumSquares(x))
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Set(p, []float64{1, 2})) // the result is about its own solve
	inDelta(t, []float64{1, 0}, must.Of(r.Derivative(t.Context(), convex.Change{p: {1, 0}}))(t)[x], 1e-8)

	m.Ge("", x, 5)
	r = must.Of(m.Solve(t.Context()))(t)
	_, err = r.Derivative(t.Context(), nil)
	require.ErrorContains(t, err, "without a point")
}

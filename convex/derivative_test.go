package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// differentiated compares the derivative of a model's solution, along a random direction of the parameters from their
// current values, with differences of solutions, and its adjoint with its transpose.
func differentiated(t *testing.T, rng *rand.Rand, m *convex.Model, params []*convex.Parameter, vars ...*convex.Variable) bool {
	t.Helper()
	s := solver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-12, MaxIterations: 60}})
	base, direction, gradient := convex.Change{}, convex.Change{}, convex.Point{}
	for _, p := range params {
		base[p], direction[p] = p.Values(), random(rng, len(p.Values()))
	}
	for _, v := range vars {
		gradient[v] = random(rng, v.Len())
	}
	at := func(step float64) *convex.Result {
		for p, v := range base {
			require.NoError(t, p.Set(floats.AddScaledTo(make([]float64, len(v)), v, step, direction[p])))
		}
		r := must.Of(s.Solve(context.Background()))(t)
		return r
	}
	const h = 2e-2
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
		if !floats.EqualApprox(sixth[v], fourth[v], 1e-5*math.Max(1, floats.Norm(sixth[v], math.Inf(1)))) {
			return false
		}
	}
	r := at(0)
	got := must.Of(r.Derivative(direction))(t)
	forward := 0.0
	for _, v := range vars {
		want := sixth[v]
		inDelta(t, want, got[v], 1e-5*math.Max(1, floats.Norm(want, math.Inf(1))), v.Name())
		forward += floats.Dot(gradient[v], got[v])
	}
	back := must.Of(r.Gradient(gradient))(t)
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
	for name, f := range kinked {
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
					x, p, w := m.Vector("x", len(at)), m.Parameter("p", len(at)), m.Parameter("w", 1)
					require.NoError(t, p.Set(at))
					if bound {
						y := floats.AddScaledTo(make([]float64, len(at)), at, 0.1, random(rng, len(at)))
						_ = y
						value := a.f(convex.Const(at)).Eval(nil)[0]
						require.NoError(t, w.Set([]float64{value - 0.2*math.Abs(value)}))
						m.Minimize(convex.SumSquares(convex.Sub(x, p)))
						m.Le("", a.f(x), w)
					} else {
						require.NoError(t, w.Set([]float64{0.4}))
						m.Minimize(convex.Add(convex.SumSquares(convex.Sub(x, p)), convex.Scale(w, a.f(x))))
					}

					if differentiated(t, rng, m, []*convex.Parameter{p, w}, x) {
						tried++
					}
				}
			}
			require.Greater(t, tried, 5)
		})
	}
}

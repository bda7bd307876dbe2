package convex_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

// tracedConvex is a convex expression with its value at the point of a world.
type tracedConvex struct {
	f     convex.Convex
	value []float64
}

// convex draws a convex expression by random operations.
func (w *world) convex(t *rapid.T, depth int) tracedConvex {
	if depth == 0 {
		e := w.expression(t, rapid.IntRange(0, 2).Draw(t, "depth"))
		n := len(e.value)
		norm := func(idx []int) float64 {
			sum := 0.0
			for _, i := range idx {
				sum += e.value[i] * e.value[i]
			}
			return math.Sqrt(sum)
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		var out tracedConvex
		switch rapid.IntRange(0, 7).Draw(t, "atom") {
		case 0:
			return tracedConvex{convex.Linear(e.a), e.value}
		case 1:
			return tracedConvex{convex.SumSquares(e.a), []float64{norm(all) * norm(all)}}
		case 2:
			out = tracedConvex{convex.Norm1(e.a), []float64{0}}
			for _, v := range e.value {
				out.value[0] += math.Abs(v)
			}
		case 3:
			return tracedConvex{convex.Norm2(e.a), []float64{norm(all)}}
		case 4:
			out = tracedConvex{convex.NormInf(e.a), []float64{0}}
			for _, v := range e.value {
				out.value[0] = math.Max(out.value[0], math.Abs(v))
			}
		case 5:
			groups := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3), 1, 3).Draw(t, "groups")
			out.f = convex.GroupNorms(e.a, groups)
			for _, g := range groups {
				out.value = append(out.value, norm(g))
			}
		case 6:
			out.f = convex.Abs(e.a)
			for _, v := range e.value {
				out.value = append(out.value, math.Abs(v))
			}
		default:
			out.f = convex.Pos(e.a)
			for _, v := range e.value {
				out.value = append(out.value, math.Max(0, v))
			}
		}
		return out
	}
	e := w.convex(t, depth-1)
	n := len(e.value)
	var out tracedConvex
	switch rapid.IntRange(0, 4).Draw(t, "operation") {
	case 0: // sum
		f := w.convex(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		if n != len(f.value) && n != 1 {
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			e, n = tracedConvex{e.f.At(i), e.value[i : i+1]}, 1
		}
		out.f = e.f.Plus(f.f)
		for i, v := range f.value {
			out.value = append(out.value, e.value[i%n]+v)
		}
	case 1: // affine terms
		a := w.expression(t, rapid.IntRange(0, 1).Draw(t, "depth"))
		out.f = e.f.MinusAffine(a.a.At(0))
		for _, v := range e.value {
			out.value = append(out.value, v-a.value[0])
		}
	case 2:
		c := math.Abs(number(t, "c"))
		out.f = e.f.Scale(c)
		for _, v := range e.value {
			out.value = append(out.value, c*v)
		}
	case 3:
		out.f, out.value = e.f.Sum(), []float64{0}
		for _, v := range e.value {
			out.value[0] += v
		}
	default:
		out.f, out.value = convex.Max(e.f), []float64{math.Inf(-1)}
		for _, v := range e.value {
			out.value[0] = math.Max(out.value[0], v)
		}
	}
	return out
}

// The conic form of every expression is exact: with the variables fixed, the
// least t >= f and the least f are the value of f, and the multipliers of
// f_i <= t_i are the weights of t_i in the objective.
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
			w.m.Constrain(convex.Equal(v.Expr(), convex.Const(w.pt[v]...)))
		}
		total, size := 0.0, 1.0
		for _, v := range e.value {
			total += v
			size += math.Abs(v)
		}
		w.m.Minimize(e.f.Sum())
		require.InDelta(t, total, solve().Objective, 1e-5*size)

		bound := w.m.Variable("t", len(e.value))
		weights := make([]float64, len(e.value))
		for i := range weights {
			weights[i] = float64(i + 1)
		}
		c := convex.LessEqual(e.f, bound.Expr())
		w.m.Constrain(c)
		w.m.Minimize(convex.Linear(bound.Expr().Dot(weights)))
		r := solve()
		for i, v := range r.Value(bound) {
			require.InDelta(t, e.value[i], v, 1e-4*size)
		}
		for i, v := range r.Dual(c) {
			require.InDelta(t, weights[i], v, 1e-4*weights[len(weights)-1])
		}
	})
}

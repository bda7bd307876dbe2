package machine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
)

// byMany solves by the method for many rows, however few they are.
func byMany(t *testing.T, g *Problem, lambda float64, bound []float64, o Options) *Solution {
	t.Helper()
	return g.solveMany(context.Background(), lambda, reached(g, lambda, bound), o)
}

// reached are the bounds of all features as [Problem.Solve] takes them.
func reached(g *Problem, lambda float64, bound []float64) []float64 {
	if len(bound) == 1 {
		bound = slices.Repeat(bound, g.rows.p)
	}
	wide := 2 * math.Sqrt(2*g.scale/lambda)
	bound = slices.Clone(bound)
	for j := range bound {
		bound[j] = math.Min(bound[j], wide)
	}
	return bound
}

// fewer is the size of a draw, with -short the smaller one.
func fewer(size, short int) int {
	if testing.Short() {
		return short
	}
	return size
}

// samples are rows of many kinds.
func samples() map[string]func() (x *mat.Dense, y, u []float64) {
	n := fewer(400, 160)
	of := func(change func(r *rand.Rand, x *mat.Dense, y, u []float64)) func() (*mat.Dense, []float64, []float64) {
		return func() (*mat.Dense, []float64, []float64) {
			x, y, u := sample(4, n, 10, false)
			change(rand.New(rand.NewPCG(4, 4)), x, y, u)
			return x, y, u
		}
	}
	return map[string]func() (*mat.Dense, []float64, []float64){
		"normal": of(func(*rand.Rand, *mat.Dense, []float64, []float64) {}),
		"zeros":  func() (*mat.Dense, []float64, []float64) { return sample(9, fewer(500, 200), 30, true) },
		"wide":   func() (*mat.Dense, []float64, []float64) { return sample(3, 60, 150, false) },
		"duplicates": of(func(_ *rand.Rand, x *mat.Dense, y, _ []float64) {
			for i := 1; i < n; i++ {
				if i%4 != 0 {
					x.SetRow(i, x.RawRowView(i-i%4))
					y[i] = y[i-i%4] * float64(1-2*(i%4/3)) // the last of four with the other label
				}
			}
		}),
		"separable": of(func(_ *rand.Rand, x *mat.Dense, y, _ []float64) {
			for i := range y {
				x.Set(i, 0, x.At(i, 0)+6*y[i])
			}
		}),
		"one label": of(func(_ *rand.Rand, _ *mat.Dense, y, u []float64) {
			for i := range y {
				y[i], u[i] = 1, 1
				if i%100 == 0 {
					y[i] = -1
				}
			}
		}),
		"weights": of(func(r *rand.Rand, _ *mat.Dense, _, u []float64) {
			for i := range u {
				u[i] = math.Pow(10, 6*r.Float64()-3)
			}
		}),
		"sizes": of(func(_ *rand.Rand, x *mat.Dense, _, _ []float64) {
			for i := range n {
				for j := range 10 {
					x.Set(i, j, x.At(i, j)*math.Pow(10, float64(j%5)-2))
				}
			}
		}),
		"equal labels": of(func(_ *rand.Rand, _ *mat.Dense, y, u []float64) {
			for i := range y {
				y[i], u[i] = float64(1-2*(i%2)), 1
			}
		}),
	}
}

// certified checks the value, the gap and the multipliers of a solution by their definitions.
func certified(t *testing.T, x *mat.Dense, y, u []float64, lambda float64, g *Problem, m *Solution, name string) {
	t.Helper()
	value, dual, balance, total := lambda/2*floats.Dot(m.W, m.W), 0.0, 0.0, floats.Sum(u)
	v := make([]float64, g.rows.p)
	for i, a := range m.alpha(g) {
		value += u[i] / total * math.Max(0, 1-y[i]*(floats.Dot(x.RawRowView(i), m.W)-m.C))
		require.True(t, a >= 0 && a <= u[i]/total*(1+1e-12))
		dual += a
		balance += y[i] * a
		floats.AddScaled(v, y[i]*a, x.RawRowView(i))
	}
	for j, b := range m.bound {
		require.LessOrEqual(t, math.Abs(m.W[j]), b)
		best := math.Min(b, math.Abs(v[j])/lambda)
		dual -= best * (math.Abs(v[j]) - lambda*best/2)
	}
	require.InDelta(t, 0, balance, 1e-12, name)
	require.InDelta(t, value, m.Objective, 1e-11*(1+value), name)
	require.LessOrEqual(t, m.Gap, 1e-8*g.scale, name)
	require.InDelta(t, value, dual, 2e-8*g.scale+1e-13, name)
}

// On rows of many kinds, from nothing and from the solution before, the method for many rows has the solutions of
// paths, with the gap that they have.
func TestManyIsPath(t *testing.T) {
	for name, draw := range samples() {
		x, y, u := draw()
		for _, d := range []*design.Matrix{design.New(x), design.New(matrices.Compress(x))} {
			g := must.Of(New(d, y, u))(t)
			var last *Solution
			for _, lambda := range []float64{1e4, 1, 1e-2, 1e-4, 1e-7} {
				for _, bound := range []float64{math.Inf(1), 10, 0.3, 1e-2, 1e-6} {
					what := fmt.Sprint(name, " ", lambda, " ", bound)
					many := byMany(t, g, lambda, []float64{bound}, Options{Tol: 1e-9, Start: last})
					require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, many.Status, what)
					certified(t, x, y, u, lambda, g, many, what)
					path := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, Options{Tol: 1e-10}))(t)
					if path.Status != outcome.NumericalError {
						require.InDelta(t, path.Objective, many.Objective, 1e-8*g.scale, what)
						require.LessOrEqual(t, lambda*floats.Distance(path.W, many.W, 2)*floats.Distance(path.W, many.W, 2)/2,
							2e-8*g.scale, what)
					}
					last = many
				}
			}
		}
	}
}

// words are rows as those of words are: a few entries in columns of very different lengths.
func words(seed uint64, n, p, entries int) (x *mat.Dense, y []float64) {
	r := rand.New(rand.NewPCG(seed, 0))
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	w := make([]float64, p)
	for j := range w {
		w[j] = r.NormFloat64()
	}
	for i := range n {
		for range entries {
			j := int(float64(p) * math.Pow(r.Float64(), 4))
			x.Set(i, j, x.At(i, j)+0.5+r.Float64())
		}
		y[i] = math.Copysign(1, floats.Dot(x.RawRowView(i), w)+3*r.NormFloat64())
	}
	return x, y
}

// With more features than a matrix is stored for, the solutions are those of paths all the same, from nothing and from
// the solution before, and with hardly any curvature, too, where steps stall.
func TestWideIsPath(t *testing.T) {
	n := fewer(450, 200)
	x, y := words(2, n, mostStored+200, 12)
	u := slices.Repeat([]float64{1 / float64(n)}, n)
	g := must.Of(New(design.New(matrices.Compress(x)), y, nil))(t)
	var last *Solution
	for _, lambda := range []float64{1, 1e-2, 1e-4} {
		for _, bound := range []float64{math.Inf(1), 0.3, 1e-6} {
			what := fmt.Sprint(lambda, " ", bound)
			bounds := reached(g, lambda, []float64{bound})
			warm := g.manyOrPath(context.Background(), lambda, bounds, Options{Tol: 1e-9, Start: last})
			cold := g.manyOrPath(context.Background(), lambda, bounds, Options{Tol: 1e-9})
			path := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, Options{Tol: 1e-10}))(t)
			require.Equal(t, outcome.Converged, path.Status, what)
			for _, m := range []*Solution{warm, cold} {
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, m.Status, what)
				certified(t, x, y, u, lambda, g, m, what)
				require.InDelta(t, path.Objective, m.Objective, 1e-8*g.scale, what)
			}
			last = warm
		}
	}
}

// A fit to many rows of many features that takes more work than is allowed ends with its gap, which is a bound; from
// there, with work enough, it comes to the solution.
func TestWorkIsBounded(t *testing.T) {
	x, y := words(4, fewRows+100, mostStored+200, 12)
	g := must.Of(New(design.New(matrices.Compress(x)), y, nil))(t)
	ctx, bound := context.Background(), []float64{0.3}
	best := must.Of(g.Solve(ctx, 1e-4, bound, Options{Tol: 1e-8}))(t)
	require.Equal(t, outcome.Converged, best.Status)
	var last *Solution
	for _, share := range []float64{1e6, 1e7} {
		g.mostWork = share
		out := must.Of(g.Solve(ctx, 1e-4, bound, Options{Tol: 1e-8, Start: last}))(t)
		require.Equal(t, outcome.IterationLimit, out.Status)
		require.Greater(t, out.Gap, 1e-8*g.scale)
		require.InDelta(t, best.Objective, out.Objective, out.Gap+1e-8)
		last = out
	}
	g.mostWork = mostWork
	out := must.Of(g.Solve(ctx, 1e-4, bound, Options{Tol: 1e-8, Start: last}))(t)
	require.Equal(t, outcome.Converged, out.Status)
	require.InDelta(t, best.Objective, out.Objective, 2e-8)
}

// Above fewRows they are what is taken, and derivatives are finite differences of them.
func TestManyRows(t *testing.T) {
	ctx := context.Background()
	x, y, u := sample(8, 2*fewRows, 6, false)
	g := must.Of(New(design.New(x), y, u))(t)
	bound := []float64{0.11, 0.53, 0.052, 1.7, 0.31, 0.23}
	for _, lambda := range []float64{0.3, 0.03} {
		at := func(k int, h float64) *Solution {
			l, b := lambda, slices.Clone(bound)
			if k == 0 {
				l += h * lambda
			} else if k > 0 {
				b[k-1] += h * bound[k-1]
			}
			m := must.Of(g.Solve(ctx, l, b, Options{Tol: 1e-15}))(t)
			require.NotNil(t, m.many)
			return m
		}
		m := at(-1, 0)
		gradient := []float64{0.3, -0.2, 0.5, 0.7, -1, 0.1}
		dl, db := g.Adjoint(m, gradient, 0.6)
		for k, v := range append([]float64{dl}, db...) {
			const h = 1e-5
			up, down := at(k, h), at(k, -h)
			unit := lambda
			if k > 0 {
				unit = bound[k-1]
			}
			want := 0.6 * (up.C - down.C) / (2 * h)
			for j := range up.W {
				want += gradient[j] * (up.W[j] - down.W[j]) / (2 * h)
			}
			require.InDelta(t, want, v*unit, 1e-4, "%g %d", lambda, k)
		}
	}
}

// Solves side by side have the bytes of one alone.
func TestManySameBytes(t *testing.T) {
	x, y, u := sample(12, 3000, 20, false)
	g := must.Of(New(design.New(x), y, u))(t)
	solve := func() *Solution {
		var o Options
		for _, lambda := range []float64{1, 0.1, 0.01} {
			m := must.Of(g.Solve(context.Background(), lambda, []float64{0.3}, o))(t)
			o.Start = m
		}
		return o.Start
	}
	want := solve()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got := solve()
			require.Equal(t, want.W, got.W)
			require.Equal(t, want.C, got.C)
			require.Equal(t, want.Gap, got.Gap)
		})
	}
	group.Wait()
}

func TestManyStopped(t *testing.T) {
	x, y, u := sample(12, 6000, 40, false)
	g := must.Of(New(design.New(x), y, u))(t)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"many": func(ctx context.Context) lowertest.End {
			s := must.Of(g.Solve(ctx, 1e-3, []float64{0.3}, Options{}))(t)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
	// A solve that was stopped is a start like any other.
	cold := must.Of(g.Solve(context.Background(), 1e-3, []float64{0.3}, Options{}))(t)
	for looks := range 8 {
		stopped := must.Of(g.Solve(stoptest.After(looks), 1e-3, []float64{0.3}, Options{}))(t)
		require.Equal(t, outcome.Cancelled, stopped.Status)
		warm := must.Of(g.Solve(context.Background(), 1e-3, []float64{0.3}, Options{Start: stopped}))(t)
		require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, warm.Status)
		certified(t, x, y, u, 1e-3, g, warm, "after a stop")
		require.InDelta(t, cold.Objective, warm.Objective, 2e-8)
	}
	for _, n := range []int{0, 1, 3, 10} {
		ctx := stoptest.After(n)
		s := must.Of(g.Within(ctx, 0.1, []float64{0.2}, Options{Tol: 1e-12}))(t)
		require.Equal(t, outcome.Cancelled, s.Status, n)
		require.True(t, math.IsInf(s.Gap, 1))
		require.LessOrEqual(t, ctx.Looks(), n+12, "it asked again and again")
	}
}

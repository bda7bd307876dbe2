package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// elasticNet is the lower level of an elastic net: min |Xb - y|^2 / 2n subject
// to |b|_1 <= h_0 and 1/2 |b|^2 <= h_1.
type elasticNet struct {
	m            *convex.Model
	b            *convex.Variable
	h            *convex.Parameter
	norm1, norm2 *convex.Constraint
}

func newElasticNet(rng *rand.Rand, n, p int) elasticNet {
	x, y := regression(rng, n, p, min(15, p))
	m := convex.NewModel()
	e := elasticNet{m: m, b: m.Vector("b", p), h: m.Parameter("h", make([]float64, 2))}
	m.Minimize(convex.Scale(1/float64(2*n), convex.SumSquares(convex.Sub(convex.Mul(x, e.b), y))))
	e.norm1 = m.Le("", convex.Norm1(e.b), convex.At(e.h, 0))
	e.norm2 = m.Le("", convex.Scale(.5, convex.SumSquares(e.b)), convex.At(e.h, 1))
	return e
}

// recheck verifies the completed point on the full conic program, without this package.
func recheck(t testing.TB, p *convex.Program, r *convex.Result, eps float64) {
	t.Helper()
	problem := must.Of(p.Problem())(t)
	pt := r.Conic()
	res, _, _ := backends.Recheck(problem, pt.X, pt.S, pt.Z)
	require.LessOrEqual(t, res.Max(), eps)
	require.LessOrEqual(t, res.Dual, r.Residuals.Dual*(1+1e-6)+1e-14, "the reported residual is too small")
}

// sparseModel is a model with a sparse solution and what of it is compared.
type sparseModel struct {
	m    *convex.Model
	v    []*convex.Variable
	p    []*convex.Parameter
	c    []*convex.Constraint
	sets [][]float64 // values of p[0] to go through
}

// The models cover the places where a 1-norm can stand, and what else can
// depend on the variable.
func sparseModels(rng *rand.Rand) map[string]sparseModel {
	out := map[string]sparseModel{}
	const n, p = 40, 200
	x, y := regression(rng, n, p, 5)
	val, yv := regression(rng, 30, p, 5)
	loss := func(m *convex.Model, b convex.Expr) convex.Expr {
		return convex.Scale(1/float64(2*n), convex.SumSquares(convex.Sub(convex.Mul(x, b), y)))
	}
	radii := [][]float64{{3, 2}, {2.9, 2}, {1, .2}, {4, .3}}

	e := sparseModel{m: convex.NewModel(), sets: radii}
	b, h := e.m.Vector("b", p), e.m.Parameter("h", make([]float64, 2))
	e.m.Minimize(loss(e.m, b))
	e.v, e.p = []*convex.Variable{b}, []*convex.Parameter{h}
	e.c = []*convex.Constraint{e.m.Le("", convex.Norm1(b), convex.At(h, 0)),
		e.m.Le("", convex.Scale(.5, convex.SumSquares(b)), convex.At(h, 1))}
	out["elastic net, lower level"] = e

	// The subproblem of VF-iDCA on the same data.
	e = sparseModel{m: convex.NewModel(), sets: [][]float64{{3, 1}, {2.9, 1}, {1, .2}}}
	b, r, s := e.m.Vector("b", p), e.m.Vector("r", 2), e.m.Vector("s", 1)
	centre := numbered(p, func(j int) float64 { return math.Max(0, float64(5-j)) / 4 })
	gamma, bk := e.m.Parameter("gamma", make([]float64, 2)), e.m.Parameter("b_k", centre)
	rk, alpha := e.m.Parameter("r_k", []float64{3, 2}), e.m.Parameter("alpha", []float64{5})
	e.m.Minimize(convex.Add(convex.Scale(1./60, convex.SumSquares(convex.Sub(convex.Mul(val, b), yv))),
		convex.Scale(.05, convex.SumSquares(convex.Sub(b, bk))), convex.Scale(.05,
			convex.SumSquares(convex.Sub(r, rk))), convex.Dot(alpha, s)))
	e.c = []*convex.Constraint{
		e.m.Le("", convex.Add(loss(e.m, b), convex.Dot(gamma, r)), convex.Add(s, 2)),
		e.m.Le("", convex.Norm1(b), convex.Add(convex.At(r, 0), s)),
		e.m.Le("", convex.Scale(.5, convex.SumSquares(b)), convex.Add(convex.At(r, 1), s)),
		e.m.Ge("", s, 0), e.m.Ge("", r, 0),
	}
	e.v, e.p = []*convex.Variable{b, r, s}, []*convex.Parameter{gamma, bk, rk, alpha}
	out["elastic net, subproblem"] = e

	// A lasso with a weight that changes, and an intercept.
	e = sparseModel{m: convex.NewModel(), sets: [][]float64{{.3}, {.25}, {1}, {.05}}}
	b, c := e.m.Vector("b", p), e.m.Vector("c", 1)
	lambda := e.m.Parameter("lambda", []float64{0})
	e.m.Minimize(convex.Add(loss(e.m, b), convex.Scale(lambda, convex.Norm1(convex.Scale(-2, b))),
		convex.Scale(.01, convex.SumSquares(convex.Sub(convex.Add(convex.Mul(val, b), c), yv)))))
	e.v, e.p = []*convex.Variable{b, c}, []*convex.Parameter{lambda}
	out["lasso"] = e

	// A weight for each entry, one too large for some.
	e = sparseModel{m: convex.NewModel()}
	b, lambda = e.m.Vector("b", p), e.m.Parameter("lambda", make([]float64, p))
	for range 2 {
		weights := make([]float64, p)
		for j := range weights {
			weights[j] = .2 + rng.Float64()
		}
		weights[1] = 1e3
		e.sets = append(e.sets, weights)
	}
	e.m.Minimize(convex.Add(loss(e.m, b), convex.Dot(lambda, convex.Abs(b))))
	e.v, e.p = []*convex.Variable{b}, []*convex.Parameter{lambda}
	out["weighted lasso"] = e

	// Sparse group lasso: whole groups vanish.
	e = sparseModel{m: convex.NewModel(), sets: [][]float64{{.1}, {.2}, {.15}}}
	b, lambda = e.m.Vector("b", p), e.m.Parameter("lambda", []float64{0})
	groups := make([][]int, 20)
	for j := range p {
		groups[j/10] = append(groups[j/10], j)
	}
	limits := slices.Repeat([]float64{1.5}, 20)
	e.c = []*convex.Constraint{e.m.Le("", convex.GroupNorms(b, groups[:5]), limits[:5])}
	e.m.Minimize(convex.Add(loss(e.m, b), convex.Scale(lambda, convex.Norm1(b)),
		convex.Scale(.2, convex.Sum(convex.GroupNorms(b, groups)))))
	e.v, e.p = []*convex.Variable{b}, []*convex.Parameter{lambda}
	out["sparse group lasso"] = e

	// The same in the form of VF-iDCA, a radius for each group: most groups are empty in the working set.
	e = sparseModel{m: convex.NewModel()}
	b, h = e.m.Vector("b", p), e.m.Parameter("h", make([]float64, 21))
	for _, r := range []float64{1.2, 1.1, .4} {
		sides := make([]float64, 21)
		for g := range sides {
			sides[g] = r * (.2 + float64(g%5)/4)
		}
		sides[20] = 3 * r
		e.sets = append(e.sets, sides)
	}
	e.m.Minimize(loss(e.m, b))
	e.v, e.p = []*convex.Variable{b}, []*convex.Parameter{h}
	e.c = []*convex.Constraint{e.m.Le("", convex.GroupNorms(b, groups), convex.Slice(h, 0, 20)),
		e.m.Le("", convex.Norm1(b), convex.At(h, 20))}
	out["sparse group lasso, lower level"] = e

	e = sparseModel{m: convex.NewModel(), sets: [][]float64{{4}, {5}, {40}}}
	alpha = e.m.Parameter("alpha", []float64{0})
	b, r, s = e.m.Vector("b", p), e.m.Vector("r", 21), e.m.Vector("s", 1)
	gamma = e.m.Parameter("gamma", numbered(21, func(g int) float64 { return .05 * float64(g%3) }))
	rk = e.m.Parameter("r_k", numbered(21, func(g int) float64 { return .3 + .1*float64(g%4) + float64(g/20) }))
	bk = e.m.Parameter("b_k", centre)
	e.m.Minimize(convex.Add(convex.Scale(1./60, convex.SumSquares(convex.Sub(convex.Mul(val, b), yv))),
		convex.Scale(.05, convex.SumSquares(convex.Sub(b, bk))), convex.Scale(.05,
			convex.SumSquares(convex.Sub(r, rk))), convex.Dot(alpha, s)))
	e.c = []*convex.Constraint{
		e.m.Le("", convex.Add(loss(e.m, b), convex.Dot(gamma, r)), convex.Add(s, 1)),
		e.m.Le("", convex.GroupNorms(b, groups), convex.Add(convex.Slice(r, 0, 20), s)),
		e.m.Le("", convex.Norm1(b), convex.Add(convex.At(r, 20), s)),
		e.m.Ge("", s, 0), e.m.Ge("", r, 0),
	}
	e.v, e.p = []*convex.Variable{b, r, s}, []*convex.Parameter{alpha, gamma, bk, rk}
	out["sparse group lasso, subproblem"] = e

	// Two sparse variables tied together, two norms on one, bounds and signs.
	e = sparseModel{m: convex.NewModel(), sets: [][]float64{{.2}, {.3}}}
	b, d := e.m.Vector("b", p), e.m.Vector("d", p)
	lambda = e.m.Parameter("lambda", []float64{0})
	e.c = []*convex.Constraint{
		e.m.Le("", convex.Norm1(b), 3),
		e.m.Ge("", b, 0),
		e.m.Le("", d, .4),
		e.m.Eq("", convex.Sum(b), convex.Sum(d)),
	}
	e.c = slices.Delete(e.c, 1, 2) // where b_j = 0, the sign and the norm share a multiplier in any way
	e.m.Minimize(convex.Add(loss(e.m, b), loss(e.m, d), convex.Scale(.1, convex.Norm1(b)),
		convex.Scale(lambda, convex.Norm1(d))))
	e.v, e.p = []*convex.Variable{b, d}, []*convex.Parameter{lambda}
	out["two variables"] = e
	return out
}

// numbered are values by their number.
func numbered(n int, f func(j int) float64) []float64 {
	v := make([]float64, n)
	for j := range v {
		v[j] = f(j)
	}
	return v
}

// Working sets give what the full program gives, and the completed point is
// optimal for the full program when checked independently.
func TestWorkingSetsEqualFull(t *testing.T) {
	for name, e := range sparseModels(rand.New(rand.NewPCG(3, 4))) {
		t.Run(name, func(t *testing.T) {
			options := backends.Options{Eps: 1e-9}
			full := solver(t, e.m, convex.SolverOptions{Options: options})
			sets := solver(t, e.m, convex.SolverOptions{WorkingSets: true, Options: options})
			for _, values := range e.sets {
				require.NoError(t, full.Set(e.p[0], values))
				require.NoError(t, sets.Set(e.p[0], values))
				want, got := solve(t, full), solve(t, sets)
				recheck(t, full.Program(), want, 1e-9)
				recheck(t, sets.Program(), got, 1e-9)
				require.InEpsilon(t, want.Objective, got.Objective, 1e-8)
				require.Less(t, got.Active, want.Active)
				for _, v := range e.v {
					inDelta(t, want.Value(v), got.Value(v), 1e-4, v.Name())
					inDelta(t, make([]float64, v.Len()), got.DualResidual(v), 1e-8, v.Name())
				}
				for _, p := range e.p {
					inDelta(t, want.Sensitivity(p), got.Sensitivity(p), 1e-4, p.Name())
				}
				for i, c := range e.c {
					inDelta(t, want.Dual(c), got.Dual(c), 1e-4, "constraint", i)
				}
			}
		})
	}
}

// A dense solution falls back to the full program, and the way back is found.
func TestDenseSolution(t *testing.T) {
	m := convex.NewModel()
	b, lambda := m.Vector("b", 100), m.Parameter("lambda", []float64{0})
	a := m.Parameter("a", numbered(100, func(j int) float64 { return float64(j+1) / 100 }))
	m.Minimize(convex.Add(convex.Scale(.5, convex.SumSquares(convex.Sub(b, a))), convex.Scale(lambda, convex.Norm1(b))))
	s := solver(t, m, convex.SolverOptions{WorkingSets: true})
	for _, l := range []float64{.005, .955, .005} {
		require.NoError(t, s.Set(lambda, []float64{l}))
		r := solve(t, s)
		for j, v := range r.Value(b) {
			require.InDelta(t, math.Max(0, float64(j+1)/100-l), v, 1e-4) // soft threshold
		}
	}
	require.NoError(t, s.Set(lambda, []float64{.955}))
	solve(t, s)
	require.Less(t, solve(t, s).Active, 60)
}

// A restricted program without a feasible point takes in all entries, and an infeasible model is proved so.
func TestInfeasibleRestriction(t *testing.T) {
	m := convex.NewModel()
	b, low := m.Vector("b", 300), m.Parameter("low", []float64{0})
	sum := m.Ge("", convex.Sum(convex.Slice(b, 100, 140)), low)
	norm := m.Le("", convex.Norm1(b), 4)

	m.Minimize(convex.SumSquares(b))
	s := solver(t, m, convex.SolverOptions{WorkingSets: true})
	require.NoError(t, s.Set(low, []float64{2}))
	r := solve(t, s)
	recheck(t, s.Program(), r, 1e-8)
	require.InDelta(t, 4./40, r.Objective, 1e-7) // 40 entries of 2/40
	require.InDelta(t, 2*2./40, r.Dual(sum)[0], 1e-5)

	require.NoError(t, s.Set(low, []float64{5}))
	r = must.Of(s.Solve(context.Background()))(t)
	require.Equal(t, backends.PrimalInfeasible, r.Status)
	problem := must.Of(s.Program().Problem())(t)
	residual := must.Of(backends.CheckPrimalInfeasible(problem, r.Conic().Z))(t)
	require.LessOrEqual(t, residual, 1e-8)
	require.InDelta(t, 1, 5*r.Dual(sum)[0]-4*r.Dual(norm)[0], 1e-6) // sum >= 5 against |b|_1 <= 4
}

package separable_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/lower"
)

// model is what a test needs of a fit.
type model struct {
	members           [][]int // nil for the weighted lasso
	shared, intercept bool
	sparse            bool
	zero              []int // features that are left out
}

// less are the constraints that leave features out.
func (m model) less(b convex.Affine) []*convex.Constraint {
	if m.zero == nil {
		return nil
	}
	return []*convex.Constraint{convex.Equal(b.Pick(m.zero), convex.Const(0))}
}

func (m model) penalties(p int) int {
	switch {
	case m.members == nil:
		return p
	case m.shared:
		return len(m.members) + 1
	}
	return len(m.members)
}

type sample struct {
	x *mat.Dense
	y []float64
}

func draw(rng *rand.Rand, n, p int) sample {
	s := sample{mat.NewDense(n, p, nil), make([]float64, n)}
	for i := range n {
		for j := range p {
			v := rng.NormFloat64()
			s.x.Set(i, j, v)
			if j < 4 {
				s.y[i] += []float64{1, -2, 0, 0.5}[j] * v
			}
		}
		s.y[i] += 1 + 0.5*rng.NormFloat64()
	}
	return s
}

func (m model) data(t *testing.T, train, val sample) *separable.Regression {
	rows := func(s sample) separable.Rows {
		if m.sparse {
			return separable.Rows{X: design.New(lowertest.Compress(s.x)), Y: s.y}
		}
		return separable.Rows{X: design.New(s.x), Y: s.y}
	}
	g, err := separable.New(rows(train), rows(val), m.members, m.shared, m.intercept)
	require.NoError(t, err)
	return g
}

func loss(s sample, x []*convex.Variable) convex.Convex {
	f := x[0].Expr().MulMat(s.x)
	if len(x) > 1 {
		f = f.Plus(x[1].Expr())
	}
	return convex.SumSquares(f.Minus(convex.Const(s.y...))).Scale(1 / (2 * float64(len(s.y))))
}

func (m model) variables(c *convex.Model, s sample) []*convex.Variable {
	_, p := s.x.Dims()
	x := []*convex.Variable{c.Variable("b", p)}
	if m.intercept {
		x = append(x, c.Variable("b0", 1))
	}
	return x
}

// rows are P(x) <= bound.
func (m model) rows(b, bound convex.Affine) (out []*convex.Constraint) {
	if m.members == nil {
		return []*convex.Constraint{convex.LessEqual(convex.Abs(b), bound)}
	}
	k := len(m.members)
	out = append(out, convex.LessEqual(convex.GroupNorms(b, m.members), bound.Slice(0, k)))
	if m.shared {
		out = append(out, convex.LessEqual(convex.Norm1(b), bound.At(k)))
	}
	return out
}

func run(t *testing.T, m *convex.Model) *convex.Result {
	prog, err := m.Compile()
	require.NoError(t, err)
	backend, err := backends.Open("native")
	require.NoError(t, err)
	solver, err := prog.Solver(convex.SolverOptions{Backend: backend, Options: backends.Options{Eps: 1e-9}})
	require.NoError(t, err)
	defer solver.Close()
	res, err := solver.Solve(context.Background())
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, res.Status)
	return res
}

func (m model) solveLower(t *testing.T, s sample, r []float64) (value float64, lambda []float64, x [][]float64) {
	c := convex.NewModel()
	vars := m.variables(c, s)
	c.Minimize(loss(s, vars))
	rows := m.rows(vars[0].Expr(), convex.Const(r...))
	c.Constrain(rows...)
	c.Constrain(m.less(vars[0].Expr())...)
	res := run(t, c)
	for _, row := range rows {
		lambda = append(lambda, res.Dual(row)...)
	}
	for _, v := range vars {
		x = append(x, res.Value(v))
	}
	return res.Objective, lambda, x
}

func (m model) solveSubproblem(t *testing.T, train, val []sample, c *lower.Centre) (value float64, r []float64, m0 float64) {
	k := convex.NewModel()
	h, top := k.Variable("r", len(c.R)), k.Variable("t", 1)
	share := 1 / float64(len(train))
	prox := convex.SumSquares(h.Expr().Minus(convex.Const(c.R...)))
	objective, lowerLoss := convex.Linear(top.Expr().Scale(c.Alpha)), convex.Linear(convex.Const(-c.Value-c.Epsilon))
	spread := mat.NewDense(len(c.R), 1, slices.Repeat([]float64{1}, len(c.R)))
	for f := range train {
		x := m.variables(k, train[f])
		for i, v := range x {
			prox = prox.Plus(convex.SumSquares(v.Expr().Minus(convex.Const(c.X[f][i]...))))
		}
		objective = objective.Plus(loss(val[f], x).Scale(share))
		lowerLoss = lowerLoss.Plus(loss(train[f], x).Scale(share))
		k.Constrain(m.less(x[0].Expr())...)
		k.Constrain(m.rows(x[0].Expr(), h.Expr().Plus(top.Expr().MulMat(spread)))...)
	}
	lowerLoss = lowerLoss.PlusAffine(h.Expr().Minus(convex.Const(c.R...)).Dot(c.Gamma))
	row := convex.LessEqual(lowerLoss, top.Expr())
	k.Constrain(row, convex.GreaterEqual(top.Expr(), convex.Const(0)))
	k.Constrain(convex.GreaterEqual(h.Expr(), convex.Const(c.Low...)))
	for j, v := range c.High {
		if !math.IsInf(v, 1) {
			k.Constrain(convex.LessEqual(convex.Linear(h.Expr().At(j)), convex.Const(v)))
		}
	}
	k.Minimize(objective.Plus(prox.Scale(c.Rho / 2)))
	res := run(t, k)
	return res.Objective, res.Value(h), res.Dual(row)[0]
}

type shape struct{ n, m, p int }

var shapes = []shape{{30, 15, 8}, {20, 10, 48}}

func models(p int, yield func(name string, m model)) {
	groups := lowertest.EqualGroups(p, 4)
	for _, intercept := range []bool{false, true} {
		yield(fmt.Sprint("weighted ", intercept), model{intercept: intercept, sparse: !intercept})
		yield(fmt.Sprint("groups ", intercept), model{members: groups, intercept: intercept})
		yield(fmt.Sprint("sparse groups ", intercept), model{members: groups, shared: true, intercept: intercept, sparse: intercept})
	}
}

// The lower level has the value of the conic program, a point within the radii, and multipliers that bound it from below.
func TestLowerAgainstConic(t *testing.T) {
	for k, size := range shapes {
		models(size.p, func(name string, m model) {
			rng := rand.New(rand.NewPCG(uint64(k), 3))
			train, val := draw(rng, size.n, size.p), draw(rng, size.m, size.p)
			g := m.data(t, train, val)
			low := separable.NewLower(g)
			for _, scale := range []float64{1e-6, 0.03, 0.3, 1, 3, 100, 0.1} {
				r := make([]float64, m.penalties(size.p))
				for j := range r {
					r[j] = scale * []float64{1, 0.3, 1e-3, 1e-6}[j%4]
				}
				if m.shared {
					r[len(r)-1] = scale
				}
				name := fmt.Sprint(name, size, scale)
				got, err := low.Solve(context.Background(), r, 1e-9)
				require.NoError(t, err)
				require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
				value, _, _ := m.solveLower(t, train, r)
				require.InDelta(t, value, got.Loss, 1e-6, name)
				v := g.Values(got.X)
				require.InDelta(t, got.Loss, v.Train, 1e-12, name)
				for j, p := range v.Penalties {
					require.LessOrEqual(t, p, r[j]*(1+1e-9), name)
					require.GreaterOrEqual(t, got.Lambda[j], 0.0)
				}
				// The multipliers, which need not be unique, bound the value at other radii.
				for range 3 {
					other, bound := slices.Clone(r), got.Loss-got.Gap
					for j := range other {
						other[j] *= 0.5 + rng.Float64()
						bound -= got.Lambda[j] * (other[j] - r[j])
					}
					at, _, _ := m.solveLower(t, train, other)
					require.GreaterOrEqual(t, at, bound-1e-7, name)
				}
			}
		})
	}
}

// The subproblem has the optimum of the conic program, for one split and for folds.
func TestSubproblemAgainstConic(t *testing.T) {
	for k, size := range shapes {
		for _, folds := range []int{1, 3} {
			models(size.p, func(name string, m model) {
				rng := rand.New(rand.NewPCG(uint64(k), uint64(folds)))
				n := m.penalties(size.p)
				c := &lower.Centre{
					R: make([]float64, n), Gamma: make([]float64, n), Low: make([]float64, n), High: make([]float64, n),
					Rho: 1e-2, Epsilon: 1e-4, Tol: 1e-8,
				}
				for j := range n {
					c.R[j] = []float64{0.7, 0.3, 1e-3, 0.05}[j%4]
					c.Low[j], c.High[j] = 1e-6, math.Inf(1)
					if j%5 == 4 {
						c.High[j] = c.R[j]
					}
				}
				if m.shared {
					c.R[n-1], c.High[n-1] = 2, math.Inf(1)
				}
				var data []*separable.Regression
				var trains, vals []sample
				for range folds {
					train, val := draw(rng, size.n, size.p), draw(rng, size.m, size.p)
					trains, vals = append(trains, train), append(vals, val)
					data = append(data, m.data(t, train, val))
					value, lambda, x := m.solveLower(t, train, c.R)
					c.Value += value / float64(folds)
					for j, l := range lambda {
						c.Gamma[j] += math.Max(0, l) / float64(folds)
					}
					c.X = append(c.X, x)
				}
				s := separable.NewSubproblem(data, 1)
				for _, alpha := range []float64{1, 100, 0.05, 3} {
					c.Alpha = alpha
					name := fmt.Sprint(name, size, folds, " ", alpha)
					got, err := s.Solve(context.Background(), c)
					require.NoError(t, err)
					require.True(t, got.Solved, "%s: gap %g after %d", name, got.Gap, got.Fits)
					value, r, m0 := m.solveSubproblem(t, trains, vals, c)
					require.InDelta(t, value, got.Objective, 1e-6, name)
					require.InDeltaSlice(t, r, got.R, 1e-2, name)
					require.InDelta(t, m0, got.M0, 1e-2*(1+m0), name)
					m.stationary(t, name, trains, vals, c, got)
				}
			})
		}
	}
}

// stationary checks the multipliers of a subproblem from the definition: none is negative, they add up to alpha at most, and
//
//	0 in grad L + m_0 grad l + rho (x - X) + sum_j M_j dP_j(x),   r = clip(R - (m_0 gamma - sum of the parts' M) / rho).
func (m model) stationary(t *testing.T, name string, train, val []sample, c *lower.Centre, s *lower.Subsolution) {
	n := len(c.R)
	push, total := make([]float64, n), s.M0
	share := 1 / float64(len(train))
	for f, of := range s.M {
		x := s.X[f]
		g := make([]float64, len(x[0])+1)
		for _, rows := range []struct {
			sample
			weight float64
		}{{val[f], share}, {train[f], share * s.M0}} {
			for i, y := range rows.y {
				r := mat.Dot(rows.x.RowView(i), mat.NewVecDense(len(x[0]), x[0])) - y
				if m.intercept {
					r += x[1][0]
					g[len(x[0])] += rows.weight * r / float64(len(rows.y))
				}
				for j := range x[0] {
					g[j] += rows.weight * r * rows.x.At(i, j) / float64(len(rows.y))
				}
			}
		}
		for j, b := range x[0] {
			g[j] += c.Rho * (b - c.X[f][0][j])
		}
		if m.intercept {
			require.InDelta(t, 0, g[len(x[0])]+c.Rho*(x[1][0]-c.X[f][1][0]), 1e-5*(1+s.M0), name)
		}
		for j, v := range of {
			require.GreaterOrEqual(t, v, 0.0)
			push[j] += v
			total += v
		}
		l1 := 0.0
		if m.shared {
			l1 = of[n-1]
		}
		for k := range n {
			members := []int{k}
			if m.members != nil {
				if k == len(m.members) {
					continue
				}
				members = m.members[k]
			}
			size := 0.0
			for _, j := range members {
				size = math.Hypot(size, x[0][j])
			}
			outside := 0.0
			for _, j := range members {
				switch b := x[0][j]; {
				case size == 0:
					outside = math.Hypot(outside, math.Max(0, math.Abs(g[j])-l1))
				case b == 0:
					require.LessOrEqual(t, math.Abs(g[j]), l1+1e-5*(1+s.M0), name)
				default:
					require.InDelta(t, 0, g[j]+of[k]*b/size+math.Copysign(l1, b), 1e-5*(1+s.M0), name)
				}
			}
			require.LessOrEqual(t, outside, of[k]+1e-5*(1+s.M0), name)
		}
	}
	require.LessOrEqual(t, total, c.Alpha*(1+1e-9), name)
	for j, r := range s.R {
		want := math.Max(c.Low[j], math.Min(c.High[j], c.R[j]-(s.M0*c.Gamma[j]-push[j])/c.Rho))
		require.InDelta(t, want, r, 1e-6, name)
	}
}

// Solves from a start in penalty form, and after others, and on any number of threads, give the same values, and these the same bytes.
func TestStartsAndThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	m := model{members: lowertest.EqualGroups(48, 4), shared: true, intercept: true}
	var data []*separable.Regression
	c := &lower.Centre{Alpha: 50, Rho: 1e-2, Tol: 1e-8, Value: 0.3}
	for j := range 13 {
		c.R, c.Gamma, c.Low, c.High = append(c.R, 0.2), append(c.Gamma, 0.01*float64(j)), append(c.Low, 1e-6), append(c.High, math.Inf(1))
	}
	for range 3 {
		data = append(data, m.data(t, draw(rng, 20, 48), draw(rng, 10, 48)))
		c.X = append(c.X, [][]float64{make([]float64, 48), {0}})
	}
	var solutions []*lower.Subsolution
	for _, workers := range []int{1, 3} {
		s, err := separable.NewSubproblem(data, workers).Solve(context.Background(), c)
		require.NoError(t, err)
		require.True(t, s.Solved)
		solutions = append(solutions, s)
	}
	require.Equal(t, solutions[0], solutions[1])

	r := append(slices.Repeat([]float64{0.3}, 12), 1.5)
	cold, err := separable.NewLower(data[0]).Solve(context.Background(), r, 1e-9)
	require.NoError(t, err)
	warm := separable.NewLower(data[0])
	require.NoError(t, warm.Begin(context.Background(), cold.Lambda, cold.X))
	again, err := warm.Solve(context.Background(), r, 1e-9)
	require.NoError(t, err)
	require.True(t, again.Solved)
	require.InDelta(t, cold.Loss, again.Loss, 1e-8)

	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	none, err := separable.NewLower(data[0]).Solve(stopped, r, 1e-9)
	require.NoError(t, err)
	require.False(t, none.Solved)
	sub, err := separable.NewSubproblem(data, 1).Solve(stopped, c)
	require.NoError(t, err)
	require.False(t, sub.Solved)
	require.Nil(t, sub.X)
}

func TestWrongInput(t *testing.T) {
	rows := func(n, p int) separable.Rows {
		return separable.Rows{X: design.New(mat.NewDense(n, p, nil)), Y: make([]float64, n)}
	}
	for want, of := range map[string]struct {
		val     separable.Rows
		members [][]int
	}{
		"2 x 3 training rows":         {rows(2, 2), nil},
		"group 1 has feature 1":       {rows(2, 3), [][]int{{0, 1}, {1, 2}}},
		"2 features of 3 are in grou": {rows(2, 3), [][]int{{0, 1}}},
	} {
		_, err := separable.New(rows(2, 3), of.val, of.members, false, false)
		require.ErrorContains(t, err, want)
	}
	g, err := separable.New(rows(2, 3), rows(2, 3), nil, false, false)
	require.NoError(t, err)
	low := separable.NewLower(g)
	_, err = low.Solve(context.Background(), []float64{1}, 1e-9)
	require.ErrorContains(t, err, "1 radii, expected 3")
	require.ErrorContains(t, low.Begin(context.Background(), []float64{1}, nil), "1 weights")
	_, err = separable.NewSubproblem([]*separable.Regression{g}, 1).Solve(context.Background(), &lower.Centre{})
	require.ErrorContains(t, err, "0 parts")
	// Nothing to explain, and nothing to explain it by.
	got, err := low.Solve(context.Background(), []float64{1, 1, 1}, 0)
	require.NoError(t, err)
	require.True(t, got.Solved)
	require.Zero(t, got.Loss)
}

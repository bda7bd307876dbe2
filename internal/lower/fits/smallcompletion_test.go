package fits

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/lower"
)

// conicCompletion is the matrix completion as a conic model.
type conicCompletion struct {
	m, n, p   int
	groups    [][]int
	intercept bool
}

func (q conicCompletion) variables(c *convex.Model) []*convex.Variable {
	x := []*convex.Variable{c.Variable("b", q.p), c.Variable("G", q.m*q.n)}
	if q.intercept {
		x = append(x, c.Variable("b0", 1))
	}
	return x
}

func (q conicCompletion) loss(e Entries, x []*convex.Variable) convex.Convex {
	var at []int
	for k, i := range e.Row {
		at = append(at, i*q.n+e.Col[k])
	}
	f := x[1].Expr().Pick(at).Minus(convex.Const(e.Y...))
	if q.p > 0 {
		features := mat.NewDense(len(e.Y), q.p, nil)
		for j := range q.p {
			column := make([]float64, len(e.Y))
			e.X.Axpy(1, j, column)
			features.SetCol(j, column)
		}
		f = f.Plus(x[0].Expr().MulMat(features))
	}
	if q.intercept {
		f = f.Plus(x[2].Expr())
	}
	return convex.SumSquares(f).Scale(1 / (2 * float64(len(e.Y))))
}

// rows are the penalties within bounds, that of the nuclear norm first.
func (q conicCompletion) rows(x []*convex.Variable, bound convex.Affine) []*convex.Constraint {
	rows := []*convex.Constraint{convex.LessEqual(convex.NuclearNorm(x[1].Expr(), q.m, q.n), bound.At(0))}
	if q.p > 0 {
		rows = append(rows, convex.LessEqual(convex.GroupNorms(x[0].Expr(), q.groups), bound.Slice(1, 1+len(q.groups))))
	}
	return rows
}

func solveCompletion(t *testing.T, c *convex.Model) *convex.Result {
	prog, err := c.Compile()
	require.NoError(t, err)
	backend, err := backends.Open("native")
	require.NoError(t, err)
	for eps := 1e-9; ; eps *= 10 {
		solver, err := prog.Solver(convex.SolverOptions{Backend: backend, Options: backends.Options{Eps: eps}})
		require.NoError(t, err)
		defer solver.Close()
		res, err := solver.Solve(context.Background())
		require.NoError(t, err)
		if res.Status == backends.Inaccurate && eps < 1e-8 { // rounding keeps it from so many digits
			continue
		}
		require.Equal(t, backends.Optimal, res.Status)
		return res
	}
}

func (q conicCompletion) lower(t *testing.T, e Entries, r []float64) (value float64, lambda []float64) {
	c := convex.NewModel()
	x := q.variables(c)
	c.Minimize(q.loss(e, x))
	rows := q.rows(x, convex.Const(r...))
	c.Constrain(rows...)
	res := solveCompletion(t, c)
	for _, row := range rows {
		lambda = append(lambda, res.Dual(row)...)
	}
	return res.Objective, lambda
}

func (q conicCompletion) subproblem(t *testing.T, train, val []Entries, c *lower.Centre) (value float64, r []float64, x [][][]float64) {
	k := convex.NewModel()
	h, top := k.Variable("r", len(c.R)), k.Variable("t", 1)
	share := 1 / float64(len(train))
	prox := convex.SumSquares(h.Expr().Minus(convex.Const(c.R...)))
	objective, low := convex.Linear(top.Expr().Scale(c.Alpha)), convex.Linear(convex.Const(-c.Value-c.Epsilon))
	ones := mat.NewDense(len(c.R), 1, slices.Repeat([]float64{1}, len(c.R)))
	var vars [][]*convex.Variable
	for f := range train {
		x := q.variables(k)
		vars = append(vars, x)
		for i, v := range x {
			prox = prox.Plus(convex.SumSquares(v.Expr().Minus(convex.Const(c.X[f][i]...))))
		}
		objective, low = objective.Plus(q.loss(val[f], x).Scale(share)), low.Plus(q.loss(train[f], x).Scale(share))
		k.Constrain(q.rows(x, h.Expr().Plus(top.Expr().MulMat(ones)))...)
	}
	low = low.PlusAffine(h.Expr().Minus(convex.Const(c.R...)).Dot(c.Gamma))
	k.Constrain(convex.LessEqual(low, top.Expr()), convex.GreaterEqual(top.Expr(), convex.Const(0)), convex.GreaterEqual(h.Expr(), convex.Const(c.Low...)))
	k.Minimize(objective.Plus(prox.Scale(c.Rho / 2)))
	res := solveCompletion(t, k)
	for _, of := range vars {
		var part [][]float64
		for _, v := range of {
			part = append(part, res.Value(v))
		}
		x = append(x, part)
	}
	return res.Objective, res.Value(h), x
}

// Both programs of an iteration have the optimum and the point of the conic programs, on matrices of any shape, with and without features, for one split and
// for two, one iteration after the other.
func TestSmallCompletionAgainstConic(t *testing.T) {
	solved := 0 // lower levels; radii that interpolate are not for the fit
	for _, q := range []conicCompletion{
		{m: 9, n: 9, p: 6, groups: triples(6)},
		{m: 6, n: 11, p: 6, groups: triples(6), intercept: true},
		{m: 10, n: 5},
	} {
		for _, folds := range []int{1, 2} {
			name := fmt.Sprint(q, folds)
			var train, val []Entries
			var parts []lower.Bilevel
			for f := range folds {
				a, b := entries(uint64(7+f), q.m, q.n, q.p)
				fit, err := NewCompletion(a, b, q.m, q.n, q.groups, q.intercept)
				require.NoError(t, err)
				train, val, parts = append(train, a), append(val, b), append(parts, fit)
			}
			n := 1 + len(q.groups)
			c := &lower.Centre{R: make([]float64, n), Low: make([]float64, n), High: make([]float64, n), Rho: 1e-2, Tol: 1e-9}
			for j := range n {
				c.R[j], c.High[j] = []float64{1, 0.3, 0.05}[j%3], math.Inf(1)
			}
			for _, part := range parts {
				var zero [][]float64
				for _, k := range part.Shape() {
					zero = append(zero, make([]float64, k))
				}
				c.X = append(c.X, zero)
			}
			solver := parts[0].Subproblem(parts, 1)
			for _, alpha := range []float64{0.3, 1, 10} {
				c.Alpha, c.Value, c.Gamma = alpha, 0, make([]float64, n)
				for f, part := range parts {
					w, err := part.Within().Solve(context.Background(), c.R, 1e-9)
					require.NoError(t, err)
					value, lambda := q.lower(t, train[f], c.R)
					v := part.Values(w.X)
					for j, l := range lambda {
						c.Gamma[j] += math.Max(0, l) / float64(folds)
						if w.Solved {
							require.InDelta(t, l, w.Lambda[j], 1e-4*(1+l), name)
							require.LessOrEqual(t, v.Penalties[j], c.R[j]*(1+1e-9), name)
						}
					}
					if w.Solved {
						solved++
						require.InDelta(t, value, w.Loss, 1e-7, name)
						require.InDelta(t, w.Loss, v.Train, 1e-9, name)
					}
					c.Value += value / float64(folds)
				}
				got, err := solver(context.Background(), c)
				require.NoError(t, err)
				require.True(t, got.Solved, "%s: gap %g after %d", name, got.Gap, got.Fits)
				value, r, x := q.subproblem(t, train, val, c)
				require.InDelta(t, value, got.Objective, 1e-6*(1+value), name)
				require.InDeltaSlice(t, r, got.R, 1e-3, name)
				for f, of := range got.X {
					for i := range of {
						require.InDeltaSlice(t, x[f][i], of[i], 2e-3, name)
					}
				}
				for j := range c.R {
					c.R[j] = math.Max(got.R[j], 1e-3)
				}
				c.X = got.X
			}
		}
	}
	require.Greater(t, solved, 15)
}

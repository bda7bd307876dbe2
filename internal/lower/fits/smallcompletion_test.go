package fits

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
)

// conicCompletion is the matrix completion as a conic model.
type conicCompletion struct {
	m, n, p   int
	groups    [][]int
	intercept bool
}

func (q conicCompletion) variables(c *convex.Model) []*convex.Variable {
	x := []*convex.Variable{c.Vector("b", q.p), c.Vector("G", q.m*q.n)}
	if q.intercept {
		x = append(x, c.Vector("b0", 1))
	}
	return x
}

func (q conicCompletion) loss(e Entries, x []*convex.Variable) convex.Expr {
	var at []int
	for k, i := range e.Row {
		at = append(at, i*q.n+e.Col[k])
	}
	f := convex.Sub(convex.Pick(x[1], at), e.Y)
	if q.p > 0 {
		features := mat.NewDense(len(e.Y), q.p, nil)
		for j := range q.p {
			column := make([]float64, len(e.Y))
			e.X.Axpy(1, j, column)
			features.SetCol(j, column)
		}
		f = convex.Add(f, convex.Mul(features, x[0]))
	}
	if q.intercept {
		f = convex.Add(f, x[2])
	}
	return convex.Scale(1/(2*float64(len(e.Y))), convex.SumSquares(f))
}

// part has the nuclear norm first.
func (q conicCompletion) part(m *convex.Model, train, val Entries) conicPart {
	x := q.variables(m)
	out := conicPart{X: x, Train: q.loss(train, x), Validation: q.loss(val, x),
		Penalties: []convex.Expr{convex.NuclearNorm(convex.Reshape(x[1], q.m, q.n))}}
	if q.p > 0 {
		out.Penalties = append(out.Penalties, convex.GroupNorms(x[0], q.groups))
	}
	return out
}

// Both programs of an iteration have the optimum and the point of the conic programs, on matrices of any shape, with
// and without features, for one split and for two, one iteration after the other.
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
			var parts []bilevel.Fit
			for f := range folds {
				a, b := entries(uint64(7+f), q.m, q.n, q.p)
				fit := must.Of(NewCompletion(a, b, q.m, q.n, q.groups, q.intercept))(t)
				train, val, parts = append(train, a), append(val, b), append(parts, fit)
			}
			n := 1 + len(q.groups)
			c := &bilevel.Centre{R: make([]float64, n), Low: make([]float64, n), High: make([]float64, n), Rho: 1e-2, Tol: 1e-9}
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
					w := must.Of(part.Within().Solve(context.Background(), c.R, 1e-9))(t)
					want := conicWithin(t, func(m *convex.Model) conicPart { return q.part(m, train[f], val[f]) }, c.R)
					v := part.Values(w.X)
					for j, l := range want.Lambda {
						c.Gamma[j] += math.Max(0, l) / float64(folds)
						if w.Solved {
							require.InDelta(t, l, w.Lambda[j], 1e-4*(1+l), name)
							require.LessOrEqual(t, v.Penalties[j], c.R[j]*(1+1e-9), name)
						}
					}
					if w.Solved {
						solved++
						require.InDelta(t, want.Value, w.Loss, 1e-7, name)
						require.InDelta(t, w.Loss, v.Train, 1e-9, name)
					}
					c.Value += want.Value / float64(folds)
				}
				got := must.Of(solver(context.Background(), c))(t)
				require.True(t, got.Solved, "%s: gap %g after %d", name, got.Gap, got.Fits)
				want := conicSubproblem(t, c, func(m *convex.Model, f int) conicPart { return q.part(m, train[f], val[f]) })
				require.InDelta(t, want.Value, got.Objective, 1e-6*(1+want.Value), name)
				require.InDeltaSlice(t, want.R, got.R, 1e-3, name)
				for f, of := range got.X {
					for i := range of {
						require.InDeltaSlice(t, want.X[f][i], of[i], 2e-3, name)
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

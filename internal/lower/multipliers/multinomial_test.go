package multipliers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// classes are rows of three classes.
type classes struct {
	x     *mat.Dense
	class []int
}

func drawClasses(rng *rand.Rand, n, p int) classes {
	s := classes{mat.NewDense(n, p, nil), make([]int, n)}
	for i := range n {
		for j := range p {
			s.x.Set(i, j, rng.NormFloat64())
		}
		switch f := s.x.At(i, 0) - s.x.At(i, 1) + rng.NormFloat64(); {
		case f > 0.6:
			s.class[i] = 2
		case f > -0.6 || s.x.At(i, 2) > 1:
			s.class[i] = 1
		}
	}
	copy(s.class, []int{0, 1, 2})
	return s
}

func (s classes) rows() fits.Rows {
	y := make([]float64, len(s.class))
	for i, k := range s.class {
		y[i] = float64(k)
	}
	return fits.NewRows(s.x, y)
}

// loss is the mean one as an expression of B, entry (j, k) at 3 j + k, and intercepts.
func (s classes) loss(x []*convex.Variable) convex.Convex {
	n, p := s.x.Dims()
	var values []convex.Affine
	own := convex.Const(0)
	for k := range 3 {
		column, minus := make([]int, p), make([]float64, n)
		for j := range column {
			column[j] = 3*j + k
		}
		for i, y := range s.class {
			if y == k {
				minus[i] = -1
			}
		}
		f := x[0].Expr().Pick(column).MulMat(s.x).Plus(x[1].Expr().At(k))
		values, own = append(values, f), own.Plus(f.Dot(minus))
	}
	groups := make([][]int, n)
	for i := range groups {
		groups[i] = []int{i, n + i, 2*n + i}
	}
	return convex.LogSumExp(convex.Stack(values...), groups).Sum().PlusAffine(own).Scale(1 / float64(n))
}

func classVariables(m *convex.Model, p int) []*convex.Variable {
	x := []*convex.Variable{m.Variable("B", 3*p), m.Variable("c", 3)}
	m.Constrain(convex.Equal(x[1].Expr().Sum(), convex.Const(0)))
	return x
}

// Lower level and subproblem of a multinomial regression have the optima and multipliers of the conic programs, with few entries and with so many that some are
// missing at first, for one split and for folds.
func TestMultinomialAgainstConic(t *testing.T) {
	for k, shape := range []struct{ n, m, p int }{{50, 30, 5}, {30, 20, 60}} {
		for _, folds := range []int{1, 2} {
			rng := rand.New(rand.NewPCG(uint64(k), uint64(folds)))
			c := lower.Centre{
				R: []float64{1.5, 0.4}, Gamma: make([]float64, 2), Alpha: 3, Rho: 1e-2, Epsilon: 1e-4,
				Low: []float64{1e-6, 1e-6}, High: []float64{math.Inf(1), 0.7}, Tol: 1e-9,
			}
			var parts []lower.Joint
			var trains, vals []classes
			for range folds {
				train, val := drawClasses(rng, shape.n, shape.p), drawClasses(rng, shape.m, shape.p)
				f, err := fits.NewMultinomial(train.rows(), val.rows(), 3, true, sparse.Terms{})
				require.NoError(t, err)
				trains, vals, parts = append(trains, train), append(vals, val), append(parts, f)
				name := fmt.Sprint(shape, folds)
				got, err := multipliers.NewLower(f).Solve(context.Background(), c.R, 1e-9)
				require.NoError(t, err)
				require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
				m := convex.NewModel()
				x := classVariables(m, shape.p)
				m.Minimize(train.loss(x))
				one, two := convex.LessEqual(convex.Norm1(x[0].Expr()), convex.Const(c.R[0])), convex.LessEqual(convex.SumSquares(x[0].Expr()).Scale(0.5), convex.Const(c.R[1]))
				m.Constrain(one, two)
				want := run(t, m, "poisson")
				require.InDelta(t, want.Objective, got.Loss, 1e-6, name)
				require.InDeltaSlice(t, []float64{want.Dual(one)[0], want.Dual(two)[0]}, got.Lambda, 1e-3, name)
				require.InDelta(t, got.Loss, f.Values(got.X).Train, 1e-7)
				c.Value += want.Objective / float64(folds)
				for i, l := range []float64{want.Dual(one)[0], want.Dual(two)[0]} {
					c.Gamma[i] += l / float64(folds)
				}
				c.X = append(c.X, values(want, x))
			}
			s := multipliers.NewSubproblem(parts, 1)
			for _, alpha := range []float64{3, 0.5} {
				c.Alpha = alpha
				got, err := s.Solve(context.Background(), &c)
				require.NoError(t, err)
				require.True(t, got.Solved, "%v %d: gap %g", shape, folds, got.Gap)
				require.InDelta(t, conicClasses(t, trains, vals, &c), got.Objective, 1e-6, "%v %d %g", shape, folds, alpha)
			}
		}
	}
}

// conicClasses is the optimal value of the subproblem.
func conicClasses(t *testing.T, train, val []classes, c *lower.Centre) float64 {
	m := convex.NewModel()
	h, top := m.Variable("r", 2), m.Variable("t", 1)
	share := 1 / float64(len(train))
	prox := convex.SumSquares(h.Expr().Minus(convex.Const(c.R...)))
	objective, lowerLoss := convex.Linear(top.Expr().Scale(c.Alpha)), convex.Linear(convex.Const(-c.Value-c.Epsilon))
	for k := range train {
		_, p := train[k].x.Dims()
		x := classVariables(m, p)
		for i, v := range x {
			prox = prox.Plus(convex.SumSquares(v.Expr().Minus(convex.Const(c.X[k][i]...))))
		}
		objective = objective.Plus(val[k].loss(x).Scale(share))
		lowerLoss = lowerLoss.Plus(train[k].loss(x).Scale(share))
		m.Constrain(
			convex.LessEqual(convex.Norm1(x[0].Expr()).MinusAffine(h.Expr().At(0)), top.Expr()),
			convex.LessEqual(convex.SumSquares(x[0].Expr()).Scale(0.5).MinusAffine(h.Expr().At(1)), top.Expr()),
		)
	}
	for j, g := range c.Gamma {
		lowerLoss = lowerLoss.PlusAffine(h.Expr().At(j).Minus(convex.Const(c.R[j])).Scale(g))
	}
	m.Constrain(convex.LessEqual(lowerLoss, top.Expr()), convex.GreaterEqual(top.Expr(), convex.Const(0)))
	m.Constrain(convex.GreaterEqual(h.Expr(), convex.Const(c.Low...)), convex.LessEqual(convex.Linear(h.Expr().At(1)), convex.Const(c.High[1])))
	m.Minimize(objective.Plus(prox.Scale(c.Rho / 2)))
	return run(t, m, "poisson").Objective
}

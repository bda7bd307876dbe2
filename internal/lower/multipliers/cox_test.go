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

// lives are rows with times, negative for censored ones, weights and an offset.
type lives struct {
	x                  *mat.Dense
	y, weights, offset []float64
}

func drawLives(rng *rand.Rand, n, p int) lives {
	s := lives{x: mat.NewDense(n, p, nil)}
	for i := range n {
		for j := range p {
			s.x.Set(i, j, rng.NormFloat64())
		}
		t := math.Ceil(8 * math.Exp(s.x.At(i, 1)/2-s.x.At(i, 0)+rng.NormFloat64()/2))
		if rng.Float64() < 0.3 {
			t = -t
		}
		s.y, s.weights, s.offset = append(s.y, t), append(s.weights, 0.5+rng.Float64()), append(s.offset, rng.NormFloat64()/2)
	}
	return s
}

func (s lives) rows() fits.Rows {
	r := fits.NewRows(s.x, s.y)
	r.Weights, r.Offset = s.weights, s.offset
	return r
}

// deviance is half of it with Breslow's rule for ties, divided by a number, as an expression of b: the sum over events of w_i (log sum_{j at risk} w_j exp(f_j) - f_i), less that for the best values.
func (s lives) deviance(b convex.Affine, by float64) convex.Convex {
	own, logs := make([]float64, len(s.y)), make([]float64, len(s.y))
	for i, w := range s.weights {
		logs[i] = math.Log(w)
	}
	f := b.MulMat(s.x).Plus(convex.Const(s.offset...))
	sum, at := convex.Linear(convex.Const(0)), map[float64]float64{}
	for i, y := range s.y {
		if y < 0 {
			continue
		}
		own[i] = -s.weights[i]
		at[y] += s.weights[i]
		var risk []int
		for j, v := range s.y {
			if math.Abs(v) >= y {
				risk = append(risk, j)
			}
		}
		sum = sum.Plus(convex.LogSumExp(f.Plus(convex.Const(logs...)), [][]int{risk}).Sum().Scale(s.weights[i]))
	}
	best := 0.0
	for _, w := range at {
		best -= w * math.Log(w)
	}
	return sum.PlusAffine(f.Dot(own).Plus(convex.Const(best))).Scale(1 / by)
}

// total is the sum of the weights, and that of the events.
func (s lives) total() (all, events float64) {
	for i, w := range s.weights {
		if all += w; s.y[i] > 0 {
			events += w
		}
	}
	return all, events
}

// Lower level and subproblem of a Cox regression with weights, an offset, factors and bounds have the optima and multipliers of the conic programs, with few features and with so many that some are
// missing at first.
func TestCoxAgainstConic(t *testing.T) {
	for k, shape := range []struct{ n, m, p int }{{40, 25, 5}, {25, 20, 150}} {
		rng := rand.New(rand.NewPCG(uint64(k), 5))
		train, val := drawLives(rng, shape.n, shape.p), drawLives(rng, shape.m, shape.p)
		terms := sparse.Terms{Factors: make([]float64, shape.p), Upper: make([]float64, shape.p)}
		penalised, factors := []int{}, []float64{}
		for j := range shape.p {
			terms.Factors[j], terms.Upper[j] = float64(1+j%2), 0.6
			if j == 1 {
				terms.Factors[j], terms.Upper[j] = 0, math.Inf(1)
				continue
			}
			penalised, factors = append(penalised, j), append(factors, terms.Factors[j])
		}
		f, err := fits.NewCox(train.rows(), val.rows(), fits.CoxOptions{Terms: terms})
		require.NoError(t, err)
		all, _ := train.total()
		_, events := val.total()
		roots := make([]float64, len(factors))
		for i, v := range factors {
			roots[i] = math.Sqrt(v)
		}
		norms := func(b convex.Affine) (one, two convex.Convex) {
			return convex.Norm1(b.Pick(penalised).MulMat(mat.NewDiagDense(len(factors), factors))), convex.SumSquares(b.Pick(penalised).MulMat(mat.NewDiagDense(len(roots), roots))).Scale(0.5)
		}
		within := func(m *convex.Model, b convex.Affine) {
			m.Constrain(convex.GreaterEqual(convex.Const(make([]float64, len(penalised))...).Plus(convex.Const(terms.Upper[0])), b.Pick(penalised)))
		}
		c := lower.Centre{
			R: []float64{1.5, 0.3}, Gamma: make([]float64, 2), Alpha: 3, Rho: 1e-2, Epsilon: 1e-4,
			Low: []float64{1e-6, 1e-6}, High: []float64{math.Inf(1), 0.7}, Tol: 1e-9,
		}
		name := fmt.Sprint(shape)
		got, err := multipliers.NewLower(f).Solve(context.Background(), c.R, 1e-9)
		require.NoError(t, err)
		require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
		m := convex.NewModel()
		b := m.Variable("b", shape.p)
		within(m, b.Expr())
		m.Minimize(train.deviance(b.Expr(), all))
		norm1, norm2 := norms(b.Expr())
		one, two := convex.LessEqual(norm1, convex.Const(c.R[0])), convex.LessEqual(norm2, convex.Const(c.R[1]))
		m.Constrain(one, two)
		want := run(t, m, "poisson")
		require.InDelta(t, want.Objective, got.Loss, 1e-6, name)
		require.InDeltaSlice(t, []float64{want.Dual(one)[0], want.Dual(two)[0]}, got.Lambda, 1e-3, name)
		require.InDelta(t, got.Loss, f.Values(got.X).Train, 1e-7)
		c.Value, c.Gamma, c.X = want.Objective, []float64{want.Dual(one)[0], want.Dual(two)[0]}, [][][]float64{values(want, []*convex.Variable{b})}
		s := multipliers.NewSubproblem([]lower.Joint{f}, 1)
		for _, alpha := range []float64{3, 0.5} {
			c.Alpha = alpha
			got, err := s.Solve(context.Background(), &c)
			require.NoError(t, err)
			require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
			m := convex.NewModel()
			h, top, b := m.Variable("r", 2), m.Variable("t", 1), m.Variable("b", shape.p)
			within(m, b.Expr())
			prox := convex.SumSquares(h.Expr().Minus(convex.Const(c.R...))).Plus(convex.SumSquares(b.Expr().Minus(convex.Const(c.X[0][0]...))))
			norm1, norm2 := norms(b.Expr())
			m.Constrain(convex.LessEqual(norm1.MinusAffine(h.Expr().At(0)), top.Expr()), convex.LessEqual(norm2.MinusAffine(h.Expr().At(1)), top.Expr()))
			gap := train.deviance(b.Expr(), all).MinusAffine(convex.Const(c.Value + c.Epsilon))
			for j, g := range c.Gamma {
				gap = gap.PlusAffine(h.Expr().At(j).Minus(convex.Const(c.R[j])).Scale(g))
			}
			m.Constrain(convex.LessEqual(gap, top.Expr()), convex.GreaterEqual(top.Expr(), convex.Const(0)))
			m.Constrain(convex.GreaterEqual(h.Expr(), convex.Const(c.Low...)), convex.LessEqual(convex.Linear(h.Expr().At(1)), convex.Const(c.High[1])))
			m.Minimize(convex.Linear(top.Expr().Scale(alpha)).Plus(val.deviance(b.Expr(), events/2)).Plus(prox.Scale(c.Rho / 2)))
			require.InDelta(t, run(t, m, "poisson").Objective, got.Objective, 1e-6, "%s %g", name, alpha)
		}
	}
}

package machine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// hinge is sum_i u_i max(0, 1 - y_i (x_i'w - c)) as an expression.
func hinge(x *mat.Dense, y, u []float64, w, c *convex.Variable) convex.Convex {
	n, p := x.Dims()
	rows, labels := mat.NewDense(n, p, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		floats.AddScaled(rows.RawRowView(i), u[i]*y[i], x.RawRowView(i))
		labels.Set(i, 0, u[i]*y[i])
	}
	return convex.Pos(convex.Const(u...).Minus(w.Expr().MulMat(rows)).Plus(c.Expr().MulMat(labels))).Sum()
}

// shares are weights over their sum.
func shares(u []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(u)), 1/floats.Sum(u), u)
}

func TestStackedErrors(t *testing.T) {
	x := design.New(mat.NewDense(3, 1, []float64{1, 2, 3}))
	y := []float64{1, -1, 1}
	for _, train := range []int{0, 3} {
		_, err := NewStacked(x, y, nil, train)
		require.ErrorContains(t, err, fmt.Sprintf("%d training rows of 3", train))
	}
	_, err := NewStacked(x, y, []float64{1, 0, 1}, 2)
	require.ErrorContains(t, err, "the weight of row 1 is 0")
}

// Within the ball and the box, on few and on many rows, a machine has the loss of the conic program, is within, and its
// multipliers are the derivatives of the loss.
func TestWithin(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{80, fewRows + 500} {
		const p = 5
		x, y, u := sample(6, n, p, false)
		g := must.Of(New(design.New(x), y, u))(t)
		for _, r := range []float64{1e-3, 0.1, 0.6, 10} {
			for _, bound := range [][]float64{{1e-6}, {0.3}, {10}, {0.5, 0.2, 0.05, 1, 0.01}} {
				name := fmt.Sprint(n, " ", r, " ", bound)
				s := must.Of(g.Within(ctx, r, bound, Options{Tol: 1e-9}))(t)
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status, name)
				require.LessOrEqual(t, floats.Dot(s.W, s.W)/2, r*(1+1e-12), name)
				for j, w := range s.W {
					require.LessOrEqual(t, math.Abs(w), bound[min(j, len(bound)-1)], name)
				}
				if n > fewRows && r != 0.1 {
					continue
				}
				m := convex.NewModel()
				w, c := m.Variable("w", p), m.Variable("c", 1)
				m.Minimize(hinge(x, y, shares(u), w, c))
				all := bound
				if len(all) == 1 {
					all = slices.Repeat(bound, p)
				}
				m.Constrain(convex.LessEqual(convex.SumSquares(w.Expr()).Scale(0.5), convex.Const(r)))
				m.Constrain(convex.LessEqual(convex.Abs(w.Expr()).MinusAffine(convex.Const(all...)), convex.Const(0)))
				require.InDelta(t, lowertest.Conic(t, m, 0).Objective, s.Loss, 1e-6, name)
			}
		}
		bound := []float64{0.5, 0.2, 0.05, 1, 0.01}
		s := must.Of(g.Within(ctx, 0.1, bound, Options{Tol: 1e-10}))(t)
		require.Positive(t, s.Lambda)
		for k, want := range append([]float64{s.Lambda}, s.Bound...) {
			loss := func(h float64) float64 {
				r, b := 0.1, slices.Clone(bound)
				if k == 0 {
					r *= 1 + h
				} else {
					b[k-1] *= 1 + h
				}
				m := must.Of(g.Within(ctx, r, b, Options{Tol: 1e-10}))(t)
				return m.Loss
			}
			unit := 0.1
			if k > 0 {
				unit = bound[k-1]
			}
			require.InDelta(t, -want*unit, (loss(1e-4)-loss(-1e-4))/2e-4, 1e-5, "%d %d", n, k)
		}
	}
	x, y, _ := sample(6, 30, 3, false)
	g := must.Of(New(design.New(x), y, nil))(t)
	_, err := g.Within(ctx, 0, []float64{1}, Options{})
	require.ErrorContains(t, err, "radius is 0")
	_, err = g.Within(ctx, 1, []float64{0}, Options{})
	require.ErrorContains(t, err, "bound 0 is 0")
}

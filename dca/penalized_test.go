package dca

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// separable is min 1/2 |x - y|^2 with a bound on each of the first |x_j|, one on half the square of the last
// two entries, and an upper variable that bounds the last entry: |x_2| <= u.
func separable(y []float64) Program {
	return Program{
		Name: "separable", H0: []float64{1, 1, 1, 5}, Radii: 3, Lo: []float64{0, 0, 0, 1e-3}, Hi: []float64{9, 9, 9, 8},
		Build: func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", 3)
			e := x
			return Level{
				X:          []*convex.Variable{x},
				Train:      convex.Scale(0.5, convex.SumSquares(convex.Sub(e, y))),
				Validation: convex.SumSquares(e),
				Constraints: []convex.Expr{
					convex.Sub(convex.Scale(0.5, convex.SumSquares(convex.Slice(e, 1, 3))), convex.At(h, 2)),
					convex.Sub(convex.Abs(convex.Slice(e, 0, 2)), convex.Slice(h, 0, 2)),
					convex.Sub(convex.Abs(convex.At(e, 2)), convex.At(h, 3)),
				},
			}
		},
	}
}

func TestKinds(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	kinds := must.Of(p.Kinds())(t)
	require.Equal(t, [][]int{{0, 1}, {2}}, kinds)

	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, h)
		l.Constraints[0] = convex.Sub(l.Constraints[0], convex.At(h, 1))
		return l
	}
	_, err := p.Kinds()
	require.ErrorContains(t, err, "no penalty form")
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, h)
		l.Constraints = l.Constraints[1:]
		return l
	}
	_, err = p.Kinds()
	require.ErrorContains(t, err, "radius 2 is in no constraint")
}

// The solution is known entry by entry: soft thresholds, shrinkage, and a clip at u.
func TestPenalizedClosedForm(t *testing.T) {
	y := []float64{3, -2, 4}
	p := separable(y)
	soft := func(v, w float64) float64 { return math.Copysign(math.Max(0, math.Abs(v)-w), v) }
	q := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	defer q.Close()
	for i, lambda := range [][]float64{{0.5, 0.2, 0.3}, {2, 0.7, 0.1}, {5, 1, 4}, {0.4, 0.4, 2}} {
		u := []float64{5, 1.5, 0.1, 0.1}[i]
		s := must.Of(q.Solve(context.Background(), lambda, []float64{u}))(t)
		want := []float64{soft(y[0], lambda[0]), soft(y[1], lambda[1]) / (1 + lambda[2]), math.Min(u, y[2]/(1+lambda[2]))}
		require.InDeltaSlice(t, want, s.X[0], 1e-4) // where |.| has its kink, x is off by the root of the gap
		radii := []float64{math.Abs(want[0]), math.Abs(want[1]), 0.5 * (want[1]*want[1] + want[2]*want[2])}
		require.InDeltaSlice(t, radii, s.Radii, 1e-3)
		require.InDelta(t, want[0]*want[0]+want[1]*want[1]+want[2]*want[2], s.Validation, 1e-3)
		again := must.Of(p.Penalties(s.X, []float64{u}))(t)
		require.Equal(t, s.Radii, again)
	}
}

// In min 1/2 |x - y|^2 + w_1 |x_1| + w_2 |x_2| + w_3 (x_2^2 + x_3^2)/2 s.t. |x_3| <= u, with x_1 = y_1 - w_1,
// x_2 = (y_2 + w_2)/(1 + w_3) < 0 and x_3 = u or y_3/(1 + w_3), |x|^2 has the gradients below. Where w_1 > y_1, x_1 is
// zero. Two folds, of which the second has twice the y, divide the weights between them.
func TestPenalizedGradient(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	q := must.Of(NewPenalized(p, Settings{Backend: must.Of(backends.Open("native"))(t)}))(t)
	defer q.Close()
	for _, c := range []struct{ weights, upper, want []float64 }{
		{[]float64{1, 0.5, 0.25}, []float64{2}, []float64{-4, 2 * -1.2 / 1.25, -2 * -1.2 * -1.5 / 1.25 / 1.25, 4}},
		{[]float64{5, 0.5, 1}, []float64{7}, []float64{0, 2 * -0.75 / 2, -2*-0.75*-1.5/4 - 2*2*4./4, 0}},
	} {
		g := must.Of(q.Gradient(t.Context(), c.weights, c.upper))(t)
		require.InDeltaSlice(t, c.want, g, 1e-6)
	}
	_, err := q.Gradient(t.Context(), []float64{1}, nil)
	require.ErrorContains(t, err, "1 weights, expected 3")

	p.Blocks = []func(m *convex.Model, h convex.Expr) Level{p.Build, separable([]float64{6, -4, 8}).Build}
	p.Build = nil
	folds := must.Of(NewPenalized(p, Settings{Backend: must.Of(backends.Open("native"))(t)}))(t)
	defer folds.Close()
	g := must.Of(folds.Gradient(t.Context(), []float64{2, 1, 0.5}, []float64{2}))(t)
	require.InDeltaSlice(t, []float64{-2 - 5, -1.2/1.25 + -2.8/1.25, -(1.2*1.5 + 2.8*3.5) / 1.25 / 1.25, 8}, g, 1e-6)
}

// After Forget a solve gives the same bits as that of a new one, whatever was solved in between.
func TestForget(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	solve := func(q *Penalized, w float64) []float64 {
		s := must.Of(q.Solve(context.Background(), []float64{w, w, 2 * w}, nil))(t)
		return s.X[0]
	}
	fresh := func() *Penalized {
		return must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	}
	q, r := fresh(), fresh()
	defer q.Close()
	defer r.Close()
	solve(q, 0.1)
	solve(q, 2)
	require.NoError(t, q.Forget())
	require.Equal(t, solve(r, 0.7), solve(q, 0.7))
	require.Equal(t, 3, q.Stats().Solves)
}

func TestPenalizedMisuse(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	q := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	_, err := q.Solve(context.Background(), []float64{1, 1}, nil)
	require.ErrorContains(t, err, "2 weights, expected 3")
	_, err = q.Solve(context.Background(), []float64{1, 0, 1}, nil)
	require.ErrorContains(t, err, "weight 1 is 0")
	require.NoError(t, q.Close())
	require.NoError(t, q.Close())
	_, err = q.Solve(context.Background(), []float64{1, 1, 1}, nil)
	require.ErrorIs(t, err, backends.ErrClosed)
	_, err = p.Penalties([][]float64{{1}}, nil)
	require.ErrorContains(t, err, "1 values of variable x, expected 3")
}

// direct is a fit by a function that gives X, nil where it cannot.
type direct struct {
	penalty func(weights []float64) [][]float64
}

func (direct) Dim() int           { return 1 }
func (direct) LambdaMax() float64 { return 1 }

func (d direct) Solve(_ context.Context, weights []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	x := d.penalty(weights)
	return &lower.Point{X: x, Gap: 1e-10, Solved: x != nil}, nil
}

func (d direct) Traits() lower.Traits { return lower.Traits{} }

// Solutions of [Program.Fit] are scored as those of the conic program, which is there for what it leaves.
func TestPenaltyOfTheProgram(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	p.Fit = direct{}
	_, err := NewPenalized(p, Settings{Backend: native(t)})
	require.ErrorContains(t, err, "3 radii and 4 hyperparameters")
	p.H0, p.Lo, p.Hi = p.H0[:3], nil, nil
	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, convex.Stack(h, 8))
		l.Constraints = l.Constraints[:2]
		return l
	}
	p.Fit = direct{penalty: func(w []float64) [][]float64 {
		require.Equal(t, w[0], w[1])
		if w[0] == 1 {
			return nil
		}
		return [][]float64{{3 - w[0], -(2 - w[0]) / (1 + w[2]), 4 / (1 + w[2])}}
	}}
	fast := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	p.Fit = nil
	slow := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	for _, w := range [][]float64{{0.7, 0.7, 0.5}, {1, 1, 0.2}, {0.1, 0.1, 2}} {
		a := must.Of(fast.Solve(context.Background(), w, nil))(t)
		b := must.Of(slow.Solve(context.Background(), w, nil))(t)
		require.Equal(t, backends.Optimal, a.Status)
		require.InDeltaSlice(t, b.X[0], a.X[0], 1e-6)
		require.InDeltaSlice(t, b.Radii, a.Radii, 1e-6)
		require.InDelta(t, b.Train, a.Train, 1e-6)
		require.InDelta(t, b.Validation, a.Validation, 1e-5)
		if w[0] != 1 { // what was not computed is not 0
			require.True(t, math.IsNaN(a.Residual))
			require.Equal(t, 1e-10, a.Gap)
		}
		require.Less(t, b.Residual, 1e-6)
		require.True(t, math.IsNaN(b.Gap))
	}
	require.NoError(t, fast.Close())
	require.NoError(t, slow.Close())
}

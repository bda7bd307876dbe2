package dca

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// sized is a fit of some variables.
type sized struct {
	bilevel.Fit
	n int
}

func (sized) Traits() lower.Traits { return lower.Traits{} }

func (s sized) Shape() []int { return []int{s.n} }

// An answer that misses its tolerance is taken where no conic program can be asked, up to the gap that is accepted of
// those.
func TestVerdict(t *testing.T) {
	ctx := context.Background()
	small, large := &joint{parts: []bilevel.Fit{sized{n: 10}}}, &joint{parts: []bilevel.Fit{sized{n: mostValues + 1}}}
	for _, c := range []struct {
		j             *joint
		found, solved bool
		missed        float64
		want          backends.Status
	}{
		{small, true, true, 1e-9, backends.Optimal},
		{small, true, false, 1e-6, backends.NumericalError},
		{large, true, false, 1e-6, backends.Inaccurate},
		{large, true, false, 2 * accept, backends.NumericalError},
		{large, false, false, 0, backends.NumericalError},
	} {
		got, use := c.j.verdict(ctx, c.found, c.solved, c.missed)
		require.Equal(t, c.want, got.status)
		require.Equal(t, c.want != backends.NumericalError, use)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	got, use := large.verdict(ended, false, false, 0)
	require.Equal(t, backends.Cancelled, got.status)
	require.False(t, use)
}

// Subproblems that come no nearer to their optimum with a larger penalty are not tried once more.
func TestRetries(t *testing.T) {
	small, large, none := &joint{parts: []bilevel.Fit{sized{n: 10}}},
		&joint{parts: []bilevel.Fit{sized{n: mostValues + 1}}}, math.Inf(1)
	require.False(t, (*joint)(nil).retries(0.1, none))
	require.False(t, small.retries(0.1, none))
	for _, c := range []struct {
		gap, before float64
		want        bool
	}{{0.1, none, true}, {none, none, true}, {none, 0.1, true}, {0.05, 0.1, true}, {0.1, 0.1, false}, {2, 0.1, false},
		{math.NaN(), none, true}} {
		require.Equal(t, c.want, large.retries(c.gap, c.before))
	}
}

// A run looks at the points of its path, solves the lower level there, and then both programs of each iteration in
// turn.
func TestPlaces(t *testing.T) {
	p := Program{
		Name: "places", H0: []float64{1}, Radii: 1, Path: [][]float64{{2}, {1}},
		Build: func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", 1)
			return Level{
				X:           []*convex.Variable{x},
				Train:       convex.Scale(0.5, convex.SumSquares(convex.Sub(x, 4))),
				Validation:  convex.Scale(0.5, convex.SumSquares(convex.Sub(x, 3))),
				Constraints: []convex.Expr{convex.Sub(convex.Abs(x), h)},
			}
		},
	}
	var places []Place
	s := Settings{Tol: 1e-9, MaxIter: 2, Backend: native(t), PathStart: true,
		Begin: func(at Place) { places = append(places, at) }}
	r := must.Of(Solve(context.Background(), p, s))(t)
	require.Equal(t, 2, r.Iterations)
	require.Equal(t, []Place{
		{Stage: StagePenalty, MaxIter: 2, Point: 1, Points: 2}, {Stage: StagePenalty, MaxIter: 2, Point: 2, Points: 2},
		{Stage: StageConstrained, MaxIter: 2},
		{Stage: StageSubproblem, Iteration: 1, MaxIter: 2}, {Stage: StageConstrained, Iteration: 1, MaxIter: 2},
		{Stage: StageSubproblem, Iteration: 2, MaxIter: 2}, {Stage: StageConstrained, Iteration: 2, MaxIter: 2},
	}, places)
}

// pair has l(b) = 1/2 |b - (3, 4)|^2, a norm and half a square, and a path from the weight 1 on.
func pair() Program {
	return Program{
		Name: "pair", H0: []float64{1, 1}, Radii: 2, Path: [][]float64{{1}},
		Build: func(m *convex.Model, h convex.Expr) Level {
			b := m.Vector("b", 2)
			loss := convex.Scale(0.5, convex.SumSquares(convex.Sub(b, []float64{3, 4})))
			return Level{X: []*convex.Variable{b}, Train: loss, Validation: loss, Constraints: []convex.Expr{
				convex.Sub(convex.Norm2(b), convex.At(h, 0)), convex.Sub(convex.Scale(0.5, convex.SumSquares(b)), convex.At(h, 1)),
			}}
		},
	}
}

// A weight ends where a norm is zero for certain. With one of a square, b is (3, 4) / (1 + w).
func TestWeightsEnd(t *testing.T) {
	q := must.Of(NewPenalized(pair(), Settings{Backend: native(t)}))(t)
	require.Equal(t, []float64{1e5, 1e-10}, q.clipped([]float64{1e12, 1e-12}))
	require.Equal(t, []float64{2, 1e5}, q.clipped([]float64{2, 1e12}))
	s := must.Of(q.Solve(context.Background(), []float64{1e-12, 1e3}, nil))(t)
	require.InEpsilonSlice(t, []float64{3.0 / 1001, 4.0 / 1001}, s.X[0], 1e-4)
	s = must.Of(q.Solve(context.Background(), []float64{1e12, 1}, nil))(t)
	require.InDeltaSlice(t, []float64{0, 0}, s.X[0], 1e-6)
}

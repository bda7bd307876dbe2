package lower_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/warm"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// The state of a ridge counts the points that each other started from: 0 for one from nothing.
func TestChain(t *testing.T) {
	ctx := context.Background()
	solve := func(c *warm.Chain, lambda float64) float64 {
		pt := must.Of(c.Solve(ctx, []float64{lambda}, 1e-9))(t)
		return pt.State.(float64)
	}
	c := warm.NewChain(ridge{target: 3})
	for k := range 4 {
		require.EqualValues(t, k, solve(c, float64(k)))
	}
	c.Forget()
	require.Zero(t, solve(c, 1))

	// From the nearest point of those before, from which on the count goes.
	c = warm.NewChain(smooth{ridge: ridge{target: 3}})
	for _, step := range []struct{ lambda, want float64 }{{1, 0}, {10, 1}, {11, 2}, {1.1, 1}, {1.2, 2}, {12, 3}} {
		require.Equal(t, step.want, solve(c, step.lambda))
	}
	c.Forget()
	require.Zero(t, solve(c, 13))
	// It keeps 64 of them: 100 falls out.
	c.Forget()
	solve(c, 100)
	for range 64 {
		solve(c, 1)
	}
	require.EqualValues(t, 2, solve(c, 100))

	// Of points of 2^22 numbers it keeps three.
	c = warm.NewChain(bulky{smooth{ridge: ridge{target: 3}}, make([]float64, 1<<22)})
	for _, step := range []struct{ lambda, want float64 }{{1, 0}, {100, 1}, {200, 2}, {300, 3}, {1, 2}} {
		require.Equal(t, step.want, solve(c, step.lambda))
	}
}

// bulky has points of more numbers.
type bulky struct {
	smooth
	more []float64
}

func (b bulky) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := b.smooth.Solve(ctx, lambda, tol, start)
	pt.X = append(pt.X, b.more)
	return pt, err
}

// stubborn never reaches its tolerance.
type stubborn struct{ ridge }

func (s stubborn) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := s.ridge.Solve(ctx, lambda, tol, start)
	pt.Solved = false
	return pt, err
}

func TestChainDoesNotStartFromWhatIsNotSolved(t *testing.T) {
	c := warm.NewChain(stubborn{ridge{target: 3}})
	for range 2 {
		pt := must.Of(c.Solve(context.Background(), []float64{1}, 1e-9))(t)
		require.False(t, pt.Solved)
		require.Zero(t, pt.State)
	}
}

// exact says to what gap it was asked to go.
type exact struct{ ridge }

func (e exact) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := e.ridge.Solve(ctx, lambda, tol, start)
	pt.Gap = tol
	return pt, err
}

// A solve to a small gap goes on from one to a large gap.
func TestChainGaps(t *testing.T) {
	c := warm.NewChain(exact{ridge{target: 3}})
	loose := must.Of(c.Solve(context.Background(), []float64{1}, 0.1))(t)
	require.Equal(t, 0.1, loose.Gap)
	next := must.Of(c.Solve(context.Background(), []float64{1}, 1e-9))(t)
	require.Equal(t, 1e-9, next.Gap)
	require.EqualValues(t, 1, next.State, "from the loose one")
}

// A weight that has grown without bound raises no other one.
func TestPositive(t *testing.T) {
	for _, c := range []struct{ weights, want []float64 }{
		{[]float64{3e12, 1, 1e-12}, []float64{3e12, 1, 1e-12}},
		{[]float64{0, 3e12, 2}, []float64{2e-10, 3e12, 2}},
		{[]float64{0, 0}, []float64{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}},
		{[]float64{0, math.SmallestNonzeroFloat64}, []float64{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}},
	} {
		require.InEpsilonSlice(t, c.want, lower.Positive(c.weights), 1e-14, "%v", c.weights)
	}
}

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

// ridge is the fit x = target / (1 + lambda) of one number, whose validation loss is half its square.
type ridge struct{ target, gap float64 }

func (ridge) Dim() int             { return 1 }
func (r ridge) LambdaMax() float64 { return 10 * r.target }

func (ridge) Traits() lower.Traits { return lower.Traits{} }

func (r ridge) Solve(_ context.Context, lambda []float64, _ float64, start *lower.Point) (*lower.Point, error) {
	x, from := r.target/(1+lambda[0]), 0.0
	if start != nil {
		from = start.State.(float64) + 1
	}
	return &lower.Point{Lambda: lambda, X: [][]float64{{x}}, Validation: x * x / 2, Gap: r.gap, Solved: true, State: from},
		nil
}

// smooth is a ridge that can be differentiated, between bounds, and of which the nearest point is the best start.
type smooth struct {
	ridge
	low, high float64
}

func (s smooth) Traits() lower.Traits {
	return lower.Traits{Path: s.Path, Bounds: s.Bounds, Gradient: s.Gradient, Start: s.Start}
}

func (s smooth) Path() [][]float64             { return [][]float64{{s.LambdaMax()}} }
func (s smooth) Bounds() (low, high []float64) { return []float64{s.low}, []float64{s.high} }

func (s smooth) Gradient(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
	return []float64{-at.X[0][0] * s.target / math.Pow(1+at.Lambda[0], 2)}, nil
}

func (smooth) Start(lambda []float64, points []*lower.Point) *lower.Point {
	best := points[0]
	for _, pt := range points {
		if math.Abs(pt.Lambda[0]-lambda[0]) < math.Abs(best.Lambda[0]-lambda[0]) {
			best = pt
		}
	}
	return best
}

func TestFoldsAreTheMeanOfTheirParts(t *testing.T) {
	ctx := context.Background()
	parts := []lower.Fit{smooth{ridge{3, 1e-9}, 0.1, 8}, smooth{ridge{6, 1e-10}, 0.2, 9}}
	mean := must.Of(lower.OverFolds(2, func(t int) (lower.Fit, error) { return parts[t], nil }))(t)
	require.Equal(t, 60., mean.LambdaMax())
	at := must.Of(mean.Solve(ctx, []float64{2}, 1e-8, nil))(t)
	require.Equal(t, [][]float64{{1}, {2}}, at.X)
	require.InDelta(t, (0.5+2)/2, at.Validation, 1e-15)
	require.Equal(t, 1e-9, at.Gap)
	low, high := lower.BoundsOf(mean)
	require.Equal(t, [][]float64{{0.2}, {8}}, [][]float64{low, high})

	d := mean.Traits()
	require.Equal(t, [][]float64{{60}}, d.Path())
	g := must.Of(d.Gradient(ctx, at, lower.Adjoint, 1e-10))(t)
	require.InDelta(t, -(1*3./9+2*6./9)/2, g[0], 1e-15)
	require.NotNil(t, d.Start)

	one := must.Of(lower.OverFolds(1, func(t int) (lower.Fit, error) { return parts[t], nil }))(t)
	require.Equal(t, parts[0], one, "a split has one part")
}

// One fold without a derivative, or that says no start, and the mean has none. A gap that a fold does not know is not
// known.
func TestFoldsOfUnlikeParts(t *testing.T) {
	ctx := context.Background()
	mean := must.Of(lower.NewFolds([]lower.Fit{smooth{ridge{3, 1e-9}, 0.1, 8}, ridge{6, math.NaN()}}))(t)
	require.Nil(t, mean.Traits().Gradient)
	require.Nil(t, mean.Traits().Path)
	require.Nil(t, mean.Traits().Start)
	at := must.Of(mean.Solve(ctx, []float64{2}, 1e-8, nil))(t)
	require.True(t, math.IsNaN(at.Gap))
	low, high := lower.BoundsOf(mean)
	require.Equal(t, []float64{0.1}, low)
	require.Equal(t, []float64{8}, high)
	low, high = lower.BoundsOf(ridge{target: 6})
	require.InEpsilon(t, 60*lower.LeastShare, low[0], 1e-15)
	require.InEpsilon(t, 60*lower.MostShare, high[0], 1e-15)
	_, err := lower.NewFolds(nil)
	require.ErrorContains(t, err, "no folds")
	_, err = lower.NewFolds([]lower.Fit{ridge{}, plane{}})
	require.ErrorContains(t, err, "fold 1 has 2 hyperparameters, fold 0 has 1")
}

// plane is a fit of two hyperparameters.
type plane struct{ ridge }

func (plane) Dim() int { return 2 }

// counted counts how often its LambdaMax is asked for, which goes through all rows of a machine.
type counted struct {
	smooth
	asked *int
}

func (c counted) LambdaMax() float64 {
	*c.asked++
	return c.smooth.LambdaMax()
}

// Traits of folds are asked for at every step of a search: that asks no fold for more than its own.
func TestTraitsOfFoldsCostNothing(t *testing.T) {
	asked := 0
	mean, err := lower.NewFolds([]lower.Fit{counted{smooth{ridge{3, 0}, 1, 2}, &asked}, counted{smooth{ridge{6, 0}, 1, 2},
		&asked}})
	require.NoError(t, err)
	require.NotNil(t, mean.Traits().Gradient)
	require.Zero(t, asked)
	require.Equal(t, [][]float64{{60}}, mean.Traits().Path())
}

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

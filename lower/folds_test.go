package lower_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

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

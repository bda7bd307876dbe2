package hypergradient

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// parabola is a model with the validation loss (lambda - 3)^2 + 1.
type parabola struct{}

func (parabola) Dim() int           { return 1 }
func (parabola) LambdaMax() float64 { return 10 }
func (parabola) Path() [][]float64  { return [][]float64{{5}} }

func (parabola) Solve(_ context.Context, lambda []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	d := lambda[0] - 3
	return &lower.Point{Lambda: lambda, Validation: d*d + 1, Solved: true}, nil
}

func (m parabola) Traits() lower.Traits { return lower.Traits{Path: m.Path, Gradient: m.Gradient} }

func (parabola) Gradient(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
	return []float64{2 * (at.Lambda[0] - 3)}, nil
}

// broken is a parabola whose lower level cannot be solved above 4.
type broken struct{ parabola }

func (broken) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := parabola{}.Solve(ctx, lambda, tol, start)
	pt.Solved = lambda[0] <= 4
	return pt, err
}

// From 1 the first step, of length 1, ends at 5, which is no better. Those of length 0.1 that follow multiply the
// distance from 3 by 0.8.
func TestBacktracking(t *testing.T) {
	steps := Backtracking{First: 1, Shrink: 0.1, Least: 1e-6, Share: 1e-3, Enough: 1e-2, Floor: 1e-3}
	var seen []float64
	run := func(b Backtracking, o Settings) *Result {
		seen = nil
		o.Backtracking, o.Observe = &b, func(_ int, at *lower.Point) { seen = append(seen, at.Lambda[0]) }
		return must.Of(IGJO(context.Background(), parabola{}, o))(t)
	}
	r := run(steps, Settings{Start: []float64{1}})
	want := []float64{1, 5}
	// The decrease from distance 2 * 0.8^k is 4 * 0.64^k * 0.36: less than 0.01 from k = 12 on.
	for k := 1; k <= 13; k++ {
		want = append(want, 3-2*math.Pow(0.8, float64(k)))
	}
	require.InEpsilonSlice(t, want, seen, 1e-12)
	require.Equal(t, Stationary, r.Status)
	require.Equal(t, 13, r.Iterations)
	require.InEpsilon(t, want[len(want)-1], r.Best.Lambda[0], 1e-12)

	require.Equal(t, IterationLimit, run(steps, Settings{Start: []float64{1}, MaxIter: 4}).Status)
	require.Len(t, seen, 6)
	// 1.44 * 0.64^8 < 0.05 f < 1.44 * 0.64^7
	require.Equal(t, 9, run(steps, Settings{Start: []float64{1}, Tol: 0.05}).Iterations)
	require.Equal(t, Stationary, run(steps, Settings{Start: []float64{3}}).Status)
	require.Len(t, seen, 1)
	// No step below Least, and none to below Floor.
	steps.First, steps.Share, steps.Least = 0.1, 1, 5e-3
	r = run(steps, Settings{Start: []float64{1}})
	require.InEpsilonSlice(t, []float64{1, 1.4, 1.04, 1.004}, seen, 1e-12)
	require.Equal(t, Stationary, r.Status)
	steps = Backtracking{First: 2, Shrink: 0.1, Least: 1e-6, Share: 0, Enough: 1e-2, Floor: 2.5}
	run(steps, Settings{Start: []float64{4}})
	require.InEpsilonSlice(t, []float64{4, 2.5}, seen[:2], 1e-12)

	// A lower level that cannot be solved.
	r = must.Of(IGJO(context.Background(), broken{}, Settings{Start: []float64{1},
		Backtracking: &Backtracking{First: 1, Shrink: 0.1, Least: 1e-6, Share: 1e-3, Enough: 1, Floor: 1e-3}}))(t)
	require.Equal(t, Stationary, r.Status)
	require.InEpsilon(t, 1.004, r.Best.Lambda[0], 1e-12)

	for _, start := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := IGJO(context.Background(), parabola{}, Settings{Start: []float64{start}})
		require.ErrorContains(t, err, "the start is")
	}
}

// In u = log lambda the loss is (e^u - 3)^2 + 1. The loop below is another form of the rule: the rate is decided by the
// values seen so far.
func TestNormalised(t *testing.T) {
	const points = 30
	var seen []float64
	r := must.Of(IFDM(context.Background(), parabola{}, Settings{Start: []float64{0.5}, MaxIter: points,
		Normalised: &Normalised{Length: 0.7, Shrink: 0.1, Free: 5},
		Observe:    func(_ int, at *lower.Point) { seen = append(seen, at.Lambda[0]) }}))(t)
	require.Equal(t, Stationary, r.Status)
	require.Len(t, seen, points)
	loss := func(l float64) float64 { return (l-3)*(l-3) + 1 }
	slope := func(l float64) float64 { return 2 * (l - 3) * l }
	// 0.5 e^(0.7 k) for the first steps, which go up to 3 and beyond.
	require.InEpsilonSlice(t, []float64{0.5, 0.5 * math.Exp(0.7), 0.5 * math.Exp(1.4), 0.5 * math.Exp(2.1)}, seen[:4],
		1e-12)
	rate, worse := 0.7/math.Abs(slope(seen[0])), 0
	for k := 1; k < points; k++ {
		if k <= 5 && worse == 0 {
			rate = 0.7 / math.Abs(slope(seen[k-1]))
		}
		require.InEpsilon(t, seen[k-1]*math.Exp(-rate*slope(seen[k-1])), seen[k], 1e-12)
		if k > 1 && loss(seen[k-1]) > loss(seen[k-2]) {
			worse++
			rate /= 10
		}
	}
	require.Positive(t, worse)
	require.InDelta(t, 3, r.Best.Lambda[0], 0.3)
}

package tune

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
	"github.com/conetune/conetune/problems"
)

// On a quadratic of the logarithms the search ends within a thousandth of its least value, scores no weights twice and
// ends sooner the flatter the function is.
func TestCompass(t *testing.T) {
	trials := map[float64]int{}
	for _, bend := range []float64{1e-5, 1e-2, 1} {
		seen := map[[2]float64]bool{}
		f := func(l []float64) float64 {
			u, v := math.Log(l[0]/0.3), math.Log(l[1]/0.7)
			return 1 + bend*(u*u+v*v+u*v)
		}
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (trial, error) {
			key := [2]float64{float64(float32(l[0])), float64(float32(l[1]))}
			require.False(t, seen[key], "%v twice", l)
			seen[key] = true
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: f(l)}}, nil
		}}
		must.Of(c.score([]float64{4, 1}))(t)
		require.NoError(t, c.search())
		require.Less(t, c.best.Errors.Validation, 1.001)
		require.Less(t, c.trials, compassTrials)
		trials[bend] = c.trials
	}
	require.Less(t, trials[1e-5], trials[1e-2])
	require.Less(t, trials[1e-5], trials[1])
}

// A path ends where the errors of the folds have risen by more than chance, or no longer fall, and goes on where they
// differ by chance or rise for a while.
func TestPathEnds(t *testing.T) {
	const points = 200
	run := func(fold func(k, t int) float64) int {
		c := compass{ctx: context.Background(), fallen: func(float64) {}, at: func(_ context.Context, l []float64) (trial,
			error) {
			k := int(math.Round(math.Log(l[0]) / math.Log(pathStep)))
			folds, mean := make([]float64, 10), 0.0
			for t := range folds {
				folds[t] = fold(k, t)
				mean += folds[t] / 10
			}
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: mean}, folds: folds}, nil
		}}
		var list [][]float64
		for k := range points {
			list = append(list, []float64{math.Pow(pathStep, float64(k))})
		}
		require.NoError(t, c.descend(list, &paths{lines: [][][]float64{list}, ends: true}))
		return len(c.tried)
	}
	valley := func(k int) float64 { return 1 + 1e-2*math.Pow(float64(k-20), 2) }
	require.Equal(t, 22, run(func(k, _ int) float64 { return valley(k) }), "a point above the least in all folds")
	chance := func(k, t int) float64 { return valley(k) + math.Sin(float64(k*(t+1))) }
	require.Less(t, run(chance), points/2)
	require.Equal(t, points, run(func(k, _ int) float64 { return math.Exp(-float64(k) / 40) }), "it falls all the way")
	require.Less(t, run(func(k, _ int) float64 { return 1 + math.Exp(-float64(k)/4) }), 50, "it falls no more")
	require.Greater(t, run(func(k, t int) float64 {
		return 1 - math.Max(0, float64(k-6)/100) + math.Cos(math.Pi*float64(k+t))/50
	}), 80, "it falls late")
}

// With orthogonal features fits are known: each part of l = sum_t 1/2 |b_t - a_t|^2 has b = soft(a, lambda), so that
// the first program of an iteration is checked by its own weights, and the second by the gap of its point at these.
func TestMajorisedGap(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		number := rapid.Map(rapid.IntRange(-30, 30), func(i int) float64 { return float64(i) / 10 })
		parts := rapid.SliceOfN(rapid.SliceOfN(number, 3, 3), 1, 3).Draw(t, "a")
		target := rapid.SliceOfN(number, 3, 3).Draw(t, "target")
		c := []float64{rapid.Float64Range(0.01, 10).Draw(t, "c")}
		epsilon := rapid.Float64Range(0.01, 2).Draw(t, "epsilon")
		p := dca.Program{H0: []float64{1}, Radii: 1}
		for _, a := range parts {
			p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
				b := m.Vector("b", len(a))
				loss := func(y []float64) convex.Expr {
					return convex.Scale(0.5, convex.SumSquares(convex.Sub(b, y)))
				}
				return dca.Level{X: []*convex.Variable{b}, Train: loss(a), Validation: loss(target),
					Constraints: []convex.Expr{convex.Sub(convex.Norm1(b), h)}}
			})
		}
		backend := must.Of(backends.Open(backends.Default))(t)
		of := &task{Program: p, Backend: backend}
		first := must.Of(of.majorise(false))(t)
		h, phi := must.Both(first.at(context.Background(), c, 0))(t)
		lambda := c[0] * h[0]
		loss, norm := 0.0, 0.0 // of the fits at lambda
		for _, a := range parts {
			for _, v := range a {
				b := math.Max(0, math.Abs(v)-lambda)
				loss, norm = loss+(math.Abs(v)-b)*(math.Abs(v)-b)/2, norm+b
			}
		}
		require.InDelta(t, norm, h[0], 1e-4)
		require.InDelta(t, loss+lambda*norm/2, phi, 1e-6)

		second := must.Of(of.majorise(true))(t)
		h, value := must.Both(second.at(context.Background(), c, phi+epsilon))(t)
		require.LessOrEqual(t, value, phi+epsilon+1e-6)
		train := value - c[0]*h[0]*h[0]/2
		gap := train + lambda*h[0] - (loss + lambda*norm)
		require.LessOrEqual(t, gap, epsilon+1e-6)
		require.GreaterOrEqual(t, gap, -1e-6)
		require.LessOrEqual(t, gap, value-phi+1e-6) // the majorant
		require.False(t, floats.HasNaN(h))
	})
}

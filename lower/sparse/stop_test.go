package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/internal/lowertest"
)

func TestStopped(t *testing.T) {
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	d := design.New(x)
	g, err := NewRegression(d, y, true)
	require.NoError(t, err)
	top := g.LambdaMax()
	near, err := g.Solve(context.Background(), Weights{L1: []float64{0.1 * top}}, Options{})
	require.NoError(t, err)
	q, err := NewGroups(g, lowertest.EqualGroups(90, 9))
	require.NoError(t, err)
	labels := make([]float64, len(y))
	for i, v := range y {
		labels[i] = math.Copysign(1, v)
	}
	l, err := Logistic(Sample{X: d, Y: labels}, true, Terms{})
	require.NoError(t, err)
	end := func(s *Solution, err error) lowertest.End {
		require.NoError(t, err)
		return lowertest.End{Status: s.Status, Objective: s.Objective}
	}
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"homotopy": func(ctx context.Context) lowertest.End {
			return end(g.Solve(ctx, Weights{L1: []float64{0.05 * top}}, Options{Start: near, Tol: 1e-12}))
		},
		"dual Newton": func(ctx context.Context) lowertest.End {
			return end(g.Solve(ctx, Weights{L1: []float64{1e-3 * top}, L2: []float64{1e-3}}, Options{Tol: 1e-12}))
		},
		"epochs": func(ctx context.Context) lowertest.End {
			return end(g.Solve(ctx, Weights{L1: []float64{0.2 * top}}, Options{Tol: 1e-12}))
		},
		"groups": func(ctx context.Context) lowertest.End {
			return end(q.Solve(ctx, GroupWeights{Norm: []float64{0.1 * top}, L1: []float64{0.05 * top}}, Options{Tol: 1e-12}))
		},
		"logistic": func(ctx context.Context) lowertest.End {
			return end(l.Solve(ctx, 0.05*l.LambdaMax(), 1e-3, 0, nil))
		},
	})
}

// The blocks in which large matrices are formed add up to these matrices.
func TestBlocks(t *testing.T) {
	x, y := lowertest.Sample(6, 300, 260, 5, 1)
	g, err := NewRegression(design.New(x), y, true)
	require.NoError(t, err)
	set := make([]int, 250)
	for i := range set {
		set[i] = i
	}
	h := g.Hessian(set, nil) // in several blocks
	for _, pair := range [][2]int{{0, 0}, {3, 7}, {40, 249}, {249, 249}} {
		i, j := pair[0], pair[1]
		sum, a, b := 0.0, 0.0, 0.0
		for k := range 300 {
			sum += x.At(k, i) * x.At(k, j) / 300
			a += x.At(k, i) / 300
			b += x.At(k, j) / 300
		}
		require.InDelta(t, sum-a*b, h.At(i, j), 1e-12)
	}
	ctx := stoptest.After(1)
	var end stop.Stop
	end.Begin(ctx, 0)
	require.Nil(t, g.data.Hessian(set, nil, &end))
	_, err = g.Inverse(stoptest.After(0), set, nil)
	require.ErrorIs(t, err, context.Canceled)
}

package descent

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// Solves ask their context also within what one outer iteration does, end as soon as it says so, and until then do what they do without one.
func TestStopped(t *testing.T) {
	x, y := sample(5, 60, 90, 10, 1)
	d := NewDesign(x)
	g, err := NewRegression(d, y, true)
	require.NoError(t, err)
	top := g.LambdaMax()
	near, err := g.Solve(context.Background(), Weights{L1: []float64{0.1 * top}}, Options{})
	require.NoError(t, err)
	q, err := NewGroups(g, equalGroups(90, 9))
	require.NoError(t, err)
	labels := make([]float64, len(y))
	for i, v := range y {
		labels[i] = math.Copysign(1, v)
	}
	l, err := NewLogistic(d, labels, true)
	require.NoError(t, err)
	m, err := NewSVM(d, labels, nil)
	require.NoError(t, err)
	c := completionSample(3, 9, 8, 2, 0.5).problem(t, true)

	type end struct {
		status    Status
		objective float64
	}
	regression := func(s *Solution, err error) end {
		require.NoError(t, err)
		return end{s.Status, s.Objective}
	}
	for name, solve := range map[string]func(ctx context.Context) end{
		"homotopy": func(ctx context.Context) end {
			return regression(g.Solve(ctx, Weights{L1: []float64{0.05 * top}}, Options{Start: near, Tol: 1e-12}))
		},
		"dual Newton": func(ctx context.Context) end {
			return regression(g.Solve(ctx, Weights{L1: []float64{1e-3 * top}, L2: []float64{1e-3}}, Options{Tol: 1e-12}))
		},
		"epochs": func(ctx context.Context) end {
			return regression(g.Solve(ctx, Weights{L1: []float64{0.2 * top}}, Options{Tol: 1e-12}))
		},
		"groups": func(ctx context.Context) end {
			return regression(q.Solve(ctx, GroupWeights{Norm: []float64{0.1 * top}, L1: []float64{0.05 * top}}, Options{Tol: 1e-12}))
		},
		"logistic": func(ctx context.Context) end {
			return regression(l.Solve(ctx, Weights{L1: []float64{0.05 * l.LambdaMax()}, L2: []float64{1e-3}}, Options{}))
		},
		"machine": func(ctx context.Context) end {
			s, err := m.Solve(ctx, 1e-2, []float64{0.3}, SVMOptions{})
			require.NoError(t, err)
			return end{s.Status, s.Objective}
		},
		"completion": func(ctx context.Context) end {
			s, err := c.Solve(ctx, CompletionWeights{Nuclear: 0.1 * c.LambdaMax(), Norm: []float64{0.1 * c.LambdaMax()}}, Options{}, nil)
			require.NoError(t, err)
			return end{s.Status, s.Objective}
		},
	} {
		whole := stoptest.After(math.MaxInt)
		want := solve(whole)
		asked := whole.Looks()
		require.Contains(t, []Status{Optimal, Exhausted}, want.status, name)
		require.Equal(t, want, solve(context.Background()), name)
		require.Greater(t, asked, 10, name)
		for n := 0; n < asked; n += 1 + n/8 {
			ctx := stoptest.After(n)
			got := solve(ctx)
			if got.status != Cancelled { // asked for the last time, it had the solution
				require.Contains(t, []Status{Optimal, Exhausted}, got.status, "%s after %d of %d", name, n, asked)
				require.InEpsilon(t, want.objective, got.objective, 1e-7, "%s after %d of %d", name, n, asked)
			}
			require.LessOrEqual(t, ctx.Looks(), n+12, "%s after %d of %d: it asked again and again", name, n, asked)
		}
	}
}

// The blocks in which large matrices are formed add up to these matrices.
func TestBlocks(t *testing.T) {
	x, y := sample(6, 300, 260, 5, 1)
	g, err := NewRegression(NewDesign(x), y, true)
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
	require.Nil(t, g.hessian(set, nil, &end))
	_, err = g.Inverse(stoptest.After(0), set, nil)
	require.ErrorIs(t, err, context.Canceled)
}

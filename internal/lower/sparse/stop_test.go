package sparse

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
)

func TestStopped(t *testing.T) {
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	d := design.New(x)
	g, err := newRegression(d, y, true)
	require.NoError(t, err)
	top := g.LambdaMax()
	near, err := g.solve(weights{l1: []float64{0.1 * top}}, options{})
	require.NoError(t, err)
	q := problem{groups: lowertest.EqualGroups(90, 9), norm: slices.Repeat([]float64{0.1 * top}, 10), l1: []float64{0.05 * top}}
	groups, err := Groups(g.of, true, q.groups)
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
			return end(g.solveIn(ctx, weights{l1: []float64{0.05 * top}}, options{start: near, tol: 1e-12}))
		},
		"dual Newton": func(ctx context.Context) lowertest.End {
			return end(g.solveIn(ctx, weights{l1: []float64{1e-3 * top}, l2: []float64{1e-3}}, options{tol: 1e-12}))
		},
		"epochs": func(ctx context.Context) lowertest.End {
			return end(g.solveIn(ctx, weights{l1: []float64{0.2 * top}}, options{tol: 1e-12}))
		},
		"groups": func(ctx context.Context) lowertest.End {
			return end(groups.SolveAt(ctx, q.weights(groups), 1e-12, nil))
		},
		"logistic": func(ctx context.Context) lowertest.End {
			return end(l.Solve(ctx, 0.05*l.LambdaMax(), 1e-3, 0, nil))
		},
	})
}

package sparse

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
)

func TestStopped(t *testing.T) {
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	d := design.New(x)
	g := must.Of(Squares(Sample{X: d, Y: y}, true, Terms{}))(t)
	top := g.LambdaMax()
	near := must.Of(g.solve(context.Background(), 0.1*top, 0, 0, nil))(t)
	q := problem{groups: lowertest.EqualGroups(90, 9), l1: []float64{0.05 * top}}
	q.norm = slices.Repeat([]float64{0.1 * top}, len(q.groups))
	groups := must.Of(Groups(Sample{X: d, Y: y}, true, q.groups))(t)
	labels := make([]float64, len(y))
	for i, v := range y {
		labels[i] = math.Copysign(1, v)
	}
	l := must.Of(Logistic(Sample{X: d, Y: labels}, true, Terms{}))(t)
	end := func(s *Solution, err error) lowertest.End {
		require.NoError(t, err)
		return lowertest.End{Status: s.Status, Objective: s.Objective}
	}
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"homotopy": func(ctx context.Context) lowertest.End {
			return end(g.solve(ctx, 0.05*top, 0, 1e-12, near))
		},
		"dual Newton": func(ctx context.Context) lowertest.End {
			return end(g.solve(ctx, 1e-3*top, 1e-3, 1e-12, nil))
		},
		"epochs": func(ctx context.Context) lowertest.End {
			return end(g.solve(ctx, 0.2*top, 0, 1e-12, nil))
		},
		"groups": func(ctx context.Context) lowertest.End {
			return end(groups.Solve(ctx, q.weights(groups), 1e-12, nil))
		},
		"logistic": func(ctx context.Context) lowertest.End {
			return end(l.solve(ctx, 0.05*l.LambdaMax(), 1e-3, 0, nil))
		},
	})
}

// A solve ends with its context.
func TestCancelled(t *testing.T) {
	x, y := lowertest.Sample(10, 50, 300, 5, 1)
	for looks := range 3 {
		for kind := range lossesOfTests {
			g := problem{kind: kind, y: targets(kind, y)}.fit(t, design.New(x))
			s := must.Of(g.solve(stoptest.After(looks), 1e-3*g.LambdaMax(), 0, 1e-10, nil))(t)
			require.Equal(t, outcome.Cancelled, s.Status, kind)
		}
		g := must.Of(Cox(Sample{X: design.New(x), Y: y}, survival.Breslow, Terms{}))(t)
		s := must.Of(g.solve(stoptest.After(looks), 1e-3*g.LambdaMax(), 0, 1e-10, nil))(t)
		require.Equal(t, outcome.Cancelled, s.Status)
	}
}

package regression_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
)

// chain are groups of four features that share one with the next.
func chain() *groups.Groups {
	g := &groups.Groups{}
	for k := range 5 {
		g.Names = append(g.Names, string(rune('a'+k)))
		g.Members = append(g.Members, []int{3 * k, 3*k + 1, 3*k + 2, 3*k + 3})
	}
	return g
}

func chainSplit() *dataset.Split {
	b := make([]float64, 16)
	for j := range 4 {
		b[j] = float64(j + 1)
	}
	b[9] = -2
	return modeltest.Split(8, 40, 30, 50, b, 2)
}

func TestGroupSelection(t *testing.T) {
	m := must.Of(regression.GroupLasso(chainSplit(), options{Groups: chain()}))(t)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, m.Names())
	require.Equal(t, 5, m.Options().Groups.Len())
	for _, set := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
		res := modeltest.Solve(t, m, set)
		require.Contains(t, []outcome.Stop{outcome.Converged, outcome.IterationLimit}, res.Status)
		require.Less(t, *m.Evaluate(res.Refit).Test, 5.0) // 2 is the noise, 17 the variance of the signal by half
	}
}

// The fit of groups that do not overlap has the solution of the conic program in penalty form, and its gradient is the
// difference quotient; overlapping groups have none.
func TestGroupFit(t *testing.T) {
	ctx := context.Background()
	backend := must.Of(backends.Open("native"))(t)
	g := must.Of(groups.Equal(16, 4))(t)
	for _, intercept := range []bool{false, true} {
		m := must.Of(regression.GroupLasso(chainSplit(), options{Groups: g, Intercept: intercept}))(t)
		p := must.Of(m.Penalised())(t)
		fit := p
		require.Equal(t, 4, fit.Dim())
		top := fit.LambdaMax()
		form, err := dca.NewPenalized(m.Program(), dca.Settings{Backend: backend, Solver: backends.Options{Eps: 1e-10}})
		require.NoError(t, err)
		defer form.Close()
		for _, share := range [][]float64{{0.5, 0.5, 0.5, 0.5}, {0.1, 0.3, 0.01, 0.2}, {0.02, 0.02, 0.9, 0.02}} {
			lambda := make([]float64, 4)
			for k, v := range share {
				lambda[k] = v * top
			}
			at := must.Of(fit.Solve(ctx, lambda, 1e-14, nil))(t)
			require.True(t, at.Solved)
			conic := must.Of(form.Solve(ctx, lambda, nil))(t)
			v, objective := fit.(bilevel.Fit).Values(at.X), conic.Train
			for k, l := range lambda {
				objective += l * (conic.Radii[k] - v.Penalties[k])
			}
			require.InEpsilon(t, objective, v.Train, 1e-8)
			require.InDeltaSlice(t, conic.X[0], at.X[0], 1e-5) // of a group that is next to zero the program has five digits
			require.InEpsilon(t, conic.Validation, at.Validation, 1e-6)
			slope := must.Of(fit.Traits().Gradient(ctx, at, lower.Adjoint, 1e-10))(t)
			for k := range lambda {
				step := 1e-5 * lambda[k]
				var ends [2]float64
				for i, sign := range []float64{-1, 1} {
					moved := slices.Clone(lambda)
					moved[k] += sign * step
					end := must.Of(fit.Solve(ctx, moved, 1e-15, at))(t)
					require.True(t, end.Solved)
					ends[i] = end.Validation
				}
				require.InDelta(t, (ends[1]-ends[0])/(2*step), slope[k], 1e-4*(1+math.Abs(slope[k])))
			}
		}
		for _, c := range []struct {
			share float64
			zero  bool
		}{{1 + 1e-9, true}, {0.99, false}} {
			at := must.Of(fit.Solve(ctx, slices.Repeat([]float64{c.share * top}, 4), 1e-12, nil))(t)
			require.Equal(t, c.zero, floats.Norm(at.X[0], 1) == 0)
		}
	}
	m := must.Of(regression.GroupLasso(chainSplit(), options{Groups: chain()}))(t)
	none := must.Of(m.Penalised())(t)
	require.Nil(t, none)
}

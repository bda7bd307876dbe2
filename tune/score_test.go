package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// nearTwo has the fit x = 3 / (1 + lambda), the validation error 1/2 (x - 1)^2 and the score |x - 2|.
type nearTwo struct{ tune.Custom }

func (nearTwo) Advice() problems.Advice {
	return problems.Advice{Score: func(x [][]float64) float64 { return math.Abs(x[0][0] - 2) }}
}

func newNearTwo() nearTwo {
	return nearTwo{tune.Custom{Bilevel: folded("ridge", []float64{3}, []float64{1}, halfSquares)}}
}

// Searches take the least score, lambda = 1/2, where the model has one, and the least validation error, lambda = 2, for
// the paper.
func TestScored(t *testing.T) {
	for _, method := range []string{tune.MethodGrid, tune.MethodRandom, tune.MethodTPE, tune.MethodCMAES} {
		c := tune.Config{Method: method, Evaluations: 60, Seed: 1}
		r := must.Of(tune.Run(context.Background(), newNearTwo(), c))(t)
		require.InEpsilon(t, 0.5, r.Lambda[0], 0.3, method)
		x := 3 / (1 + r.Lambda[0])
		require.InDelta(t, math.Abs(x-2), *r.Score, 1e-6)
		require.InDelta(t, (x-1)*(x-1)/2, r.Refit.Validation, 1e-6)
		require.Equal(t, *r.Score, r.Value())
		last := r.Trace[len(r.Trace)-1]
		require.Equal(t, r.Refit.Validation, *last.Best, "the trace ends with what the report has")
		for _, e := range r.Trace {
			require.GreaterOrEqual(t, e.Value(), *r.Score)
		}

		c.Preset = tune.PresetPaper
		r = must.Of(tune.Run(context.Background(), newNearTwo(), c))(t)
		require.InEpsilon(t, 2, r.Lambda[0], 0.3, method)
		require.Nil(t, r.Score)
	}
}

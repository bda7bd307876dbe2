package dca

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/lower"
)

// looked is a fit with compact points, validation loss 1 and a list of the gaps that it was asked for.
type looked struct {
	compacted
	gaps *[]float64
}

func (l looked) Dim() int           { return 1 }
func (l looked) LambdaMax() float64 { return 1 }

func (l looked) Solve(_ context.Context, lambda []float64, tol float64, _ *lower.Point) (*lower.Point, error) {
	*l.gaps = append(*l.gaps, tol)
	return &lower.Point{Lambda: lambda, Validation: 1, Solved: true}, nil
}

// Loose fits say whether a validation loss is clearly above another; without another to compare with, and for points that are not compact, none is asked for.
func TestAbove(t *testing.T) {
	var gaps []float64
	fit := looked{gaps: &gaps}
	q := &Penalized{program: &Program{Radii: 1, Fit: lower.NewChain(fit, 1e-9)}, joint: &joint{parts: []lower.Bilevel{fit}}}
	for _, c := range []struct {
		value float64
		want  bool
	}{{0.9, true}, {1, false}, {2, false}, {math.Inf(1), false}} {
		above, err := q.above(context.Background(), []float64{0.5}, c.value)
		require.NoError(t, err)
		require.Equal(t, c.want, above, c.value)
	}
	require.Equal(t, []float64{looseGap, looseGap, looseGap}, gaps)
	q.joint.parts = []lower.Bilevel{sized{n: 1}}
	above, err := q.above(context.Background(), []float64{0.5}, 0.9)
	require.NoError(t, err)
	require.False(t, above)
	require.Len(t, gaps, 3)
}

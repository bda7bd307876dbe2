package multipliers

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// A value and a slope that were not those of the least point, from which no step is better, are computed again.
func TestValueThatWasNotTheLeast(t *testing.T) {
	first := true
	f := &dual{floor: []float64{1e-9}, most: math.Inf(1), tol: 1e-12, loose: true}
	f.curvature = func(context.Context, []float64) [][]float64 { return [][]float64{{1}} }
	f.at = func(_ context.Context, m []float64) (*dualPoint, error) {
		off := m[0] - 1
		pt := &dualPoint{m: m, value: -off * off / 2, slope: []float64{-off}}
		if first {
			pt.value, pt.slope[0] = pt.value+10, off
		}
		first = false
		return pt, nil
	}
	at := must.Of(f.maximize(context.Background(), []float64{3}))(t)
	require.InDelta(t, 1, at.m[0], 1e-9)
}

package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
)

// At LambdaMax all coefficients vanish, and the intercept is the logarithm of the odds.
func TestLogisticTrivial(t *testing.T) {
	x, y := lowertest.Sample(9, 30, 8, 4, 1)
	ones := 0.0
	for i := range y {
		if y[i] = math.Copysign(1, y[i]-3); y[i] > 0 {
			ones++
		}
	}
	g, err := Logistic(Sample{X: design.New(x), Y: y}, true, Terms{})
	require.NoError(t, err)
	s, err := g.Solve(context.Background(), g.LambdaMax()*(1+1e-12), 0, 0, nil)
	require.NoError(t, err)
	require.Empty(t, s.Support)
	require.InDelta(t, math.Log(ones/(30-ones)), s.B0[0], 1e-6)
	s, err = g.Solve(context.Background(), g.LambdaMax()*0.99, 0, 0, nil)
	require.NoError(t, err)
	require.NotEmpty(t, s.Support)
}

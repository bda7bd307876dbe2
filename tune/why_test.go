package tune

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems"
)

// What is said of a run depends on whether it took an iteration.
func TestWhy(t *testing.T) {
	for _, temper := range []float64{1, 0.5} {
		c := &problems.Caution{Temper: temper}
		require.Contains(t, why(c, 3), "stopped after a few iterations")
		require.NotContains(t, why(c, 0), "few iterations")
		require.Contains(t, why(c, 0), "Config.StopFolds 1 goes on")
	}
	require.Contains(t, why(&problems.Caution{Temper: 0.5}, 0), "drawn towards a common one")
}

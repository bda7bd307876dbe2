package exact_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/planted/exact"
)

// TestKnown has the cases of the conformance suite, whose answers are worked out by hand.
func TestKnown(t *testing.T) {
	known := 0
	for _, c := range backendtest.Cases() {
		got, err := exact.Solve(c.Problem)
		if err != nil {
			assert.ErrorContains(t, err, "cones", c.Name)
			continue
		}
		known++
		switch c.Status {
		case backends.Optimal:
			require.NotNil(t, got.Value, c.Name)
			value, _ := got.Value.Float64()
			assert.InDelta(t, c.Objective, value, 1e-9*max(1, math.Abs(c.Objective)), c.Name)
			if c.UniqueX {
				for j, x := range got.X {
					v, _ := x.Float64()
					assert.InDelta(t, c.X[j], v, 1e-7*max(1, math.Abs(c.X[j])), c.Name)
				}
			}
			if c.UniqueZ {
				for i, z := range got.Z {
					v, _ := z.Float64()
					assert.InDelta(t, c.Z[i], v, 1e-7*max(1, math.Abs(c.Z[i])), c.Name)
				}
			}
		case backends.PrimalInfeasible:
			assert.NotNil(t, got.Farkas, c.Name)
		case backends.DualInfeasible:
			assert.NotNil(t, got.Ray, c.Name)
		}
	}
	assert.Greater(t, known, 20)
}

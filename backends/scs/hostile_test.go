//go:build scs && cgo

package scs_test

import (
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/scs"
	"github.com/stretchr/testify/assert"
)

// TestHostile takes the first seed and their number from the environment for longer runs.
func TestHostile(t *testing.T) {
	first, _ := strconv.ParseUint(os.Getenv("HOSTILE_FIRST"), 10, 64)
	seeds, err := strconv.Atoi(os.Getenv("HOSTILE_SEEDS"))
	if err != nil {
		seeds = 1000
	}
	backendtest.Hostile(t, scs.Backend{}, first, seeds, nil)
}

// TestManyIterations has a limit beyond the 32-bit integers of the library.
func TestManyIterations(t *testing.T) {
	for _, limit := range []int{math.MaxInt32 + 1, 1 << 32, math.MaxInt} {
		sol := solve(t, &backends.Problem{P: identity(1, 2), Q: []float64{2}}, backends.Options{MaxIterations: limit})
		assert.Equal(t, backends.Optimal, sol.Status)
		assert.InDelta(t, -1, sol.X[0], 1e-6)
	}
}

func TestRecovery(t *testing.T) { backendtest.Recovery(t, scs.Backend{}, 30, nil) }

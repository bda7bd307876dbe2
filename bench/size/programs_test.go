package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

// TestPlanted: the planted points are solutions, and backends that know nothing of them come to their values.
func TestPlanted(t *testing.T) {
	for _, f := range families {
		p := f.make(3000, rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, p.Validate())
		assert.InDelta(t, 3000, len(p.Q), 600, f.name)
		r, primal, dual := backends.Recheck(p.Problem, p.x, p.s, p.z)
		assert.Less(t, r.Max(), 1e-12, f.name)
		assert.InEpsilon(t, p.value, primal, 1e-12)
		assert.InEpsilon(t, p.value, dual, 1e-11)
		for _, c := range []struct {
			backend  string
			eps, off float64
		}{{"native", 1e-8, 1e-7}, {"pdhg", 1e-5, 1e-3}} {
			sol := backendtest.Solve(t, backendtest.Open(t, c.backend), p.Problem, backends.Options{Eps: c.eps})
			assert.Equal(t, backends.Optimal, sol.Status, f.name, c.backend)
			assert.InEpsilon(t, p.value, sol.Objective, c.off, f.name, c.backend)
		}
	}
}

// TestThreads: pdhg comes to the same bits with any number of threads.
func TestThreads(t *testing.T) {
	for _, f := range families {
		p := f.make(20_000, rand.New(rand.NewPCG(3, 4)))
		solve := func(threads int) *backends.Solution {
			return backendtest.Solve(t, backendtest.Open(t, "pdhg"), p.Problem,
				backends.Options{Eps: 1e-2, MaxIterations: 300, Threads: threads})
		}
		one := solve(1)
		for _, threads := range []int{2, 5} {
			several := solve(threads)
			require.Equal(t, one.X, several.X, f.name)
			require.Equal(t, one.Z, several.Z, f.name)
		}
	}
}

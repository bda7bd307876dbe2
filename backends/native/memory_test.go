package native_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/matrices"
)

// beside is maxCut whose first variable is in an entry beside the diagonal, too, which has no multiplier of low rank.
func beside(n int) *backends.Problem {
	p := maxCut(n)
	a := p.A.RawMatrix()
	for j := range n {
		a.Indptr[j+1]++
	}
	ind, val := slices.Insert(slices.Clone(a.Ind), 1, 1), slices.Insert(slices.Clone(a.Data), 1, -0.1)
	p.A = sparse.NewCSC(len(p.B), n, a.Indptr, ind, val)
	return p
}

// maxCut is max tr(X) with the given diagonal, X of order n.
func maxCut(n int) *backends.Problem {
	cone := backends.PSD(n)
	ptr, ind, val := make([]int, n+1), make([]int, n), make([]float64, n)
	at := 0
	for j := range n {
		ptr[j+1], ind[j], val[j] = j+1, at, -1
		at += n - j
	}
	q, b := make([]float64, n), make([]float64, cone.Dim)
	for j := range q {
		q[j] = 1
	}
	for i := range b {
		b[i] = -1.0 / float64(n)
	}
	return &backends.Problem{Q: q, A: sparse.NewCSC(cone.Dim, n, ptr, ind, val), B: b, Cones: []backends.Cone{cone}}
}

// scattered has n variables in rows of three entries anywhere, whose factors fill up.
func scattered(n int) *backends.Problem {
	rng := rand.New(rand.NewPCG(1, 1))
	ptr, ind, val := make([]int, n+1), make([]int, 0, 3*n), make([]float64, 0, 3*n)
	for j := range n {
		i := rng.IntN(n / 3)
		for range 3 {
			ind, val = append(ind, i), append(val, 1)
			i += 1 + rng.IntN(n/3-1)
		}
		ptr[j+1] = len(ind)
	}
	q, b := make([]float64, n), make([]float64, n)
	for j := range q {
		q[j], b[j] = 1, 1
	}
	return &backends.Problem{P: matrices.Identity(n, 1), Q: q, A: sparse.NewCSC(n, n, ptr, ind, val), B: b,
		Cones: []backends.Cone{backends.Nonnegative(n)}}
}

// TestMemory has budgets that are too small. The error names what is too much, and by then
// no more than the budget has been allocated; with as much as it takes the same solver would have gone on.
func TestMemory(t *testing.T) {
	b := backendtest.Open(t, "native")
	for _, c := range []struct {
		name   string
		p      *backends.Problem
		memory int64
		what   string
	}{
		{"form", scattered(3000), 1e5, "the problem in the form of the solver"},
		{"cones", beside(600), 50e6, "the vectors of the iterate and the matrices of the cones"},
		{"products", beside(600), 50e6 + 8*9*600*600, "the products of semidefinite cones"},
		{"matrix", scattered(3000), 15e5, "the matrix of the Newton systems"},
		{"factors", scattered(3000), 6e6, "the factors of the Newton systems"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := backendtest.Setup(t, b, c.p, backends.Options{Memory: c.memory})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := s.Solve(context.Background())
			runtime.ReadMemStats(&after)
			var room *backends.MemoryError
			require.ErrorAs(t, err, &room)
			assert.Equal(t, c.what, room.What, "%v", err)
			assert.Equal(t, c.memory, room.Limit)
			assert.Greater(t, room.Need, c.memory)
			assert.Less(t, int64(after.TotalAlloc-before.TotalAlloc), 2*c.memory+1e6, "allocated, with what was let go")
			_, err = s.Solve(context.Background())
			require.ErrorAs(t, err, &room, "again")
		})
	}
}

// TestMemoryThatSuffices compares what is counted with what is allocated, for solves to the end.
func TestMemoryThatSuffices(t *testing.T) {
	b := backendtest.Open(t, "native")
	for name, p := range map[string]*backends.Problem{"semidefinite": beside(150), "low rank": maxCut(150),
		"sparse": scattered(1500)} {
		t.Run(name, func(t *testing.T) {
			fits := func(memory int64) bool {
				s := backendtest.Setup(t, b, p, backends.Options{Memory: memory})
				sol, err := s.Solve(context.Background())
				if err != nil {
					require.ErrorAs(t, err, new(*backends.MemoryError))
					return false
				}
				require.Equal(t, backends.Optimal, sol.Status)
				return true
			}
			low, high := 1e4, 1e10
			for high > 1.1*low {
				if mid := math.Sqrt(low * high); fits(int64(mid)) {
					high = mid
				} else {
					low = mid
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.True(t, fits(int64(high)))
			runtime.ReadMemStats(&after)
			if native.RaceDetector {
				return // it allocates too, and lets pools lose what they hold
			}
			allocated := float64(after.TotalAlloc - before.TotalAlloc)
			t.Logf("counted %.0f, allocated %.0f", high, allocated)
			assert.InDelta(t, 1, high/allocated, 0.6, "counted %.0f, allocated %.0f", high, allocated)
		})
	}
}

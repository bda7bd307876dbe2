package backendtest

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
)

// BenchmarkScaling reports how many times as many set-ups and solves as one goroutine
// do as many goroutines as there are processors, each with solvers of its own:
// "x-speedup", the least time of the one over that of the others.
func BenchmarkScaling(b *testing.B, backend backends.ConicBackend) {
	shape := Shape{Name: "qp", N: 200, Cones: []backends.Cone{backends.Zero(40), backends.Nonnegative(400)}, Rank: 200, Density: 0.1}
	p := shape.NewCase(1).Problem
	solve := func() {
		s, err := backend.Setup(p, backends.Options{Eps: 1e-6})
		if err != nil {
			b.Error(err)
			return
		}
		defer s.Close()
		if sol, err := s.Solve(context.Background()); err != nil || sol.Status != backends.Optimal {
			b.Error(sol, err)
		}
	}
	const each = 5
	run := func(goroutines int) float64 {
		begin := time.Now()
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range each {
					solve()
				}
			})
		}
		all.Wait()
		return time.Since(begin).Seconds()
	}
	many := runtime.GOMAXPROCS(0)
	one, together := math.Inf(1), math.Inf(1)
	for b.Loop() {
		one, together = min(one, run(1)), min(together, run(many))
	}
	b.ReportMetric(float64(many)*one/together, "x-speedup")
	b.ReportMetric(1e3*one/each, "ms/solve")
}

//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

// BenchmarkBinding sets up and solves quadratic programs in one round, without
// polishing, and reports what part of the time is not OSQP's own: "go-%".
func BenchmarkBinding(b *testing.B) {
	for _, n := range []int{50, 200, 400} {
		shape := backendtest.Shape{
			Name: "qp", N: n, Cones: []backends.Cone{backends.Zero(n / 5), backends.Nonnegative(2 * n)}, Rank: n, Density: 0.1,
		}
		p := shape.NewCase(1).Problem
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var inside time.Duration
			iterations := 0
			for b.Loop() {
				opened, err := Backend{}.Setup(p, backends.Options{Settings: Settings{StartEps: 1e-12, NoPolishing: true, Patience: -1}})
				if err != nil {
					b.Fatal(err)
				}
				s := opened.(*solver)
				setup := s.osqp.Info().SetupTime
				sol, err := s.Solve(context.Background())
				if err != nil || sol.Status != backends.Optimal {
					b.Fatal(sol, err)
				}
				inside += setup + s.osqp.Info().SolveTime
				iterations += sol.Iterations
				_ = s.Close()
			}
			b.ReportMetric(100*(1-float64(inside)/float64(b.Elapsed())), "go-%")
			b.ReportMetric(float64(iterations)/float64(b.N), "iterations")
		})
	}
}

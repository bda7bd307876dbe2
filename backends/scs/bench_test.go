//go:build (scs && cgo) || scs_go

package scs

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

// times adds up the times that SCS reports of itself, from the log.
type times struct {
	slog.Handler
	total *time.Duration
}

func (*times) Enabled(context.Context, slog.Level) bool { return true }

func (t *times) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "setup" || a.Key == "time" {
			*t.total += a.Value.Duration()
		}
		return true
	})
	return nil
}

// BenchmarkBinding sets up and solves quadratic programs and reports what part of the time is not SCS's own: "go-%".
func BenchmarkBinding(b *testing.B) {
	for _, n := range []int{50, 200, 400} {
		shape := backendtest.Shape{
			Name: "qp", N: n, Cones: []backends.Cone{backends.Zero(n / 5), backends.Nonnegative(2 * n)}, Rank: n, Density: 0.1,
		}
		p := shape.NewCase(1).Problem
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var total time.Duration
			iterations := 0
			for b.Loop() {
				inside := &times{total: &total}
				s, err := Backend{}.Setup(p, backends.Options{Logger: slog.New(inside), Settings: Settings{Retries: -1}})
				if err != nil {
					b.Fatal(err)
				}
				sol, err := s.Solve(context.Background())
				if err != nil || sol.Status != backends.Optimal {
					b.Fatal(sol, err)
				}
				iterations += sol.Iterations
				_ = s.Close()
			}
			b.ReportMetric(100*(1-float64(total)/float64(b.Elapsed())), "go-%")
			b.ReportMetric(float64(iterations)/float64(b.N), "iterations")
		})
	}
}

package native_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/matrices"
)

// history keeps the objectives of the iterations, and ends the solve where the gap is small enough for its purpose.
type history struct {
	slog.Handler
	objectives []float64
	enough     float64
	end        context.CancelFunc
}

func (h *history) Enabled(context.Context, slog.Level) bool { return true }

func (h *history) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		switch v := a.Value; a.Key {
		case "objective":
			h.objectives = append(h.objectives, v.Float64())
		case "gap":
			if v.Float64() < h.enough {
				h.end()
			}
		}
		return true
	})
	return nil
}

// Iterations are records of a logger, and ending the context from there ends the solve.
func Example_iterations() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := &history{Handler: slog.DiscardHandler, enough: 1e-2, end: cancel}
	// min -x - y subject to x, y >= 0, x + 2y <= 4, 3x + y <= 6
	problem := &backends.Problem{
		Q:     []float64{-1, -1},
		A:     matrices.Of(4, 2, func(i, j int) float64 { return [][]float64{{-1, 0}, {0, -1}, {1, 2}, {3, 1}}[i][j] }),
		B:     []float64{0, 0, 4, 6},
		Cones: []backends.Cone{backends.Nonnegative(4)},
	}
	solver, err := native.Backend{}.Setup(problem, backends.Options{Logger: slog.New(h)})
	if err != nil {
		panic(err)
	}
	defer solver.Close()
	s, err := solver.Solve(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%v, %.1f\n", s.Status, h.objectives[len(h.objectives)-1])
	// Output: cancelled, -2.8
}

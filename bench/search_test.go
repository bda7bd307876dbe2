package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/tune"
)

// BenchmarkSearch runs the searches of the paper, 100 lower levels each, on one worker.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []string{"100-20-250-p250", "100-100-100-p2500"} {
		for _, method := range []string{tune.MethodGrid, tune.MethodRandom} {
			b.Run("data="+size+"/method="+method, func(b *testing.B) {
				m := model(b, size)
				var r *tune.Result
				for b.Loop() {
					var err error
					r, err = tune.Run(context.Background(), m, tune.Config{Method: method, Preset: tune.PresetPaper, Workers: 1, Seed: 1})
					require.NoError(b, err)
					require.Equal(b, dca.Converged, r.Status)
				}
				b.ReportMetric(float64(r.SolverIterations), "iterations/op")
				b.ReportMetric(float64(r.BackendSetups), "setups/op")
			})
		}
	}
}

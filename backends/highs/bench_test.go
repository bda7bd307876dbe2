//go:build highs && cgo && unix

package highs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	_ "github.com/conetune/conetune/backends/native"
)

// BenchmarkLinear sets up and solves linear programs in turns with the native solver and with HiGHS's simplex and
// interior point methods, all through backends.Open at its tolerance. It reports the least processor time of each.
//
//	CONETUNE_BENCH_DATA=DIR go test -tags highs -run '^$' -bench Linear -benchtime 1x ./backends/highs
func BenchmarkLinear(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("CONETUNE_BENCH_DATA"), "lp", "*.mps.gz"))
	if err != nil || len(files) == 0 {
		b.Skip("CONETUNE_BENCH_DATA has no folder lp with files")
	}
	for _, file := range files {
		name := filepath.Base(file)
		b.Run(name, func(b *testing.B) {
			p := sidebyside.Problem(b, "lp/"+name)
			c := sidebyside.Contest{}
			for b.Loop() {
				for _, way := range []struct {
					name, backend string
					settings      any
				}{{"native", "native", nil}, {"simplex", "highs", nil}, {"ipm", "highs", Settings{Method: "ipm"}}, {"hipo", "highs", Settings{Method: "hipo", NoCrossover: true}}} {
					solver, err := backends.Open(way.backend)
					if err != nil {
						b.Fatal(err)
					}
					c.Time(b, way.name, func() {
						sol := backendtest.Solve(b, solver, p, backends.Options{Threads: 1, Settings: way.settings})
						if sol.Status != backends.Optimal {
							b.Error(way.name, sol.Status, sol.Message)
						}
					})
				}
			}
			b.ReportMetric(float64(p.A.NNZ()), "coefficients")
			c.Report(b, "native", "")
			for _, name := range []string{"simplex", "ipm", "hipo"} {
				c.Report(b, name, "native")
			}
		})
	}
}

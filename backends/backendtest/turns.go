//go:build unix

package backendtest

import (
	"testing"

	"github.com/conetune/conetune/internal/usage"
)

// InTurns runs a solver made of C and of Go, which return their iterations, in rounds, each of which begins with the
// other (who comes after a wait finds caches cold), and reports the least processor time of each, and of Go over C.
// Both must take the same iterations.
func InTurns(b *testing.B, c, golang func() (iterations int)) {
	var least [2]float64
	var counts [2]int
	ways := [2]func() int{c, golang}
	for round := 0; b.Loop(); round++ {
		for i := range ways {
			k := (i + round) % len(ways)
			begin := usage.Processor()
			counts[k] = ways[k]()
			if took := usage.Processor() - begin; round == 0 || took < least[k] {
				least[k] = took
			}
		}
	}
	if counts[0] != counts[1] {
		b.Fatalf("%d iterations of C, %d of Go", counts[0], counts[1])
	}
	b.ReportMetric(float64(counts[0]), "iterations")
	b.ReportMetric(1e3*least[0], "c-ms")
	b.ReportMetric(1e3*least[1], "go-ms")
	b.ReportMetric(least[1]/least[0], "go/c")
}

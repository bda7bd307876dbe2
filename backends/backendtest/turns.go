//go:build unix

package backendtest

import (
	"testing"

	"github.com/conetune/conetune/internal/usage"
)

// Way is one to solve a problem: it returns the iterations.
type Way struct {
	Name string
	Run  func() (iterations int)
}

// InTurns runs the ways in rounds, each of which begins with another (who comes after a wait finds caches cold), and
// reports the least processor time of each, and of the others over the first. All must take the same iterations.
func InTurns(b *testing.B, ways ...Way) {
	least, counts := make([]float64, len(ways)), make([]int, len(ways))
	for round := 0; b.Loop(); round++ {
		for i := range ways {
			k := (i + round) % len(ways)
			begin := usage.Processor()
			counts[k] = ways[k].Run()
			if took := usage.Processor() - begin; round == 0 || took < least[k] {
				least[k] = took
			}
		}
	}
	b.ReportMetric(float64(counts[0]), "iterations")
	for k, w := range ways {
		if counts[k] != counts[0] {
			b.Fatalf("%d iterations of %s, %d of %s", counts[k], w.Name, counts[0], ways[0].Name)
		}
		b.ReportMetric(1e3*least[k], w.Name+"-ms")
		if k > 0 {
			b.ReportMetric(least[k]/least[0], w.Name+"/"+ways[0].Name)
		}
	}
}

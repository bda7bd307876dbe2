//go:build unix

package backendtest

import (
	"syscall"
	"testing"
	"time"
)

// Way is one to solve a problem: it returns the iterations.
type Way struct {
	Name string
	Run  func() (iterations int)
}

// InTurns runs the ways in rounds, each of which begins with another (who comes after a wait finds caches cold), and
// reports the least processor time of each, and of the others over the first. All must take the same iterations.
func InTurns(b *testing.B, ways ...Way) {
	least, counts := make([]time.Duration, len(ways)), make([]int, len(ways))
	for round := 0; b.Loop(); round++ {
		for i := range ways {
			k := (i + round) % len(ways)
			begin := processor(b)
			counts[k] = ways[k].Run()
			if took := processor(b) - begin; round == 0 || took < least[k] {
				least[k] = took
			}
		}
	}
	b.ReportMetric(float64(counts[0]), "iterations")
	for k, w := range ways {
		if counts[k] != counts[0] {
			b.Fatalf("%d iterations of %s, %d of %s", counts[k], w.Name, counts[0], ways[0].Name)
		}
		b.ReportMetric(float64(least[k])/1e6, w.Name+"-ms")
		if k > 0 {
			b.ReportMetric(float64(least[k])/float64(least[0]), w.Name+"/"+ways[0].Name)
		}
	}
}

func processor(b testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

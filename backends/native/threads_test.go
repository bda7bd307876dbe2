package native_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/planted"
)

// TestThreads has the same answers to the bit for any number of threads: of factors whose trees they share, of cones,
// and of directions that are solved for side by side.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	b := backendtest.Open(t, "native")
	plant := func(n int, density float64, cones ...backends.Cone) *backends.Problem {
		return backendtest.NewCase(planted.Shape{N: n, Cones: cones, Density: density, Vertex: true}, 1).Problem
	}
	for name, p := range map[string]*backends.Problem{
		"qp": scattered(1500), "max-cut": beside(60), "lp": plant(1200, 0.002, backends.Nonnegative(2400)),
		"socp": plant(300, 0.05, backends.Nonnegative(900), backends.SecondOrder(40), backends.SecondOrder(200)),
		"sdp":  plant(40, 0.3, backends.PSD(30)),
	} {
		t.Run(name, func(t *testing.T) {
			var first *backends.Solution
			for threads := 1; threads <= 4; threads++ {
				o := backends.Options{Threads: threads, MaxIterations: 20}
				got := backendtest.Answer(t, backendtest.Setup(t, b, p, o))
				if first == nil {
					first = got
				}
				require.Equal(t, first.Status, got.Status)
				for k, v := range [3][2][]float64{{first.X, got.X}, {first.S, got.S}, {first.Z, got.Z}} {
					require.Equal(t, v[0], v[1], fmt.Sprint(threads, " threads, part ", k))
				}
			}
			t.Log(first.Status, first.Iterations)
		})
	}
}

package ldl

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop"
)

// dominated returns numbers for the pattern whose rows are dominated by their diagonal.
func (s structure) dominated(rng *rand.Rand) []float64 {
	val, sum := make([]float64, len(s.ind)), make([]float64, s.n)
	for j := range s.n {
		for e := s.ptr[j]; e < s.ptr[j+1]-1; e++ {
			val[e] = rng.Float64()
			sum[s.ind[e]] += val[e]
			sum[j] += val[e]
		}
	}
	for j := range s.n {
		val[s.ptr[j+1]-1] = float64(s.sign[j]) * (1 + sum[j])
	}
	return val
}

// grid is the five-point stencil.
func grid(rows, cols int32) structure {
	k := make([][]int32, rows*cols)
	for v := range rows * cols {
		if v >= cols {
			k[v] = append(k[v], v-cols)
		}
		if v%cols > 0 {
			k[v] = append(k[v], v-1)
		}
	}
	return structured(k, len(k))
}

// A factor is the same to the bit for any number of threads, and after a factorisation that was stopped.
func TestThreads(t *testing.T) {
	scattered := make([][]int32, 12000)
	rng := rand.New(rand.NewPCG(7, 1))
	for j := range int32(len(scattered)) {
		for range 2 {
			if i := rng.Int32N(j + 1); i < j && (len(scattered[j]) == 0 || scattered[j][0] < i) {
				scattered[j] = append(scattered[j], i)
			}
		}
	}
	for name, s := range map[string]structure{"grid": grid(90, 110), "lasso": lassoKKT(150, 9000),
		"long": grid(6, 5000), "scattered": structured(scattered, len(scattered))} {
		t.Run(name, func(t *testing.T) {
			val := s.dominated(rand.New(rand.NewPCG(3, 5)))
			first := must.Of(Analyze(s.n, s.ptr, s.ind, s.sign))(t)
			require.Zero(t, first.Factorize(val, nil, 0, 1e-8))
			for threads := 2; threads <= 4; threads++ {
				var stops stop.Stop
				ctx, cancel := context.WithCancel(t.Context())
				stops.Begin(ctx, 0)
				f := must.Of(AnalyzeWith(s.n, s.ptr, s.ind, s.sign, Options{Threads: threads, Stop: &stops}))(t)
				require.NotEmpty(t, f.stages)
				require.NotEmpty(t, f.stages[0].crossing)
				cancel()
				f.Factorize(val, nil, 0, 1e-8)
				require.True(t, stops.Look())
				stops.Begin(t.Context(), 0)
				require.Zero(t, f.Factorize(val, nil, 0, 1e-8))
				require.Equal(t, first.val, f.val, threads)
				require.Equal(t, first.d, f.d, threads)
			}
		})
	}
}

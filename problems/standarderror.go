package problems

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// StandardError is that of a mean of losses by weights, sum_i w_i l_i / sum_i w_i, or without, where these are nil, as
// of independent losses, of which n are of a row of their own.
func StandardError(losses, weights []float64, n int) float64 {
	if weights == nil {
		return stat.StdDev(losses, nil) / math.Sqrt(float64(n))
	}
	total, mean := 0.0, 0.0
	for i, w := range weights {
		total += w
		mean += w * losses[i]
	}
	mean /= total
	sum := 0.0
	for i, w := range weights {
		sum += w * w * (losses[i] - mean) * (losses[i] - mean)
	}
	all := float64(len(losses))
	return math.Sqrt(sum*all/(all-1)) / total * math.Sqrt(all/float64(n))
}

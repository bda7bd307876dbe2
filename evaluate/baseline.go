package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// baseline is what rows with some offset are predicted to be without any feature: the best constant for the training
// rows, by their weights, beside the offset.
func (j *Judge) baseline(from *dataset.Data, f tune.Fit) func(offset float64) float64 {
	less := slices.Clone(from.Y)
	for i, o := range from.Offset {
		less[i] -= o
	}
	switch {
	case f.Labels != nil:
		return labelShare(from, is(from.Y, f.Labels[1]))
	case f.LogLink && from.Offset != nil:
		exposure := make([]float64, len(from.Offset))
		for i, o := range from.Offset {
			exposure[i] = math.Exp(o)
		}
		rate := from.Mean(from.Y) / from.Mean(exposure)
		return func(offset float64) float64 { return rate * math.Exp(offset) }
	case j.quantile:
		q := quantileOf(less, from.Weights, j.level)
		return func(offset float64) float64 { return q + offset }
	}
	mean := from.Mean(less)
	return func(offset float64) float64 { return mean + offset }
}

// labelShare is the probability of the second label of which yes says where it is: its share, or with offsets, which
// are log odds, that of the constant beside them with which it is the share on average.
func labelShare(from *dataset.Data, yes []float64) func(offset float64) float64 {
	share := from.Mean(yes)
	if from.Offset == nil || share == 0 || share == 1 {
		return func(float64) float64 { return share }
	}
	odds := math.Log(share / (1 - share))
	lo, hi := odds-slices.Max(from.Offset), odds-slices.Min(from.Offset)
	p := make([]float64, len(yes))
	for { // down to neighbouring numbers
		c := lo + (hi-lo)/2
		if c <= lo || c >= hi {
			return func(offset float64) float64 { return Probability(c + offset) }
		}
		for i, o := range from.Offset {
			p[i] = Probability(c + o)
		}
		if from.Mean(p) < share {
			lo = c
		} else {
			hi = c
		}
	}
}

// quantileOf is the least value at or below which there is a share of the weight, nil for equal ones.
func quantileOf(values, weights []float64, level float64) float64 {
	values, weights = slices.Clone(values), slices.Clone(weights)
	stat.SortWeighted(values, weights)
	return stat.Quantile(level, stat.Empirical, values, weights)
}

package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// baseline is what rows with some offset are predicted to be without any feature: the best constant for the training rows, by their weights, beside the offset.
func (j *judge) baseline(from *dataset.Data, f tune.Fit) func(offset float64) float64 {
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
	case j.spec.Name == "quantile":
		q := quantileOf(less, from.Weights, j.level)
		return func(offset float64) float64 { return q + offset }
	}
	mean := from.Mean(less)
	return func(offset float64) float64 { return mean + offset }
}

// labelShare is the probability of the second label of which yes says where it is: its share, or with offsets, which are log odds, that of the constant beside
// them with which it is the share on average.
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
			return func(offset float64) float64 { return evaluate.Probability(c + offset) }
		}
		for i, o := range from.Offset {
			p[i] = evaluate.Probability(c + o)
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
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	if weights == nil {
		return values[order[max(0, int(math.Ceil(level*float64(len(order))))-1)]]
	}
	total, sum := 0.0, 0.0
	for _, w := range weights {
		total += w
	}
	for _, i := range order {
		if sum += weights[i]; sum >= level*total*(1-1e-12) {
			return values[i]
		}
	}
	return values[order[len(order)-1]]
}

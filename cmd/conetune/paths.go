package main

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/tune"
)

// mostPaths bounds the lines of a panel of coefficients: the figure has that many styles.
const mostPaths = 8

// pathPanel shows the refit's coefficients over the run, those that are largest at its end, each as what it does
// when its feature moves by one standard deviation; for models with groups the norms of the groups of these, with several targets
// or labels those over these. The panel is
// empty where the trace has no fits.
func pathPanel(split *dataset.Split, g *groups.Groups, r *tune.Result) figure.Panel {
	names := split.Train.Features
	members := make([][]int, len(names))
	for j := range members {
		members[j] = []int{j}
	}
	panel := figure.Panel{YLabel: "coefficients x s.d., refit"}
	if g != nil {
		names, members = g.Names, g.Members
		panel.YLabel = "norms of groups, refit"
	}
	if r.RefitFit.Targets != nil {
		panel.YLabel = "norms over targets, refit"
	}
	if r.RefitFit.Classes() {
		panel.YLabel = "norms over labels, refit"
	}
	scale := split.Train.Deviations()
	// size is the norm of the effects of a group, or a coefficient's effect with its sign.
	size := func(fit *tune.Fit, k int) float64 {
		if g == nil {
			if fit.Targets != nil {
				return floats.Norm(fit.Of(k), 2) * scale[k]
			}
			return fit.Coefficients[k] * scale[k]
		}
		sum := 0.0
		for _, j := range members[k] {
			sum += math.Pow(fit.Coefficients[j]*scale[j], 2)
		}
		return math.Sqrt(sum)
	}
	var fits []*tune.Fit
	var seconds []float64
	for _, e := range r.Trace {
		if e.Fit != nil {
			fits, seconds = append(fits, e.Fit), append(seconds, e.Elapsed.Seconds())
		}
	}
	if len(fits) == 0 {
		return panel
	}
	last := make([]float64, len(names))
	order := make([]int, len(names))
	largest := 0.0
	for k := range last {
		order[k], last[k] = k, math.Abs(size(fits[len(fits)-1], k))
		largest = max(largest, last[k])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last[b], last[a]) })
	for style, k := range order[:min(mostPaths, len(order))] {
		if !(last[k] > tune.Negligible(0)*largest) {
			break
		}
		line := figure.Line{Name: names[k], X: seconds, Style: style}
		for _, fit := range fits {
			line.Y = append(line.Y, size(fit, k))
		}
		panel.Lines = append(panel.Lines, line)
	}
	return panel
}

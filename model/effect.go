package model

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// Effect is a coefficient that is not zero, and what it does when its feature moves by one standard deviation, without
// a sign: the coefficients of different units compare by that. With several targets the size is the norm of what it
// does to them, and the coefficient that of the first.
type Effect struct {
	Feature           string
	Index             int // of the features
	Coefficient, Size float64
}

// Effects lists the features of a fit whose coefficients are not zero, the largest size first. There is a size for each
// feature, see [Sizes].
func Effects(fit problems.Fit, sizes []float64) (list []Effect) {
	for j, size := range sizes {
		if row := fit.Of(j); floats.Norm(row, 1) > 0 {
			list = append(list, Effect{fit.Features[j], j, row[0], size})
		}
	}
	slices.SortStableFunc(list, func(a, b Effect) int { return cmp.Compare(b.Size, a.Size) })
	return list
}

// Sizes are the norms of the coefficients of each feature times its deviation, nil for 1 each.
func Sizes(fit problems.Fit, deviations []float64) []float64 {
	out := make([]float64, len(fit.Features))
	for j := range out {
		if out[j] = floats.Norm(fit.Of(j), 2); deviations != nil {
			out[j] *= deviations[j]
		}
	}
	return out
}

// Stability is the share of fits that have each feature, with an effect that is not negligible beside the largest one.
func Stability(fits []problems.Fit, deviations []float64) []float64 {
	share := make([]float64, len(deviations))
	for _, f := range fits {
		size := Sizes(f, deviations)
		bound := tune.Negligible(0) * slices.Max(size)
		for j, v := range size {
			if v > bound {
				share[j]++
			}
		}
	}
	floats.Scale(1/float64(len(fits)), share)
	return share
}

// Fit is the predictor of the model.
func (m *Model) Fit() problems.Fit {
	return problems.Fit{
		Features: m.Features, Coefficients: m.Coefficients, Intercept: m.Intercept, Labels: m.Labels, Targets: m.Targets,
		Intercepts: m.Intercepts,
	}
}

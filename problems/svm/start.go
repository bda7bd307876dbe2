package svm

import (
	"math"
	"slices"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/table/split"
)

// Starts of the default are common bounds 10^(-3), 10^(-2.75), .., 10^0.5 of all features with the ball wide open, and radii
// 10^(-4), 10^(-3.75), .., 10 with all bounds wide open.
const (
	startStep                   = 0.25 // of the exponents
	leastBound, greatestBound   = -3, 0.5
	leastRadius, greatestRadius = -4, 1
)

// On wide tables, of more than wideRows rows in each fold and wideFeatures features, they are radii 0.1, 10^(-0.75), .., 10^4 alone, and they end where the validation error does not fall
// any more: a common bound of so many features hardly does better than the ball, and takes far longer. Steps
// are ten times as dear, as so many bounds fit the noise of the validation rows.
const (
	wideRows, wideFeatures = 500, 1000
	wideStep               = 0.25
	leastWide, mostWide    = -1, 4
	wideRise               = 2
	wideRho                = 10
)

// wide says whether the table is.
func (m *Model) wide() bool {
	_, p := m.cv.Data.Dims()
	return p > wideFeatures && !slices.ContainsFunc(m.cv.Folds, func(f split.Fold) bool { return len(f.Train) <= wideRows })
}

// starts are the values of h = (r, wbar), and the rise that ends them, see [dca.Program.PathRise].
func (m *Model) starts() (list [][]float64, rise int) {
	_, p := m.cv.Data.Dims()
	if !m.wide() {
		return starts(p), 0
	}
	for e := float64(leastWide); e <= mostWide; e += wideStep {
		h := slices.Repeat([]float64{highest}, 1+p)
		h[0] = math.Pow(10, e)
		list = append(list, h)
	}
	return list, wideRise
}

// starts are these values of h = (r, wbar) for p features.
func starts(p int) [][]float64 {
	var list [][]float64
	add := func(r, wbar float64) {
		h := make([]float64, 1+p)
		for j := range h {
			h[j] = wbar
		}
		h[0] = r
		list = append(list, h)
	}
	for e := float64(leastBound); e <= greatestBound; e += startStep {
		add(paperR0, math.Pow(10, e))
	}
	for e := float64(leastRadius); e <= greatestRadius; e += startStep {
		add(math.Pow(10, e), highest)
	}
	return list
}

// Caution is how the model is tuned by default. A bound for each feature follows the noise of the validation rows. With caution the run
// starts where one bound for all features, or the radius
// alone, does best, with a penalty so large that the iterates stay near the lower-level solutions, and takes
// three short steps; see docs/benchmarks.md. With up to four rows for each feature rows held out say whether it predicts better so, see
// [Model.HoldOut]; with more that gained nothing larger than its noise, for four to five times the work. It is nil where the options
// give a start, and with more than a hundred rows for each feature.
func (m *Model) Caution() *problems.Caution {
	n, p := m.cv.Data.Dims()
	if m.started || n > cautionRows*p {
		return nil
	}
	s := m.PaperSettings()
	s.Alpha0, s.Rho, s.Tol, s.MaxIter = 100, 1, 1e-3, 3
	s.PathStart = true
	if m.wide() {
		s.Rho = wideRho
	}
	return &problems.Caution{Settings: s, Temper: 1, Sure: n > choiceRows*p}
}

// cautionRows is the largest number of rows for each feature with caution, choiceRows that with which it is a choice.
const cautionRows, choiceRows = 100, 4

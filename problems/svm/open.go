package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems"
)

// The weights of lambda that a rung tries first: openStep by openStep from the largest
// squared length of a row, above which no decision value is further than 1 from -c, to openLeast of it. Where a
// difference of two features tells labels apart, weights are large and lambda as small as that: on 52 tables, a third
// of them generated so, test errors of 1e-4, 1e-5 and 1e-7 as the least share are as 1 to 0.90 to 0.84.
const (
	openStep  = 0.31622776601683794 // 10^(-1/2)
	openLeast = 1e-7
	// openBound is a bound of no effect, a hundred times the highest of the paper's.
	openBound = 1e3
)

// openRise is the number of points after the best one with which the list ends on large tables, and openGap the gap of
// the fits of the search there: it moves validation errors by less than a thousandth, a quarter of their standard error
// on 10 000 rows.
const openRise, openGap = 2, 1e-3

// open is the path of lambda on a rung.
func (m *Model) open() *problems.Open {
	n, p := m.cv.Data.Dims()
	out, top := &problems.Open{}, m.longest()
	for share := 1.0; share > openLeast*(1-1e-9); share *= openStep {
		out.Weights = append(out.Weights, []float64{share * top})
	}
	if float64(n)*float64(p) >= openSize {
		out.Rise, out.Gap = openRise, openGap
	}
	return out
}

// openSize is the size of a table, rows times features, from which on its list of weights ends early.
const openSize = 1_000_000

// longest is the largest squared length of a row.
func (m *Model) longest() float64 {
	most := 0.0
	for i := range m.rows.Y {
		_, values := m.rows.Row(i)
		most = math.Max(most, floats.Dot(values, values))
	}
	return most
}

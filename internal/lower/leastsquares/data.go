package leastsquares

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
)

// Data is a design with targets, whose features are divided into groups, prepared for many solves, which do not change
// it.
type Data struct {
	X         *design.Matrix
	Y         []float64 // centred if there is an intercept
	Intercept bool
	YMean     float64   // 0 without intercept
	Mean      []float64 // means of the columns; nil without intercept
	Norm2     []float64 // squared norms of the (centred) columns
	Scale     float64   // the objective at zero
	Members   [][]int   // features of each group
}

// New checks and prepares the data: y has a target for each row of x, and the features are divided as [Divide] has it.
// It keeps a reference to the design.
func New(x *design.Matrix, y []float64, members [][]int, intercept bool) (*Data, error) {
	n, p := x.Dims()
	switch {
	case n == 0:
		return nil, fmt.Errorf("no rows")
	case len(y) != n:
		return nil, fmt.Errorf("%d targets for %d rows", len(y), n)
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("target of row %d is %g, expected a finite number", i, v)
		}
	}
	g := &Data{X: x, Y: y, Intercept: intercept, Norm2: make([]float64, p), Members: members}
	if intercept {
		g.YMean = floats.Sum(y) / float64(n)
		g.Y = make([]float64, n)
		for i, v := range y {
			g.Y[i] = v - g.YMean
		}
		g.Mean = make([]float64, p)
	}
	for j := range p {
		sum, squares, err := x.Sums(j)
		if err != nil {
			return nil, err
		}
		g.Norm2[j] = squares
		if intercept {
			g.Mean[j] = sum / float64(n)
			// A constant column has rounding errors only.
			if g.Norm2[j] -= sum * g.Mean[j]; g.Norm2[j] < 1e-13*squares {
				g.Norm2[j] = 0
			}
		}
	}
	g.Scale = floats.Dot(g.Y, g.Y) / (2 * float64(n))
	return g, Divide(members, p)
}

// Relative is a gap in units of the objective at b = 0.
func (g *Data) Relative(gap float64) float64 {
	if g.Scale == 0 {
		return 0
	}
	return gap / g.Scale
}

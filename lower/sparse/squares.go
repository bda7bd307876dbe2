package sparse

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/lower/design"
)

// Squares is a [Regression] with common weights that may have [Terms], solved as the subproblems of a [Joint] are.
type Squares struct{ smooth }

// NewSquares checks the data: y has a target for each row of x.
func NewSquares(x *design.Matrix, y []float64, intercept bool, t Terms) (*Squares, error) {
	return SquaresOf(Sample{X: x, Y: y}, intercept, t)
}

// SquaresOf is [NewSquares] of rows with weights and an offset.
func SquaresOf(s Sample, intercept bool, t Terms) (*Squares, error) {
	if _, err := rowsOf(s, "targets"); err != nil {
		return nil, err
	}
	for i, v := range s.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("sparse: target of row %d is %g, expected a finite number", i, v)
		}
	}
	o, b0 := newObserved(squares{}, s), 0.0
	if intercept {
		b0 = o.mean(func(i int) float64 { return o.y[i] })
	}
	g, err := newSmooth(o, s.X, intercept, b0)
	if err != nil {
		return nil, err
	}
	if g.quadratic = true; g.scale == 0 { // b0 is all targets
		g.scale = 1
	}
	out, err := g.with(t)
	return &Squares{out}, err
}

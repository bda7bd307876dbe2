package sparse

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// Squares is a [Regression] with common weights that may have [Terms], solved as the subproblems of a [Joint] are.
type Squares struct{ smooth }

// NewSquares checks the data: y has a target for each row of x.
func NewSquares(x *design.Matrix, y []float64, intercept bool, t Terms) (*Squares, error) {
	n, err := rowsOf(x, y, "targets")
	if err != nil {
		return nil, err
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("sparse: target of row %d is %g, expected a finite number", i, v)
		}
	}
	b0 := 0.0
	if intercept {
		b0 = floats.Sum(y) / float64(n)
	}
	g, err := newSmooth(squares{}, x, y, intercept, b0)
	if err != nil {
		return nil, err
	}
	if g.quadratic = true; g.scale == 0 { // b0 is all targets
		g.scale = 1
	}
	out, err := g.with(t)
	return &Squares{out}, err
}

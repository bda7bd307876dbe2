package machine

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
)

// NewStacked stacks the rows of a fold of a [Subproblem]: the first train rows are training rows, the others validation
// rows, and each part has one at least. The weights are positive, nil for equal ones, and divided by the sum of their
// part. As a machine of its own it has both parts with half of the weight each.
func NewStacked(x *design.Matrix, y, weights []float64, train int) (*Problem, error) {
	n, _ := x.Dims()
	if train < 1 || train >= n {
		return nil, fmt.Errorf("machine: %d training rows of %d, expected one at least, and a validation row", train, n)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	if len(weights) != n {
		return nil, fmt.Errorf("machine: %d weights for %d rows", len(weights), n)
	}
	u, parts := slices.Clone(weights), [2][]float64{}
	parts[0], parts[1] = u[:train], u[train:]
	for _, part := range parts {
		if total := floats.Sum(part); total > 0 {
			floats.Scale(1/total, part)
		}
	}
	g, err := New(x, y, u)
	if err != nil {
		return nil, err
	}
	for k, part := range [2][]float64{u[train:], u[:train]} {
		g.parts[k] = make([]float64, n)
		copy(g.parts[k][(1-k)*train:], part)
	}
	return g, nil
}

package completion

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// Derivative returns the derivatives of <v, X b + G + b0>, over the rows of x and the places row, col of any
// entries, in the weights, at a solution for them: in w_0 and in each w_g.
//
// Where the interior-point method is used, the end of its central path is differentiated, by one direct solve; else the
// smooth objective on the matrices of G's rank, with a linear system that is solved to tol.
func (c *Problem) Derivative(w Weights, s *Solution, v []float64, x *design.Matrix, row, col []int, tol float64) (nuclear float64, groups []float64, err error) {
	if n, p := x.Dims(); n != len(v) || p != c.groups.X.Columns() || len(row) != n || len(col) != n {
		return 0, nil, fmt.Errorf("completion: %d numbers, %d and %d indices for a design of %d x %d, expected as many as its rows, and %d columns", len(v), len(row), len(col), n, p, c.groups.X.Columns())
	}
	norm, _, err := c.groups.Weights(w.Norm, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("completion: %w", err)
	}
	if s.Left == nil && len(s.Support) == 0 {
		return 0, make([]float64, len(norm)), nil
	}
	if c.interior != nil {
		if f := newLimit(newInterior(c, w.Nuclear, norm), s); f != nil {
			nuclear, groups = f.derivative(v, x, row, col)
			return nuclear, groups, nil
		}
	}
	f := c.newSurface(w.Nuclear, norm, s.Left, s.Right, s.B, s.Residual)
	q := f.zero()
	f.pull(q, 1, v, x, row, col)
	if c.groups.Intercept { // b0 is the mean of what the rest leaves of the targets
		f.pullMean(q, -floats.Sum(v))
	}
	t := f.conjugate(q, tol, 20*(len(q.A)+len(q.B)+len(q.S)), nil)
	nuclear, groups = f.weightDerivatives(t)
	for k := range groups {
		groups[k] = -groups[k]
	}
	return -nuclear, groups, nil
}

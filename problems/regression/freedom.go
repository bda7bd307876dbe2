package regression

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
)

// Degrees of freedom, without the constant. Of a 1-norm they are the number of features in use (Zou, Hastie,
// Tibshirani, On the degrees of freedom of the lasso, Annals of Statistics 35, 2007). With squares beside it, and of
// squares alone, they are the trace of the hat matrix of these features,
//
//	sum_i e_i / (e_i + lambda_2),   e the eigenvalues of X'X/n,
//
// X centred where there is a constant; known here for squared errors without weights and terms.

// mostFreedom bounds the features whose eigenvalues are computed, and squaresLeast is the share of the largest weight
// up to which that of squares stands for zero.
const mostFreedom, squaresLeast = 1000, 1e-9

// freedom is a function of coefficients and weights, nil for a model with other penalties. It keeps the eigenvalues of
// the last features in use.
func (m *Model) freedom() func(b, lambda []float64) *float64 {
	d := m.data
	if d.net.spec != nil || d.outputs > 1 {
		return nil
	}
	var active []int
	var values []float64
	return func(b, lambda []float64) *float64 {
		used := indices.Where(b, func(v float64) bool { return v != 0 })
		squares := 0.0
		if d.net.Penalties != Norm1Alone {
			squares = lambda[len(lambda)-1]
		}
		out := float64(len(used))
		if squares <= squaresLeast*slices.Max(lambda) || len(used) == 0 {
			return &out
		}
		rows := d.parts[0]().train
		if !d.squares() || rows.Weights != nil || !d.terms.Plain() || len(used) > mostFreedom {
			return nil
		}
		if !slices.Equal(used, active) {
			n, p := rows.Dims()
			var gram mat.SymDense
			x, row := mat.NewDense(n, len(used), nil), make([]float64, p)
			for i := range n {
				rows.Fill(row, i)
				for k, j := range used {
					x.Set(i, k, row[j])
				}
			}
			if d.intercept() {
				for k := range used {
					column := mat.Col(nil, k, x)
					floats.AddConst(-floats.Sum(column)/float64(n), column)
					x.SetCol(k, column)
				}
			}
			gram.SymOuterK(1/float64(n), x.T())
			var eigen mat.EigenSym
			if !eigen.Factorize(&gram, false) {
				return nil
			}
			active, values = used, eigen.Values(nil)
		}
		out = 0
		for _, e := range values {
			out += max(e, 0) / (max(e, 0) + squares)
		}
		return &out
	}
}

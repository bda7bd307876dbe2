package regression

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
)

// FusedLasso has coefficients that are sparse and piecewise constant along the order of the features, or, as in trend
// filtering, piecewise of a higher degree. With D the differences of order k, [Options].Order, (D b)_j = b_{j+1} - b_j
// for k = 1 and differences of these for k > 1, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, |D b|_1 <= r2 }
//
// is the decoupled form of choosing lambda in min l(b) + lambda1 |b|_1 + lambda2 |D b|_1 (R. Tibshirani and others,
// Sparsity and smoothness via the fused lasso, JRSS B 67, 2005; for k > 1 S.-J. Kim and others, l1 trend filtering,
// SIAM Review 51, 2009). The multipliers of the radii are lambda1 and lambda2, called l1 and fusion.
//
// Features should be in a meaningful order and in one unit: standardising them changes what it means that neighbours
// are equal.
func FusedLasso(s dataset.Division, o Options) (*Model, error) {
	o.Order = cmp.Or(o.Order, 1)
	return NewNet(s, o, Net{Name: "fused-lasso", Takes: []string{"Order"}, spec: func(data *data) (spec, error) {
		n, p := data.Dims()
		if p == 1 {
			return spec{}, errors.New("a single coefficient has no differences, expected two features at least")
		}
		if o.Order < 1 || o.Order >= p {
			return spec{}, fmt.Errorf(
				"differences of order %d of %d coefficients, expected an order from 1 to %d", o.Order, p, p-1)
		}
		d := differencesOf(p, o.Order)
		out := spec{
			Names: []string{"l1", "fusion"}, R0: []float64{10},
			Penalties: func(b, r convex.Expr) []convex.Expr {
				return []convex.Expr{
					convex.Sub(convex.Norm1(b), convex.At(r, 0)),
					convex.Sub(convex.Norm1(convex.Mul(d, b)), convex.At(r, 1)),
				}
			},
		}
		if o.Order == 1 && glm.Fits(n, p, 1) {
			out.Chained, out.Weights = true, func(lambda []float64) *glm.Weights {
				return &glm.Weights{Norm: slices.Repeat(lambda[:1], p), Fusion: lambda[1]}
			}
		}
		return out, nil
	}})
}

// differencesOf is the (p-k) x p matrix of differences of order k, whose rows hold the binomial coefficients
// of k with alternating signs.
func differencesOf(p, k int) *sparse.CSC {
	row := []float64{1}
	for range k {
		next := make([]float64, len(row)+1)
		for i, v := range row {
			next[i] -= v
			next[i+1] += v
		}
		row = next
	}
	coo := sparse.NewCOO(p-k, p, nil, nil, nil)
	for i := range p - k {
		for j, v := range row {
			coo.Set(i, i+j, v)
		}
	}
	return coo.ToCSC()
}

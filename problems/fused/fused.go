// Package fused selects the hyperparameters of the fused lasso, whose coefficients are sparse and piecewise
// constant along the order of the features, and of its relatives of higher order, as in trend filtering.
//
// # Formulation
//
// With D the differences of order k, (D b)_j = b_{j+1} - b_j for k = 1 and differences of these for k > 1, and
// losses L on validation and l on training rows as in package regression, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, |D b|_1 <= r2 }
//
// is the decoupled form of choosing lambda in min l(b) + lambda1 |b|_1 + lambda2 |D b|_1 (R. Tibshirani and
// others, Sparsity and smoothness via the fused lasso, JRSS B 67, 2005; for k > 1 S.-J. Kim and others, l1 trend filtering,
// SIAM Review 51, 2009). The multipliers of the radii are lambda1 and lambda2, called l1 and fusion.
//
// Features should be in a meaningful order and in one unit: standardising them changes what it means that neighbours
// are equal.
package fused

import (
	"fmt"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features and targets in units of their own, the features in that of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// R0 are the start values of the two radii, in the unit of the model. Nil means 10.
	R0 []float64
	// Order is the order k of the differences. 0 means 1, piecewise constant coefficients; 2 makes them piecewise linear.
	Order int
}

// Model is a fused lasso with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling})
	if err != nil {
		return nil, fmt.Errorf("fused: %w", err)
	}
	if o.Order == 0 {
		o.Order = 1
	}
	_, p := data.Dims()
	if o.Order < 1 || o.Order >= p {
		return nil, fmt.Errorf("fused: differences of order %d of %d coefficients, expected an order from 1 to %d", o.Order, p, p-1)
	}
	names := []string{"l1", "fusion"}
	r0, err := regression.Radii(o.R0, names, 10)
	if err != nil {
		return nil, fmt.Errorf("fused: %w", err)
	}
	d := differences(p, o.Order)
	paper := dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100} // the paper's for the elastic net
	standard := paper
	standard.GapTol, standard.MaxIter = 1e-4, 200
	standard.PathStart = data.LambdaMax() > 0
	spec := regression.Spec{
		Name: "fused-lasso", Names: names, R0: r0, Path: data.CommonPath(), Paper: paper, Default: standard,
		Penalties: func(b, r convex.Affine) []convex.Convex {
			return []convex.Convex{
				convex.Norm1(b).MinusAffine(r.At(0)),
				convex.Norm1(b.MulMat(d)).MinusAffine(r.At(1)),
			}
		},
	}
	if n, _ := data.Dims(); o.Order == 1 && glm.Fits(n, p, 1) {
		spec.Chained, spec.Weights = true, func(lambda []float64) *glm.Weights {
			return &glm.Weights{Norm: slices.Repeat(lambda[:1], p), Fusion: lambda[1]}
		}
	}
	return &Model{regression.NewModel(data, spec)}, nil
}

// differences is the (p-k) x p matrix of differences of order k, whose rows hold the binomial coefficients
// of k with alternating signs.
func differences(p, k int) *sparse.CSC {
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

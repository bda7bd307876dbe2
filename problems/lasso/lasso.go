// Package lasso selects the weight of the lasso, linear regression with the l1 norm of the coefficients.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r },
//
// the decoupled form of choosing lambda in min l(b) + lambda |b|_1 (Gao, Ye, Yin, Zeng, Zhang, ICML 2022): the elastic
// net without its other penalty. The multiplier of the radius is lambda.
package lasso

import (
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is the lasso with its data.
type Model = regression.Model

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	return regression.NewNet(s, o, regression.Net{
		Name: "lasso", Kind: regression.Kind{Weighing: true, Terms: true}, Fit: regression.Making(fits.Lasso),
		Penalties: regression.Norm1Alone,
	})
}

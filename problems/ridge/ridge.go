// Package ridge selects the weight of ridge regression, with half the squared l2 norm of the coefficients.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : 1/2 |b|_2^2 <= r },
//
// the decoupled form of choosing lambda in min l(b) + lambda 1/2 |b|_2^2 (Gao, Ye, Yin, Zeng, Zhang, ICML 2022): the
// elastic net without its other penalty. The multiplier of the radius is lambda.
package ridge

import (
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is ridge regression with its data.
type Model = regression.Model

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	return regression.NewNet(s, o, regression.Net{
		Name: "ridge", Kind: regression.Kind{Weighing: true, Terms: true}, Fit: regression.Making(fits.Ridge),
		Penalties: regression.SquaresAlone,
	})
}

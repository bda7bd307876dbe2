// Package bounded selects the hyperparameters of an elastic net whose coefficients are bounded, by default
// not negative.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2, lower <= b <= upper }
//
// is that of package elasticnet with bounds on the coefficients in the user's units, which hold for the iterate as for
// the refit. The multipliers of the two radii are lambda1 and lambda2.
package bounded

import (
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options]. Without bounds among the terms, these are 0 and +Inf.
type Options = regression.Options

// Model is an elastic net with bounds and its data.
type Model = regression.Model

// New checks the rows, split or in folds, and the options. Bounds must leave room for coefficients of 0. It keeps a
// reference to the data, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if o.Terms.Lower == nil && o.Terms.Upper == nil {
		o.Terms.Lower = []float64{0}
	}
	return regression.NewNet(s, o, regression.Net{
		Name: "bounded-elastic-net", Kind: regression.Kind{Weighing: true, Terms: true},
		Fit: regression.Making(fits.ElasticNet),
	})
}

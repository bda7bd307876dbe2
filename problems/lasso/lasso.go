// Package lasso selects the weight of the lasso, linear regression with the l1 norm of the coefficients.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r },
//
// the decoupled form of choosing lambda in min l(b) + lambda |b|_1 (Gao, Ye, Yin, Zeng, Zhang, ICML 2022): the elastic net
// without its other penalty. The multiplier of the radius is lambda.
package lasso

import (
	"fmt"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features and targets of standard deviation 1, and undoes it in the result.
	Standardize bool
	// Scaling is what Standardize brings features to; empty means by the table, see [dataset.Scaling].
	Scaling dataset.Scaling
	// R0 is the start value of the radius, in the unit of the model. 0 means 10.
	R0 float64
	// Terms are penalty factors and bounds of single features.
	Terms regression.Terms
}

// Model is the lasso, linear regression with the l1 norm of the coefficients with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Weighing: true, Standardize: o.Standardize, Scaling: o.Scaling, Terms: o.Terms})
	if err != nil {
		return nil, fmt.Errorf("lasso: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.Lasso)
	if err != nil {
		return nil, fmt.Errorf("lasso: %w", err)
	}
	spec, err := elasticnet.Single("lasso", data, o.R0, 10, data.Path(pathPoints), data.Norm1)
	if err != nil {
		return nil, fmt.Errorf("lasso: %w", err)
	}
	spec.Fit, spec.Weights = fit, data.SharedWeights(0, -1)
	return &Model{regression.NewModel(data, spec)}, nil
}

// Modes are those of [fits.JointNet].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// pathPoints is the length of the path for the data-driven start.
const pathPoints = 20

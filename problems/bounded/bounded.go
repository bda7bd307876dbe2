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
// is that of package elasticnet with bounds on the coefficients in the user's units, which hold for the iterate as for the
// refit. The multipliers of the two radii are lambda1 and lambda2.
package bounded

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
	// Intercept adds a free constant that is neither penalised nor bounded.
	Intercept bool
	// Standardize works on features and targets in units of their own, the features in that of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5).
	R0 []float64
	// Lower and Upper bound the coefficients in the user's units, one for each feature or one for all;
	// entries may be infinite. Both nil means 0 and +Inf; one nil means no bound on that side.
	Lower, Upper []float64
	// Factors multiply the penalties, see [regression.Terms].
	Factors []float64
}

// Model is an elastic net with bounds and its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. Bounds must leave room for coefficients of 0. It keeps a
// reference to the data, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if o.Lower == nil && o.Upper == nil {
		o.Lower = []float64{0}
	}
	data, err := regression.New(s, regression.Options{
		Intercept: o.Intercept, Weighing: true, Standardize: o.Standardize, Scaling: o.Scaling, Terms: regression.Terms{Lower: o.Lower, Upper: o.Upper, Factors: o.Factors},
	})
	if err != nil {
		return nil, fmt.Errorf("bounded: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.ElasticNet)
	if err != nil {
		return nil, fmt.Errorf("bounded: %w", err)
	}
	spec, err := elasticnet.Spec("bounded-elastic-net", data, o.R0)
	if err != nil {
		return nil, fmt.Errorf("bounded: %w", err)
	}
	spec.Fit, spec.Weights = fit, data.SharedWeights(0, 1)
	return &Model{regression.NewModel(data, spec)}, nil
}

// Modes are those of [fits.JointNet].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

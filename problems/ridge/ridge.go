// Package ridge selects the weight of ridge regression, with half the squared l2 norm of the coefficients.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : 1/2 |b|_2^2 <= r },
//
// the decoupled form of choosing lambda in min l(b) + lambda 1/2 |b|_2^2 (Gao, Ye, Yin, Zeng, Zhang, ICML 2022): the elastic net
// without its other penalty. The multiplier of the radius is lambda.
package ridge

import (
	"fmt"
	"math"

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
	// R0 is the start value of the radius, in the unit of the model. 0 means 5.
	R0 float64
	// Terms are penalty factors and bounds of single features.
	Terms regression.Terms
}

// Model is ridge regression, with half the squared l2 norm of the coefficients with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Weighing: true, Standardize: o.Standardize, Scaling: o.Scaling, Terms: o.Terms})
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.Ridge)
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	spec, err := elasticnet.Single("ridge", data, o.R0, 5, path(data), data.HalfSquares)
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	spec.AllFeatures = true
	spec.Fit, spec.Weights = fit, data.SharedWeights(-1, 0)
	return &Model{regression.NewModel(data, spec)}, nil
}

// Modes are those of [fits.JointNet].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// The path for the data-driven start: its points, and how far above and below the least weight of the l1 norm at which nothing is left
// it goes. A ridge leaves all coefficients, and weights far larger than that may be the best ones.
const pathPoints, pathRatio = 20, 1e6

func path(data *regression.Data) []float64 {
	top := data.LambdaMax()
	if !(top > 0) {
		return nil
	}
	var list []float64
	for i := range pathPoints {
		list = append(list, top*100*math.Pow(pathRatio, -float64(i)/(pathPoints-1)))
	}
	return list
}

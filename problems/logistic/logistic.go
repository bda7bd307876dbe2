// Package logistic selects the hyperparameters of a sparse logistic regression: the elastic net with the logistic
// loss, a classifier of two labels.
//
// # Formulation
//
// With y = -1 for the smaller label and y = 1 for the larger one, a value f = a'b + b0 costs
//
//	log(1 + exp(-y f)),
//
// and the losses L on validation and l on training rows are means of that. The bilevel program is that of package
// elasticnet,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 }
//
// (K. Koh, S.-J. Kim, S. Boyd, An interior-point method for large-scale l1-regularized logistic regression, JMLR 8, 2007,
// for the lower level). The larger label is predicted where f > 0; its estimated probability is 1/(1 + exp(-f)).
// Errors are mean logistic losses. The backend needs exponential cones.
package logistic

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features in the unit of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5).
	R0 []float64
	// Terms are penalty factors and bounds of single features.
	Terms regression.Terms
}

// Model is a logistic regression with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. The training rows need both labels, and the others may have no third one. New keeps a
// reference to the features, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if s == nil {
		return nil, fmt.Errorf("logistic: no data")
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	labels, err := dataset.CheckLabels(s)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	coded := s.Map(func(y float64) float64 { return float64(2*labels.Class(y) - 1) })
	data, err := regression.New(coded, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling, Loss: loss{}, KeepTarget: true, Terms: o.Terms})
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.Logistic)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	spec, err := elasticnet.Spec("logistic", data, o.R0)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	spec.Labels, spec.Advice.Separable = labels[:], true
	spec.Fit, spec.Weights, spec.Loss = fit, data.SharedWeights(0, 1), func(float64) glm.Loss { return glm.Logistic{} }
	return &Model{regression.NewModel(data, spec)}, nil
}

// Modes are those of [fits.JointNet].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// loss is the logistic loss of targets -1 and 1.
type loss struct{}

func (loss) Sum(f convex.Affine, y, weights []float64, _ float64) convex.Convex {
	minus := make([]float64, len(y))
	for i, v := range y {
		minus[i] = -v
	}
	return regression.Total(convex.Logistic(f.MulMat(mat.NewDiagDense(len(minus), minus))), weights)
}

// Value is log(1 + exp(-y f)) without overflow.
func (loss) Value(f, y, _ float64) float64 {
	return max(-y*f, 0) + math.Log1p(math.Exp(-math.Abs(f)))
}

func (loss) Derivative(f, y, _ float64) float64 { return -y / (1 + math.Exp(y*f)) }

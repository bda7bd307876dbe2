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
// (K. Koh, S.-J. Kim, S. Boyd, An interior-point method for large-scale l1-regularized logistic regression, JMLR 8,
// 2007, for the lower level). The larger label is predicted where f > 0; its estimated probability is 1/(1 + exp(-f)).
// Errors are mean logistic losses. The backend needs exponential cones.
package logistic

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is a logistic regression with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. The training rows need both labels, and the others may have
// no third one. New keeps a reference to the features, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if err := dataset.Check(s); err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	labels, err := dataset.CheckLabels(s)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	coded := s.Map(func(y float64) float64 { return float64(2*labels.Class(y) - 1) })
	net, err := regression.NewNet(coded, o, regression.Net{
		Name: "logistic", Kind: regression.Kind{Loss: loss, KeepTarget: true, Terms: true},
		Fit: regression.Making(fits.Logistic), Finish: func(f *problems.Fit) { f.Labels = labels[:] },
		Advice: func(*regression.Data) problems.Advice { return problems.Advice{Separable: true} },
	})
	if err != nil {
		return nil, err
	}
	return &Model{net}, nil
}

// loss is the logistic loss of targets -1 and 1, without overflow.
var loss = regression.Loss{
	Sum: func(f convex.Affine, y, weights []float64, _ float64) convex.Convex {
		minus := slices.Clone(y)
		floats.Scale(-1, minus)
		return regression.Total(convex.Logistic(f.MulMat(mat.NewDiagDense(len(minus), minus))), weights)
	},
	Value: func(f []float64, y, _ float64) float64 {
		return max(-y*f[0], 0) + math.Log1p(math.Exp(-math.Abs(f[0])))
	},
	Slope:  func(f, y, _ float64) float64 { return -y / (1 + math.Exp(y*f)) },
	Engine: func(float64) glm.Loss { return glm.Logistic{} },
}

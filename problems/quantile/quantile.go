// Package quantile selects the hyperparameters of a quantile regression, the elastic net with the pinball loss, whose
// predictions are below the target in a given share of the rows.
//
// # Formulation
//
// At a level q in (0, 1), a prediction f of a target y costs
//
//	q (y - f) where y >= f,  (1 - q) (f - y) elsewhere
//
// (R. Koenker, G. Bassett, Regression Quantiles, Econometrica 46, 1978), and the losses L on validation and l
// on training rows are means of that. At q = 1/2 it is half the absolute error. The bilevel program is that of package
// elasticnet,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 }.
//
// Errors are mean pinball losses in the user's units. The loss is not smooth, so that there is no linearised variant of
// the method.
package quantile

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is a quantile regression with its data.
type Model struct {
	*regression.Model
	level float64
}

// New checks the rows, split or in folds, the level q, where 0 means 1/2, the median, and the options; without an
// intercept, predictions seldom have the level. It keeps a reference to the data, which must not change.
func New(s dataset.Division, q float64, o Options) (*Model, error) {
	if q == 0 {
		q = 0.5
	}
	if !(q > 0 && q < 1) {
		return nil, fmt.Errorf("quantile: level %v, expected a number between 0 and 1", q)
	}
	net, err := regression.NewNet(s, o, regression.Net{
		Name: "quantile", Kind: regression.Kind{Loss: loss(q)},
	})
	if err != nil {
		return nil, err
	}
	return &Model{net, q}, nil
}

// Level is the q of the model.
func (m *Model) Level() float64 { return m.level }

// loss is the pinball loss, max{0, f - y} - q (f - y).
func loss(level float64) regression.Loss {
	return regression.Loss{
		Sum: func(f convex.Affine, y, weights []float64, sd float64) convex.Convex {
			r := regression.Differences(f, y, sd)
			if weights != nil {
				r = r.MulMat(mat.NewDiagDense(len(weights), weights)) // the loss is positively homogeneous
			}
			return convex.Pos(r).Sum().MinusAffine(r.Sum().Scale(level))
		},
		Value: func(f []float64, y, _ float64) float64 { return max(0, f[0]-y) - level*(f[0]-y) },
		Slope: func(f, y, _ float64) float64 {
			switch {
			case f > y:
				return 1 - level
			case f < y:
				return -level
			}
			return 0
		},
		Residuals: regression.Differences,
		Engine:    func(float64) glm.Loss { return glm.Pinball{Level: level} },
	}
}

package regression

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
)

// Quantile is a quantile regression, [ElasticNet] with the pinball loss, whose predictions are below the target in a
// given share of the rows. At the level q in (0, 1) of [Options], a prediction f of a target y costs
//
//	q (y - f) where y >= f,  (1 - q) (f - y) elsewhere
//
// (R. Koenker, G. Bassett, Regression Quantiles, Econometrica 46, 1978), and the losses L on validation and l
// on training rows are means of that. At q = 1/2 it is half the absolute error. Errors are mean pinball losses in the
// user's units. Without an intercept, predictions seldom have the level. The loss is not smooth, so that there is no
// linearised variant of the method.
func Quantile(s dataset.Division, o Options) (*Model, error) {
	o.Level = cmp.Or(o.Level, 0.5)
	if !(o.Level > 0 && o.Level < 1) {
		return nil, fmt.Errorf("quantile: level %v, expected a number between 0 and 1", o.Level)
	}
	return NewNet(s, o, Net{Name: "quantile", Loss: pinball(o.Level), Takes: []string{"Level"}})
}

// pinball is the pinball loss, max{0, f - y} - q (f - y).
func pinball(level float64) Loss {
	return Loss{
		Sum: func(f convex.Expr, y, weights []float64, sd float64) convex.Expr {
			r := differences(f, y, sd)
			if weights != nil {
				r = convex.Mul(mat.NewDiagDense(len(weights), weights), r) // the loss is positively homogeneous
			}
			return convex.Sub(convex.Sum(convex.Pos(r)), convex.Scale(level, convex.Sum(r)))
		},
		Value: func(f, y []float64, _ float64) float64 { return max(0, f[0]-y[0]) - level*(f[0]-y[0]) },
		Slope: func(f, y, _ float64) float64 {
			switch {
			case f > y:
				return 1 - level
			case f < y:
				return -level
			}
			return 0
		},
		Residuals: differences,
		Engine:    func(float64) glm.Loss { return glm.Pinball{Level: level} },
	}
}

package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Logistic is a sparse logistic regression, a classifier of two labels: [ElasticNet] with the logistic loss. With
// y = -1 for the smaller label and y = 1 for the larger one, a value f = a'b + b0 costs
//
//	log(1 + exp(-y f)),
//
// and the losses L on validation and l on training rows are means of that (K. Koh, S.-J. Kim, S. Boyd, An
// interior-point method for large-scale l1-regularized logistic regression, JMLR 8, 2007, for the lower level). The
// larger label is predicted where f > 0; its estimated probability is 1/(1 + exp(-f)). Errors are mean logistic losses.
// The backend needs exponential cones. The training rows need both labels, and the others may have no third one.
func Logistic(s dataset.Division, o Options) (*Model, error) {
	return logistic(s, o, Net{Name: "logistic", Takes: []string{"Terms"}, Fit: making(fits.Logistic)})
}

// logistic completes a net of the logistic loss.
func logistic(s dataset.Division, o Options, n Net) (*Model, error) {
	return checked(n.Name, s, func() (*Model, error) {
		labels, err := dataset.CheckClasses(s, 2)
		if err != nil {
			return nil, err
		}
		n.Loss, n.KeepTarget, n.Finish = logisticLoss, true, func(f *problems.Fit) { f.Labels = labels }
		n.Advice = problems.Advice{Separable: true, Modes: normModes}
		return n.model(s.Map(func(y float64) float64 { return dataset.Sign(labels, y) }), o)
	})
}

// logisticLoss is the logistic loss of targets -1 and 1, without overflow.
var logisticLoss = Loss{
	Sum: func(f convex.Expr, y, weights []float64, _ float64) convex.Expr {
		minus := slices.Clone(y)
		floats.Scale(-1, minus)
		return total(convex.Logistic(convex.Mul(mat.NewDiagDense(len(minus), minus), f)), weights)
	},
	Value: func(f, y []float64, _ float64) float64 {
		return max(-y[0]*f[0], 0) + math.Log1p(math.Exp(-math.Abs(f[0])))
	},
	Slope:  func(f, y, _ float64) float64 { return -y / (1 + math.Exp(y*f)) },
	Engine: func(float64) glm.Loss { return glm.Logistic{} },
}

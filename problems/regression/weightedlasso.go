package regression

import (
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// WeightedLasso has one hyperparameter for each feature. The bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b_j| <= r_j for each feature j }
//
// is the decoupled form of choosing lambda in min l(b) + sum_j lambda_j |b_j|, the
// example of the tutorial of the authors' program (Gao, Ye, Yin, Zeng, Zhang, ICML 2022). The multipliers
// of the radii, all nonnegative, are the lambda_j.
//
// With as many hyperparameters as features the validation rows are fitted along with the training rows, so that the
// default takes weights of a rung of a ladder, see [problems.Rung].
func WeightedLasso(s dataset.Division, o Options) (*Model, error) {
	fit := func(train, val fits.Rows, intercept bool, _ sparse.Terms) (*fits.Net, error) {
		return fits.NewWeightedLasso(train, val, intercept)
	}
	return NewNet(s, o, weighted("weighted-lasso", making(fit)))
}

// WeightedLogistic is [WeightedLasso] with the loss of [Logistic].
func WeightedLogistic(s dataset.Division, o Options) (*Model, error) {
	return logistic(s, o, weighted("weighted-logistic", making(fits.WeightedLogistic)))
}

// WeightedPoisson is [WeightedLasso] with the loss of [Poisson].
func WeightedPoisson(s dataset.Division, o Options) (*Model, error) {
	return poisson(s, o, weighted("weighted-poisson", making(fits.WeightedPoisson)))
}

// weighted is a net with a hyperparameter for each feature.
func weighted(name string, fit fitter) Net {
	return Net{Name: name, Advice: problems.Advice{Modes: normModes}, spec: func(data *data) (spec, error) {
		if data.observes() {
			if err := data.Measure(fit); err != nil {
				return spec{}, err
			}
		}
		_, p := data.Dims()
		return spec{
			Names: data.Features(), R0: []float64{1}, Settings: weightedSettings, Fit: fit, Advice: data.net.Advice,
			Common:    &glm.Weights{Norm: slices.Repeat([]float64{1}, p)},
			Weights:   func(lambda []float64) *glm.Weights { return &glm.Weights{Norm: lambda} },
			Penalties: func(b, r convex.Expr) []convex.Expr { return []convex.Expr{convex.Sub(convex.Abs(b), r)} },
		}, nil
	}}
}

// weightedSettings are those of the tutorial, the paper's for the elastic net, and ours for free weights, with a
// penalty that keeps the iterates near the solutions of the lower level.
func weightedSettings(path bool) (paper, standard dca.Settings) {
	paper, standard = netSettings(path)
	standard.Alpha0 = 100
	return paper, standard
}

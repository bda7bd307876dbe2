// Package wlasso selects one hyperparameter for each feature of a weighted
// lasso.
//
// # Formulation
//
// The bilevel program, with losses L on validation and l on training rows as in package regression,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b_j| <= r_j for each feature j },
//
// is the decoupled form of choosing lambda in min l(b) + sum_j lambda_j |b_j|, the
// example of the tutorial of the authors' program (Gao, Ye, Yin, Zeng, Zhang, ICML 2022). The multipliers
// of the radii, all nonnegative, are the lambda_j.
//
// With as many hyperparameters as features the validation rows are fitted along with the training rows, so that the default takes weights of a rung of a
// ladder, see [regression.Model.Ladder].
package wlasso

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/lower/sparse"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model; the zero value is the model of the tutorial.
type Options struct {
	// Intercept adds a free constant that is not bounded.
	Intercept bool
	// Standardize works on features and targets in units of their own, the features in that of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// R0 are the start values of the radii, in the unit of the model: one for each feature, or
	// one for all. Nil means 1.
	R0 []float64
}

// Model is a weighted lasso with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling})
	if err != nil {
		return nil, fmt.Errorf("wlasso: %w", err)
	}
	r0, err := regression.Radii(o.R0, data.Features(), 1)
	if err != nil {
		return nil, fmt.Errorf("wlasso: %w", err)
	}
	// Those of the tutorial; rho is that of the authors' program.
	paper := dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100}
	// Ours, where the run goes on (Config.StopFolds), start from a path with a penalty that keeps the iterates near the solutions
	// of the lower level, and take short steps: with a radius for each feature the validation rows are overfitted soon.
	standard := paper
	standard.Alpha0, standard.Rho, standard.MaxIter = 100, 1, 20
	standard.PathStart = data.LambdaMax() > 0
	return &Model{regression.NewModel(data, regression.Spec{
		Name: "weighted-lasso", Names: data.Features(), R0: r0, Path: data.CommonPath(), Paper: paper, Default: standard, StopFolds: 3,
		Common: &glm.Weights{Norm: slices.Repeat([]float64{1}, len(r0))}, Weights: func(lambda []float64) *glm.Weights { return &glm.Weights{Norm: lambda} },
		Penalties: func(b, r convex.Affine) []convex.Convex {
			return []convex.Convex{convex.Abs(b).MinusAffine(r)}
		},
		Fit: func(train, val fits.Rows, intercept bool, _ sparse.Terms) (lower.Fit, error) {
			return fits.NewWeightedLasso(train, val, intercept)
		},
	})}, nil
}

// Modes are those of [fits.Grouped] of single features.
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

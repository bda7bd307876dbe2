// Package elasticnet selects the two hyperparameters of the elastic net, the
// weights of the l1 norm and of half the squared l2 norm of the coefficients.
//
// # Formulation
//
// The bilevel program, with losses L on validation and l on training rows as in package regression,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 },
//
// is the decoupled form of choosing lambda in min l(b) + lambda1 |b|_1 + lambda2/2 |b|_2^2
// (Gao, Ye, Yin, Zeng, Zhang, ICML 2022, section 4 and Supplement C). The multipliers of the two radii,
// both nonnegative, are lambda1 and lambda2.
package elasticnet

import (
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is an elastic net with its data.
type Model = regression.Model

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	return regression.NewNet(s, o, regression.Net{
		Name: "elastic-net", Kind: regression.Kind{Weighing: true, Terms: true}, Fit: regression.Making(fits.ElasticNet),
		Advice: advice,
	})
}

// advice are the ranges of the paper, in which trees of Parzen estimators look further than the other searches, and the
// steps of its experiments by gradients. Those of IGJO are in the unit of Feng and Simon's program, whose losses are
// sums: with n training and m validation rows, its weights are n times ours and its gradient m/n times ours.
func advice(data *regression.Data) problems.Advice {
	train, val := data.Fold(0).Rows()
	n, v := float64(len(train.Y)), float64(len(val.Y))
	unit := v / (n * n)
	return problems.Advice{Paper: problems.Paper{
		Weights: problems.Span{Low: 1e-5, High: 1e-2}, Parzen: problems.Span{Low: 1e-5, High: 1e2},
		IGJO: &hypergradient.Settings{Start: []float64{0.01 / n}, MaxIter: 100, Backtracking: &hypergradient.Backtracking{
			First: unit, Shrink: 0.1, Least: 1e-8 * unit, Share: 1e-3 * v, Enough: 5e-4, Floor: 1e-5 / n,
		}},
		IFDM: &hypergradient.Normalised{Length: 1.5, Shrink: 0.1, Free: 20},
	}}
}

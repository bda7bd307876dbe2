package regression

import (
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// ElasticNet has two hyperparameters, the weights of the l1 norm and of half the squared l2 norm of the coefficients.
// With the losses L on validation and l on training rows of the package comment, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 },
//
// is the decoupled form of choosing lambda in min l(b) + lambda1 |b|_1 + lambda2/2 |b|_2^2
// (Gao, Ye, Yin, Zeng, Zhang, ICML 2022, section 4 and Supplement C). The multipliers of the two radii,
// both nonnegative, are lambda1 and lambda2.
func ElasticNet(s dataset.Division, o Options) (*Model, error) {
	m, err := NewNet(s, o, Net{
		Name: "elastic-net", Weighing: true, Takes: []string{"Terms"},
		Fit: making(fits.ElasticNet), Advice: problems.Advice{Modes: normModes},
	})
	if err != nil {
		return nil, err
	}
	m.spec.Advice.Paper = paperOfNet(m.data)
	return m, nil
}

// paperOfNet are the ranges of the paper, in which trees of Parzen estimators look further than the other searches, and
// the steps of its experiments by gradients. Those of IGJO are in the unit of Feng and Simon's program, whose losses
// are sums: with n training and m validation rows, its weights are n times ours and its gradient m/n times ours.
func paperOfNet(d *data) problems.Paper {
	n, v := float64(len(d.parts[0]().train.Y)), float64(len(d.parts[0]().val.Y))
	unit := v / (n * n)
	return problems.Paper{
		Weights: [2]float64{1e-5, 1e-2}, Parzen: [2]float64{1e-5, 1e2},
		IGJO: &hypergradient.Backtracking{
			Start: 0.01 / n, MaxIter: 100,
			First: unit, Shrink: 0.1, Least: 1e-8 * unit, Share: 1e-3 * v, Enough: 5e-4, Floor: 1e-5 / n,
		},
		IFDM: &hypergradient.Normalised{Length: 1.5, Shrink: 0.1, Free: 20},
	}
}

// Lasso is linear regression with the l1 norm of the coefficients, [ElasticNet] without its other penalty:
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r }.
//
// The multiplier of the radius is lambda in min l(b) + lambda |b|_1.
func Lasso(s dataset.Division, o Options) (*Model, error) {
	return NewNet(s, o, Net{
		Name: "lasso", Penalties: Norm1Alone, Weighing: true, Takes: []string{"Terms"},
		Fit: making(fits.Lasso), Advice: problems.Advice{Modes: normModes},
	})
}

// Ridge is linear regression with half the squared l2 norm of the coefficients, [ElasticNet] without its other penalty:
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : 1/2 |b|_2^2 <= r }.
//
// The multiplier of the radius is lambda in min l(b) + lambda 1/2 |b|_2^2.
func Ridge(s dataset.Division, o Options) (*Model, error) {
	return NewNet(s, o, Net{
		Name: "ridge", Penalties: SquaresAlone, Weighing: true, Takes: []string{"Terms"},
		Fit: making(fits.Ridge), Advice: problems.Advice{Modes: normModes},
	})
}

// BoundedElasticNet is [ElasticNet] with the bounds of [Terms], by default 0 and +Inf, on the coefficients in the
// user's units, which hold for the iterate as for the refit. Bounds must leave room for coefficients of 0.
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2, lower <= b <= upper }
func BoundedElasticNet(s dataset.Division, o Options) (*Model, error) {
	if o.Terms.Lower == nil && o.Terms.Upper == nil {
		o.Terms.Lower = []float64{0}
	}
	return NewNet(s, o, Net{
		Name: "bounded-elastic-net", Weighing: true, Takes: []string{"Terms"},
		Fit: making(fits.ElasticNet), Advice: problems.Advice{Modes: normModes},
	})
}

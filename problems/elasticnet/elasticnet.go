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
	"fmt"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model; the zero value is the model of the paper.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features and targets in units of their own, the features in that of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5), the paper's.
	R0 []float64
	// Terms are penalty factors and bounds of single features.
	Terms regression.Terms
}

// Model is an elastic net with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Weighing: true, Standardize: o.Standardize, Scaling: o.Scaling, Terms: o.Terms})
	if err != nil {
		return nil, fmt.Errorf("elasticnet: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.ElasticNet)
	if err != nil {
		return nil, fmt.Errorf("elasticnet: %w", err)
	}
	spec, err := Spec("elastic-net", data, o.R0)
	if err != nil {
		return nil, fmt.Errorf("elasticnet: %w", err)
	}
	spec.Fit, spec.Weights, spec.Advice = fit, data.SharedWeights(0, 1), advice(data)
	return &Model{regression.NewModel(data, spec)}, nil
}

// Modes are those of [fits.JointNet].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// advice are the ranges of the paper, in which trees of Parzen estimators look further than the other searches, and the steps of its
// experiments by gradients. Those of IGJO are in the unit of Feng and Simon's program, whose losses are sums: with n training and m
// validation rows, its weights are n times ours and its gradient m/n times ours.
func advice(data *regression.Data) problems.Advice {
	train, val, _ := data.Fold(0).Rows()
	n, v := float64(len(train.Y)), float64(len(val.Y))
	unit := v / (n * n)
	return problems.Advice{Paper: problems.Paper{
		Weights: problems.Span{Low: 1e-5, High: 1e-2}, Parzen: problems.Span{Low: 1e-5, High: 1e2},
		IGJO: &problems.IGJO{Start: 0.01 / n, MaxIter: 100, Steps: problems.Backtracking{
			First: unit, Shrink: 0.1, Least: 1e-8 * unit, Share: 1e-3 * v, Enough: 5e-4, Floor: 1e-5 / n,
		}},
		IFDM: &problems.Normalised{Length: 1.5, Shrink: 0.1, Free: 20},
	}}
}

// Spec are the penalties and settings of the elastic net under a name of its own, for models with
// another loss, with the terms of the data. Nil radii to start from mean the paper's.
func Spec(name string, data *regression.Data, r0 []float64) (regression.Spec, error) {
	names := []string{"lambda1", "lambda2"}
	if r0 != nil && len(r0) != len(names) {
		return regression.Spec{}, fmt.Errorf("%d radii to start from, expected 2 (l1, l2)", len(r0))
	}
	r0, err := regression.Radii(r0, names, 10, 5)
	if err != nil {
		return regression.Spec{}, err
	}
	paper := paperSettings()
	rise := 0
	if _, p := data.Dims(); p > manyFeatures {
		rise = pathRise
	}
	return regression.Spec{
		Name: name, Names: names, R0: r0, Path: path(data), PathRise: rise, Paper: paper, Default: closing(paper, data),
		Penalties: func(b, r convex.Affine) []convex.Convex {
			return []convex.Convex{
				data.Norm1(b).MinusAffine(r.At(0)),
				data.HalfSquares(b).MinusAffine(r.At(1)),
			}
		},
		Set: data.Set(),
	}, nil
}

// Single are penalty and settings of an elastic net with one of its penalties alone, under a name of its own; path are the weights of the
// data-driven start. A radius of 0 to start from means the standard one.
func Single(name string, data *regression.Data, r0, standard float64, path []float64, penalty func(b convex.Affine) convex.Convex) (regression.Spec, error) {
	names := []string{"lambda"}
	var given []float64
	if r0 != 0 {
		given = []float64{r0}
	}
	start, err := regression.Radii(given, names, standard)
	if err != nil {
		return regression.Spec{}, err
	}
	var list [][]float64
	for _, l := range path {
		list = append(list, []float64{l})
	}
	return regression.Spec{
		Name: name, Names: names, R0: start, Path: list, Paper: paperSettings(), Default: closing(paperSettings(), data),
		Penalties: func(b, r convex.Affine) []convex.Convex { return []convex.Convex{penalty(b).MinusAffine(r.At(0))} },
		Set:       data.Set(),
	}, nil
}

// paperSettings are those of the paper's experiments. rho is not in the paper but in its authors' program.
func paperSettings() dca.Settings {
	return dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100}
}

// closing are our settings: a start from a path, and a lower-level gap that is closed,
// so that the iterate and the refit agree.
func closing(s dca.Settings, data *regression.Data) dca.Settings {
	s.GapTol, s.MaxIter = 1e-4, 200
	s.PathStart = data.LambdaMax() > 0
	return s
}

// pathPoints is the length of each path for the data-driven start.
const pathPoints = 10

// manyFeatures is the number of features from which on fits with many coefficients in use take so long that the path keeps away from them: it
// goes down twice, and each time no farther than pathRise points beyond the best one.
const manyFeatures, pathRise = 2000, 2

// path goes down with both weights equal, up again with almost no l2 weight, and down once more with the least l1 weight: the
// validation error often has a minimum near each end.
func path(data *regression.Data) [][]float64 {
	down := data.Path(pathPoints)
	var path [][]float64
	for _, l := range down {
		path = append(path, []float64{l, l})
	}
	if _, p := data.Dims(); p > manyFeatures {
		for _, l := range down {
			path = append(path, []float64{l, l / 100})
		}
		return path
	}
	for _, l := range slices.Backward(down) {
		path = append(path, []float64{l, l / 100})
	}
	for _, l := range down[:min(len(down), pathPoints/2)] {
		path = append(path, []float64{down[len(down)-1], l})
	}
	return path
}

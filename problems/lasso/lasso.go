// Package lasso selects the weight of the lasso, linear regression with the l1 norm of the coefficients.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r },
//
// the decoupled form of choosing lambda in min l(b) + lambda |b|_1 (Gao, Ye, Yin, Zeng, Zhang, ICML 2022): the elastic net
// without its other penalty. The multiplier of the radius is lambda.
package lasso

import (
	"fmt"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features and targets of standard deviation 1, and undoes it in the result.
	Standardize bool
	// Scaling is what Standardize brings features to; empty means by the table, see [dataset.Scaling].
	Scaling dataset.Scaling
	// R0 is the start value of the radius, in the unit of the model. 0 means 10.
	R0 float64
}

// Model is the lasso, linear regression with the l1 norm of the coefficients with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling})
	if err != nil {
		return nil, fmt.Errorf("lasso: %w", err)
	}
	names := []string{"lambda"}
	given := []float64{o.R0}
	if o.R0 == 0 {
		given = nil
	}
	r0, err := regression.Radii(given, names, 10)
	if err != nil {
		return nil, fmt.Errorf("lasso: %w", err)
	}
	settings := dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100} // the elastic net's
	ours := settings
	ours.GapTol, ours.MaxIter, ours.PathStart = 1e-4, 200, data.LambdaMax() > 0
	return &Model{regression.NewModel(data, regression.Spec{
		Name: "lasso", Names: names, R0: r0, Path: path(data), Paper: settings, Default: ours,
		Penalties: func(b, r convex.Affine) []convex.Convex {
			return []convex.Convex{convex.Norm1(b).MinusAffine(r.At(0))}
		},
		Fit: func(train, val fits.Rows, intercept bool) (lower.Penalised, error) {
			return fits.LassoFit(train, val, intercept)
		},
	})}, nil
}

// Modes are those of [fits.LassoFit].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// pathPoints is the length of the path for the data-driven start.
const pathPoints = 20

// path goes down from the least weight at which nothing is left.
func path(data *regression.Data) [][]float64 {
	var list [][]float64
	for _, l := range data.Path(pathPoints) {
		list = append(list, []float64{l})
	}
	return list
}

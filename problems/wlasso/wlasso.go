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
// With as many hyperparameters as features the validation rows are fitted along with
// the training rows: the validation error of the result says little about new data unless
// the validation rows outnumber the features.
package wlasso

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model; the zero value is the model of the tutorial.
type Options struct {
	// Intercept adds a free constant that is not bounded.
	Intercept bool
	// Standardize works on features and targets of standard deviation 1, and undoes it in the result.
	Standardize bool
	// R0 are the start values of the radii, in the unit of the model: one for each feature, or
	// one for all. Nil means 1.
	R0 []float64
}

// Model is a weighted lasso with its data.
type Model struct {
	data *regression.Data
	r0   []float64
}

// New checks the split and the options. It keeps a reference to the data, which
// must not change.
func New(s *dataset.Split, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize})
	if err != nil {
		return nil, fmt.Errorf("wlasso: %w", err)
	}
	_, p := data.Dims()
	given := o.R0
	if given == nil {
		given = []float64{1}
	}
	if len(given) != 1 && len(given) != p {
		return nil, fmt.Errorf("wlasso: %d radii to start from, expected one or %d, one for each feature", len(given), p)
	}
	r0 := make([]float64, p)
	for j := range r0 {
		r0[j] = given[min(j, len(given)-1)]
		if !(r0[j] >= 0) || math.IsInf(r0[j], 1) {
			return nil, fmt.Errorf("wlasso: radius of %q is %v, expected a finite number that is not negative", data.Features()[j], r0[j])
		}
	}
	return &Model{data: data, r0: r0}, nil
}

// Name is the name on the command line.
func (m *Model) Name() string { return "weighted-lasso" }

// Names are the names of the features, one for each hyperparameter.
func (m *Model) Names() []string { return m.data.Features() }

// pathPoints is the length of the path for the data-driven start.
const pathPoints = 10

// path goes down with one common weight.
func (m *Model) path() [][]float64 {
	var path [][]float64
	for _, l := range m.data.Path(pathPoints) {
		path = append(path, []float64{l})
	}
	return path
}

// Program is the bilevel program. Its variables are the coefficients and, with an
// intercept, the constant; its hyperparameters are the radii.
func (m *Model) Program() dca.Program {
	return dca.Program{
		Name: m.Name(), H0: m.r0, Radii: len(m.r0), Path: m.path(),
		Build: func(model *convex.Model, h convex.Affine) dca.Level {
			x := m.data.Variables(model)
			return dca.Level{
				X: x, Train: m.data.Train(x), Validation: m.data.Validation(x),
				Residuals:   []convex.Affine{m.data.Residuals(x)},
				Constraints: []convex.Convex{convex.Abs(x[0].Expr()).MinusAffine(h)},
			}
		},
		TrainGradient: func(x [][]float64, _ []float64) ([][]float64, []float64) { return m.data.TrainGradient(x), nil },
		Lipschitz:     m.data.Lipschitz,
	}
}

// Evaluate scores values of the variables by half the mean squared error in the user's units.
func (m *Model) Evaluate(x [][]float64) problems.Errors { return m.data.Evaluate(x) }

// Fit turns values of the variables into a predictor in the user's units.
func (m *Model) Fit(x [][]float64) problems.Fit { return m.data.Fit(x) }

// PaperSettings are those of the tutorial; rho is that of the authors' program.
func (m *Model) PaperSettings() dca.Settings {
	return dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100}
}

// DefaultSettings start from a path with a penalty that keeps the iterates near the
// solutions of the lower level.
func (m *Model) DefaultSettings() dca.Settings {
	s := m.PaperSettings()
	s.Alpha0 = 100
	s.PathStart = m.data.LambdaMax() > 0
	return s
}

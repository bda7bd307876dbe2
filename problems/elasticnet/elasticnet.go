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
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model; the zero value is the model of the paper.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features and targets of standard deviation 1, and undoes it in the result.
	Standardize bool
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5), the paper's.
	R0 []float64
}

// Model is an elastic net with its data.
type Model struct {
	data *regression.Data
	r0   []float64
}

// New checks the split and the options. It keeps a reference to the data, which
// must not change.
func New(s *dataset.Split, o Options) (*Model, error) {
	r0 := []float64{10, 5}
	if o.R0 != nil {
		r0 = o.R0
	}
	if len(r0) != 2 {
		return nil, fmt.Errorf("elasticnet: %d radii to start from, expected 2 (l1, l2)", len(r0))
	}
	for i, r := range r0 {
		if !(r >= 0) || math.IsInf(r, 1) {
			return nil, fmt.Errorf("elasticnet: radius %d is %v, expected a finite number that is not negative", i+1, r)
		}
	}
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize})
	if err != nil {
		return nil, fmt.Errorf("elasticnet: %w", err)
	}
	return &Model{data: data, r0: r0}, nil
}

// Name is the name on the command line.
func (m *Model) Name() string { return "elastic-net" }

// Names are the names of the two hyperparameters, in the order of the radii.
func (m *Model) Names() []string { return []string{"lambda1", "lambda2"} }

// pathPoints is the length of each path for the data-driven start.
const pathPoints = 10

// path goes down with both weights equal, and up again with almost no l2 weight.
func (m *Model) path() [][]float64 {
	down := m.data.Path(pathPoints)
	var path [][]float64
	for _, l := range down {
		path = append(path, []float64{l, l})
	}
	for _, l := range slices.Backward(down) {
		path = append(path, []float64{l, l / 100})
	}
	return path
}

// Program is the bilevel program. Its variables are the coefficients and, with an
// intercept, the constant; its hyperparameters are the two radii.
func (m *Model) Program() dca.Program {
	return dca.Program{
		Name: m.Name(), H0: m.r0, Radii: 2, Path: m.path(),
		Build: func(model *convex.Model, h convex.Affine) dca.Level {
			x := m.data.Variables(model)
			b := x[0].Expr()
			return dca.Level{
				X: x, Train: m.data.Train(x), Validation: m.data.Validation(x),
				Residuals: []convex.Affine{m.data.Residuals(x)},
				Constraints: []convex.Convex{
					convex.Norm1(b).MinusAffine(h.At(0)),
					convex.SumSquares(b).Scale(0.5).MinusAffine(h.At(1)),
				},
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

// PaperSettings are those of the paper's experiments; rho is that of its authors' program.
func (m *Model) PaperSettings() dca.Settings {
	return dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100}
}

// DefaultSettings start from a path and close the lower-level gap, so that the
// iterate and the refit agree.
func (m *Model) DefaultSettings() dca.Settings {
	s := m.PaperSettings()
	s.GapTol, s.MaxIter = 1e-4, 200
	s.PathStart = m.data.LambdaMax() > 0
	return s
}

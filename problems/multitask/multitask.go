// Package multitask selects the hyperparameters of a regression of several targets on the same features, in which a
// feature is used for all targets or for none.
//
// # Formulation
//
// With n rows of p features X, q targets Y and coefficients B (p x q, B_j the row of feature j), a loss is half the mean
// squared error over rows and targets, 1/(2nq) |Y - X B|_F^2, and the bilevel program, with losses L on validation and l on
// training rows,
//
//	minimize   L(B)   over B and r >= 0
//	subject to B solves  min { l(B) : sum_j |B_j|_2 <= r1, 1/2 |B|_F^2 <= r2 }
//
// is the decoupled form of choosing lambda in min l(B) + lambda1 sum_j |B_j|_2 + lambda2/2 |B|_F^2 (G. Obozinski, B. Taskar,
// M. I. Jordan, Joint covariate selection and joint subspace selection for multiple classification problems, Statistics and
// Computing 20, 2010, with the squared norm of the elastic net). The multipliers of the two radii are lambda1 and lambda2.
//
// The one variable holds B row by row, entry (j, k) at j q + k.
//
// # Units
//
// By default the model works in the units of the data and without intercepts. Standardised, features have standard deviation 1 over the
// training rows, and all targets are divided by one number, the root of the mean of their variances, so that errors of
// different targets count as they do in the user's units. Intercepts, which are not penalised, are those of features and targets
// centred at their means over the training rows.
package multitask

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/regression"
)

// Data are n rows of p features, a row of X each, and of q targets, a row of Y each.
type Data struct{ X, Y *mat.Dense }

// Options of the model.
type Options struct {
	// R0 are the start values of the two radii. Nil means (10, 5).
	R0 []float64
	// Intercept adds a constant for each target, Standardize works on features and targets of standard deviation 1, as the
	// package comment says.
	Intercept, Standardize bool
	// Features and Targets are names. Nil means x1, x2, .. and y1, y2, ..
	Features, Targets []string
}

// Model is a multi-task regression with its data. It has the methods of [tune.Model].
//
// [tune.Model]: https://pkg.go.dev/github.com/conetune/conetune/tune#Model
type Model struct {
	user              struct{ train, val, test *Data }
	train, val        *Data // in the unit of the model
	units             units
	p, q              int
	r0                []float64
	features, targets []string
	path              [][]float64
}

// New checks the data, of which test may be nil, and the options. It keeps references to the data, which must not change.
func New(train, val, test *Data, o Options) (*Model, error) {
	m := &Model{}
	m.user.train, m.user.val, m.user.test = train, val, test
	for _, set := range []struct {
		name string
		data *Data
	}{{"training", train}, {"validation", val}, {"test", test}} {
		if set.data == nil && set.name == "test" {
			continue
		}
		if err := m.check(set.data); err != nil {
			return nil, fmt.Errorf("multitask: %s rows: %w", set.name, err)
		}
	}
	var err error
	if m.features, err = named(o.Features, "x", m.p); err != nil {
		return nil, err
	}
	if m.targets, err = named(o.Targets, "y", m.q); err != nil {
		return nil, err
	}
	m.units = newUnits(train, o)
	m.train, m.val = m.units.apply(train), m.units.apply(val)
	given := o.R0
	if given != nil && len(given) != 2 {
		return nil, fmt.Errorf("multitask: %d radii to start from, expected 2 (rows, l2)", len(given))
	}
	if m.r0, err = regression.Radii(given, m.Names(), 10, 5); err != nil {
		return nil, fmt.Errorf("multitask: %w", err)
	}
	const points = 10
	top := m.lambdaMax()
	for i := 0; i < points && top > 0; i++ {
		l := top * math.Pow(1e-3, float64(i+1)/points)
		m.path = append(m.path, []float64{l, l})
	}
	return m, nil
}

// check compares shapes with those of the training rows, which come first, and looks for numbers that are not finite.
func (m *Model) check(d *Data) error {
	if d == nil || d.X == nil || d.Y == nil || d.X.IsEmpty() || d.Y.IsEmpty() {
		return fmt.Errorf("no data")
	}
	n, p := d.X.Dims()
	rows, q := d.Y.Dims()
	if m.p == 0 {
		m.p, m.q = p, q
	}
	switch {
	case rows != n:
		return fmt.Errorf("%d rows of targets for %d rows of features", rows, n)
	case p != m.p:
		return fmt.Errorf("%d features, expected %d", p, m.p)
	case q != m.q:
		return fmt.Errorf("%d targets, expected %d", q, m.q)
	}
	for _, a := range []struct {
		name string
		m    *mat.Dense
	}{{"feature", d.X}, {"target", d.Y}} {
		for i := range n {
			for j, v := range a.m.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%s %d of row %d is %v, expected a finite number", a.name, j, i, v)
				}
			}
		}
	}
	return nil
}

// named returns names, made up where there are none.
func named(given []string, letter string, n int) ([]string, error) {
	if given != nil && len(given) != n {
		return nil, fmt.Errorf("multitask: %d names of %s, expected %d", len(given), letter, n)
	}
	given = slices.Clone(given)
	for j := len(given); j < n; j++ {
		given = append(given, fmt.Sprintf("%s%d", letter, j+1))
	}
	return given, nil
}

// lambdaMax is the weight of the row norms at which B is 0, the largest row norm of X'Y/(nq).
func (m *Model) lambdaMax() float64 {
	var g mat.Dense
	g.Mul(m.train.X.T(), m.train.Y)
	n, _ := m.train.X.Dims()
	most := 0.0
	for j := range m.p {
		most = math.Max(most, mat.Norm(g.RowView(j), 2)/float64(n*m.q))
	}
	return most
}

// Name names the model in results.
func (m *Model) Name() string { return "multi-task" }

// Names are the names of the two hyperparameters.
func (m *Model) Names() []string { return []string{"lambda1", "lambda2"} }

// Program is the bilevel program, with B row by row as its variable.
func (m *Model) Program() dca.Program {
	rows := make([][]int, m.p)
	for j := range rows {
		for k := range m.q {
			rows[j] = append(rows[j], j*m.q+k)
		}
	}
	return dca.Program{
		Name: m.Name(), H0: m.r0, Radii: 2, Path: m.path,
		Build: func(model *convex.Model, r convex.Affine) dca.Level {
			b := model.Variable("B", m.p*m.q)
			residuals := m.residuals(m.train, b.Expr())
			return dca.Level{
				X: []*convex.Variable{b}, Residuals: []convex.Affine{residuals},
				Train: mean(residuals), Validation: mean(m.residuals(m.val, b.Expr())),
				Constraints: []convex.Convex{
					convex.GroupNorms(b.Expr(), rows).Sum().MinusAffine(r.At(0)),
					convex.SumSquares(b.Expr()).Scale(0.5).MinusAffine(r.At(1)),
				},
			}
		},
	}
}

// residuals are X B - Y, one target after the other.
func (m *Model) residuals(d *Data, b convex.Affine) convex.Affine {
	var parts []convex.Affine
	for k := range m.q {
		column := make([]int, m.p)
		for j := range column {
			column[j] = j*m.q + k
		}
		parts = append(parts, b.Pick(column).MulMat(d.X).Minus(convex.Const(mat.Col(nil, k, d.Y)...)))
	}
	return convex.Stack(parts...)
}

func mean(r convex.Affine) convex.Convex { return convex.SumSquares(r).Scale(0.5 / float64(r.Len())) }

// Evaluate scores B by half the mean squared error over rows and targets, in the user's units.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	fit := m.Fit(x)
	return problems.Errors{Validation: score(m.user.val, fit), Test: m.testError(fit)}
}

// testError is nil without test rows.
func (m *Model) testError(fit problems.Fit) *float64 {
	if m.user.test == nil {
		return nil
	}
	e := score(m.user.test, fit)
	return &e
}

// score is half the mean squared error of a predictor.
func score(d *Data, fit problems.Fit) float64 {
	n, q := d.Y.Dims()
	sum := 0.0
	for i := range n {
		for k, v := range fit.Values(d.X.RawRowView(i)) {
			sum += (v - d.Y.At(i, k)) * (v - d.Y.At(i, k))
		}
	}
	return sum / float64(2*n*q)
}

// Fit turns B into a predictor of all targets in the user's units.
func (m *Model) Fit(x [][]float64) problems.Fit {
	return m.units.fit(x[0], m.features, m.targets)
}

// Predict returns the targets of rows X of features in the user's units, for B row by row as in the results of a run.
func (m *Model) Predict(b []float64, x mat.Matrix) *mat.Dense {
	fit := m.Fit([][]float64{b})
	n, _ := x.Dims()
	y := mat.NewDense(n, m.q, nil)
	for i := range n {
		y.SetRow(i, fit.Values(mat.Row(nil, i, x)))
	}
	return y
}

// Refits says that the lower-level solutions are predictors, see [tune.Refitter].
//
// [tune.Refitter]: https://pkg.go.dev/github.com/conetune/conetune/tune#Refitter
func (m *Model) Refits() {}

// Retrain solves the lower level at the radii h with training and validation rows together. The test error is nil without test
// rows. A [*problems.TrainingError] says that the solve ended without a model.
func (m *Model) Retrain(ctx context.Context, backend backends.ConicBackend, o backends.Options, h []float64) (problems.Fit, *float64, error) {
	all := *m
	all.train = &Data{X: stacked(m.train.X, m.val.X), Y: stacked(m.train.Y, m.val.Y)}
	p := all.Program()
	p.H0 = p.StartAt(h, nil)
	low, err := dca.LowerLevel(ctx, p, dca.Settings{Backend: backend, Solver: o})
	if err != nil {
		return problems.Fit{}, nil, err
	}
	if low.X == nil {
		return problems.Fit{}, nil, &problems.TrainingError{Status: low.Status}
	}
	fit := m.Fit(low.X)
	return fit, m.testError(fit), nil
}

func stacked(a, b *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Stack(a, b)
	return &out
}

// PaperSettings are those of the paper for the elastic net.
func (m *Model) PaperSettings() dca.Settings {
	return dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100}
}

// DefaultSettings start from a path and close the lower-level gap.
func (m *Model) DefaultSettings() dca.Settings {
	s := m.PaperSettings()
	s.GapTol, s.MaxIter, s.PathStart = 1e-4, 200, len(m.path) > 0
	return s
}

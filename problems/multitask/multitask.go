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
// The model works in the units of the data and without intercepts: centre and scale before, where that matters. Its one
// variable holds B row by row, entry (j, k) at j q + k.
package multitask

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

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
	// Features and Targets are names. Nil means x1, x2, .. and y1, y2, ..
	Features, Targets []string
}

// Model is a multi-task regression with its data. It has the methods of [tune.Model].
//
// [tune.Model]: https://pkg.go.dev/github.com/conetune/conetune/tune#Model
type Model struct {
	train, val, test *Data
	p, q             int
	r0               []float64
	names            []string // of the coefficients
	path             [][]float64
}

// New checks the data, of which test may be nil, and the options. It keeps references to the data, which must not change.
func New(train, val, test *Data, o Options) (*Model, error) {
	m := &Model{train: train, val: val, test: test}
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
	features, err := named(o.Features, "x", m.p)
	if err != nil {
		return nil, err
	}
	targets, err := named(o.Targets, "y", m.q)
	if err != nil {
		return nil, err
	}
	for _, f := range features {
		for _, t := range targets {
			m.names = append(m.names, f+"/"+t)
		}
	}
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

// Evaluate scores B by half the mean squared error over rows and targets.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	e := problems.Errors{Validation: m.score(m.val, x[0])}
	if m.test != nil {
		t := m.score(m.test, x[0])
		e.Test = &t
	}
	return e
}

func (m *Model) score(d *Data, b []float64) float64 {
	var r mat.Dense
	r.Sub(m.Predict(b, d.X), d.Y)
	n, q := r.Dims()
	norm := mat.Norm(&r, 2) // Frobenius
	return norm * norm / float64(2*n*q)
}

// Predict returns X B for rows X of features and B row by row, as in the results of a run.
func (m *Model) Predict(b []float64, x mat.Matrix) *mat.Dense {
	var y mat.Dense
	y.Mul(x, mat.NewDense(m.p, m.q, b))
	return &y
}

// Fit returns B row by row as coefficients, with the names feature/target; [Model.Predict] applies them.
func (m *Model) Fit(x [][]float64) problems.Fit {
	return problems.Fit{Coefficients: x[0], Features: m.names}
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

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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
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
	// Scaling is the unit of standardised features; the zero value is [dataset.ByDeviation], as tables are dense.
	Scaling dataset.Scaling
	// Features and Targets are names. Nil means x1, x2, .. and y1, y2, ..
	Features, Targets []string
	// Gaps are entries with values of their own in each fold, for [NewFolds]; nil for none.
	Gaps *dataset.Gaps
}

// Model is a multi-task regression with its data. It has the methods of [tune.Model].
//
// [tune.Model]: https://pkg.go.dev/github.com/conetune/conetune/tune#Model
type Model struct {
	parts             []part // one for a split, one for each fold
	all, tests        *Data  // rows of the final fit in the unit of the model, test rows as given or nil
	units             units
	p, q              int
	r0                []float64
	features, targets []string
	path              [][]float64
	left              [][]int // rows that each fold leaves out of all, nil where these are not all that it does not train on
}

// part are the rows of a split or of one fold.
type part struct {
	train, val *Data // in the unit of the model
	user       *Data // the validation rows as given
}

// New checks the data, of which test may be nil, and the options. It keeps references to the data, which must not change.
func New(train, val, test *Data, o Options) (*Model, error) {
	m := &Model{tests: test}
	if err := m.checkSets(namedSet{"training", train}, namedSet{"validation", val}, namedSet{"test", test}); err != nil {
		return nil, err
	}
	m.units = newUnits(train, o)
	one := part{m.units.apply(train), m.units.apply(val), val}
	m.parts = []part{one}
	m.all = &Data{X: stacked(one.train.X, one.val.X), Y: stacked(one.train.Y, one.val.Y)}
	if err := m.prepare(o); err != nil {
		return nil, err
	}
	return m, nil
}

// NewFolds is New for a cross-validation: each fold has coefficients of its own, and all share the radii; losses are means over the
// folds, as in package regression. The final fit is to all rows of d, whose units are those of the model.
func NewFolds(d *Data, folds []split.Fold, test *Data, o Options) (*Model, error) {
	m := &Model{tests: test}
	if err := m.checkSets(namedSet{"cross-validation", d}, namedSet{"test", test}); err != nil {
		return nil, err
	}
	n, _ := d.X.Dims()
	if err := split.CheckFolds(folds, n); err != nil {
		return nil, fmt.Errorf("multitask: %w", err)
	}
	m.units = newUnits(d, o)
	m.all = m.units.apply(d)
	whole := true
	for t, f := range folds {
		all, user := m.all, d
		if o.Gaps != nil {
			x := o.Gaps.Table(&dataset.Data{X: d.X, Y: make([]float64, n)}, t).Dense()
			user = &Data{X: x, Y: d.Y}
			all = m.units.apply(user)
		}
		m.parts = append(m.parts, part{all.rows(f.Train), all.rows(f.Val), user.rows(f.Val)})
		if whole = whole && o.Gaps == nil && len(f.Train)+len(f.Val) == n; whole {
			m.left = append(m.left, f.Val)
		}
	}
	if !whole {
		m.left = nil
	}
	if err := m.prepare(o); err != nil {
		return nil, err
	}
	return m, nil
}

// rows copies some rows.
func (d *Data) rows(index []int) *Data {
	_, p := d.X.Dims()
	_, q := d.Y.Dims()
	out := &Data{X: mat.NewDense(len(index), p, nil), Y: mat.NewDense(len(index), q, nil)}
	for k, i := range index {
		out.X.SetRow(k, d.X.RawRowView(i))
		out.Y.SetRow(k, d.Y.RawRowView(i))
	}
	return out
}

// prepare fills in names, radii and path.
func (m *Model) prepare(o Options) (err error) {
	if m.features, err = named(o.Features, "x", m.p); err != nil {
		return err
	}
	if m.targets, err = named(o.Targets, "y", m.q); err != nil {
		return err
	}
	if m.r0, err = regression.Radii(o.R0, m.Names(), 10, 5); err != nil {
		return fmt.Errorf("multitask: %w", err)
	}
	const points = 10
	top := m.lambdaMax()
	for i := 0; i < points && top > 0; i++ {
		l := top * math.Pow(1e-3, float64(i+1)/points)
		m.path = append(m.path, []float64{l, l})
	}
	return nil
}

type namedSet struct {
	name string
	data *Data
}

// checkSets checks sets, the first of which says how many features and targets there are; no test rows are allowed.
func (m *Model) checkSets(sets ...namedSet) error {
	for _, set := range sets {
		if set.data == nil && set.name == "test" {
			continue
		}
		if err := m.check(set.data); err != nil {
			return fmt.Errorf("multitask: %s rows: %w", set.name, err)
		}
	}
	return nil
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
				if expected := dataset.Expected(v); expected != "" {
					return fmt.Errorf("%s %d of row %d is %v, expected %s", a.name, j, i, v, expected)
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

// lambdaMax is the weight of the row norms at which B is 0, the largest row norm of X'Y/(nq); with folds the largest of theirs.
func (m *Model) lambdaMax() float64 {
	most := 0.0
	for _, part := range m.parts {
		var g mat.Dense
		g.Mul(part.train.X.T(), part.train.Y)
		n, _ := part.train.X.Dims()
		for j := range m.p {
			most = math.Max(most, mat.Norm(g.RowView(j), 2)/float64(n*m.q))
		}
	}
	return most
}

// Name names the model in results.
func (m *Model) Name() string { return "multi-task" }

// Advice is what methods ask of the model, which has no fit of single folds.
func (m *Model) Advice() problems.Advice {
	folds := len(m.parts) > 1
	all := problems.Trainer{Whole: m.whole, Test: m.test}
	return problems.Advice{
		Folds: folds, Predicts: !folds, Together: m.Together,
		Columns: func() *problems.Columns { return regression.Columns(m.units.rows, m.units.intercept) },
		Retrain: all.Radii, RetrainWeighted: all.Weights, TestError: all.Test,
	}
}

// Names are the names of the two hyperparameters.
func (m *Model) Names() []string { return []string{"lambda1", "lambda2"} }

// Program is the bilevel program, with B row by row as its variable, with folds one B after the other.
func (m *Model) Program() dca.Program {
	p := dca.Program{Name: m.Name(), H0: m.r0, Radii: 2, Path: m.path}
	if len(m.parts) == 1 {
		p.Build = m.level(m.parts[0].train, m.parts[0].val, 1)
		return p
	}
	for _, part := range m.parts {
		p.Blocks = append(p.Blocks, m.level(part.train, part.val, 1/float64(len(m.parts))))
	}
	return p
}

// level builds the functions of a split or of a fold, whose losses have a share in the whole.
func (m *Model) level(train, val *Data, share float64) func(*convex.Model, convex.Affine) dca.Level {
	rows := make([][]int, m.p)
	for j := range rows {
		for k := range m.q {
			rows[j] = append(rows[j], j*m.q+k)
		}
	}
	return func(model *convex.Model, r convex.Affine) dca.Level {
		b := model.Variable("B", m.p*m.q)
		residuals := m.residuals(train, b.Expr())
		return dca.Level{
			X: []*convex.Variable{b}, Residuals: []convex.Affine{residuals},
			Train: mean(residuals).Scale(share), Validation: mean(m.residuals(val, b.Expr())).Scale(share),
			Constraints: []convex.Convex{
				convex.GroupNorms(b.Expr(), rows).Sum().MinusAffine(r.At(0)),
				convex.SumSquares(b.Expr()).Scale(0.5).MinusAffine(r.At(1)),
			},
		}
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

// weights are those of the two penalties.
func (m *Model) weights(lambda []float64) *glm.Weights {
	return &glm.Weights{Norm: slices.Repeat(lambda[:1], m.p), L2: slices.Repeat(lambda[1:2], m.p)}
}

// table are rows in the unit of the model, with folds that leave some of them out.
func (m *Model) table(d *Data, left ...[]int) *glm.Table {
	t := &glm.Table{X: d.X, Folds: left}
	for k := range m.q {
		t.Y = append(t.Y, mat.Col(nil, k, d.Y))
	}
	return t
}

// Together is the fit of all folds together, nil for a split.
func (m *Model) Together(ctx context.Context) (lower.Fit, error) {
	n, _ := m.all.X.Dims()
	if m.left == nil || !glm.Fits(n, m.p, len(m.left)) {
		return nil, nil
	}
	fit, err := fits.NewTogether(ctx, m.table(m.all, m.left...), len(m.r0), m.weights)
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// whole is the program of all rows as a [problems.Trainer] wants it.
func (m *Model) whole(ctx context.Context, s problems.Solver, gap float64) (dca.Program, func(x [][]float64) problems.Fit, error) {
	p := dca.Program{Name: m.Name(), H0: m.r0, Radii: 2, Build: m.level(m.all, m.parts[0].val, 1)}
	if !s.Fits {
		return p, m.Fit, nil
	}
	fit, err := fits.NewTogether(ctx, m.table(m.all, nil), len(m.r0), m.weights)
	if err == nil {
		p.Fit = lower.NewChain(fit, gap)
	}
	return p, m.Fit, err
}

// Evaluate scores B by half the mean squared error over rows and targets, in the user's units; with folds by the mean of theirs, and
// without a test error, as none of their fits is the predictor.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	var e problems.Errors
	for t, part := range m.parts {
		e.Validation += score(part.user, m.units.fit(x[t], m.features, m.targets)) / float64(len(m.parts))
	}
	if len(m.parts) == 1 {
		e.Test = m.test(m.Fit(x))
	}
	return e
}

// test is nil without test rows.
func (m *Model) test(fit problems.Fit) *float64 {
	if m.tests == nil {
		return nil
	}
	e := score(m.tests, fit)
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

// Fit turns B into a predictor of all targets in the user's units, with folds the mean of theirs.
func (m *Model) Fit(x [][]float64) problems.Fit {
	b := make([]float64, len(x[0]))
	for _, part := range x {
		floats.AddScaled(b, 1/float64(len(x)), part)
	}
	return m.units.fit(b, m.features, m.targets)
}

// FoldFits are the predictors of the folds in the user's units, in their order; that of a split is its only one.
func (m *Model) FoldFits(x [][]float64) (list []problems.Fit) {
	for _, b := range x {
		list = append(list, m.units.fit(b, m.features, m.targets))
	}
	return list
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

func stacked(a, b *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Stack(a, b)
	return &out
}

// PaperSettings are those of the paper for the elastic net.
func (m *Model) PaperSettings() dca.Settings { return regression.PaperSettings() }

// DefaultSettings start from a path and close the lower-level gap.
func (m *Model) DefaultSettings() dca.Settings {
	return regression.Closing(m.PaperSettings(), len(m.path) > 0)
}

package regression

import (
	"context"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// spec is what tells one penalised regression from another.
type spec struct {
	// Names are the names of the hyperparameters, one for each radius.
	Names []string
	// R0 are the start values of the radii, one for each or one for all.
	R0 []float64
	// Penalties returns P_i(b) - r_i for the coefficients b and the radii r, in the order of
	// Names, in any grouping.
	Penalties func(b, r convex.Expr) []convex.Expr
	// Set are constraints on the variables alone, beside the bounds of [Terms]; nil for none.
	Set func(m *convex.Model, x []*convex.Variable)
	// Path are the weights for the data-driven start, see [dca.Program]; nil for a few that all penalties have in common.
	// PathRise is that of [dca.Program].
	Path     [][]float64
	PathRise int
	// Fit makes the fast fit to training rows, with the loss on validation rows, both in the unit of the model; nil where
	// there is none.
	Fit fitter
	// Weights are those of the penalties at hyperparameters, and Units the features that a norm has together, nil for each
	// alone: see [problems.Advice].Together. Nil where package glm does not know the penalties.
	Weights func(lambda []float64) *glm.Weights
	Units   [][]int
	// Chained says that features stand in an order, as in [glm.Table].
	Chained bool
	// Common are the factors of the weights of the first rung of a ladder, see [problems.Rung], for the norms of units,
	// which have the first hyperparameters, and where there is one for each feature's share in a 1-norm, which has the
	// last; nil for a model of few weights.
	Common *glm.Weights
	// Advice is what the model says beyond what all of them do. AllFeatures says that it selects none of them.
	Advice      problems.Advice
	AllFeatures bool
	// Settings are those of the paper's experiments and ours, for data that have a path or not; nil for those of the
	// elastic net.
	Settings func(path bool) (paper, standard dca.Settings)
}

// Model is a penalised regression with its data: the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : P_i(b) <= r_i, b in X }
//
// with the losses of the package comment and a convex set X, often all vectors. It has the methods of [problems.Model].
//
// With the T folds of a cross-validation each has coefficients b^t of its own, which share the radii: L and l are the
// means over the folds, and P_i(b^t) <= r_i for each t. lambda_i is the multiplier of r_i in all folds together: that
// of a single fold's loss is its mean over the folds.
//
// [problems.Model]: https://pkg.go.dev/github.com/conetune/conetune/problems#Model
type Model struct {
	data *data
	spec spec
	rung *rung // nil for a model of its own
	// hazards are the losses of a Cox regression, which are none of single rows; nil for others.
	hazards *hazards
}

// complete fills in what most models have.
func (s *spec) complete(data *data) {
	if len(s.R0) == 1 {
		s.R0 = slices.Repeat(s.R0, len(s.Names))
	}
	if s.Path == nil {
		s.Path = single(data.Path(netPoints))
	}
	if s.Settings == nil {
		s.Settings = netSettings
	}
}

// Options are those that the model was built with, with the values of those that say what its loss or its penalties
// are in the place of zero.
func (m *Model) Options() Options { return m.data.options }

// Advice is what methods ask of the model.
func (m *Model) Advice() problems.Advice {
	a := m.spec.Advice
	if m.data.outputs == 1 && !m.data.net.noConstant { // else rows do not determine coefficients one by one
		a.Rows, a.Features = m.data.Dims()
		for t := range m.data.held {
			a.Rows = min(a.Rows, m.data.trained(t))
		}
	}
	a.Folds = m.data.Folds() > 1
	a.Predicts = !a.Folds
	if d := m.data; a.Folds && (d.squares() || d.net.KeepTarget && m.hazards == nil) {
		a.Exact = d.sd * d.sd
	}
	a.Fit, a.Together, a.StandardError = m.Penalised, m.foldsTogether, m.standardError
	if !m.spec.AllFeatures {
		a.Columns = m.data.Columns
	}
	if m.spec.Common != nil {
		a.Ladder = m.ladder
	}
	if m.rung != nil && m.rung.full != m { // of a ladder of another model
		a.Losses, a.Compare, a.Spread, a.Used = m.data.losses, m.compare, m.spread, m.used
		if !a.Folds && m.rung.full.spec.Fit != nil {
			a.Deviations, a.Times = m.deviations, m.times
		}
	}
	a.Retrain, a.RetrainWeighted = m.training(problems.Train), m.training(problems.TrainWeighted)
	a.RetrainPath, a.TestError = m.retrainPath, m.test
	return a
}

// test is the test error of a predictor, nil without test rows.
func (m *Model) test(f problems.Fit) *float64 {
	if m.hazards != nil {
		return m.hazards.test(f)
	}
	return m.data.test(f)
}

// Name is the name on the command line.
func (m *Model) Name() string { return m.data.net.Name }

// Names are the names of the hyperparameters, in the order of the radii.
func (m *Model) Names() []string { return m.spec.Names }

// Program is the bilevel program. Its variables are the coefficients and, with an
// intercept, the constant, with folds those of one after the other; its hyperparameters are the radii.
func (m *Model) Program() dca.Program {
	p := dca.Program{Name: m.Name(), H0: m.spec.R0, Radii: len(m.spec.R0), Path: m.spec.Path, PathRise: m.spec.PathRise}
	if folds := m.data.Folds(); folds == 1 {
		p.Build = m.level(0, 1)
	} else {
		for t := range folds {
			p.Blocks = append(p.Blocks, m.level(t, 1/float64(folds)))
		}
	}
	p.Outline = m.outline
	return p
}

// outline builds the variables and penalties of all folds, without the losses.
func (m *Model) outline(model *convex.Model, r convex.Expr) dca.Level {
	var level dca.Level
	for t := range m.data.Folds() {
		x := m.data.variables(model)
		level.X = append(level.X, x...)
		level.Constraints = append(level.Constraints, m.penalties(t, x[0], r)...)
	}
	return level
}

// penalties are those of fold t.
func (m *Model) penalties(t int, b, r convex.Expr) []convex.Expr {
	if m.rung != nil {
		return m.rung.penalties(t, b, r)
	}
	return m.spec.Penalties(b, r)
}

// level builds the functions of a split or of fold t, whose losses have a share in the whole.
func (m *Model) level(t int, share float64) func(*convex.Model, convex.Expr) dca.Level {
	d := m.data
	return func(model *convex.Model, r convex.Expr) dca.Level {
		x, p, unit := d.variables(model), d.parts[t](), 1.0
		if m.hazards != nil {
			unit = m.hazards.unit(p.val)
		}
		level := dca.Level{
			X: x, Train: convex.Scale(share, d.mean(p.train, x)), Validation: convex.Scale(share*unit, d.mean(p.val, x)),
			Constraints: m.penalties(t, x[0], r),
		}
		if residuals := d.loss.Residuals; residuals != nil {
			level.Residuals = []convex.Expr{residuals(d.predictions(p.train, x), slices.Concat(outputs(p.train)...), d.sd)}
		}
		d.bounds(model, x[0])
		if m.spec.Set != nil {
			m.spec.Set(model, x)
		}
		if m.rung != nil {
			m.rung.set(model, t, x[0])
		}
		return level
	}
}

// Penalised is the fast fit of the lower level, nil where there is none. Where the model has none of its own, the
// validation rows of a part are a fold that leaves them out.
func (m *Model) Penalised() (lower.Fit, error) {
	parts := m.data.parts
	if _, fold := m.data.user.(*dataset.CrossValidation); m.spec.Fit == nil {
		if m.spec.Weights == nil || fold && len(parts) == 1 || !m.data.hasRoom() {
			return nil, nil
		}
		return lower.OverFolds(len(parts), func(t int) (lower.Fit, error) {
			return either(m.together(context.Background(), m.data.partTable(parts[t]())))
		})
	}
	return lower.OverFolds(len(parts), func(t int) (lower.Fit, error) {
		terms := m.data.terms
		if m.rung != nil {
			terms = m.rung.terms(t)
		}
		return m.data.fit(m.spec.Fit, parts[t](), terms)
	})
}

// foldsTogether is the fit of all folds together, nil where there is none: for losses and penalties of package glm, and
// folds that leave rows out of the same table.
func (m *Model) foldsTogether(ctx context.Context) (lower.Fit, error) {
	if m.rung != nil {
		return m.rung.fit(ctx)
	}
	if m.spec.Weights == nil {
		return nil, nil
	}
	t, err := m.data.FoldTable(ctx)
	if err != nil || t == nil || t.Gaps != nil && m.spec.Chained {
		return nil, err
	}
	return either(m.together(ctx, t))
}

// FoldTable are the rows of all folds, in the unit of the model, for package glm; nil where a fold has other ones than
// those that it leaves out of the table or more gaps than may be shared, or where there is no memory.
func (d *data) FoldTable(ctx context.Context) (*glm.Table, error) {
	cv, ok := d.user.(*dataset.CrossValidation)
	if !ok {
		return nil, nil
	}
	n, p := cv.Data.Dims()
	if !d.hasRoom() {
		return nil, nil
	}
	var folds [][]int
	for _, f := range cv.Folds {
		if f.Trained(n)+len(f.Val) != n {
			return nil, nil
		}
		folds = append(folds, f.Val)
	}
	if err := problems.Prepare(ctx, n*p); err != nil {
		return nil, err
	}
	t := d.table(d.inUnits(cv.Data), folds...)
	if cv.Gaps != nil {
		if !t.Shares(len(cv.Gaps.Row)) {
			return nil, nil
		}
		t.Gaps = &glm.Gaps{Row: cv.Gaps.Row, Feature: cv.Gaps.Feature, More: cv.Gaps.More(cv.Data)}
		for _, more := range t.Gaps.More {
			for k, j := range t.Gaps.Feature {
				more[k] *= d.Unit(j) / d.sd
			}
		}
	}
	return t, nil
}

// hasRoom says whether there is memory for the rows of all parts as tables of package glm.
func (d *data) hasRoom() bool {
	_, p := d.Dims()
	if len(d.parts) == 1 {
		of := d.parts[0]()
		return glm.Sparse(of.fit.X) || glm.Fits(len(of.fit.Y)+len(of.choose.Y), p, 1)
	}
	return glm.Sparse(d.inUnits(d.user.Table()).X) || glm.Fits(d.trained(0)+len(d.held[0].Y), p, len(d.parts))
}

// table has rows with the terms, and folds that leave some of them out.
func (d *data) table(rows *dataset.Data, folds ...[]int) *glm.Table {
	t := &glm.Table{X: rows.X, Y: outputs(rows), Weights: rows.Weights, Offset: rows.Offset, Folds: folds,
		Intercept: d.intercept(), Lower: d.terms.Lower, Upper: d.terms.Upper}
	if d.loss.Engine != nil {
		t.Loss = d.loss.Engine(d.sd)
	}
	return t
}

// partTable has the rows of a part, and one fold, that leaves those for validation out.
func (d *data) partTable(p part) *glm.Table {
	n := len(p.fit.Y)
	return d.table(dataset.Stack(p.fit, p.choose), indices.Range(n, n+len(p.choose.Y)))
}

// together is the fit of a table in the unit of the model.
func (m *Model) together(ctx context.Context, t *glm.Table) (*fits.Together, error) {
	t.Units, t.Chained = m.spec.Units, m.spec.Chained
	return fits.NewTogether(ctx, t, len(m.spec.R0), m.spec.Weights)
}

// fit is that of a part, which has the same rows for both where it has them for both.
func (d *data) fit(of fitter, p part, terms sparse.Terms) (lower.Fit, error) {
	train := d.fitRows(p.train)
	val := train
	if p.val != p.train {
		val = d.fitRows(p.val)
	}
	return of(train, val, d.intercept(), terms)
}

// fitRows are rows for a fit.
func (d *data) fitRows(rows *dataset.Data) fits.Rows {
	if d.squares() && rows.Weights == nil {
		return fits.SquaresRows(rows.X, rows.Y)
	}
	out := fits.NewRows(rows.X, rows.Y)
	out.Weights, out.Offset = rows.Weights, rows.Offset
	return out
}

// Evaluate scores values of the variables by the mean loss in the user's units, half the mean squared error for
// squares, and Cox regressions by the deviance for each event; with folds without a test error, as none of their fits
// is the predictor.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	var e problems.Errors
	scores := m.scores(x)
	for _, s := range scores {
		e.Validation += s / float64(len(scores))
	}
	if len(scores) == 1 {
		e.Test = m.test(m.Fit(x))
	}
	return e
}

// scores are the validation errors of a split or of each fold.
func (m *Model) scores(x [][]float64) []float64 {
	if m.hazards != nil {
		return m.hazards.deviances(m, x)
	}
	d, parts := m.data, of(m.data, x)
	scores := make([]float64, len(parts))
	crew.All(len(scores), func(t int) { scores[t] = d.score(d.held[t], d.Fit(parts[t])) })
	return scores
}

// standardError is that of the validation error of values of the variables: the standard deviation of the losses of the
// validation rows over the root of their number, by which a row that several repeats validate counts once.
func (m *Model) standardError(x [][]float64) float64 {
	if m.hazards != nil {
		return m.hazards.standardError(m, x)
	}
	losses := m.data.losses(x)
	return problems.StandardError(losses, m.data.valWeights(), m.data.independent(len(losses)))
}

// FoldFits are the predictors of the folds in the user's units, in their order; that of a split is its only one.
func (m *Model) FoldFits(x [][]float64) []problems.Fit {
	var list []problems.Fit
	for _, v := range of(m.data, x) {
		list = append(list, m.Fit(v))
	}
	return list
}

// Fit turns values of the variables into a predictor in the user's units, with folds the mean of theirs.
func (m *Model) Fit(x [][]float64) problems.Fit {
	f := m.data.Fit(x)
	if finish := m.data.net.Finish; finish != nil {
		finish(&f)
	}
	return f
}

// PaperSettings are those of the paper's experiments.
func (m *Model) PaperSettings() dca.Settings {
	paper, _ := m.spec.Settings(m.data.LambdaMax() > 0)
	return paper
}

// DefaultSettings are those that this project recommends.
func (m *Model) DefaultSettings() dca.Settings {
	_, standard := m.spec.Settings(m.data.LambdaMax() > 0)
	return standard
}

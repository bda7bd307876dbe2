// Package cox selects the hyperparameters of a Cox regression, proportional hazards for times until an event of which some are censored, with the penalties of the elastic net.
//
// # Formulation
//
// A row with features a has the hazard h(t) exp(a'b), with a common h that is left open. The loss l of n training rows is the half deviance of the partial likelihood of the
// coefficients b over n, see package survival, with the rule of Breslow or Efron for events at one time. A constant changes nothing, so that there is no intercept. The bilevel
// program is that of package elasticnet,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 }
//
// (N. Simon, J. Friedman, T. Hastie, R. Tibshirani, Regularization paths for Cox's proportional hazards model via coordinate descent, JSS 39, 2011, for the penalty form; lambda1 and
// lambda2 are their lambda alpha and lambda (1 - alpha)).
//
// Rows may have weights, as in coxph of R's survival, and an offset, and features penalty factors and bounds: see package survival and [regression.Terms].
//
// The target of a row is its time, which is not negative, and minus it for a row that was censored then.
//
// # Errors
//
// Errors are partial-likelihood deviances for each event. Of a split, L is that of the validation rows among themselves, as the test error is that of the test rows. With folds, L is what the
// validation rows add to the deviance of the training rows,
//
//	sum_t (D(rows of training and validation; b^t) - D(training rows; b^t)) / number of validation events
//
// (P. Verweij, H. van Houwelingen, Cross-validation in survival analysis, Statistics in Medicine 12, 1993; the default of cv.glmnet), by which small folds are compared with all who
// were at risk. As a difference it is not convex: by folds VF-iDCA searches for the weights along a path and by a compass search. Where iterations are asked for, their
// upper level has the deviances of the validation rows of each fold among themselves, and all errors that are reported, and the selection, are of the former kind.
package cox

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Ties is the rule for events at one time; the zero value is Breslow's.
	Ties survival.Ties
	// Standardize works on features in the unit of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// Terms are penalty factors and bounds of single features.
	Terms regression.Terms
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5).
	R0 []float64
}

// Model is a Cox regression with its data. It has the methods of [tune.Model].
//
// [tune.Model]: https://pkg.go.dev/github.com/conetune/conetune/tune#Model
type Model struct {
	data    *regression.Data
	user    dataset.Division
	options Options
	center  []float64 // means of the features
	parts   []part
	tests   *survival.Likelihood // nil without test rows, or where these compare nothing
	r0      []float64
	path    [][]float64
	deals   float64 // the number of times that rows were dealt out to folds
}

// part are the rows of a split or a fold in the user's units, and their deviances: plus of training and validation rows, and minus of training rows, or plus of validation rows alone.
type part struct {
	*dataset.Split
	plus, minus *survival.Likelihood
	events      float64 // by which the deviance is divided, the sum of their weights
}

// New checks the rows, split or in folds, and the options. Each set of training rows needs an event with others at risk. New keeps a reference to the features, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if err := dataset.Check(s); err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	m := &Model{user: s, options: o}
	if err := m.divide(); err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	var err error
	// Features are centred as with an intercept, which rounds less.
	if m.data, err = regression.New(s, regression.Options{Intercept: true, Standardize: o.Standardize, Scaling: o.Scaling, Terms: o.Terms}, regression.Kind{KeepTarget: true, Terms: true}); err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	if m.r0, err = regression.Radii(o.R0, m.Names(), 10, 5); err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	fit, err := m.Penalised()
	if err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	m.path = regression.TwoPaths(fit.LambdaMax())
	share := make([]float64, len(s.Table().Y))
	for i := range share {
		share[i] = 1 / total(s.Table())
	}
	if w := s.Table().Weights; w != nil {
		floats.Mul(share, w)
	}
	m.center = s.Table().MulTrans(share)
	return m, nil
}

// divide makes the parts, and checks the times.
func (m *Model) divide() error {
	parts := m.user.Parts()
	events, rows := 0.0, 0
	for _, s := range parts {
		for _, d := range []*dataset.Data{s.Train, s.Val} {
			if err := survival.Check(d.Y); err != nil {
				return err
			}
		}
		events, rows = events+m.likelihood(s.Val).Weight(), rows+len(s.Val.Y)
	}
	if events == 0 {
		return fmt.Errorf("no event in the rows for validation")
	}
	m.deals = float64(rows) / float64(len(m.user.Table().Y))
	for _, s := range parts {
		one := part{Split: s, events: events / float64(len(parts))}
		if len(parts) > 1 {
			one.plus, one.minus = m.together(s.Train, s.Val), m.likelihood(s.Train)
		} else {
			one.plus = m.likelihood(s.Val)
		}
		m.parts = append(m.parts, one)
	}
	if tests := m.user.Tests(); tests != nil {
		if err := survival.Check(tests.Y); err != nil {
			return fmt.Errorf("test rows: %w", err)
		}
		if l := m.likelihood(tests); l.HalfDeviance(make([]float64, len(tests.Y))) > 0 {
			m.tests = l
		}
	}
	return nil
}

// Ties is the rule for events at one time.
func (m *Model) Ties() survival.Ties { return m.options.Ties }

// likelihood is that of rows among themselves.
func (m *Model) likelihood(d *dataset.Data) *survival.Likelihood {
	return survival.New(d.Y, d.Weights, m.options.Ties)
}

// together is that of rows of both.
func (m *Model) together(a, b *dataset.Data) *survival.Likelihood {
	all := &dataset.Data{Y: both(a.Y, b.Y)}
	if a.Weights != nil || b.Weights != nil {
		all.Weights = both(weights(a), weights(b))
	}
	return m.likelihood(all)
}

// weights are those of rows, ones where there are none.
func weights(d *dataset.Data) []float64 {
	if d.Weights == nil {
		return slices.Repeat([]float64{1}, len(d.Y))
	}
	return d.Weights
}

func both(a, b []float64) []float64 { return append(append([]float64(nil), a...), b...) }

// Name is the name on the command line.
func (m *Model) Name() string { return "cox" }

// Advice is what methods ask of the model.
func (m *Model) Advice() problems.Advice {
	folds := len(m.parts) > 1
	all := problems.Trainer{Whole: m.whole, Test: m.test}
	return problems.Advice{
		Folds: folds, Predicts: !folds, Fit: m.Penalised, Together: m.Together, StandardError: m.StandardError,
		Columns: m.data.Columns, Retrain: all.Radii, RetrainWeighted: all.Weights, RetrainPath: all.Path,
		TestError: all.Test,
	}
}

// Names are the names of the two hyperparameters.
func (m *Model) Names() []string { return []string{"lambda1", "lambda2"} }

// Modes are those of [fits.Net].
func (*Model) Modes() []lower.Mode { return []lower.Mode{lower.Adjoint, lower.Forward} }

// Penalised is the fast fit of the lower level.
func (m *Model) Penalised() (lower.Fit, error) {
	return lower.OverFolds(len(m.parts), func(t int) (lower.Fit, error) {
		train, val, _ := m.data.Fold(t).Rows()
		o := fits.CoxOptions{Ties: m.options.Ties, Grouped: len(m.parts) > 1, Events: m.parts[t].events, Terms: m.data.Terms()}
		return regression.Either(fits.NewCox(rowsOf(train), rowsOf(val), o))
	})
}

// Together is the fit of all folds together, nil where there is none.
func (m *Model) Together(ctx context.Context) (lower.Fit, error) {
	t, err := m.data.FoldTable(ctx)
	if err != nil || t == nil {
		return nil, err
	}
	t.Intercept, t.Loss = false, glm.Hazards{Ties: m.options.Ties, Unit: m.parts[0].events / 2}
	fit, err := fits.NewTogether(ctx, t, 2, m.data.SharedWeights(0, 1))
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// Fit turns values of the variables into a predictor in the user's units, with folds the mean of theirs. Its value is the logarithm of the hazard of a row beside that of a row whose features
// are the means of the table.
func (m *Model) Fit(x [][]float64) problems.Fit { return m.fit(m.data, x) }

func (m *Model) fit(data *regression.Data, x [][]float64) problems.Fit {
	f := data.Fit(x)
	f.Intercept = 0
	if v := floats.Dot(f.Coefficients, m.center); v != 0 {
		f.Intercept = -v
	}
	f.Hazard = true
	return f
}

// FoldFits are the predictors of the folds in the user's units, in their order; that of a split is its only one.
func (m *Model) FoldFits(x [][]float64) (list []problems.Fit) {
	for t := range m.parts {
		list = append(list, m.fit(m.data.Fold(t), x[t:t+1]))
	}
	return list
}

// values of rows by a predictor.
func values(d *dataset.Data, f problems.Fit) []float64 {
	out := d.Mul(f.Coefficients)
	floats.AddConst(f.Intercept, out)
	if d.Offset != nil {
		floats.Add(out, d.Offset)
	}
	return out
}

// deviances of the validation rows of each part.
func (m *Model) deviances(x [][]float64) (list []float64) {
	for t, f := range m.FoldFits(x) {
		p := m.parts[t]
		v := values(p.Val, f)
		if p.minus == nil {
			list = append(list, 2*p.plus.HalfDeviance(v))
			continue
		}
		u := values(p.Train, f)
		list = append(list, 2*(p.plus.HalfDeviance(both(u, v))-p.minus.HalfDeviance(u)))
	}
	return list
}

// Baseline is Breslow's estimate of the cumulative hazard of a row of value 0, by all rows for training and validation.
func (m *Model) Baseline(f problems.Fit) survival.Baseline {
	rows := m.user.Table()
	if len(m.parts) == 1 {
		rows = dataset.Stack(m.parts[0].Train, m.parts[0].Val)
	}
	return m.likelihood(rows).At(values(rows, f), nil).Baseline()
}

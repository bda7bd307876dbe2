// Package cox selects the hyperparameters of a Cox regression, proportional hazards for times until an event of which
// some are censored, with the penalties of the elastic net.
//
// # Formulation
//
// A row with features a has the hazard h(t) exp(a'b), with a common h that is left open. The loss l of n training rows
// is the half deviance of the partial likelihood of the coefficients b over n, see package survival, with the rule of
// Breslow or Efron for events at one time. A constant changes nothing, so that there is no intercept. The bilevel
// program is that of package elasticnet,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 }
//
// (N. Simon, J. Friedman, T. Hastie, R. Tibshirani, Regularization paths for Cox's proportional hazards model via
// coordinate descent, JSS 39, 2011, for the penalty form; lambda1 and lambda2 are their lambda alpha and lambda (1 -
// alpha)).
//
// Rows may have weights, as in coxph of R's survival, and an offset, and features penalty factors and bounds: see
// package survival and [regression.Terms].
//
// The target of a row is its time, which is not negative, and minus it for a row that was censored then.
//
// # Errors
//
// Errors are partial-likelihood deviances for each event. Of a split, L is that of the validation rows among
// themselves, as the test error is that of the test rows. With folds, L is what the validation rows add to the deviance
// of the training rows,
//
//	sum_t (D(rows of training and validation; b^t) - D(training rows; b^t)) / number of validation events
//
// (P. Verweij, H. van Houwelingen, Cross-validation in survival analysis, Statistics in Medicine 12, 1993; the default
// of cv.glmnet), by which small folds are compared with all who were at risk. As a difference it is not convex: by
// folds VF-iDCA searches for the weights along a path and by a compass search. Where iterations are asked for, their
// upper level has the deviances of the validation rows of each fold among themselves, and all errors that are reported,
// and the selection, are of the former kind.
package cox

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
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

// Model is a Cox regression with its data.
type Model struct {
	*regression.Model
	user   dataset.Division
	ties   survival.Ties
	parts  []part
	events float64              // of a part, by which its deviance is divided, the sum of their weights
	tests  *survival.Likelihood // nil without test rows, or where these compare nothing
	deals  float64              // the number of times that rows were dealt out to folds
}

// part are the rows of a split or a fold in the user's units, and their deviances: plus of training and validation
// rows, and minus of training rows, or plus of validation rows alone.
type part struct {
	*dataset.Split
	plus, minus *survival.Likelihood
}

// New checks the rows, split or in folds, and the options. Each set of training rows needs an event with others at
// risk. New keeps a reference to the features, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if err := dataset.Check(s); err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	m := &Model{user: s, ties: o.Ties}
	if err := m.divide(); err != nil {
		return nil, fmt.Errorf("cox: %w", err)
	}
	share := slices.Clone(weights(s.Table()))
	floats.Scale(1/total(s.Table()), share)
	center := s.Table().MulTrans(share) // means of the features
	// Features are centred as with an intercept, which rounds less.
	options := regression.Options{Intercept: true, Standardize: o.Standardize, Scaling: o.Scaling, Terms: o.Terms, R0: o.R0}
	kind := regression.Kind{Loss: m.loss(), NoConstant: true, KeepTarget: true, Terms: true}
	var err error
	m.Model, err = regression.Make("cox", s, options, kind, func(data *regression.Data) (regression.Spec, error) {
		if err := data.Measure(m.fit); err != nil {
			return regression.Spec{}, err
		}
		return regression.Spec{
			Name: "cox", Names: []string{"lambda1", "lambda2"}, R0: []float64{10, 5}, Fit: m.fit,
			Path: regression.TwoPaths(data.LambdaMax()), PathRise: pathRise,
			Advice:    problems.Advice{Modes: []lower.Mode{lower.Adjoint, lower.Forward}},
			Penalties: data.Shared(0, 1), Weights: data.SharedWeights(0, 1),
			ValidationUnit: func(val *dataset.Data) float64 { return 2 * total(val) / m.events }, Test: m.test,
			Finish: func(f *problems.Fit) {
				f.Hazard = true
				if f.Intercept = 0; floats.Dot(f.Coefficients, center) != 0 {
					f.Intercept = -floats.Dot(f.Coefficients, center)
				}
			},
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// pathRise is how many points of a path may be worse than the best one before it is left: further down are the fits of
// many coefficients, which take longest.
const pathRise = 3

// divide makes the parts, and checks the times.
func (m *Model) divide() error {
	parts := m.user.Parts()
	rows := 0
	for _, s := range parts {
		for _, d := range []*dataset.Data{s.Train, s.Val} {
			if err := survival.Check(d.Y); err != nil {
				return err
			}
		}
		m.events, rows = m.events+m.likelihood(s.Val).Weight(), rows+len(s.Val.Y)
	}
	m.events /= float64(len(parts))
	if m.events == 0 {
		return fmt.Errorf("no event in the rows for validation")
	}
	m.deals = float64(rows) / float64(len(m.user.Table().Y))
	for _, s := range parts {
		one := part{Split: s}
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
func (m *Model) Ties() survival.Ties { return m.ties }

// likelihood is that of rows among themselves.
func (m *Model) likelihood(d *dataset.Data) *survival.Likelihood {
	return survival.New(d.Y, d.Weights, m.ties)
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

// total is the sum of the weights of rows.
func total(d *dataset.Data) float64 {
	if d.Weights == nil {
		return float64(len(d.Y))
	}
	return floats.Sum(d.Weights)
}

// fit is that of a split, of a fold, whose validation loss takes in the training rows, or of all rows, by which nothing
// is chosen.
func (m *Model) fit(train, val fits.Rows, _ bool, t sparse.Terms) (lower.Fit, error) {
	o := fits.CoxOptions{Ties: m.ties, Grouped: len(m.parts) > 1 && val.X != train.X, Events: m.events, Terms: t}
	return regression.Either(fits.NewCox(train, val, o))
}

// loss is the half deviance of rows among themselves, which is none of single rows.
func (m *Model) loss() regression.Loss {
	return regression.Loss{
		Sum: func(f convex.Affine, y, weights []float64, _ float64) convex.Convex {
			lists := survival.New(y, weights, m.ties).Lists()
			minus := make([]float64, len(y))
			for k, i := range lists.Event {
				minus[i] = -lists.EventWeight[k]
			}
			out := convex.Linear(f.Dot(minus).Plus(convex.Const(lists.Constant)))
			risks := f.Pick(lists.Row).Plus(convex.Const(lists.Offset...))
			groups := map[float64][][]int{} // by their weight
			for k, group := range lists.Group {
				groups[lists.Weight[k]] = append(groups[lists.Weight[k]], group)
			}
			for _, weight := range slices.Sorted(maps.Keys(groups)) {
				out = out.Plus(convex.LogSumExp(risks, groups[weight]).Sum().Scale(weight))
			}
			return out
		},
		Engine: func(float64) glm.Loss { return glm.Hazards{Ties: m.ties, Unit: m.events / 2} },
	}
}

// Advice is what methods ask of the model.
func (m *Model) Advice() problems.Advice {
	a := m.Model.Advice()
	a.StandardError = m.StandardError
	return a
}

// deviances of the validation rows of each part.
func (m *Model) deviances(x [][]float64) (list []float64) {
	for t, f := range m.FoldFits(x) {
		p := m.parts[t]
		v := regression.Values(p.Val, f)
		if p.minus == nil {
			list = append(list, 2*p.plus.HalfDeviance(v))
			continue
		}
		u := regression.Values(p.Train, f)
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
	return m.likelihood(rows).At(regression.Values(rows, f), nil).Baseline()
}

// Evaluate scores values of the variables by the deviance for each event; with folds without a test error, as none of
// their fits is the predictor.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	var e problems.Errors
	for _, v := range m.deviances(x) {
		e.Validation += v / m.events / float64(len(m.parts))
	}
	if len(m.parts) == 1 {
		e.Test = m.test(m.Fit(x))
	}
	return e
}

// StandardError is that of the validation error: by the spread of the folds, of which those of further deals do not
// count, and of a split by that of the events.
func (m *Model) StandardError(x [][]float64) float64 {
	if len(m.parts) == 1 {
		p := m.parts[0]
		losses, weights := p.plus.At(regression.Values(p.Val, m.Fit(x)), nil).EventLosses()
		return 2 * regression.StandardError(losses, weights, len(losses))
	}
	list := m.deviances(x)
	for t := range list {
		list[t] /= m.events
	}
	return stat.StdDev(list, nil) / math.Sqrt(float64(len(list))/math.Max(1, m.deals))
}

// test is the deviance of a predictor on the test rows for each event, nil where there are none or where nobody else is
// at risk at the events.
func (m *Model) test(f problems.Fit) *float64 {
	if m.tests == nil {
		return nil
	}
	e := 2 * m.tests.HalfDeviance(regression.Values(m.user.Tests(), f)) / m.tests.Weight()
	return &e
}

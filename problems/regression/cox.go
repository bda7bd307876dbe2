package regression

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Cox is a Cox regression, proportional hazards for times until an event of which some are censored, with the penalties
// of [ElasticNet]. The target of a row is its time, which is not negative, and minus it for a row that was censored
// then. Each set of training rows needs an event with others at risk.
//
// A row with features a has the hazard h(t) exp(a'b), with a common h that is left open. The loss l of n training rows
// is the half deviance of the partial likelihood of the coefficients b over n, see package survival, with the rule of
// Breslow or Efron, [Options].Ties, for events at one time. A constant changes nothing, so that there is no intercept
// (N. Simon, J. Friedman, T. Hastie, R. Tibshirani, Regularization paths for Cox's proportional hazards model via
// coordinate descent, JSS 39, 2011, for the penalty form; lambda1 and lambda2 are their lambda alpha and lambda (1 -
// alpha)). Rows may have weights, as in coxph of R's survival, and an offset.
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
func Cox(s dataset.Division, o Options) (*Model, error) {
	o.Ties = cmp.Or(o.Ties, survival.Breslow.String())
	return checked("cox", s, func() (*Model, error) {
		h, err := newHazards(s, o.Ties)
		if err != nil {
			return nil, err
		}
		share := slices.Clone(s.Table().RowWeights())
		floats.Scale(1/floats.Sum(share), share)
		center := s.Table().MulTrans(share) // means of the features
		o.Intercept = true                  // features are centred as with one, which rounds less
		n := Net{
			Name: "cox", Loss: h.loss(), KeepTarget: true, Takes: []string{"Terms", "Ties"}, noConstant: true,
			Fit: h.fit, rise: riseOfHazards, Advice: problems.Advice{Modes: []lower.Mode{lower.Adjoint, lower.Forward}},
			Finish: func(f *problems.Fit) {
				f.Hazard = true
				if f.Intercept = 0; floats.Dot(f.Coefficients, center) != 0 {
					f.Intercept = -floats.Dot(f.Coefficients, center)
				}
			},
		}
		m, err := n.model(s, o)
		if err == nil {
			m.hazards = h
		}
		return m, err
	})
}

// riseOfHazards is how many points of a path may be worse than the best one before it is left: further down are the
// fits of many coefficients, which take longest.
const riseOfHazards = 3

// hazards are the losses of a Cox regression.
type hazards struct {
	user    dataset.Division
	ties    survival.Ties
	parts   []hazardsPart
	events  float64              // of a part, by which its deviance is divided, the sum of their weights
	tests   *survival.Likelihood // nil without test rows, or where these compare nothing
	repeats float64              // the number of times that rows were split into folds
}

// hazardsPart are the rows of a split or a fold in the user's units, and their deviances: plus of training and
// validation rows, and minus of training rows, or plus of validation rows alone.
type hazardsPart struct {
	*dataset.Split
	plus, minus *survival.Likelihood
}

// newHazards checks the times and the name of the rule for ties.
func newHazards(s dataset.Division, ties string) (*hazards, error) {
	rule, err := survival.ParseTies(ties)
	if err != nil {
		return nil, err
	}
	h, parts, rows := &hazards{user: s, ties: rule}, s.Parts(), 0
	for _, s := range parts {
		for _, d := range []*dataset.Data{s.Train, s.Val} {
			if err := survival.Check(d.Y); err != nil {
				return nil, err
			}
		}
		h.events, rows = h.events+h.likelihood(s.Val).Weight(), rows+len(s.Val.Y)
	}
	h.events /= float64(len(parts))
	if h.events == 0 {
		return nil, fmt.Errorf("no event in the rows for validation")
	}
	h.repeats = float64(rows) / float64(len(s.Table().Y))
	h.parts = make([]hazardsPart, len(parts))
	crew.All(len(parts), func(t int) {
		s := parts[t]
		one, rows := hazardsPart{Split: s}, s.Val
		if len(parts) > 1 {
			one.minus, rows = h.likelihood(s.Train), dataset.Stack(s.Train, s.Val)
		}
		one.plus = h.likelihood(rows)
		h.parts[t] = one
	})
	if tests := s.Tests(); tests != nil {
		if err := survival.Check(tests.Y); err != nil {
			return nil, fmt.Errorf("test rows: %w", err)
		}
		if l := h.likelihood(tests); l.HalfDeviance(make([]float64, len(tests.Y))) > 0 {
			h.tests = l
		}
	}
	return h, nil
}

// likelihood is that of rows among themselves.
func (h *hazards) likelihood(d *dataset.Data) *survival.Likelihood {
	return survival.New(d.Y, d.Weights, h.ties)
}

// fit is that of a split, of a fold, whose validation loss takes in the training rows, or of all rows, by which nothing
// is chosen.
func (h *hazards) fit(train, val fits.Rows, _ bool, t sparse.Terms) (lower.Fit, error) {
	o := fits.CoxOptions{Ties: h.ties, Grouped: len(h.parts) > 1 && val.X != train.X, Events: h.events, Terms: t}
	return either(fits.NewCox(train, val, o))
}

// unit is what the mean loss of the validation rows of a part is multiplied by to be its error.
func (h *hazards) unit(val *dataset.Data) float64 { return 2 * floats.Sum(val.RowWeights()) / h.events }

// loss is the half deviance of rows among themselves, which is none of single rows.
func (h *hazards) loss() Loss {
	return Loss{
		Sum: func(f convex.Expr, y, weights []float64, _ float64) convex.Expr {
			lists := survival.New(y, weights, h.ties).Lists()
			minus := make([]float64, len(y))
			for k, i := range lists.Event {
				minus[i] = -lists.EventWeight[k]
			}
			out := convex.Add(convex.Dot(minus, f), lists.Constant)
			risks := convex.Add(convex.Pick(f, lists.Row), lists.Offset)
			groups := map[float64][][]int{} // by their weight
			for k, group := range lists.Group {
				groups[lists.Weight[k]] = append(groups[lists.Weight[k]], group)
			}
			for _, weight := range slices.Sorted(maps.Keys(groups)) {
				out = convex.Add(out, convex.Scale(weight, convex.Sum(convex.LogSumExp(risks, groups[weight]...))))
			}
			return out
		},
		Engine: func(float64) glm.Loss { return glm.Hazards{Ties: h.ties, Unit: h.events / 2} },
	}
}

// deviances of the validation rows of each part, for each event.
func (h *hazards) deviances(m *Model, x [][]float64) []float64 {
	fits := m.FoldFits(x)
	list := make([]float64, len(fits))
	crew.All(len(list), func(t int) {
		p := h.parts[t]
		v := valuesOf(p.Val, fits[t])
		if p.minus == nil {
			list[t] = 2 * p.plus.HalfDeviance(v) / h.events
			return
		}
		u := valuesOf(p.Train, fits[t])
		list[t] = 2 * (p.plus.HalfDeviance(slices.Concat(u, v)) - p.minus.HalfDeviance(u)) / h.events
	})
	return list
}

// Baseline is Breslow's estimate of the cumulative hazard of a row of value 0, by all rows for training and validation;
// nil for models that have no hazards.
func (m *Model) Baseline(f problems.Fit) *survival.Baseline {
	h := m.hazards
	if h == nil {
		return nil
	}
	rows := h.user.Table()
	if len(h.parts) == 1 {
		rows = dataset.Stack(h.parts[0].Train, h.parts[0].Val)
	}
	b := h.likelihood(rows).At(valuesOf(rows, f), nil).Baseline()
	return &b
}

// standardError is that of the validation error: by the spread of the folds, of which those of further repeats do not
// count, and of a split by that of the events.
func (h *hazards) standardError(m *Model, x [][]float64) float64 {
	if len(h.parts) == 1 {
		p := h.parts[0]
		losses, weights := p.plus.At(valuesOf(p.Val, m.Fit(x)), nil).EventLosses()
		return 2 * problems.StandardError(losses, weights, len(losses))
	}
	list := h.deviances(m, x)
	return stat.StdDev(list, nil) / math.Sqrt(float64(len(list))/math.Max(1, h.repeats))
}

// test is the deviance of a predictor on the test rows for each event, nil where there are none or where nobody else is
// at risk at the events.
func (h *hazards) test(f problems.Fit) *float64 {
	if h.tests == nil {
		return nil
	}
	e := 2 * h.tests.HalfDeviance(valuesOf(h.user.Tests(), f)) / h.tests.Weight()
	return &e
}

package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/internal/lower/survival"
)

// The kinds of a [Loss].
const (
	Huber       = "huber"
	Pinball     = "pinball"
	Logistic    = "logistic"
	Hinge       = "hinge"
	Multinomial = "multinomial"
	Cox         = "cox"
)

// Loss is what is lost at the value f of a row, with the target y, or -1 and 1 for the first and the second label.
type Loss struct {
	// Kind is Huber, with d the Threshold: (f-y)^2/2 within d of the target and d(|f-y| - d/2) beyond; Pinball, with q
	// the Level: max{0, f-y} - q(f-y); Logistic: log(1 + exp(-yf)); Hinge: max{0, 1-yf}, or its square; Multinomial: the
	// logarithm of the sum of the exponentials of the values of all classes, less that of the row's; or Cox: no loss of
	// single rows, but the partial-likelihood deviance of all for each event.
	Kind string `json:"kind"`
	// Threshold is in the unit of the target.
	Threshold float64 `json:"threshold,omitempty"`
	// Level is the share of targets below the predictions.
	Level float64 `json:"level,omitempty"`
	// Squared says that Hinge is squared.
	Squared bool `json:"squared,omitempty"`
	// Ties is the rule of Cox for events at one time, see [survival.ParseTies].
	Ties string `json:"ties,omitempty"`
	// ClassWeights weigh the losses of the labels, in their order.
	ClassWeights []float64 `json:"class_weights,omitempty"`
}

// lossAt is the loss of a row; without a [Loss] half the squared error, or half the Poisson deviance of a count.
func (m *Model) lossAt(f, y float64) float64 {
	l := m.Loss
	switch {
	case l == nil && m.LogLink:
		return deviance.HalfPoisson(y, math.Exp(f), f)
	case l == nil:
		return (f - y) * (f - y) / 2
	case l.Kind == Huber && math.Abs(f-y) > l.Threshold:
		return l.Threshold * (math.Abs(f-y) - l.Threshold/2)
	case l.Kind == Huber:
		return (f - y) * (f - y) / 2
	case l.Kind == Pinball:
		return max(0, f-y) - l.Level*(f-y)
	case l.Kind == Logistic:
		return evaluate.Softplus(-y * f)
	}
	short := max(0, 1-y*f)
	if l.Squared {
		short *= short
	}
	return short
}

// Classes says that the model is a classifier with a value for each class, whose names are the Targets.
func (m *Model) Classes() bool { return m.Labels != nil && m.Targets != nil }

// Times says that the model is one of hazards, whose targets are times until an event, negative for censored rows, and
// whose values are logarithms of hazards beside that of the Baseline.
func (m *Model) Times() bool { return m.Loss != nil && m.Loss.Kind == Cox }

// Class is the label of the largest of the values of the classes, see [Model.PredictTargets], or by the Threshold.
func (m *Model) Class(values []float64) float64 {
	last := len(values) - 1
	switch {
	case m.Threshold == nil:
		last = floats.MaxIdx(values)
	case !(evaluate.Softmax(values)[last] > *m.Threshold):
		last = floats.MaxIdx(values[:last])
	}
	return m.Labels[last]
}

// Score sums the losses of rows.
type Score struct {
	model *Model
	// Rows are those that were scored, Strange those whose label is none of the model.
	Rows, Strange int

	sum, weights float64
	each, wrong  float64       // the weights of all rows of a classifier and of those with a wrong label
	times        survival.Part // the rows of a model of times
}

// NewScore is the score of no rows.
func (m *Model) NewScore() *Score { return &Score{model: m} }

// add scores a row of a loss, with its weight in the mean.
func (s *Score) add(loss, w float64) {
	s.Rows++
	s.weights += w
	s.sum += w * loss
}

// Add scores a row by its [Model.Value] and its target, a NaN where it has none.
func (s *Score) Add(value, y float64) { s.AddTargets([]float64{value}, []float64{y}, 1) }

// AddTargets scores a row with a weight by its [Model.Value] and its target, or by its values of
// [Model.PredictTargets]: of classes by its label, and of several targets, all of which must be there, by the mean over
// them. A row without a positive weight is not scored.
func (s *Score) AddTargets(values, y []float64, w float64) {
	m := s.model
	switch {
	case !(w > 0) || floats.HasNaN(y):
	case m.Times():
		if survival.Check(y) == nil {
			t := &s.times
			t.Y, t.F, t.Weights = append(t.Y, y[0]), append(t.F, values[0]), append(t.Weights, w)
			s.Rows++
		}
	case m.Labels != nil:
		k := slices.Index(m.Labels, y[0])
		if k < 0 {
			s.Strange++
			return
		}
		predicted, loss := m.label(values[0]), m.lossAt(values[0], 2*float64(k)-1)
		if m.Classes() {
			predicted, loss = m.Class(values), math.Max(0, floats.LogSumExp(values)-values[k])
		}
		if s.each += w; predicted != y[0] {
			s.wrong += w
		}
		if weights := m.Loss.ClassWeights; weights != nil {
			w *= weights[k]
		}
		s.add(loss, w)
	default:
		loss := 0.0
		for j, v := range values {
			loss += m.lossAt(v, y[j])
		}
		s.add(loss/float64(len(values)), w)
	}
}

// Error is the error that conetune tune reports of test rows: the mean of the model's loss, for the hinge loss the
// share of wrong labels.
func (s *Score) Error() float64 {
	if s.model.Loss != nil && s.model.Loss.Kind == Hinge {
		return s.ErrorRate()
	}
	return s.Loss()
}

// Loss is the mean of the model's loss, by the weights of rows and classes; of times the deviance for each event, NaN
// where no event has others at risk.
func (s *Score) Loss() float64 {
	if !s.model.Times() {
		return s.sum / s.weights
	}
	ties, err := survival.ParseTies(s.model.Loss.Ties)
	l := survival.New(s.times.Y, s.times.Weights, ties)
	if err != nil || l.HalfDeviance(make([]float64, len(s.times.Y))) == 0 {
		return math.NaN()
	}
	return 2 * l.HalfDeviance(s.times.F) / l.Weight()
}

// ErrorRate is the share of rows, by their weights, whose label is not the predicted one.
func (s *Score) ErrorRate() float64 { return s.wrong / s.each }

// Concordance is that of the rows, see [survival.Concordance]; NaN for other models.
func (s *Score) Concordance() (index, standardError float64) { return survival.Concordance(s.times) }

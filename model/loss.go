package model

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/internal/deviance"
)

// The kinds of a [Loss].
const (
	Huber    = "huber"
	Pinball  = "pinball"
	Logistic = "logistic"
	Hinge    = "hinge"

	Multinomial = "multinomial"
	Cox         = "cox"
)

// Loss is what is lost at the value f of a row, with the target y, or -1 and 1 for the first and the second label.
type Loss struct {
	// Kind is Huber, with d the Threshold: (f-y)^2/2 within d of the target and d(|f-y| - d/2) beyond; Pinball, with q
	// the Level: max{0, f-y} - q(f-y); Logistic: log(1 + exp(-yf)); Hinge: max{0, 1-yf}; Multinomial: the logarithm of
	// the sum of the exponentials of the values of all classes, less that of the row's; or Cox: no loss of single rows,
	// but the partial-likelihood deviance of all for each event.
	Kind string `json:"kind"`
	// Threshold is in the unit of the target.
	Threshold float64 `json:"threshold,omitempty"`
	// Level is the share of targets below the predictions.
	Level float64 `json:"level,omitempty"`
	// Ties is the rule of Cox for events at one time, see [survival.ParseTies].
	Ties string `json:"ties,omitempty"`
	// ClassWeights weigh the hinge losses of the first and the second label in the fit.
	ClassWeights []float64 `json:"class_weights,omitempty"`
}

// at is the loss.
func (l *Loss) at(f, y float64) float64 {
	switch l.Kind {
	case Huber:
		if r := math.Abs(f - y); r > l.Threshold {
			return l.Threshold * (r - l.Threshold/2)
		}
		return (f - y) * (f - y) / 2
	case Pinball:
		return max(0, f-y) - l.Level*(f-y)
	case Logistic:
		return max(-y*f, 0) + math.Log1p(math.Exp(-math.Abs(f)))
	}
	return max(0, 1-y*f)
}

// validateLoss rejects a loss with numbers that it does not have, or without those that it has.
func (m *Model) validateLoss() error {
	l := m.Loss
	if l == nil {
		return nil
	}
	switch {
	case (l.Kind == Huber) != (l.Threshold != 0) || !(l.Threshold >= 0 && l.Threshold <= math.MaxFloat64):
		return fmt.Errorf("the loss %q with the threshold %v, expected a positive number for %s alone", l.Kind, l.Threshold, Huber)
	case (l.Kind == Pinball) != (l.Level != 0) || !(l.Level >= 0 && l.Level < 1):
		return fmt.Errorf("the loss %q with the level %v, expected a number between 0 and 1 for %s alone", l.Kind, l.Level, Pinball)
	case l.ClassWeights != nil && (l.Kind != Hinge || len(l.ClassWeights) != 2):
		return fmt.Errorf("the loss %q with %d class weights, expected two for %s alone", l.Kind, len(l.ClassWeights), Hinge)
	case l.Kind == Cox:
		return m.validateTimes()
	case l.Ties != "":
		return fmt.Errorf("the loss %q with a rule for ties", l.Kind)
	}
	for _, w := range l.ClassWeights {
		if !(w > 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("the class weight %v, expected a positive number", w)
		}
	}
	return nil
}

// Probability is that of the second label at a value of a model with the logistic loss: 1 / (1 + exp(-value)).
func (m *Model) Probability(value float64) float64 { return 1 / (1 + math.Exp(-value)) }

// Score sums the losses of rows.
type Score struct {
	model *Model
	// Rows are those that were scored, Strange those whose label is none of the model.
	Rows, Strange int

	sum, weights float64
	// The weights of all rows of a classifier and of those with a wrong label.
	each, wrong   float64
	times, values []float64 // of a model of times
	heavy         []float64 // the weights of these
}

// NewScore is the score of no rows.
func (m *Model) NewScore() *Score { return &Score{model: m} }

// Add scores a row by its [Model.Value] and its target, a NaN where it has none.
func (s *Score) Add(value, y float64) { s.AddWeighted(value, y, 1) }

// AddWeighted is Add for a row with a weight; one without a positive weight is not scored.
func (s *Score) AddWeighted(value, y, w float64) {
	m := s.model
	if !(w > 0) {
		return
	}
	switch {
	case y != y:
		return
	case m.Times():
		s.addTime(value, y, w)
		return
	case m.Labels == nil:
		s.Rows++
		s.weights += w
		switch {
		case m.Loss != nil:
			s.sum += w * m.Loss.at(value, y)
		case m.LogLink:
			s.sum += w * deviance.HalfPoisson(y, math.Exp(value), value)
		default:
			s.sum += w * ((value - y) * (value - y) / 2)
		}
		return
	case y != m.Labels[0] && y != m.Labels[1]:
		s.Strange++
		return
	}
	s.Rows++
	side, class := -1.0, 0
	if y == m.Labels[1] {
		side, class = 1, 1
	}
	s.each += w
	if (value > 0) != (side > 0) {
		s.wrong += w
	}
	if m.Loss != nil {
		weight := w
		if m.Loss.ClassWeights != nil {
			weight *= m.Loss.ClassWeights[class]
		}
		s.weights += weight
		s.sum += weight * m.Loss.at(value, side)
	}
}

// AddSquare scores a row of several targets by its mean squared residual, a NaN where a target is missing.
func (s *Score) AddSquare(mean float64) {
	if mean == mean {
		s.Rows++
		s.weights++
		s.sum += mean / 2
	}
}

// Error is the error that conetune tune reports of test rows: the mean of the model's loss, for the hinge loss the share
// of wrong labels.
func (s *Score) Error() float64 {
	if s.model.Loss != nil && s.model.Loss.Kind == Hinge {
		return s.ErrorRate()
	}
	return s.Loss()
}

// Loss is the mean of the model's loss, by the weights of rows and classes.
func (s *Score) Loss() float64 {
	if s.model.Times() {
		return s.deviance()
	}
	return s.sum / s.weights
}

// ErrorRate is the share of rows, by their weights, whose label is not the predicted one.
func (s *Score) ErrorRate() float64 { return s.wrong / s.each }

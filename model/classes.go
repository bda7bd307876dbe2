package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/evaluate"
)

// Classes says that the model is a classifier with a value for each class, whose names are the Targets.
func (m *Model) Classes() bool { return m.Labels != nil && m.Targets != nil }

// Class is the label of the largest of the values of the classes, see [Model.PredictTargets].
func (m *Model) Class(values []float64) float64 { return m.Labels[floats.MaxIdx(values)] }

// Probabilities are those of the classes, exp(value) over the sum of these.
func (m *Model) Probabilities(values []float64) []float64 { return evaluate.Softmax(values) }

// AddClass scores a row of a model of classes, which has a weight, by its values and its label, a NaN where it has
// none. One without a positive weight is not scored.
func (s *Score) AddClass(values []float64, y, w float64) {
	if y != y || !(w > 0) {
		return
	}
	k := slices.Index(s.model.Labels, y)
	if k < 0 {
		s.Strange++
		return
	}
	s.Rows++
	s.weights += w
	s.sum += w * math.Max(0, floats.LogSumExp(values)-values[k])
	s.each += w
	if floats.MaxIdx(values) != k {
		s.wrong += w
	}
}

package modelfile

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/metrics"
)

// Classes says that the model is a classifier with a value for each class, whose names are the Targets.
func (m *Model) Classes() bool { return m.Labels != nil && m.Targets != nil }

// Class is the label of the largest of the values of the classes, see [Model.PredictTargets].
func (m *Model) Class(values []float64) float64 { return m.Labels[floats.MaxIdx(values)] }

// Probabilities are those of the classes, exp(value) over the sum of these.
func (m *Model) Probabilities(values []float64) []float64 { return metrics.Softmax(values) }

// AddClass scores a row of a model of classes by its values and its label, a NaN where it has none.
func (s *Score) AddClass(values []float64, y float64) {
	if y != y {
		return
	}
	k := slices.Index(s.model.Labels, y)
	if k < 0 {
		s.Strange++
		return
	}
	s.Rows++
	s.weights++
	s.sum += math.Max(0, floats.LogSumExp(values)-values[k])
	if floats.MaxIdx(values) != k {
		s.wrong++
	}
}

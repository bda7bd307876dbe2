package model

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/internal/lower/survival"
)

// Times says that the model is one of hazards, whose targets are times until an event, negative for censored rows, and
// whose values are logarithms of hazards beside that of the Baseline.
func (m *Model) Times() bool { return m.Loss != nil && m.Loss.Kind == Cox }

// validateTimes rejects what no model of times is.
func (m *Model) validateTimes() error {
	if _, err := survival.ParseTies(m.Loss.Ties); err != nil {
		return err
	}
	b := m.Baseline
	if b == nil || len(b.Times) == 0 || len(b.Times) != len(b.Hazard) {
		return fmt.Errorf("a model of times without a baseline hazard")
	}
	time, hazard := 0.0, 0.0
	for k, t := range b.Times {
		if !(t > time || k == 0 && t == 0) || !(b.Hazard[k] >= hazard) || math.IsInf(t, 1) || math.IsInf(b.Hazard[k], 1) {
			return fmt.Errorf("the baseline hazard %v at the time %v after %v at %v, expected finite numbers that rise", b.Hazard[k], t, hazard, time)
		}
		time, hazard = t, b.Hazard[k]
	}
	return nil
}

// addTime scores a row by its value, its time and its weight; a row without a time is not scored.
func (s *Score) addTime(value, y, w float64) {
	if survival.Check([]float64{y}) == nil {
		s.Rows++
		s.times, s.values, s.heavy = append(s.times, y), append(s.values, value), append(s.heavy, w)
	}
}

// deviance is that of the rows for each event, NaN where no event has others at risk.
func (s *Score) deviance() float64 {
	ties, err := survival.ParseTies(s.model.Loss.Ties)
	l := survival.New(s.times, s.heavy, ties)
	if err != nil || l.HalfDeviance(make([]float64, len(s.times))) == 0 {
		return math.NaN()
	}
	return 2 * l.HalfDeviance(s.values) / l.Weight()
}

// Concordance is that of the rows, see [survival.Concordance]; NaN for other models.
func (s *Score) Concordance() (index, standardError float64) {
	return survival.Concordance(survival.Part{Y: s.times, F: s.values, Weights: s.heavy})
}

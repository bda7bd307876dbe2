package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/lower/survival"
)

// validate rejects a model that could not predict or score: lists of lengths that do not go together, names of features
// or targets that are there twice, and a loss, labels or a matrix that such a model has not. What the numbers of a file
// are, its checksum says.
func (m *Model) validate() error {
	spec, err := Find(m.Model)
	if err != nil {
		return err
	}
	loss := ""
	if m.Loss != nil {
		loss = m.Loss.Kind
	}
	for _, part := range []struct {
		name        string
		has, should any
	}{
		{"labels", m.Labels != nil, spec.Labels}, {"log_link", m.LogLink, spec.LogLink}, {"matrix", m.Matrix != nil,
			spec.Matrix},
		{"targets", m.Targets != nil, spec.Several || spec.Classes}, {"loss", loss, spec.Loss},
		{"baseline", m.Baseline != nil, spec.Survival},
	} {
		if part.has != part.should {
			return fmt.Errorf("field %q is missing in a model of %s, or does not belong there", part.name, m.Model)
		}
	}
	p, q, deviations := len(m.Features), max(1, len(m.Targets)), 0
	if m.Deviations != nil {
		deviations = p
	}
	for _, list := range []struct {
		name      string
		has, want int
	}{
		{"coefficients", len(m.Coefficients), p * q}, {"intercepts", len(m.Intercepts), len(m.Targets)},
		{"deviations", len(m.Deviations), deviations},
		{"labels", len(distinct(m.Labels)), len(m.Labels)}, {"features", len(distinct(m.Features)), p},
		{"targets", len(distinct(m.Targets)), len(m.Targets)},
	} {
		if list.has != list.want {
			return fmt.Errorf("field %q has %d different entries, expected %d", list.name, list.has, list.want)
		}
	}
	switch l := m.Loss; {
	case p == 0 && m.Matrix == nil:
		return errors.New("a model without features")
	case m.Targets != nil && q < 2:
		return fmt.Errorf("field \"targets\" has %d entries, expected several", len(m.Targets))
	case m.Classes() && len(m.Labels) != q, m.Labels != nil && !m.Classes() && len(m.Labels) != 2:
		return fmt.Errorf("field \"labels\" has %d entries", len(m.Labels))
	case m.Threshold != nil && (m.Labels == nil || loss != Hinge && !(*m.Threshold >= 0 && *m.Threshold <= 1)):
		return fmt.Errorf("field \"threshold\" is %v, expected a probability of a label", *m.Threshold)
	case l != nil && l.ClassWeights != nil && len(l.ClassWeights) != len(m.Labels):
		return fmt.Errorf("%d class weights, expected one for each label", len(l.ClassWeights))
	case m.Times() && (len(m.Baseline.Times) == 0 || len(m.Baseline.Times) != len(m.Baseline.Hazard)):
		return fmt.Errorf("a baseline hazard of %d times and %d values", len(m.Baseline.Times), len(m.Baseline.Hazard))
	}
	if m.Times() {
		if _, err := survival.ParseTies(m.Loss.Ties); err != nil {
			return err
		}
	}
	if x := m.Matrix; x != nil {
		rank := 0
		if len(x.Left) > 0 {
			rank = len(x.Left[0])
		}
		other := func(factor []float64) bool { return len(factor) != rank }
		if len(x.RowEffects) == 0 || len(x.ColEffects) == 0 || len(x.Left) != len(x.RowEffects) ||
			len(x.Right) != len(x.ColEffects) ||
			slices.ContainsFunc(slices.Concat(x.Left, x.Right), other) {
			return errors.New("a matrix without rows or columns, or with factors of different lengths")
		}
	}
	if c := m.Conformal; c != nil && m.oneNumber() != nil {
		return fmt.Errorf("field \"intervals\" does not belong to a model of %s", m.Model)
	} else if c != nil {
		if err := c.Validate(p); err != nil {
			return err
		}
	}
	if e := m.Encoding; e != nil {
		if err := e.Validate(); err != nil {
			return err
		}
		if !slices.Equal(e.Features(), m.Features) || e.Labels != nil && !slices.Equal(m.Labels, numbered(len(e.Labels))) ||
			e.Event != nil && !m.Times() {
			return errors.New("an encoding of other features, labels or events than those of the model")
		}
	}
	return nil
}

// distinct are the values of a list, each once.
func distinct[T float64 | string](list []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// numbered are 0, 1, and so on.
func numbered(n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = float64(k)
	}
	return out
}

package model

import (
	"slices"

	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/table"
)

// Needed is the model without the columns of a table all of whose coefficients are 0: it predicts the same, also from
// tables that lack them. There may be no column left, of a model that predicts a constant. It has no intervals, which
// other fits have a part in.
func (m *Model) Needed() *Model {
	out, all := *m, m.codings()
	if m.Matrix != nil {
		return &out
	}
	var columns []table.Coding
	out.Features, out.Coefficients, out.Deviations, out.Conformal = nil, nil, nil, nil
	at, q := 0, max(1, len(m.Targets))
	for k := range all {
		names := all[k].Features()
		coefficients := m.Coefficients[at*q : (at+len(names))*q]
		if at += len(names); slices.ContainsFunc(coefficients, func(v float64) bool { return v != 0 }) {
			columns = append(columns, all[k])
			out.Features, out.Coefficients = append(out.Features, names...), append(out.Coefficients, coefficients...)
		}
	}
	if m.Encoding != nil {
		encoding := *m.Encoding
		encoding.Columns = columns
		out.Encoding = &encoding
	}
	return &out
}

// LabelTexts are the labels of a classifier as they are written.
func (m *Model) LabelTexts() (names []string) {
	if m.Encoding != nil && m.Encoding.Labels != nil {
		return m.Encoding.Labels
	}
	for _, v := range m.Labels {
		names = append(names, words.Exact(v))
	}
	return names
}

// Predicted are the columns that are predicted: the target, or several.
func (m *Model) Predicted() []string {
	if m.Targets == nil || m.Classes() {
		return []string{m.Target}
	}
	return m.Targets
}

// codings are those of the columns, each a feature where the model has no encoding.
func (m *Model) codings() []table.Coding {
	if m.Encoding == nil {
		return table.OfNumbers(m.Features).Columns
	}
	return m.Encoding.Columns
}

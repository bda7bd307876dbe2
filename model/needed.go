package model

import (
	"slices"

	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/table"
)

// Needed is the model without the columns of a table that have no part in it, as all of their coefficients, those of
// their interactions and in sums for gaps are 0: it predicts the same, also from tables that lack them. There may be no
// column left, of a model that predicts a constant. It has no intervals, in which other fits have a part.
func (m *Model) Needed() *Model {
	out := *m
	if m.Matrix != nil {
		return &out
	}
	e, q, at := m.Encoder(), max(1, len(m.Targets)), 0
	var used []bool
	for _, t := range e.Terms() {
		coefficients := m.Coefficients[at*q : (at+len(t.Features))*q]
		used = append(used, slices.ContainsFunc(coefficients, func(v float64) bool { return v != 0 }))
		at += len(t.Features)
	}
	part := e.Part(func(k int) bool { return used[k] })
	out.Features, out.Coefficients, out.Deviations, out.Conformal = part.Features(), nil, nil, nil
	at = 0
	for _, name := range out.Features { // in the order of all
		for ; m.Features[at] != name; at++ {
		}
		out.Coefficients = append(out.Coefficients, m.Coefficients[at*q:(at+1)*q]...)
	}
	if m.Encoding != nil {
		out.Encoding = part
	}
	return &out
}

// LabelTexts are the labels of a classifier as they are written.
func (m *Model) LabelTexts() []string {
	if m.Encoding != nil && m.Encoding.Labels != nil {
		return m.Encoding.Labels
	}
	return words.Each(m.Labels, words.Exact)
}

// Predicted are the columns that are predicted: the target, or several.
func (m *Model) Predicted() []string {
	if m.Targets == nil || m.Classes() {
		return []string{m.Target}
	}
	return m.Targets
}

// Encoder is the encoding of the columns, each a feature where the model has none.
func (m *Model) Encoder() *table.Encoder {
	if m.Encoding == nil {
		return table.OfNumbers(m.Features)
	}
	return m.Encoding
}

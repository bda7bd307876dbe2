package model

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/libsvm"
)

// Compact stands in a file in the place of features and coefficients of which most are zero.
type Compact struct {
	// Features is their number. Names are theirs; a file without has x1, x2, ..
	Features int      `json:"features"`
	Names    []string `json:"names,omitempty"`
	// Index are the numbers, from 1 and rising, of the features whose coefficients are not zero, Coefficients these.
	Index        []int     `json:"index"`
	Coefficients []float64 `json:"coefficients"`
}

// fewFeatures is the number of features up to which all coefficients are listed, mostFeatures bounds those of a file,
// compactShare is one over the share of coefficients that are not zero from which on all are.
const fewFeatures, mostFeatures, compactShare = 100, 20_000_000, 4

// compacted is the model as it is written: compact where that is shorter.
func (m Model) compacted() Model {
	nonzero := indices.Where(m.Coefficients, func(v float64) bool { return v != 0 })
	if p := len(m.Features); p <= fewFeatures || len(m.Coefficients) != p || len(nonzero)*compactShare > p {
		return m
	}
	c := &Compact{Features: len(m.Features), Index: []int{}, Coefficients: []float64{}}
	if !slices.Equal(m.Features, libsvm.Names(c.Features)) {
		c.Names = m.Features
	}
	for _, j := range nonzero {
		c.Index, c.Coefficients = append(c.Index, j+1), append(c.Coefficients, m.Coefficients[j])
	}
	m.Features, m.Coefficients, m.Compact = nil, nil, c
	return m
}

// spread puts the lists of all features in the place of the compact ones.
func (m *Model) spread() error {
	c := m.Compact
	if c == nil {
		return nil
	}
	if c.Features < 0 || c.Features > mostFeatures {
		return fmt.Errorf("%d features, expected from 0 to %d", c.Features, mostFeatures)
	}
	if m.Features = c.Names; c.Names == nil {
		m.Features = libsvm.Names(c.Features)
	}
	if len(m.Features) != c.Features || len(c.Index) != len(c.Coefficients) {
		return fmt.Errorf("%d names of %d features, and %d coefficients for %d of them", len(m.Features), c.Features,
			len(c.Coefficients), len(c.Index))
	}
	m.Coefficients = make([]float64, c.Features)
	last := 0
	for k, j := range c.Index {
		if j <= last || j > c.Features {
			return fmt.Errorf("feature %d after %d, expected rising numbers up to %d", j, last, c.Features)
		}
		m.Coefficients[j-1], last = c.Coefficients[k], j
	}
	m.Compact = nil
	return nil
}

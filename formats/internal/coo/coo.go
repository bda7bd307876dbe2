// Package coo collects the entries of a sparse matrix that a reader finds.
package coo

import (
	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/textfile"
)

// Matrix is a list of entries whose places the reader has checked.
type Matrix struct{ backends.Triplets }

// New returns an empty list with room for n entries.
func New(n int) *Matrix { return &Matrix{*backends.NewTriplets(n)} }

// Read appends an entry that comes from s, whose progress says how much room the
// others will need.
func (m *Matrix) Read(s *textfile.Source, row, col int, v float64) {
	if len(m.Row) == cap(m.Row) {
		m.Row, m.Col, m.Value = textfile.Grow(s, m.Row, 1), textfile.Grow(s, m.Col, 1), textfile.Grow(s, m.Value, 1)
	}
	m.Add(row, col, v)
}

// CSC is that of the entries. It panics where one is outside, which would be an error of the reader.
func (m *Matrix) CSC(rows, cols int) *sparse.CSC {
	out, err := m.Triplets.CSC(rows, cols)
	if err != nil {
		panic(err)
	}
	return out
}

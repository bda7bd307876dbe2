// Package coo collects the entries of a sparse matrix in any order and makes
// compressed columns of them.
package coo

import (
	"slices"
	"sort"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/formats/textfile"
)

// Matrix is a list of entries, counted from 0 up to math.MaxInt32. The same place may
// come several times: its values add up.
type Matrix struct {
	Row, Col []int32
	Value    []float64
}

// New returns an empty list with room for n entries.
func New(n int) *Matrix {
	return &Matrix{Row: make([]int32, 0, n), Col: make([]int32, 0, n), Value: make([]float64, 0, n)}
}

// Add appends an entry.
func (m *Matrix) Add(row, col int, v float64) {
	m.Row, m.Col, m.Value = append(m.Row, int32(row)), append(m.Col, int32(col)), append(m.Value, v)
}

// Read appends an entry that comes from s, whose progress says how much room the
// others will need.
func (m *Matrix) Read(s *textfile.Source, row, col int, v float64) {
	if len(m.Row) == cap(m.Row) {
		m.Row, m.Col, m.Value = textfile.Grow(s, m.Row, 1), textfile.Grow(s, m.Col, 1), textfile.Grow(s, m.Value, 1)
	}
	m.Add(row, col, v)
}

// Len returns the number of entries in the list.
func (m *Matrix) Len() int { return len(m.Value) }

// CSC returns the rows x cols matrix with increasing rows in each column and
// repeated entries added up, in the order in which they came. Zeros stay.
func (m *Matrix) CSC(rows, cols int) *sparse.CSC {
	start := make([]int, cols+1)
	for _, j := range m.Col {
		start[j+1]++
	}
	for j := range cols {
		start[j+1] += start[j]
	}
	index, value := make([]int, m.Len()), make([]float64, m.Len())
	next := slices.Clone(start[:cols])
	for k, j := range m.Col {
		at := next[j]
		index[at], value[at] = int(m.Row[k]), m.Value[k]
		next[j]++
	}
	out := 0
	for j := range cols {
		from, to := start[j], start[j+1]
		if column := index[from:to]; !slices.IsSorted(column) {
			sort.Stable(&entries{column, value[from:to]})
		}
		start[j] = out
		for k := from; k < to; k++ {
			if out > start[j] && index[out-1] == index[k] {
				value[out-1] += value[k]
				continue
			}
			index[out], value[out] = index[k], value[k]
			out++
		}
	}
	start[cols] = out
	return sparse.NewCSC(rows, cols, start, index[:out], value[:out])
}

type entries struct {
	index []int
	value []float64
}

func (e *entries) Len() int           { return len(e.index) }
func (e *entries) Less(i, j int) bool { return e.index[i] < e.index[j] }
func (e *entries) Swap(i, j int) {
	e.index[i], e.index[j] = e.index[j], e.index[i]
	e.value[i], e.value[j] = e.value[j], e.value[i]
}

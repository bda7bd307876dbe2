package program

import (
	"math"
	"slices"
	"strconv"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/textfile"
)

// Entries is a list of entries of a matrix whose places the reader has checked.
type Entries struct{ backends.Triplets }

// NewEntries returns an empty list with room for n entries.
func NewEntries(n int) *Entries { return &Entries{*backends.NewTriplets(n)} }

// Read appends an entry that comes from s, whose progress says how much room the others will need.
func (m *Entries) Read(s *textfile.Source, row, col int, v float64) {
	if len(m.Row) == cap(m.Row) {
		m.Row, m.Col, m.Value = textfile.Grow(s, m.Row, 1), textfile.Grow(s, m.Col, 1), textfile.Grow(s, m.Value, 1)
	}
	m.Add(row, col, v)
}

// CSC is that of the entries. It panics where one is outside, which would be an error of the reader.
func (m *Entries) CSC(rows, cols int) *sparse.CSC {
	out, err := m.Triplets.CSC(rows, cols)
	if err != nil {
		panic(err)
	}
	return out
}

// Names are the names of so many rows or columns or, where a format cannot have one of them, others.
func Names(names []string, count int, prefix string, can func(name string) bool) []string {
	if len(names) == count && !slices.ContainsFunc(names, func(name string) bool { return !can(name) }) {
		return names
	}
	out := make([]string, count)
	for i := range out {
		out[i] = prefix + strconv.Itoa(i+1)
	}
	return out
}

// Column calls f with the rows and entries of column j of a matrix.
func Column(a *sparse.CSC, j int, f func(i int, v float64)) {
	raw := a.RawMatrix()
	for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
		f(raw.Ind[k], raw.Data[k])
	}
}

// Place is where entry (i, j), i >= j, of a symmetric matrix of order n stands in its lower triangle by columns, and
// its weight: with X as the vector v, off the diagonal times sqrt 2, <F, X> is the sum of weight F_ij v_k over the
// triangle.
func Place(i, j, n int) (k int, weight float64) {
	k = j*n - j*(j-1)/2 + i - j
	if i == j {
		return k, 1
	}
	return k, math.Sqrt2
}

// Unscaled is the lower triangle of a matrix of order n that stands at the start of v, off the diagonal times sqrt 2,
// without that factor.
func Unscaled(v []float64, n int) []float64 {
	x := make([]float64, n*(n+1)/2)
	k := 0
	for j := range n {
		for i := j; i < n; i++ {
			x[k] = v[k]
			if i != j {
				x[k] /= math.Sqrt2
			}
			k++
		}
	}
	return x
}

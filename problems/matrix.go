package problems

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Matrix predicts the entries of a matrix: entry (i, j) is
// Intercept + RowEffects[i] + ColEffects[j] + sum_k Left[i, k] Right[j, k].
type Matrix struct {
	Intercept              float64
	RowEffects, ColEffects []float64
	// Left and Right have a column for each rank, none where there is no low-rank part; they are nil then. Right alone is
	// nil for the identity.
	Left, Right *mat.Dense
}

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return len(m.RowEffects), len(m.ColEffects) }

// Rank returns the rank of the low-rank part.
func (m *Matrix) Rank() int {
	if m.Left == nil {
		return 0
	}
	_, r := m.Left.Dims()
	return r
}

// At returns entry (i, j), with indices from 0.
func (m *Matrix) At(i, j int) float64 {
	v := m.Intercept + m.RowEffects[i] + m.ColEffects[j]
	switch {
	case m.Left == nil:
	case m.Right == nil:
		v += m.Left.At(i, j)
	default:
		v += floats.Dot(m.Left.RawRowView(i), m.Right.RawRowView(j))
	}
	return v
}

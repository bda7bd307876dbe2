package dataset

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// stacked has the rows of one table and then those of another, which are copied only where all of them are asked for in one piece.
type stacked struct {
	first, second mat.RawRowViewer
	n, m, p       int // rows of each, and columns
	whole         func() *mat.Dense
}

func newStacked(first, second mat.RawRowViewer, n, m, p int) *stacked {
	s := &stacked{first: first, second: second, n: n, m: m, p: p}
	s.whole = sync.OnceValue(func() *mat.Dense {
		x := mat.NewDense(n+m, p, nil)
		for i := range n + m {
			copy(x.RawRowView(i), s.RawRowView(i))
		}
		return x
	})
	return s
}

// Dims implements [mat.Matrix].
func (s *stacked) Dims() (rows, columns int) { return s.n + s.m, s.p }

// At implements [mat.Matrix].
func (s *stacked) At(i, j int) float64 { return s.RawRowView(i)[j] }

// T implements [mat.Matrix].
func (s *stacked) T() mat.Matrix { return mat.Transpose{Matrix: s} }

// RawRowView implements [mat.RawRowViewer].
func (s *stacked) RawRowView(i int) []float64 {
	if i < s.n {
		return s.first.RawRowView(i)
	}
	return s.second.RawRowView(i - s.n)
}

// RawMatrix implements [mat.RawMatrixer].
func (s *stacked) RawMatrix() blas64.General { return s.whole().RawMatrix() }

var (
	_ mat.RawRowViewer = (*stacked)(nil)
	_ mat.RawMatrixer  = (*stacked)(nil)
)

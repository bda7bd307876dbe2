package libsvm

import (
	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

// Sparse says whether a table of n rows and p columns is kept by its nonzeros: where these are less than a quarter of its entries, they take
// less memory and less time in a fit.
func Sparse(nonzeros, n, p int) bool { return 4*float64(nonzeros) < float64(n)*float64(p) }

// ReadSourceMatrix reads from a source that stands at its first line into an n x p matrix with its labels, and what
// else a [Matrix] has beside entries: compressed rows (a [*sparse.CSR] without zeros) where that is smaller, see
// [Sparse], and dense rows (a [*mat.Dense]) else. The error is a *formats.Error.
func ReadSourceMatrix(s *textfile.Source, o Options) (mat.Matrix, *Matrix, error) {
	m, err := ReadSource(s, o)
	if err != nil {
		return nil, nil, err
	}
	n, nonzeros := len(m.Labels), 0
	for _, v := range m.Value {
		if v != 0 {
			nonzeros++
		}
	}
	if !Sparse(nonzeros, n, m.Features) {
		x, err := m.dense(s, o)
		if err != nil {
			return nil, nil, err
		}
		return x, m, nil
	}
	line, field := m.widestField(o)
	size := entryBytes*float64(len(m.Value)) + columnBytes*float64(m.Features)
	if err := s.Charge(line, field, size, "a sparse table of %d rows, %d features and %d nonzeros", n, m.Features, nonzeros); err != nil {
		return nil, nil, err
	}
	return m.compressed(), m, nil
}

// compressed makes compressed rows without zeros in the memory of m.Value, and of its indices; m cannot be used afterwards.
func (m *Matrix) compressed() *sparse.CSR {
	start, index, value := make([]int, len(m.RowStart)), make([]int, 0, len(m.Index)), m.Value[:0]
	if value == nil {
		value = []float64{}
	}
	for i := range m.Labels {
		for k := m.RowStart[i]; k < m.RowStart[i+1]; k++ {
			if v := m.Value[k]; v != 0 {
				index, value = append(index, int(m.Index[k])), append(value, v)
			}
		}
		start[i+1] = len(index)
	}
	return sparse.NewCSR(len(m.Labels), m.Features, start, index, value)
}

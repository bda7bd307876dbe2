// Package libsvm reads and writes tables in the text format of LIBSVM.
//
// # The format
//
// UTF-8 text, plain or gzipped (found out from the content). A line is a row:
//
//	label qid:number index:value index:value ... # comment
//
// with a number as label (the target), perhaps the number of the query that a row belongs to, indices of features from
// 1 and numbers in plain decimal notation. In a file in which the index 0 occurs, as scikit-learn writes them, indices
// count from 0. Features that a line leaves out are zero. The pairs may come in any order, an index twice in a line is
// an error. Blank lines and what follows a # are passed over. NaN and infinite numbers are errors, and so is a table
// for which the budget of memory of package textfile is too small.
//
// The number of features is the largest index of the file, unless [Options] gives it: a validation or test file need not
// hold the last feature of the training file.
//
// Every error about a file is a *formats.Error with its line and pair; of several the first one is returned. Files are
// parsed on all cores, see [textfile.Blocks].
//
// # Source
//
// C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, ACM
// Transactions on Intelligent Systems and Technology 2, 2011, and its README.
package libsvm

import (
	"fmt"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

// What a table takes of the budget of memory for a row and column of a dense one, for an entry of a sparse one, and for a column: the number, and those
// that a fit makes of it; the name, and what a model keeps for each feature.
const (
	cellBytes   = 32
	entryBytes  = 48
	columnBytes = 512
)

// Options are for reading. The zero value is ready to use.
type Options struct {
	// Features is the number of features; 0 takes the largest index of the file.
	// A larger index is an error.
	Features int
	// ZeroBased says that indices count from 0. Without it that is found out, unless Features says how many there are:
	// then the index 0 is an error.
	ZeroBased bool
}

// Table is a table of n rows.
type Table struct {
	// X is n x Features: compressed rows (a [*sparse.CSR] without zeros) where that is smaller, see [Sparse], and dense
	// rows (a [*mat.Dense]) else.
	X mat.Matrix
	// Labels are the n targets.
	Labels []float64
	// Features is the number of columns.
	Features int
	// ZeroBased says that the indices of the file count from 0.
	ZeroBased bool
	// Queries are the numbers of qid: of the rows; nil where there are none.
	Queries []int64
}

// Sparse says whether a table of n rows and p columns is kept by its nonzeros: where these are less than a quarter of its
// entries, they take less memory and less time in a fit.
func Sparse(nonzeros, n, p int) bool { return 4*float64(nonzeros) < float64(n)*float64(p) }

// Read reads from a source that stands at its first line. The error is a *formats.Error.
func Read(s *textfile.Source, o Options) (*Table, error) {
	m, err := collect(s, o)
	if err != nil {
		return nil, err
	}
	n, p, nonzeros := len(m.Labels), m.Features, 0
	for _, v := range m.value {
		if v != 0 {
			nonzeros++
		}
	}
	kind, size := "sparse", entryBytes*float64(len(m.value))+columnBytes*float64(p)
	what := fmt.Sprintf("%d rows, %d features and %d nonzeros", n, p, nonzeros)
	if !Sparse(nonzeros, n, p) {
		kind, size = "dense", cellBytes*float64(n)*float64(p)+columnBytes*float64(p)
		what = fmt.Sprintf("%d rows and %d features", n, p)
	}
	line, field := 0, ""
	if o.Features == 0 {
		line, field = m.widest, fmt.Sprintf("index %d", m.largest)
	}
	if err := s.Charge(line, field, size, "a %s table of %s", kind, what); err != nil {
		return nil, err
	}
	if kind == "dense" {
		x := mat.NewDense(n, p, nil)
		for i := range n {
			row := x.RawRowView(i)
			for k := m.start[i]; k < m.start[i+1]; k++ {
				row[m.index[k]] = m.value[k]
			}
		}
		m.X = x
		return &m.Table, nil
	}
	start, index, value := make([]int, n+1), make([]int, 0, nonzeros), make([]float64, 0, nonzeros)
	for i := range n {
		for k := m.start[i]; k < m.start[i+1]; k++ {
			if v := m.value[k]; v != 0 {
				index, value = append(index, int(m.index[k])), append(value, v)
			}
		}
		start[i+1] = len(index)
	}
	m.X = sparse.NewCSR(n, p, start, index, value)
	return &m.Table, nil
}

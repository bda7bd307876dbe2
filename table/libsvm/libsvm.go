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
// The number of features is the largest index of the file, unless
// [Options.Features] gives it: a validation or test file need not hold the last
// feature of the training file.
//
// Every error about a file is a *formats.Error with its line and pair; of several the first one is returned.
//
// A [Matrix] has the entries of the file and is not dense at any time; files are parsed on all cores, see [textfile.Blocks].
//
// # Source
//
// C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, ACM
// Transactions on Intelligent Systems and Technology 2, 2011, and its README.
package libsvm

import (
	"fmt"
	"io"

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
	// Largest bounds the size of labels and values; 0 takes all finite numbers. For a
	// table to which a model is fitted, [textfile.LargestEntry] is a bound below which nothing overflows.
	Largest float64
}

// Matrix is a table of n rows with its nonzeros row by row: those of row i are at
// RowStart[i] to RowStart[i+1] of Index and Value.
type Matrix struct {
	// Labels are the n targets.
	Labels []float64
	// Features is the number of columns.
	Features int
	// ZeroBased says that the indices of the file count from 0.
	ZeroBased bool
	// Queries are the numbers of qid: of the rows; nil where there are none.
	Queries []int64
	// RowStart has length n+1.
	RowStart []int
	// Index are the columns, from 0, increasing within a row.
	Index []int32
	// Value are the numbers as they are in the file, zeros too.
	Value []float64

	widest int // the line with the largest index
}

// Decode reads from r; name stands for the file in messages. The error is a
// *formats.Error.
func Decode(name string, r io.Reader, o Options) (*Matrix, error) {
	return textfile.Decode(name, r, func(s *textfile.Source) (*Matrix, error) { return ReadSource(s, o) })
}

// widestField is where the number of features comes from, for messages.
func (m *Matrix) widestField(o Options) (line int, field string) {
	if o.Features > 0 {
		return 0, ""
	}
	index := m.Features
	if m.ZeroBased {
		index--
	}
	return m.widest, fmt.Sprintf("index %d", index)
}

// dense makes the dense table, in the same memory where there is enough of it; Index and Value cannot be used afterwards.
func (m *Matrix) dense(s *textfile.Source, o Options) (*mat.Dense, error) {
	n := len(m.Labels)
	cells := float64(n) * float64(m.Features)
	line, field := m.widestField(o)
	err := s.Charge(line, field, cellBytes*cells+columnBytes*float64(m.Features), "a dense table of %d rows and %d features", n, m.Features)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(n, m.Features, m.scatter()), nil
}

// scatter makes the dense rows out of m.Value, in the same memory where there is
// enough of it; m cannot be used afterwards.
//
// Entry k of row i moves from RowStart[i]+k to i*p+Index, which is not before it
// since RowStart[i] <= i*p and k <= Index. So from the last entry to the first nothing
// is overwritten that is still to be moved.
func (m *Matrix) scatter() []float64 {
	n, p := len(m.Labels), m.Features
	x := m.Value
	if cap(x) < n*p {
		x = make([]float64, n*p)
		copy(x, m.Value)
	}
	from := len(m.Value)
	x = x[:n*p]
	clear(x[from:])
	for i := n - 1; i >= 0; i-- {
		row := i * p
		for k := m.RowStart[i+1] - 1; k >= m.RowStart[i]; k-- {
			to := row + int(m.Index[k])
			if v := x[k]; to != k {
				x[k] = 0
				x[to] = v
			}
		}
	}
	return x
}

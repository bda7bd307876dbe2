// Package libsvm reads tables in the text format of LIBSVM.
//
// # The format
//
// UTF-8 text, plain or compressed (found out from the content, see [textfile.NewSource]). A line is a row:
//
//	label qid:number index:value index:value ... # comment
//
// with a number as label (the target), perhaps the number of the query that a row belongs to, indices of features from
// 1 and numbers in plain decimal notation. In a file in which the index 0 occurs, as scikit-learn writes them, indices
// count from 0. Features that a line leaves out are zero. The pairs may come in any order, an index twice in a line is
// an error. Blank lines and what follows a # are passed over. NaN and infinite numbers are errors, and so is a table
// for which the budget of memory of package textfile is too small.
//
// A validation or test file need not hold the last feature of the training file: [Read] has the rows of a file, and
// [File.Matrix] those of as many features as all files together have.
//
// Every error about a file is a *formats.Error with its line; of several the first one is returned. Files are parsed on
// all cores, see [textfile.Blocks].
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

// What a table takes of the budget of memory for a row and column of a dense one, for an entry of a sparse one, and for
// a column: the number, and those that a fit makes of it; the name, and what a model keeps for each feature.
const (
	cellBytes   = 32
	entryBytes  = 48
	columnBytes = 512
)

// File has the rows of a file.
type File struct {
	// Labels are the n targets.
	Labels []float64
	// Queries are the numbers of qid: of the rows; nil where there are none.
	Queries []int
	// First is the index from which on features count: 0 where that occurs, and else 1. Last is the largest index, 0 for
	// none.
	First, Last int

	source    *textfile.Source
	blocks    []rows
	firstLine int // the first one with the index 0
	lastLine  int // the first one with the index Last
}

// Sparse says whether a table of n rows and p columns is kept by its nonzeros: where these are less than a quarter of
// its entries, they take less memory and less time in a fit.
func Sparse(nonzeros, n, p int) bool { return 4*float64(nonzeros) < float64(n)*float64(p) }

// Matrix is n x features, of which the first has the index first: compressed rows (a [*sparse.CSR] without zeros) where
// that is smaller, see [Sparse], and dense rows (a [*mat.Dense]) else. The error is a *formats.Error.
func (f *File) Matrix(first, features int) (mat.Matrix, error) {
	switch {
	case features == 0:
		return nil, f.source.Errorf(0, "", "has labels and no features, "+form)
	case first > f.First:
		return nil, f.source.Errorf(f.firstLine, "index 0", "found, expected indices from 1 as in the training data")
	case f.Last-first >= features:
		bound := fmt.Sprintf("%d, the number of features (that of the training data)", features)
		if first == 0 {
			bound = fmt.Sprintf("%d, the last one of the %d features of the training data, which count from 0", features-1,
				features)
		}
		return nil, f.source.Errorf(f.lastLine, fmt.Sprintf("index %d", f.Last), "is larger than %s", bound)
	}
	n, stored, nonzeros := len(f.Labels), 0, 0
	f.each(func(_ int, _ []int32, value []float64) {
		stored += len(value)
		for _, v := range value {
			if v != 0 {
				nonzeros++
			}
		}
	})
	kind, size := "sparse", entryBytes*float64(stored)+columnBytes*float64(features)
	what := fmt.Sprintf("%d rows, %d features and %d nonzeros", n, features, nonzeros)
	if !Sparse(nonzeros, n, features) {
		kind, size = "dense", cellBytes*float64(n)*float64(features)+columnBytes*float64(features)
		what = fmt.Sprintf("%d rows and %d features", n, features)
	}
	line, field := 0, ""
	if f.Last-first+1 == features {
		line, field = f.lastLine, fmt.Sprintf("index %d", f.Last)
	}
	if err := f.source.Charge(line, field, size, "a %s table of %s", kind, what); err != nil {
		return nil, err
	}
	if kind == "dense" {
		x := mat.NewDense(n, features, nil)
		f.each(func(i int, index []int32, value []float64) {
			row := x.RawRowView(i)
			for k, j := range index {
				row[int(j)-first] = value[k]
			}
		})
		return x, nil
	}
	start, at, nonzero := make([]int, n+1), make([]int, 0, nonzeros), make([]float64, 0, nonzeros)
	f.each(func(i int, index []int32, value []float64) {
		for k, v := range value {
			if v != 0 {
				at, nonzero = append(at, int(index[k])-first), append(nonzero, v)
			}
		}
		start[i+1] = len(at)
	})
	return sparse.NewCSR(n, features, start, at, nonzero), nil
}

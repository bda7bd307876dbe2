// Package formats reads a table of numbers from a CSV or LIBSVM file, whichever it
// is. Its folders hold the formats:
//
//	csvfile   comma-separated columns with a line of names
//	libsvm    label index:value index:value ...
//	qps       linear and quadratic programs in QPS and MPS files
//	sdpa      semidefinite programs in the sparse format of SDPA
//	cbf       conic programs in the Conic Benchmark Format
//
// Errors about a file are an [*Error], with file, line and field.
package formats

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/formats/libsvm"
	"github.com/conetune/conetune/internal/textfile"
)

// Table is a table of n rows.
type Table struct {
	// X is n x p: a [*mat.Dense], or a [*sparse.CSR] without zeros where less than a quarter of its entries is not zero.
	X mat.Matrix
	// Y holds the n targets; nil when the table has none.
	Y []float64
	// Features are the names of the columns of X.
	Features []string
	// Target is the name of Y, empty when the table has none.
	Target string
	// Queries are the numbers of qid: in a LIBSVM file, the query that each row belongs to; nil for none.
	Queries []int64
}

// Dense returns X with all its zeros: itself where it is dense, and else a copy.
func (t *Table) Dense() *mat.Dense {
	if x, ok := t.X.(*mat.Dense); ok {
		return x
	}
	return mat.DenseCopyOf(t.X)
}

// Error says what is wrong in a file, and where.
type Error = textfile.Error

// LargestEntry bounds the size of the numbers in a table to which a model is fitted, so that nothing that is made
// of them before they are scaled overflows.
const LargestEntry = textfile.LargestEntry

// Options say what to read. The zero value takes all.
type Options struct {
	// Target names the column of the target; empty takes the column "y", or the
	// first where there is no "y". A LIBSVM file has no names: it takes a Target only
	// together with Names or Columns.
	Target string
	// TargetOptional accepts a CSV file without the target, whose Y is nil then.
	// With an empty Target, only a column "y" is a target, not the first one.
	TargetOptional bool
	// Columns name the features wanted, in this order, as when a model meets new
	// data. A CSV file may hold more, which are passed over. For a LIBSVM file they
	// are the Names. Nil takes all.
	Columns []string
	// Names are the names of the features 1, 2, .. of a LIBSVM file, in which a larger
	// index is an error; where they are x0, x1, .. indices count from 0. Nil means x1, x2, .. up to the largest index,
	// and x0, x1, .. where the index 0 occurs. A CSV file has names of its own.
	Names []string
}

// ReadTable reads a CSV or a LIBSVM file, plain or gzipped. A name that ends in .csv or
// .csv.gz means CSV; of other files the first lines decide. A number beyond [LargestEntry]
// in size is an error, since a model cannot be fitted to it without overflow. The error is an [*Error].
func ReadTable(path string, o Options) (*Table, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return ReadTableSource(s, o)
}

// ReadTableSource reads from a source that stands at its first line, as [ReadTable] does.
func ReadTableSource(s *textfile.Source, o Options) (*Table, error) {
	csv, err := isCSV(s)
	if err != nil {
		return nil, err
	}
	if csv {
		c, err := csvfile.ReadCompactSource(s, o.csv())
		if err != nil {
			return nil, err
		}
		t := &Table{X: c.X, Y: c.Y, Features: c.Features, Target: c.Target}
		p := len(c.Features)
		if c.Rows == nil && p <= fewColumns && mostlyZero(c.X) {
			c.Rows = rows(c.X)
		}
		if c.Rows != nil {
			t.X = matrix(c.Rows, p)
		}
		return t, nil
	}
	names, err := o.names(s)
	if err != nil {
		return nil, err
	}
	x, m, err := libsvm.ReadSourceMatrix(s, libsvm.Options{Features: len(names), ZeroBased: CountFromZero(names), Largest: textfile.LargestEntry})
	if err != nil {
		return nil, err
	}
	if names == nil {
		first := 1
		if m.ZeroBased {
			first = 0
		}
		names = NamesFrom(first, m.Features)
	}
	return &Table{X: x, Y: m.Labels, Features: slices.Clone(names), Target: o.target(), Queries: m.Queries}, nil
}

// csv are the options for a CSV file.
func (o *Options) csv() csvfile.Options {
	return csvfile.Options{Target: o.Target, TargetOptional: o.TargetOptional, Columns: o.Columns, Largest: textfile.LargestEntry}
}

// names are the names of the features of a LIBSVM file, nil where the file says how many there are.
func (o *Options) names(s *textfile.Source) ([]string, error) {
	names := o.Names
	if names == nil {
		names = o.Columns
	}
	if o.Target != "" && names == nil {
		return nil, s.Errorf(0, "", "is a LIBSVM file, whose columns have no names: the target %s cannot be looked up", textfile.Quote([]byte(o.Target)))
	}
	return names, nil
}

// target is the name of the target of a LIBSVM file.
func (o *Options) target() string {
	if o.Target == "" {
		return "y"
	}
	return o.Target
}

// Names are the names x1, x2, .. of the p features of a file without names.
func Names(p int) []string { return NamesFrom(1, p) }

// CountFromZero says whether names are x0, x1, .., those of a LIBSVM file whose indices count from 0.
func CountFromZero(names []string) bool {
	return len(names) > 0 && names[0] == "x0" && slices.Equal(names, NamesFrom(0, len(names)))
}

// NamesFrom are the names of p features whose indices count from first.
func NamesFrom(first, p int) []string {
	// All of them are parts of one text: a million names are two pieces of memory.
	var text []byte
	end := make([]int, p)
	for j := range end {
		text = strconv.AppendInt(append(text, 'x'), int64(j+first), 10)
		end[j] = len(text)
	}
	all, names, from := string(text), make([]string, p), 0
	for j, to := range end {
		names[j], from = all[from:to], to
	}
	return names
}

// fewColumns is the number of columns up to which a CSV table of few nonzeros may be dense because rows cost memory too. It is made sparse all the same, as the
// other format's is.
const fewColumns = 16

// mostlyZero says whether a dense table is one to keep sparse.
func mostlyZero(x *mat.Dense) bool {
	n, p := x.Dims()
	stored := 0
	for i := range n {
		for _, v := range x.RawRowView(i) {
			if v != 0 {
				stored++
			}
		}
	}
	return libsvm.Sparse(stored, n, p)
}

// rows are the nonzeros of a dense table.
func rows(x *mat.Dense) *csvfile.Rows {
	n, p := x.Dims()
	r := &csvfile.Rows{RowStart: make([]int, n+1)}
	for i := range n {
		for j := range p {
			if v := x.At(i, j); v != 0 {
				r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, v)
			}
		}
		r.RowStart[i+1] = len(r.Index)
	}
	return r
}

// matrix makes sparse rows a matrix of p columns: compressed ones without zeros where these are few, see [libsvm.Sparse], and else dense ones.
func matrix(r *csvfile.Rows, p int) mat.Matrix {
	n, stored := len(r.RowStart)-1, 0
	for _, v := range r.Value {
		if v != 0 {
			stored++
		}
	}
	if !libsvm.Sparse(stored, n, p) {
		x := mat.NewDense(n, p, nil)
		for i := range n {
			for k := r.RowStart[i]; k < r.RowStart[i+1]; k++ {
				x.Set(i, int(r.Index[k]), r.Value[k])
			}
		}
		return x
	}
	start, index, value := make([]int, n+1), make([]int, 0, stored), make([]float64, 0, stored)
	for i := range n {
		for k := r.RowStart[i]; k < r.RowStart[i+1]; k++ {
			if v := r.Value[k]; v != 0 {
				index, value = append(index, int(r.Index[k])), append(value, v)
			}
		}
		start[i+1] = len(index)
	}
	return sparse.NewCSR(n, p, start, index, value)
}

// isCSV tells a CSV from a LIBSVM file, without moving on. Where there is nothing to
// tell from, it says LIBSVM, whose reader will find out that the file is empty.
func isCSV(s *textfile.Source) (bool, error) {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Name())), ".gz")
	if strings.HasSuffix(name, ".csv") {
		return true, nil
	}
	for line := range bytes.Lines(s.Peek(64 << 10)) {
		words := textfile.Words(nil, line)
		// What tells is a pair, or else a comma, or else a number alone (a label).
		switch {
		case len(words) == 0 || words[0][0] == '#':
			continue
		case slices.ContainsFunc(words, isPair), len(words) > 1 && bytes.HasPrefix(words[1], []byte("qid:")):
			return false, nil
		case bytes.IndexByte(line, ',') >= 0:
			return true, nil
		case textfile.IsNumber(words[0]):
			return false, nil
		}
		return false, s.Errorf(0, "", "is neither CSV (column names separated by commas) nor LIBSVM (label index:value ...), it starts with %s", textfile.Quote(textfile.Trim(line)))
	}
	return false, nil
}

// IsLIBSVM says whether a source holds a table in the format of LIBSVM, by its first lines, without moving on: a number and pairs index:value.
// A name that ends in .svm, .libsvm or .svmlight says so too.
func IsLIBSVM(s *textfile.Source) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Name())), ".gz")
	switch filepath.Ext(name) {
	case ".csv", ".tsv":
		return false
	case ".svm", ".libsvm", ".svmlight":
		return true
	}
	for line := range bytes.Lines(s.Peek(64 << 10)) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		words := textfile.Words(nil, line)
		switch {
		case len(words) == 0:
			continue
		case !textfile.IsNumber(words[0]):
			return false
		case len(words) > 1:
			return isPair(words[1]) || bytes.HasPrefix(words[1], []byte("qid:"))
		}
	}
	return false
}

// isPair says whether the word starts like index:value.
func isPair(word []byte) bool {
	digits, _, found := bytes.Cut(word, []byte(":"))
	return found && len(digits) > 0 && !slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}

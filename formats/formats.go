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

	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/formats/libsvm"
	"github.com/conetune/conetune/internal/textfile"
)

// Table is a table of n rows: an n x p matrix X, n targets Y, and their names.
type Table = csvfile.Table

// Compact is a table whose features are sparse where that takes at most half the memory.
type Compact = csvfile.Compact

// Rows are sparse features, row by row.
type Rows = csvfile.Rows

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
	// index is an error. Nil means x1, x2, .. up to the largest index. A CSV file has
	// names of its own.
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
		return csvfile.ReadSource(s, o.csv())
	}
	names, err := o.names(s)
	if err != nil {
		return nil, err
	}
	x, y, err := libsvm.ReadSourceDense(s, libsvm.Options{Features: len(names), Largest: textfile.LargestEntry})
	if err != nil {
		return nil, err
	}
	_, p := x.Dims()
	return &Table{X: x, Y: y, Features: numbered(names, p), Target: o.target()}, nil
}

// ReadCompact reads a file as [ReadTable] does, but a table of mostly zeros is sparse, see [Compact], and is at no time dense.
func ReadCompact(path string, o Options) (*Compact, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return ReadCompactSource(s, o)
}

// ReadCompactSource reads from a source that stands at its first line, as [ReadCompact] does.
func ReadCompactSource(s *textfile.Source, o Options) (*Compact, error) {
	csv, err := isCSV(s)
	if err != nil {
		return nil, err
	}
	if csv {
		return csvfile.ReadCompactSource(s, o.csv())
	}
	names, err := o.names(s)
	if err != nil {
		return nil, err
	}
	m, x, err := libsvm.ReadSourceCompact(s, libsvm.Options{Features: len(names), Largest: textfile.LargestEntry})
	if err != nil {
		return nil, err
	}
	c := &Compact{Table: Table{X: x, Y: m.Labels, Features: numbered(names, m.Features), Target: o.target()}}
	if x == nil {
		c.Rows = &Rows{RowStart: m.RowStart, Index: m.Index, Value: m.Value}
	}
	return c, nil
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

// numbered is a copy of the names, or x1, x2, .. where they are nil.
func numbered(names []string, p int) []string {
	if names != nil {
		return slices.Clone(names)
	}
	for j := range p {
		names = append(names, "x"+strconv.Itoa(j+1))
	}
	return names
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
		case slices.ContainsFunc(words, isPair):
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

// isPair says whether the word starts like index:value.
func isPair(word []byte) bool {
	digits, _, found := bytes.Cut(word, []byte(":"))
	return found && len(digits) > 0 && !slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}

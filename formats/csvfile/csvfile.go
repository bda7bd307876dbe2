// Package csvfile reads and writes tables of numbers as comma-separated text.
//
// # The format
//
// UTF-8 text, plain or gzipped (found out from the content). The first line holds the
// names of the columns, which must be there and differ; each further line holds a
// number for every column, in plain decimal notation (12, -0.5, 6.02e23). Blanks
// around a field, quotes around it, a byte order mark, CRLF and blank lines are
// accepted. A quoted field ends on its line.
//
// One column is the target: the one named in [Options.Target]; without it the one
// named "y", and if there is none, the first. The others are the features, in the
// order of the file.
//
// Missing and infinite values are errors, not numbers. Every error about a file is
// a *formats.Error with its line and column; of several the first one is returned. Files are parsed on
// all cores, see [textfile.Blocks].
//
// [Read] makes a dense table. [ReadCompact] leaves one of mostly zeros sparse.
package csvfile

import (
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

// Table is a table of n rows: features and a target.
type Table struct {
	// X is n x p, a row a line of the file.
	X *mat.Dense
	// Y holds the n targets; nil when the table has none.
	Y []float64
	// Features are the names of the columns of X.
	Features []string
	// Target is the name of Y, empty when the table has none.
	Target string
}

// Options say which columns to read. The zero value takes all.
type Options struct {
	// Target names the column of the target; empty takes the column "y", or the
	// first where there is no "y".
	Target string
	// TargetOptional accepts a table without the target, whose Y is nil then. With
	// an empty Target, only a column "y" is a target, not the first one.
	TargetOptional bool
	// Columns name the features wanted, in this order; other columns are passed
	// over and may hold anything. Nil takes all in the order of the file.
	Columns []string
	// Largest bounds the size of the numbers; 0 takes all that are finite. For a table
	// to which a model is fitted, [textfile.LargestEntry] is a bound below which nothing overflows.
	Largest float64
}

// Read reads a file. The error is a *formats.Error.
func Read(path string, o Options) (*Table, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return ReadSource(s, o)
}

// Decode reads a table from r; name stands for the file in messages. The error is
// a *formats.Error.
func Decode(name string, r io.Reader, o Options) (*Table, error) {
	s, err := textfile.NewSource(name, r)
	if err != nil {
		return nil, err
	}
	return ReadSource(s, o)
}

// ReadSource reads a table from a source that stands at its first line. The error
// is a *formats.Error.
func ReadSource(s *textfile.Source, o Options) (*Table, error) {
	c, err := readSource(s, o, false)
	if err != nil {
		return nil, err
	}
	return &c.Table, nil
}

func readSource(s *textfile.Source, o Options, compact bool) (*Compact, error) {
	h, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	plan, err := h.plan(s, o)
	if err != nil {
		return nil, err
	}
	t, err := readRows(s, plan, compact)
	if err != nil {
		return nil, err
	}
	return &Compact{Table: Table{X: t.dense(), Y: t.y, Features: plan.features, Target: plan.target}, Rows: t.rows}, nil
}

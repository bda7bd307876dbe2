package csvfile

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

// Rows is a table of n rows by its entries, row by row: those of row i are at RowStart[i] to RowStart[i+1] of Index and Value. What has no
// entry is 0. Of a CSV file the entries are all numbers but 0, and -0, so that every number is the one of the file; of a LIBSVM file, what it lists.
type Rows struct {
	// RowStart has length n+1.
	RowStart []int
	// Index are the columns, from 0, increasing within a row.
	Index []int32
	// Value are the numbers.
	Value []float64
}

// Compact is a [Table] whose features are sparse where that takes at most half the memory: 12 bytes for a nonzero and 8 for a
// row, against 8 for each of n x p numbers. Then X is nil and Rows is not.
type Compact struct {
	Table
	Rows *Rows
}

const (
	numberBytes = 8
	entryBytes  = 12
	startBytes  = 8
)

// worthwhile says whether a table of n x p is sparse, see Compact.
func worthwhile(n, p, nonzeros int) bool {
	return 2*sparseBytes(n, nonzeros) <= numberBytes*float64(n)*float64(p)
}

func sparseBytes(n, nonzeros int) float64 {
	return entryBytes*float64(nonzeros) + startBytes*float64(n+1)
}

// ReadCompact reads a file. The error is a *formats.Error.
func ReadCompact(path string, o Options) (*Compact, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return ReadCompactSource(s, o)
}

// ReadCompactSource reads a table from a source that stands at its first line. A table that is mostly zeros is at no time dense in
// memory, unless its first rows are. The error is a *formats.Error.
func ReadCompactSource(s *textfile.Source, o Options) (*Compact, error) {
	return readSource(s, o, true)
}

// table is what was read so far, dense or sparse.
type table struct {
	source      *textfile.Source
	width       int
	compact     bool // may be sparse
	n, nonzeros int
	y           []float64
	x           []float64 // row by row
	rows        *Rows     // instead of x where it is not nil
}

// append appends the rows of a block. The table begins as its first block is, and becomes dense where that takes less.
func (t *table) append(part *rows) error {
	if t.n == 0 && part.gathered {
		t.rows = &Rows{RowStart: []int{0}}
	}
	t.n += len(part.y)
	t.nonzeros += part.nonzeros
	t.y = append(textfile.Grow(t.source, t.y, len(part.y)), part.y...)
	if t.rows != nil && sparseBytes(t.n, t.nonzeros) > numberBytes*float64(t.n)*float64(t.width) {
		if err := t.scatter(); err != nil {
			return err
		}
	}
	if t.rows == nil {
		t.x = append(textfile.Grow(t.source, t.x, len(part.x)), part.x...)
		return nil
	}
	if !part.gathered {
		part.gather(t.width)
	}
	r, from := t.rows, &part.sparse
	before := len(r.Index)
	r.Index = append(textfile.Grow(t.source, r.Index, len(from.Index)), from.Index...)
	r.Value = append(textfile.Grow(t.source, r.Value, len(from.Value)), from.Value...)
	r.RowStart = textfile.Grow(t.source, r.RowStart, len(part.y))
	for _, start := range from.RowStart[1:] {
		r.RowStart = append(r.RowStart, before+start)
	}
	return nil
}

// settle gives the whole table the form that its counts ask for.
func (t *table) settle() error {
	switch sparse := t.compact && worthwhile(t.n, t.width, t.nonzeros); {
	case sparse && t.rows == nil:
		if err := t.source.Charge(0, "", sparseBytes(t.n, t.nonzeros), "a table of %d nonzeros beside the dense one", t.nonzeros); err != nil {
			return err
		}
		t.rows = &Rows{Index: make([]int32, 0, t.nonzeros), Value: make([]float64, 0, t.nonzeros), RowStart: make([]int, 0, t.n+1)}
		t.rows.gather(t.x, t.width)
		t.x = nil
	case !sparse && t.rows != nil:
		return t.scatter()
	}
	return nil
}

// scatter makes the table dense.
func (t *table) scatter() error {
	n := len(t.rows.RowStart) - 1
	if err := t.source.Charge(0, "", numberBytes*float64(n)*float64(t.width), "a dense table of %d rows and %d features", n, t.width); err != nil {
		return err
	}
	t.x = make([]float64, n*t.width)
	for i := range n {
		row := t.x[i*t.width : (i+1)*t.width]
		for k := t.rows.RowStart[i]; k < t.rows.RowStart[i+1]; k++ {
			row[t.rows.Index[k]] = t.rows.Value[k]
		}
	}
	t.rows = nil
	return nil
}

// dense is X, nil where the table is sparse.
func (t *table) dense() *mat.Dense {
	if t.rows != nil {
		return nil
	}
	return mat.NewDense(t.n, t.width, t.x)
}

// gather finds the nonzeros of the rows of a block.
func (r *rows) gather(width int) {
	r.sparse.gather(r.x, width)
	r.gathered = true
}

// gather replaces the rows by those of x.
func (r *Rows) gather(x []float64, width int) {
	r.RowStart, r.Index, r.Value = append(r.RowStart[:0], 0), r.Index[:0], r.Value[:0]
	for ; len(x) > 0; x = x[width:] {
		for j, v := range x[:width] {
			if math.Float64bits(v) != 0 {
				r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, v)
			}
		}
		r.RowStart = append(r.RowStart, len(r.Index))
	}
}

func countNonzeros(x []float64) (n int) {
	for _, v := range x {
		if math.Float64bits(v) != 0 {
			n++
		}
	}
	return n
}

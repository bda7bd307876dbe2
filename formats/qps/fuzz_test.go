package qps

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/readertest"
)

var format = readertest.Program[Model]{
	Ending: ".qps", Read: read, Decode: Decode, Encode: Encode, Open: Read, Write: Write,
	Conic: func(m *Model) (*backends.Problem, error) { return m.Conic().Problem, nil },
	// Sides or names that the format cannot hold.
	Unfit: func(err error) bool {
		return strings.Contains(err.Error(), "the sides [") || strings.Contains(err.Error(), " name ")
	},
	Difference: difference,
	Vary:       (*Model).Rename,
	Files:      []string{"testdata/small.qps", "testdata/fixed.mps"},
	Texts: []string{
		one("E", "RHS\n r 1e30\nRANGES\n r -2\nBOUNDS\n MI x\n UP x -3\nQMATRIX\n x y 1\n y x 1\n"),
		one("G", "RHS\n c 7\n r inf\nBOUNDS\n BV x\n"), one("L", "RANGES\n r 1e19\nQSECTION c\n x x 1d0\n x x -1\n"),
		"ROWS\n N c\nCOLUMNS\n M 'MARKER' 'INTORG'\nENDATA", "NAME a b\nOBJSENSE MAX\nOBJNAME\n d\nROWS\n N c\n N d\nCOLUMNS\n x d 1 c 2\nENDATA\n",
		"ROWS\n\f\n\v N c\n\u00a0L r\n\ufeff\nCOLUMNS\n x\u00a0c\v1\nENDATA\n", "\u00a0\nROWS\n", "ROWS\n N c\nCOLUMNS\n x c 1e999\nENDATA\n",
	},
	Words: []string{"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX", "QSECTION", "ENDATA", "NAME", "OBJSENSE", "OBJNAME", "MAX", "N", "L", "G", "E",
		"UP", "LO", "FX", "FR", "MI", "PL", "BV", "c", "r", "x", "y", "z", "cost", "sum", "cap", "link", "'MARKER'", "'INTORG'", "'INTEND'", "RHS", "BND"},
}

func FuzzRead(f *testing.F)      { format.Fuzz(f) }
func TestMutations(t *testing.T) { format.Mutations(t) }

func difference(a, b *Model) string {
	switch {
	case a.Name != b.Name:
		return "name"
	case a.Objective != b.Objective && a.Objective != "":
		return "objective"
	case !slices.Equal(a.Rows, b.Rows) || !slices.Equal(a.Columns, b.Columns):
		return "names"
	case a.Maximize != b.Maximize || a.Constant != b.Constant || !slices.Equal(a.Q, b.Q):
		return "linear term"
	case !slices.Equal(a.ColumnLower, b.ColumnLower) || !slices.Equal(a.ColumnUpper, b.ColumnUpper):
		return "bounds"
	case !sameMatrix(a.A, b.A):
		return "matrix"
	case (a.P == nil) != (b.P == nil) || a.P != nil && !sameMatrix(a.P, b.P):
		return "quadratic term"
	}
	for i := range a.Rows { // the width of a row may be no double
		for _, side := range [2][2]float64{{a.RowLower[i], b.RowLower[i]}, {a.RowUpper[i], b.RowUpper[i]}} {
			size := max(math.Abs(a.RowLower[i]), math.Abs(a.RowUpper[i]))
			if side[0] != side[1] && !(math.Abs(side[0]-side[1]) <= 4e-16*size) {
				return fmt.Sprintf("row %d: %v", i, side)
			}
		}
	}
	return ""
}

func sameMatrix(a, b *sparse.CSC) bool {
	x, y := a.RawMatrix(), b.RawMatrix()
	return x.I == y.I && x.J == y.J && slices.Equal(x.Indptr, y.Indptr) && slices.Equal(x.Ind, y.Ind) && slices.Equal(x.Data, y.Data)
}

package qps

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/formats/textfile"
	"github.com/conetune/conetune/internal/readertest"
)

// FuzzRead: what is read is a valid program, and reads back the same after it was written, if the format can hold it.
func FuzzRead(f *testing.F) {
	readertest.Seeds(f, files, texts...)
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}

// TestMutations asks the same of texts made of whole lines and words.
func TestMutations(t *testing.T) {
	words := []string{"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX", "QSECTION", "ENDATA", "NAME", "OBJSENSE", "OBJNAME", "MAX", "N", "L", "G", "E",
		"UP", "LO", "FX", "FR", "MI", "PL", "BV", "c", "r", "x", "y", "z", "cost", "sum", "cap", "link", "'MARKER'", "'INTORG'", "'INTEND'", "RHS", "BND"}
	readertest.Mutations(readertest.Texts(t, files, texts), words, readertest.Count(), func(text []byte) bool { return check(t, text) })
}

var (
	files = []string{"testdata/small.qps", "testdata/fixed.mps"}
	texts = []string{
		one("E", "RHS\n r 1e30\nRANGES\n r -2\nBOUNDS\n MI x\n UP x -3\nQMATRIX\n x y 1\n y x 1\n"),
		one("G", "RHS\n c 7\n r inf\nBOUNDS\n BV x\n"), one("L", "RANGES\n r 1e19\nQSECTION c\n x x 1d0\n x x -1\n"),
		"ROWS\n N c\nCOLUMNS\n M 'MARKER' 'INTORG'\nENDATA", "NAME a b\nOBJSENSE MAX\nOBJNAME\n d\nROWS\n N c\n N d\nCOLUMNS\n x d 1 c 2\nENDATA\n",
		"ROWS\n\f\n\v N c\n\u00a0L r\n\ufeff\nCOLUMNS\n x\u00a0c\v1\nENDATA\n", "\u00a0\nROWS\n", "ROWS\n N c\nCOLUMNS\n x c 1e999\nENDATA\n",
	}
)

func check(t *testing.T, text []byte) bool {
	var m *Model
	ok := readertest.Read(t, "fuzz.qps", text, func(s *textfile.Source) (err error) {
		if m, err = ReadSource(s); err == nil {
			err = m.Conic().Problem.Validate()
		}
		return err
	})
	if ok {
		roundTrip(t, m)
		m.Rename()
		roundTrip(t, m)
	}
	return ok
}

func roundTrip(t *testing.T, m *Model) {
	t.Helper()
	var out bytes.Buffer
	if err := Encode(&out, m); err != nil {
		if !strings.Contains(err.Error(), "the sides [") && !strings.Contains(err.Error(), " name ") {
			t.Fatal(err)
		}
		return // sides or names that the format cannot hold
	}
	again, err := Decode("again.qps", &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(m, again); diff != "" {
		t.Fatal("the round trip changes the model: " + diff)
	}
}

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

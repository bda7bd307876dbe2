package csvfile

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
)

// FuzzRead: what was read can be written, if the names can, and is the same when it is read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "y,a\n1,2\n", "\xef\xbb\xbfy,\"a,b\"\r\n1e400,2", "0,1\n\"3\", \"4\"\n", "y,a\n1,nan\n", "\x1f\x8b\x08\x00", "y;a\n", "y,\"a\n\"\n",
		"\f\n\u00a0y\v,\"a\"\ufeff\n\v\n\u00a01,\"\u00a02 \"\f\n", "y,a\n1e154,1\n", "y,a,b\n\"1\"\"\",,\n"} {
		f.Add([]byte(seed), "", false, false)
		f.Add([]byte(seed), "a", true, true)
	}
	f.Add([]byte("y,a\n1,2\n"), strings.Repeat("\xbb", 9000), false, false)
	f.Fuzz(func(t *testing.T, text []byte, target string, optional, bounded bool) {
		o := Options{Target: target, TargetOptional: optional}
		if bounded {
			o.Largest = textfile.LargestEntry
		}
		var got *Table
		if !readertest.Read(t, "f.csv", text, func(s *textfile.Source) (err error) { got, err = ReadSource(s, o); return err }) {
			return
		}
		var b bytes.Buffer
		if Encode(&b, got) != nil {
			return
		}
		if got.Y != nil {
			o.Target = got.Target
		}
		again, err := Decode("f.csv", &b, o)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(got.X, again.X) || !slices.Equal(got.Y, again.Y) || !slices.Equal(got.Features, again.Features) {
			t.Fatal("the round trip changes the table")
		}
	})
}

// FuzzBlocks: the lines that are taken in one pass have the numbers that any line has; small blocks on several goroutines give the
// table, or the error, that one block gives; and a compact table has the same numbers.
func FuzzBlocks(f *testing.F) {
	for _, seed := range []string{"y,a,b\n1,2,3\n", "y,a,b,c,d,e\n0,0,0,0,0,0\n1,0,0,0,0,2\n-0,0,0,0,0,0\r\n", "y,a,b\r\n1 ,\t2,\"3\"\r\n\r\n", "y,a,b\n1e5,.5,5.\n1,x,2\n", "y,a\n1,2,3\n",
		"y,a,b\n0,0,0\n0,0,0,\n", "name,y,a,b\n\"x,\n\",1,2,3\nz\x00,1,2,3\n", "y,a,b,c,d,e,f,g,h,i\n1,0,0,0,0,0,0,0,0,0\n1,2,3,4,5,6,7,8,9,0\n"} {
		f.Add([]byte(seed), uint8(1), false, 0.)
		f.Add([]byte(seed), uint8(9), true, 1e3)
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8, choose bool, largest float64) {
		o := Options{Largest: largest}
		if choose {
			o.Columns = []string{"b", "a"}
		}
		open := func(workers, size int) (*textfile.Source, error) {
			s, err := textfile.NewSource("f.csv", bytes.NewReader(text))
			if err == nil {
				s.SetBlocks(workers, size)
			}
			return s, err
		}
		s, err := open(1, 0)
		if err != nil {
			return
		}
		h, err := readHeader(s)
		if err != nil {
			return
		}
		if p, err := h.plan(s, o); err == nil {
			for line, err := s.Line(); err == nil; line, err = s.Line() {
				row, want := make([]float64, len(p.features)), make([]float64, len(p.features))
				y, next := p.usual(append(bytes.Clone(line), '\n'), 0, row)
				if next == 0 {
					continue
				}
				var target float64
				if err := p.row(s, line, 1, want, &target); err != nil || next != len(line)+1 {
					t.Fatalf("%q accepted: %v", line, err)
				}
				same(t, append(row, y), append(want, target))
			}
		}
		read := func(workers, size int, compact bool) (*Compact, error) {
			s, err := open(workers, size)
			if err != nil {
				return nil, err
			}
			return readSource(s, o, compact)
		}
		want, err := read(1, 0, false)
		for _, compact := range []bool{false, true} {
			got, other := read(3, 1+int(size), compact)
			switch {
			case (err == nil) != (other == nil) || err != nil && err.Error() != other.Error():
				t.Fatalf("%v, expected %v", other, err)
			case err != nil:
				continue
			}
			checkRows(t, want.X, got)
			same(t, want.Y, got.Y)
		}
	})
}

// checkRows demands the numbers of x, to the bit.
func checkRows(t *testing.T, x *mat.Dense, got *Compact) {
	t.Helper()
	n, p := x.Dims()
	if (got.Rows == nil) == (got.X == nil) {
		t.Fatal("expected either X or Rows")
	}
	nonzeros := 0
	for i := range n {
		row := make([]float64, p)
		if got.Rows == nil {
			copy(row, got.X.RawRowView(i))
		} else {
			last := -1
			for k := got.Rows.RowStart[i]; k < got.Rows.RowStart[i+1]; k++ {
				j := int(got.Rows.Index[k])
				if j <= last {
					t.Fatalf("the columns of row %d are not in order", i)
				}
				row[j], last = got.Rows.Value[k], j
			}
		}
		same(t, row, x.RawRowView(i))
		for _, v := range row {
			if v != 0 || math.Signbit(v) {
				nonzeros++
			}
		}
	}
	if r := got.Rows; r != nil && (len(r.RowStart) != n+1 || len(r.Index) != nonzeros || len(r.Value) != nonzeros || 2*(12*nonzeros+8*(n+1)) > 8*n*p) {
		t.Fatal("not the nonzeros, or too many to be sparse")
	}
}

func same(t *testing.T, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Fatalf("%v, expected %v", got, want)
	}
}

package libsvm

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
)

// FuzzRead: the lines that are taken in one pass have the rows that any line has, small blocks on several goroutines
// give the rows, or the error, that one block gives, and the matrix has the entries, also of what is written out and
// read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "1 1:2 3:4\n-1 2:1\n", "1 3:1 2:2 # c\r\n\n", "1 0:1", "1 1:1 1:2\n1 \n1\t2:3 \r\n",
		"nan 1:inf", "1 99999999999:1", "\x1f\x8b\x08\x00",
		"1 2147483647:1", "1 20000000:1\n1 1:1\n", "\f\v\u00a0\n\u00a01\v1:2\u00a0\ufeff2:3", "1e154 1:1e200", "1 1:-1e71",
		"1e5 1:-1e5 2:.5 3:5. 4:1e 5:1\n",
		"1 1:12345678901234567 02:0x1\n", "1 2147483648:1\n2", "\x00"} {
		f.Add([]byte(seed), 1)
		f.Add([]byte(seed), 9)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		for line := range bytes.Lines(text) {
			var one, other rows
			s := source(t, "")
			next := one.usual(append(bytes.TrimSuffix(line, []byte("\n")), '\n'), 0)
			if next == 0 {
				if len(one.index)+len(one.value)+len(one.labels)+len(one.end) > 0 {
					t.Fatalf("%q is refused and left something", line)
				}
				continue
			}
			if err := other.line(s, bytes.TrimSuffix(line, []byte("\n")), 1); err != nil || len(other.labels) != 1 ||
				next < len(line) {
				t.Fatalf("%q: %v", line, err)
			}
			same(t, one.labels, other.labels)
			same(t, one.value, other.value)
			if !slices.Equal(one.index, other.index) || !slices.Equal(one.end, other.end) {
				t.Fatalf("%q: other columns", line)
			}
		}
		read := func(workers, size int) (m *File) {
			readertest.Read(t, "f", text, func(s *textfile.Source) (err error) {
				s.SetBlocks(workers, size)
				m, err = Read(s)
				return err
			})
			return m
		}
		want, got := read(1, 0), read(3, 1+size&255)
		if want == nil && got == nil {
			return
		}
		same(t, got.Labels, want.Labels)
		wanted, entries := entriesOf(want), entriesOf(got)
		if !slices.Equal(wanted, entries) || got.First != want.First || got.Last != want.Last ||
			got.lastLine != want.lastLine {
			t.Fatal("the table is another one")
		}
		n, p := len(want.Labels), want.Last-want.First+1
		if n*p > 1<<20 {
			return // too large
		}
		x, err := want.Matrix(want.First, p)
		if err != nil {
			return
		}
		dense, out := mat.NewDense(n, p, nil), []byte(nil)
		for i, y := range want.Labels {
			out = strconv.AppendFloat(out, y, 'g', -1, 64)
			for _, e := range entries {
				if e.row == i {
					dense.Set(i, e.index-want.First, e.value)
					out = strconv.AppendInt(append(out, ' '), int64(e.index), 10)
					out = strconv.AppendFloat(append(out, ':'), e.value, 'g', -1, 64)
				}
			}
			out = append(out, '\n')
		}
		again, err := Read(source(t, string(out)))
		if err != nil || !mat.Equal(dense, x) || !slices.Equal(wanted, entriesOf(again)) {
			t.Fatalf("the matrix, or what is written and read, is another one: %v", err)
		}
	})
}

// one is an entry.
type one struct {
	row, index int
	value      float64
}

func entriesOf(f *File) (list []one) {
	f.each(func(i int, index []int32, value []float64) {
		for k, j := range index {
			list = append(list, one{i, int(j), value[k]})
		}
	})
	return list
}

func same(t *testing.T, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Fatalf("%v, expected %v", got, want)
	}
}

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

// FuzzRead: the sparse and the dense reading agree, with each other and with what is written out and read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "1 1:2 3:4\n-1 2:1\n", "1 3:1 2:2 # c\r\n\n", "1 0:1", "1 1:1 1:2", "nan 1:inf", "1 99999999999:1", "\x1f\x8b\x08\x00",
		"1 2147483647:1", "1 20000000:1\n1 1:1\n", "\f\v\u00a0\n\u00a01\v1:2\u00a0\ufeff2:3", "1e154 1:1e200", "1 1:-1e71"} {
		f.Add([]byte(seed), 0)
		f.Add([]byte(seed), 2)
	}
	f.Add([]byte("1 9:1"), 5)
	f.Fuzz(func(t *testing.T, text []byte, features int) {
		o := Options{Features: features}
		var m *matrix
		if !readertest.Read(t, "f", text, func(s *textfile.Source) (err error) { m, err = collect(s, o); return err }) {
			return
		}
		var table *Table
		if !readertest.Read(t, "f", text, func(s *textfile.Source) (err error) { table, err = Read(s, o); return err }) || len(m.Labels)*m.Features > 1<<20 {
			return // too large
		}
		checkDense(t, m, table)
		var out []byte
		for i, y := range m.Labels {
			out = strconv.AppendFloat(out, y, 'g', -1, 64)
			for k := m.start[i]; k < m.start[i+1]; k++ {
				out = strconv.AppendInt(append(out, ' '), int64(m.index[k])+1, 10)
				out = strconv.AppendFloat(append(out, ':'), m.value[k], 'g', -1, 64)
			}
			out = append(out, '\n')
		}
		again, err := decode(string(out), Options{Features: m.Features})
		if err != nil {
			t.Fatal(err)
		}
		checkDense(t, again, table)
	})
}

func checkDense(t *testing.T, m *matrix, got *Table) {
	t.Helper()
	want := mat.NewDense(len(m.Labels), m.Features, nil)
	for i := range m.Labels {
		for k := m.start[i]; k < m.start[i+1]; k++ {
			want.Set(i, int(m.index[k]), m.value[k])
		}
	}
	if !slices.Equal(got.Labels, m.Labels) || !mat.Equal(want, got.X) {
		t.Fatal("the dense table is another one")
	}
}

// FuzzBlocks: the lines that are taken in one pass have the rows that any line has, and small blocks on several goroutines give the table, or
// the error, that one block gives.
func FuzzBlocks(f *testing.F) {
	for _, seed := range []string{"1 1:2 3:4\n-1 2:1\n", "1 3:1 2:2 # c\r\n\n", "1 1:1 1:2\n1 \n1\t2:3 \r\n", "1e5 1:-1e5 2:.5 3:5. 4:1e 5:1\n", "1 1:12345678901234567 02:0x1\n", "1 2147483648:1\n2", "\x00"} {
		f.Add([]byte(seed), uint8(1), 0)
		f.Add([]byte(seed), uint8(9), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8, features int) {
		o := Options{Features: max(0, min(features, 1000))}
		for line := range bytes.Lines(text) {
			var one, other rows
			s, err := textfile.NewSource("f", bytes.NewReader(nil))
			if err != nil {
				t.Fatal(err)
			}
			last, next := one.usual(append(bytes.TrimSuffix(line, []byte("\n")), '\n'), 0, &o)
			if next == 0 {
				if len(one.index)+len(one.value)+len(one.labels)+len(one.end) > 0 {
					t.Fatalf("%q is refused and left something", line)
				}
				continue
			}
			want, err := other.line(s, bytes.TrimSuffix(line, []byte("\n")), 1, &o)
			if err != nil || want != last || len(other.labels) != 1 || next < len(line) {
				t.Fatalf("%q: %v, %d, expected %d", line, err, last, want)
			}
			same(t, one.labels, other.labels)
			same(t, one.value, other.value)
			if !slices.Equal(one.index, other.index) || !slices.Equal(one.end, other.end) {
				t.Fatalf("%q: other columns", line)
			}
		}
		read := func(workers, size int) (*matrix, error) {
			s, err := textfile.NewSource("f", bytes.NewReader(text))
			if err != nil {
				return nil, err
			}
			s.SetBlocks(workers, size)
			return collect(s, o)
		}
		want, err1 := read(1, 0)
		got, err2 := read(3, 1+int(size))
		switch {
		case (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error():
			t.Fatalf("%v, expected %v", err2, err1)
		case err1 != nil:
			return
		}
		same(t, got.Labels, want.Labels)
		same(t, got.value, want.value)
		if !slices.Equal(got.index, want.index) || !slices.Equal(got.start, want.start) || got.Features != want.Features || got.widest != want.widest {
			t.Fatal("the table is another one")
		}
	})
}

func same(t *testing.T, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Fatalf("%v, expected %v", got, want)
	}
}

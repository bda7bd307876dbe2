package libsvm

import (
	"bytes"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats/textfile"
	"github.com/conetune/conetune/internal/readertest"
)

// FuzzRead: the sparse and the dense reading agree, with each other and with what is written out and read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "1 1:2 3:4\n-1 2:1\n", "1 3:1 2:2 # c\r\n\n", "1 0:1", "1 1:1 1:2", "nan 1:inf", "1 99999999999:1", "\x1f\x8b\x08\x00",
		"1 2147483647:1", "1 20000000:1\n1 1:1\n", "\f\v\u00a0\n\u00a01\v1:2\u00a0\ufeff2:3", "1e154 1:1e200", "1 1:-1e71"} {
		f.Add([]byte(seed), 0, 0.)
		f.Add([]byte(seed), 2, textfile.LargestEntry)
	}
	f.Add([]byte("1 9:1"), 5, -1.)
	f.Fuzz(func(t *testing.T, text []byte, features int, largest float64) {
		o := Options{Features: features, Largest: largest}
		var m *Matrix
		if !readertest.Read(t, "f", text, func(s *textfile.Source) (err error) { m, err = ReadSource(s, o); return err }) {
			return
		}
		var x *mat.Dense
		var labels []float64
		if !readertest.Read(t, "f", text, func(s *textfile.Source) (err error) { x, labels, err = ReadSourceDense(s, o); return err }) {
			return // too large
		}
		checkDense(t, m, x, labels)
		var out []byte
		for i, y := range m.Labels {
			out = strconv.AppendFloat(out, y, 'g', -1, 64)
			for k := m.RowStart[i]; k < m.RowStart[i+1]; k++ {
				out = strconv.AppendInt(append(out, ' '), int64(m.Index[k])+1, 10)
				out = strconv.AppendFloat(append(out, ':'), m.Value[k], 'g', -1, 64)
			}
			out = append(out, '\n')
		}
		again, err := Decode("again", bytes.NewReader(out), Options{Features: m.Features})
		if err != nil {
			t.Fatal(err)
		}
		checkDense(t, again, x, labels)
	})
}

func checkDense(t *testing.T, m *Matrix, x *mat.Dense, labels []float64) {
	t.Helper()
	want := mat.NewDense(len(m.Labels), m.Features, nil)
	for i := range m.Labels {
		for k := m.RowStart[i]; k < m.RowStart[i+1]; k++ {
			want.Set(i, int(m.Index[k]), m.Value[k])
		}
	}
	if !mat.Equal(mat.NewVecDense(len(labels), labels), mat.NewVecDense(len(m.Labels), m.Labels)) || !mat.Equal(want, x) {
		t.Fatal("the dense table is another one")
	}
}

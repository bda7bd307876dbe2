package lp

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
)

var format = readertest.Program[qps.Model]{
	Ending: ".lp", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *qps.Model) (*backends.Problem, error) { return m.Conic().Problem, nil },
	Texts: []string{small, "max\nst\nx>=-inf\nend", "min x/\nend", "MIN\n obj:\nSubject To\n 3 <= x\n 1 >= 2 x + 3 >= -1\nEnd\n"},
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }

// small has what files of this format have.
const small = `\ A diet.
Maximize
 value: - 2 bread -3milk + 1.5e0 + [ - bread ^ 2 - 2 bread * milk ] / 2 \ and more
  + bread - 0 water
Subject To
 energy: 4 bread + 5 milk
  >= 10
 weight: 1 <= bread + milk + 0.5 =< 4
 2 water + 1 = 3
 water - - bread => -1e30
Bounds
 -1 <= bread <= 2
 milk free
 water >= 1
 3 >= water
End
`

func TestRead(t *testing.T) {
	m := must.Of(Decode("small.lp", strings.NewReader(small)))(t)
	require.True(t, m.Maximize)
	require.Equal(t, []string{"bread", "milk", "water"}, m.Columns)
	require.Equal(t, []string{"energy", "weight", "r3", "r4"}, m.Rows)
	require.Equal(t, []float64{-1, -3, 0}, m.Q)
	require.InDelta(t, 1.5, m.Constant, 0)
	require.InDelta(t, -1, m.P.At(0, 0), 0)
	require.InDelta(t, -1, m.P.At(0, 1), 0)
	inf := math.Inf(1)
	require.Equal(t, []float64{10, 0.5, 2, -inf}, m.RowLower)
	require.Equal(t, []float64{inf, 3.5, 2, inf}, m.RowUpper)
	require.Equal(t, []float64{-1, -inf, 1}, m.ColumnLower)
	require.Equal(t, []float64{2, inf, 3}, m.ColumnUpper)
	require.InDelta(t, 2, m.A.At(2, 2), 0)
	require.InDelta(t, 1, m.A.At(3, 0), 0)
	for text, want := range map[string]string{
		"min x\n": "small.lp:1: the file ends without End",
		"max\n x\nst\n a: x >= 1\n a: x >= 2\nEnd": "small.lp:5: a: the row is there twice",
		"x\nend":                                 "Minimize or Maximize",
		"min\n x\nst\n x >= y\nend":              `small.lp:4: "y": expected a number`,
		"min\n x\nst\n [ x ^ 2 ] <= 1\nend":      `small.lp:4: "[": expected`,
		"min\n x\nGenerals\n x\nend":             "generals: this section is not read",
		"min\n 2 x + [ x ^ 3 ] / 2\nend":         "small.lp:2: 3: expected 2",
		"min\n x x\nend":                         `small.lp:2: "x": expected a section`,
		"min\n 1e300 x + 1e308 y + 1e308 y\nend": "no finite number",
		"min\n x\nbounds\n x < \nend":            "expected a number",
		"min\n x\nst\n a: x > 1e20\nend":         "small.lp:4: a: the sides are +Inf and +Inf",
		"min\n x\nbounds\n x < -inf\nend":        "small.lp:4: x: the sides are 0 and -Inf",
		"min\n x +\nend":                         "expected a term",
	} {
		_, err := Decode("small.lp", strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

// What is written is read as the same model, of public instances, too.
func TestEncode(t *testing.T) {
	models := []*qps.Model{must.Of(Decode("small.lp", strings.NewReader(small)))(t)}
	for _, pattern := range []string{"lp/*", "qp/*"} {
		for _, f := range must.Of(filepath.Glob(filepath.Join(os.Getenv("CONETUNE_INSTANCES"), pattern)))(t) {
			if info := must.Of(os.Stat(f))(t); info.Size() < 100_000 {
				if m, err := qps.Read(f); err == nil {
					models = append(models, m)
				}
			}
		}
	}
	for _, m := range models {
		var text bytes.Buffer
		require.NoError(t, Encode(&text, m))
		got := must.Of(Decode("again.lp", &text))(t)
		if got.Columns[0] != "x1" { // else one of them is no name here
			require.Equal(t, m.Columns, got.Columns)
		}
		require.Equal(t, m.Q, got.Q)
		require.Equal(t, m.P, got.P)
		require.Equal(t, m.ColumnLower, got.ColumnLower)
		require.Equal(t, m.ColumnUpper, got.ColumnUpper)
		if slices.Equal(m.Rows, got.Rows) && m.A.NNZ() == got.A.NNZ() { // else rows are empty, or have two sides
			require.Equal(t, m.A, got.A)
			require.Equal(t, m.RowLower, got.RowLower)
			require.Equal(t, m.RowUpper, got.RowUpper)
		}
	}
	t.Log(len(models))
}

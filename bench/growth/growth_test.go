package main

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/libsvm"
)

// The slope of x^1.5 is 1.5 whatever came before the last decade.
func TestSlope(t *testing.T) {
	x := []float64{1, 10, 30, 100}
	y := []float64{1e9, math.Pow(10, 1.5), math.Pow(30, 1.5), math.Pow(100, 1.5)}
	require.Equal(t, ": 1.5", slope(x, y))
	require.Empty(t, slope(x[:1], y))
	require.Empty(t, slope([]float64{1, 100}, []float64{1, 2}))
}

// Tables have the shape that they say, and the same shape gives the same bytes.
func TestTables(t *testing.T) {
	for _, shape := range []table{{rows: 40, features: 7}, {rows: 41, features: 300, entries: 9}} {
		for _, labels := range []bool{false, true} {
			a, b := t.TempDir(), t.TempDir()
			require.NoError(t, shape.write(a, labels))
			require.NoError(t, shape.write(b, labels))
			rows, nonzeros := 0, 0
			for _, name := range []string{"train.svm", "val.svm", "test.svm"} {
				read := func(dir string) *libsvm.Table {
					m, err := textfile.ReadFile(filepath.Join(dir, name), func(s *textfile.Source) (*libsvm.Table, error) {
						return libsvm.Read(s, libsvm.Options{Features: shape.features})
					})
					require.NoError(t, err)
					return m
				}
				m, same := read(a), read(b)
				require.Equal(t, m, same)
				rows += len(m.Labels)
				nonzeros += (&dataset.Data{X: m.X}).Nonzeros()
				if labels {
					for _, y := range m.Labels {
						require.Equal(t, 1.0, math.Abs(y))
					}
				}
			}
			require.Equal(t, shape.rows, rows)
			require.LessOrEqual(t, nonzeros, shape.nonzeros())
			require.GreaterOrEqual(t, 3*nonzeros, 2*shape.nonzeros())
		}
	}
}

// What was measured comes back from its file, and can be drawn.
func TestRunsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.csv")
	none, err := read(path)
	require.NoError(t, err)
	require.Empty(t, none)
	runs := []run{
		{"rows", job{"elastic-net", "hoag"}, 1000, 50, 50000, 0.25, 30.5, "converged", 2.5},
		{"rows", job{"elastic-net", "hoag"}, 3000, 50, 150000, 0.5, 40, "time_limit", 2.25},
	}
	require.NoError(t, write(path, runs))
	again, err := read(path)
	require.NoError(t, err)
	require.Equal(t, runs, again)
	require.True(t, known(runs, sweep{name: "rows"}, table{rows: 1000, features: 50}, job{"elastic-net", "hoag"}))
	require.False(t, known(runs, sweep{name: "rows"}, table{rows: 1000, features: 50}, job{"elastic-net", "vf-idca"}))
	require.NoError(t, draw(runs).Write(&bytes.Buffer{}, "svg"))
}

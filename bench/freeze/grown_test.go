package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
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
func TestGrown(t *testing.T) {
	for _, shape := range []grown{{rows: 40, features: 7}, {rows: 41, features: 300, entries: 9}, {rows: 40, features: 7, labels: true}} {
		a, b := t.TempDir(), t.TempDir()
		require.NoError(t, shape.write(a))
		require.NoError(t, shape.write(b))
		rows, nonzeros := 0, 0
		for _, name := range parts {
			read := func(dir string) *dataset.Data {
				f, err := textfile.ReadFile(filepath.Join(dir, shape.folder(), name+".svm"), libsvm.Read)
				require.NoError(t, err)
				x, err := f.Matrix(1, shape.features)
				require.NoError(t, err)
				return &dataset.Data{X: x, Y: f.Labels}
			}
			m, same := read(a), read(b)
			require.Equal(t, m, same)
			rows += len(m.Y)
			nonzeros += m.Nonzeros()
			for _, y := range m.Y {
				require.True(t, !shape.labels || math.Abs(y) == 1)
			}
		}
		require.Equal(t, shape.rows, rows)
		require.LessOrEqual(t, nonzeros, shape.nonzeros())
		require.GreaterOrEqual(t, 3*nonzeros, 2*shape.nonzeros())
	}
}

// The picture has a line for each series that was measured.
func TestDraw(t *testing.T) {
	f := &file{}
	for _, j := range grownTables(1e6) {
		f.Cases = append(f.Cases, result{Name: j.name, Args: j.args, Status: "converged", Seconds: 0.25, Peak: 30.5})
	}
	f.Cases = slices.DeleteFunc(f.Cases, func(r result) bool { return strings.Contains(r.Name, "logistic") })
	lines := draw(f).Panels[1].Lines
	require.Len(t, lines, 6)
	require.Equal(t, "rows hoag: 0.0", lines[1].Name)
	require.Equal(t, []float64{5e4, 15e4, 5e5}, lines[1].X)
}

package qps

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
)

// again is the model that is read from what another one is written as.
func again(t *testing.T, m *Model) *Model {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, m.Encode(&text))
	return must.Of(Decode("again.qps", &text))(t)
}

// What is written is read as the same model, but for the rounding of upper sides, of public instances, too.
func TestEncode(t *testing.T) {
	files := []string{"testdata/small.qps", "testdata/fixed.mps"}
	if dir := os.Getenv("CONETUNE_INSTANCES"); dir != "" {
		for _, pattern := range []string{"lp/*", "qp/*"} {
			for _, f := range must.Of(filepath.Glob(filepath.Join(dir, pattern)))(t) {
				if info := must.Of(os.Stat(f))(t); info.Size() < 300_000 {
					files = append(files, f)
				}
			}
		}
	}
	read := 0
	for _, file := range files {
		m, err := Read(file)
		if err != nil {
			continue
		}
		read++
		copied := again(t, m)
		require.InDeltaSlice(t, m.RowUpper, copied.RowUpper, 1e-9, file)
		copied.RowUpper = m.RowUpper
		if strings.Contains(strings.Join(m.Columns, ""), " ") {
			require.Equal(t, []string{"x1", "x2"}, copied.Columns[:2])
			copied.Objective, copied.Rows, copied.Columns = m.Objective, m.Rows, m.Columns
		}
		copied.Name = m.Name
		require.Equal(t, m, copied, file)
	}
	require.GreaterOrEqual(t, read, 2)

	m := must.Of(Read(files[0]))(t)
	m.RowLower[0] = 100
	require.ErrorContains(t, m.Encode(new(bytes.Buffer)), "row sum")
}

// A program of known optimum has it as a model of this format, too, with the constant of its objective.
func TestFromConic(t *testing.T) {
	m := must.Of(Read("testdata/small.qps"))(t)
	copied := again(t, must.Of(FromConic(m.Conic().Problem, m.Constant))(t))
	p := copied.Conic()
	s := p.Solution(readertest.Solve(t, p.Problem))
	require.InDeltaSlice(t, []float64{1, 1.5}, s.X[:2], 1e-5)
	require.InDelta(t, 1.5+1.5*1.5-2-3+1, s.Objective, 1e-6)

	problem := m.Conic().Problem
	problem.Cones = []backends.Cone{backends.SecondOrder(len(problem.B))}
	_, err := FromConic(problem, 0)
	require.ErrorContains(t, err, "kind")
}

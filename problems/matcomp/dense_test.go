package matcomp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/matcomp"
)

// With the paper's settings the iterates of a matrix most of whose entries are known nearly interpolate them; VF-iDCA
// ends all the same.
func TestDense(t *testing.T) {
	d, err := matcomp.Generate(matcomp.Config{Rows: 60, Cols: 60, Train: 12, Val: 4}, 1)
	require.NoError(t, err)
	m := newModel(t, d, matcomp.Options{})
	s := m.PaperSettings()
	s.Backend = native.Backend{}
	p := m.Program()
	fit, err := m.Penalised()
	require.NoError(t, err)
	p.Fit = fit
	r, err := dca.Solve(context.Background(), p, s)
	require.NoError(t, err)
	require.Equal(t, outcome.Converged, r.Status, r.Message)
}

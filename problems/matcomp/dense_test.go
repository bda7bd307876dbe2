package matcomp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/matcomp"
)

// With the paper's settings the iterates of a matrix most of whose entries are known nearly interpolate them; VF-iDCA
// ends all the same.
func TestDense(t *testing.T) {
	d := must.Of(matcomp.Generate(matcomp.Config{Rows: 60, Cols: 60, Train: 12, Val: 4}, 1))(t)
	m := newModel(t, d, matcomp.Options{})
	s := m.PaperSettings()
	s.Backend = native.Backend{}
	p := m.Program()
	fit := must.Of(m.Penalised())(t)
	p.Fit = fit
	r := must.Of(dca.Solve(context.Background(), p, s))(t)
	require.Equal(t, outcome.Converged, r.Status, r.Message)
}

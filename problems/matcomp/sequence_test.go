package matcomp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest/sequences"
	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems/matcomp"
)

// TestSubproblemBySequences compares a subproblem by quadratic programs, with a search for the multiplier of the value function, and by conic programs.
func TestSubproblemBySequences(t *testing.T) {
	d, err := matcomp.Generate(matcomp.Config{Rows: 24, Cols: 24, Train: 3, Val: 2}, 5)
	require.NoError(t, err)
	p := newModel(t, d, matcomp.Options{}).Program()
	kinds, err := p.Kinds()
	require.NoError(t, err)
	weights := make([]float64, len(kinds))
	for k := range weights {
		weights[k] = 0.1
	}
	s := dca.Settings{Backend: native.Backend{}, Solver: backends.Options{Eps: 1e-9}}
	at, err := dca.NewSnapshot(context.Background(), p, kinds, weights, s)
	require.NoError(t, err)
	want, err := at.Solve(context.Background(), dca.StageSubproblem, s)
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, want.Status)

	s.Backend, s.Solver.Eps = sequences.Over(native.Backend{}), 1e-7
	got, err := at.Solve(context.Background(), dca.StageSubproblem, s)
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, got.Status)
	require.InDelta(t, want.Objective, got.Objective, 1e-5*want.Objective)
	require.Less(t, got.Violation, 1e-6)
}

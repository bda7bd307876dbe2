package svm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/tune"
)

// On wide tables of many rows the folds have fits of few digits, on others none.
func TestWide(t *testing.T) {
	m := must.Of(New(folded(t, 4, 753, 1001, 3, 0.01), Options{}))(t)
	fit := must.Of(m.Penalised())(t)
	require.Len(t, fit.Traits().Parts, 3)
	require.Equal(t, 1e-5, fit.Traits().Coarse)
	m = must.Of(New(folded(t, 4, 750, 20, 3, 0.5), Options{}))(t)
	fit = must.Of(m.Penalised())(t)
	require.Zero(t, fit.Traits().Coarse)
}

// The default leaves the bounds open however few the rows are; settings of iterations, and a start, do not.
func TestDefault(t *testing.T) {
	ctx := context.Background()
	cv := folded(t, 8, 60, 40, 3, 1)
	m := must.Of(New(cv, Options{}))(t)
	res := must.Of(tune.Run(ctx, m, tune.Config{}))(t)
	require.Equal(t, outcome.Converged, res.Status)
	require.Len(t, res.Ladder, 3)
	for _, c := range []tune.Config{{GapTol: 1e-4, MaxIter: 3}, {Preset: tune.PresetPaper, MaxIter: 3}, {MaxIter: 3}} {
		other := must.Of(tune.Run(ctx, m, c))(t)
		require.Nil(t, other.Ladder)
	}
	m = must.Of(New(cv, Options{WBar0: 0.1}))(t)
	require.Nil(t, m.ladder())
}

package svm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/tune"
)

// On many rows both programs are solved by fits, and what is chosen is as good as by conic programs.
func TestManyRows(t *testing.T) {
	m := must.Of(New(folded(t, 9, 3300, 5, 3, 1), Options{}))(t)
	var values []float64
	for _, engine := range []string{"", tune.EngineConic} {
		res := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Engine: engine}))(t)
		values = append(values, res.Refit.Validation)
		fits := 0
		for _, e := range res.Trace {
			if e.SubEngine == "fit" && e.LowerEngine == "fit" {
				fits++
			}
		}
		if engine == "" {
			require.Equal(t, len(res.Trace), fits)
		} else {
			require.Zero(t, fits)
		}
	}
	require.InDelta(t, values[1], values[0], 1e-3*values[1])
}

// On few rows the fits take the path of accurate conic programs, digit by digit.
func TestFewRowsPath(t *testing.T) {
	m := must.Of(New(folded(t, 4, 120, 6, 3, 1), Options{}))(t)
	fit := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper}))(t)
	conic := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Engine: tune.EngineConic,
		Eps: 1e-12}))(t)
	require.Len(t, fit.Trace, len(conic.Trace))
	for k, e := range fit.Trace {
		require.Equal(t, "fit", e.LowerEngine)
		require.InDelta(t, conic.Trace[k].UpperValue, e.UpperValue, 1e-6, "iteration %d", k+1)
	}
}

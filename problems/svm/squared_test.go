package svm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// Each rung of the squared hinge can be asked for, and conic programs have the validation error of its fits.
func TestSquaredHingeRungs(t *testing.T) {
	m := must.Of(New(folded(t, 3, 400, 6, 4, 1), Options{Loss: SquaredHinge}))(t)
	for _, rung := range []string{"common", "adaptive", "adaptive-twice"} {
		var errors []float64
		for _, engine := range []string{"", tune.EngineConic} {
			r := must.Of(tune.Run(context.Background(), m, tune.Config{Rung: rung, Engine: engine}))(t)
			require.Equal(t, outcome.Converged, r.Status)
			require.True(t, r.Ladder[len(r.Ladder)-1].Taken)
			errors = append(errors, r.Refit.Validation)
		}
		require.InEpsilon(t, errors[1], errors[0], 1e-2, rung)
	}
	_, err := New(m.cv, Options{Loss: "square"})
	require.ErrorContains(t, err, `svm: unknown loss "square"; known are: hinge, squared-hinge`)
}

// The final training is that of the conic program, and iterations of VF-iDCA are conic programs.
func TestSquaredHingeIsConic(t *testing.T) {
	ctx := context.Background()
	m := must.Of(New(folded(t, 5, 80, 4, 3, 1), Options{ClassWeights: []float64{1, 2}, Loss: SquaredHinge}))(t)
	for _, h := range [][]float64{{10, 0.3, 0.2, 0.1, 1e-6}, {0.05, 10, 10, 10, 10}} {
		for _, of := range []training{within(h), weighted(h)} {
			w, c := must.Both(m.train(ctx, problems.Solver{Backend: native(t), Fits: true}, of))(t)
			conic, d := must.Both(m.train(ctx, problems.Solver{Backend: native(t), Options: backends.Options{Eps: 1e-10}},
				of))(t)
			require.InDeltaSlice(t, conic, w, 1e-4)
			require.InDelta(t, d, c, 1e-4)
		}
	}
	r := must.Of(tune.Run(ctx, m, tune.Config{Preset: tune.PresetPaper, MaxIter: 5}))(t)
	require.Len(t, r.Trace, 5)
	require.NotEqual(t, "fit", r.Trace[4].SubEngine)
}

// The folds choose a loss, and have the rungs and the machine of a run that is asked for it. A lambda is that of the
// hinge where none is named.
func TestLossByFolds(t *testing.T) {
	ctx := context.Background()
	for want, cv := range map[string]*dataset.CrossValidation{
		SquaredHinge: folded(t, 3, 1000, 20, 2, 1), Hinge: folded(t, 3, 400, 6, 4, 1),
	} {
		run := func(loss string, c tune.Config) *tune.Result {
			return must.Of(tune.Run(ctx, must.Of(New(cv, Options{Loss: loss}))(t), c))(t)
		}
		got, asked := run("", tune.Config{}), run(want, tune.Config{})
		require.Equal(t, want, got.Loss)
		require.Equal(t, asked.RefitFit, got.RefitFit)
		require.Equal(t, asked.Ladder, got.Ladder)
		require.Equal(t, Hinge, run("", tune.Config{Fixed: map[string]float64{"lambda": 0.1}}).Loss)
	}
}

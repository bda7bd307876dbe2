package tune

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/wlasso"
)

// Direct solves and conic programs have the same solutions.
func TestDirectIsConic(t *testing.T) {
	split, _, err := dataset.Generate(dataset.Config{Train: 40, Val: 20, Test: 20, Features: 60}, 3)
	require.NoError(t, err)
	group, err := groups.Equal(60, 12)
	require.NoError(t, err)
	for _, m := range []Model{
		must(elasticnet.New(split, elasticnet.Options{})),
		must(elasticnet.New(split, elasticnet.Options{Intercept: true, Standardize: true})),
		must(wlasso.New(split, wlasso.Options{Intercept: true})),
		must(sgl.New(split, group, sgl.Options{Standardize: true, Intercept: true})),
	} {
		task, err := newTask(m, random{}, Config{Method: MethodRandom, Workers: 1, Eps: 1e-10}, nil, time.Now())
		require.NoError(t, err)
		ctx := context.Background()
		s, err := task.space(ctx, ScopeCommon)
		require.NoError(t, err)
		direct, err := task.evaluator(s)
		require.NoError(t, err)
		require.NotNil(t, direct.direct)
		conic := &evaluator{task: task, space: s}
		require.NoError(t, conic.compile())
		for _, share := range []float64{0.9, 0.7, 0.5, 0.3} {
			unit := make([]float64, len(s.axes))
			for i := range unit {
				unit[i] = share - 0.1*float64(i)
			}
			a, err := direct.at(ctx, s.values(unit))
			require.NoError(t, err)
			b, err := conic.at(ctx, s.values(unit))
			require.NoError(t, err)
			require.InEpsilon(t, b.Errors.Validation, a.Errors.Validation, 1e-4, "%s %g", m.Name(), share)
			require.InEpsilon(t, *b.Errors.Test, *a.Errors.Test, 1e-4, "%s %g", m.Name(), share)
			require.Equal(t, len(b.X), len(a.X))
			for v := range a.X {
				require.InDeltaSlice(t, b.X[v], a.X[v], 1e-3, "%s %g", m.Name(), share)
			}
		}
		require.Nil(t, direct.conic)
		direct.close()
		conic.close()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

package tune_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// A run tells where it is, in words, before each piece of work and in its order.
func TestPlaces(t *testing.T) {
	places := func(m problems.Model, c tune.Config) (list []string) {
		c.Begin = func(p dca.Place) { list = append(list, p.String()) }
		must.Of(tune.Run(context.Background(), m, c))(t)
		return list
	}
	net := model(t, regression.Options{})
	list := places(net, tune.Config{MaxIter: 1})
	require.Regexp(t, "start: point 1 of [0-9]+", list[0])
	require.Equal(t, []string{"start: lower level", "iteration 1: subproblem", "iteration 1: lower level", "final fit"},
		list[len(list)-4:])

	var searched []string
	for k := range 5 {
		searched = append(searched, fmt.Sprintf("point %d of 4", k))
	}
	require.Equal(t, append(searched, "final fit"), places(net, tune.Config{Method: tune.MethodGrid, Evaluations: 4,
		Workers: 1}))
	require.Equal(t, append(slices.Clone(searched[:4]), "final fit"),
		places(net, tune.Config{Method: tune.MethodTPE, Evaluations: 4}))
	list = places(net, tune.Config{Method: tune.MethodHOAG, Evaluations: 9})
	require.Equal(t, "fit 0 of at most 9", list[0])
	require.Equal(t, "final fit", list[len(list)-1])

	lasso := must.Of(regression.WeightedLasso(sample(t), regression.Options{}))(t)
	require.Contains(t, places(lasso, tune.Config{MaxIter: 3}), "iteration 1: subproblem")
}

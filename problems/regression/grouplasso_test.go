package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
)

// chain are groups of four features that share one with the next.
func chain() *groups.Groups {
	g := &groups.Groups{}
	for k := range 5 {
		g.Names = append(g.Names, string(rune('a'+k)))
		g.Members = append(g.Members, []int{3 * k, 3*k + 1, 3*k + 2, 3*k + 3})
	}
	return g
}

func chainSplit() *dataset.Split {
	b := make([]float64, 16)
	for j := range 4 {
		b[j] = float64(j + 1)
	}
	b[9] = -2
	return modeltest.Split(8, 40, 30, 50, b, 2)
}

// Groups have their names, and overlapping ones have no fit.
func TestOverlappingGroups(t *testing.T) {
	m := must.Of(regression.GroupLasso(chainSplit(), options{Groups: chain()}))(t)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, m.Names())
	require.Equal(t, 5, m.Options().Groups.Len())
	require.Nil(t, must.Of(m.Penalised())(t))
	apart := must.Of(regression.GroupLasso(chainSplit(), options{Groups: must.Of(groups.Equal(16, 4))(t)}))(t)
	require.Equal(t, 4, must.Of(apart.Penalised())(t).Dim())
}

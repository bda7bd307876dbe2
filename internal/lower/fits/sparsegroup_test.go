package fits

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/hypergradient"
)

func triples(p int) [][]int {
	var groups [][]int
	for j := 0; j < p; j += 3 {
		groups = append(groups, []int{j, j + 1, j + 2})
	}
	return groups
}

func TestSparseGroupHypergradient(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, share := range []float64{0.3, 0.1, 0.03} {
			train, val := generated(t, "60-30-0-p90", 4, false)
			m, err := NewSparseGroupLasso(train, val, triples(90), intercept)
			require.NoError(t, err)
			gradients{tol: 1e-15, h: 1e-5, share: 1e-5}.check(t, m, rolling(m, share), intercept, share)
		}
	}
}

func TestSparseGroupSearch(t *testing.T) {
	train, val := generated(t, "80-60-0-p90", 5, false)
	m, err := NewSparseGroupLasso(train, val, triples(90), false)
	require.NoError(t, err)
	descend(t, m, 0.95, hypergradient.Settings{MaxIter: 40}, hypergradient.IGJO, hypergradient.HOAG)
	_, err = hypergradient.IFDM(context.Background(), m, hypergradient.Settings{})
	require.ErrorContains(t, err, "no forward mode")
	_, err = NewSparseGroupLasso(train, val, triples(60), false)
	require.ErrorContains(t, err, "feature 60 is in no group")
}

package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/wlasso"
)

// heldRows draws rows.
func heldRows(t *testing.T, n int) *dataset.Data {
	t.Helper()
	s, _, err := dataset.Generate(dataset.Config{Train: n, Val: 5, Test: 5, Features: 4, Nonzeros: 2}, 7)
	require.NoError(t, err)
	return s.Train
}

// A row of weight 2 is held back as two rows are, wherever they stand.
func TestHeldRowsOfWeight(t *testing.T) {
	rows := heldRows(t, 24)
	weighted := rows.Rows(span(24))
	weighted.Weights = make([]float64, 24)
	list := span(24)
	for i := range 24 {
		if weighted.Weights[i] = 1; i%4 == 1 {
			weighted.Weights[i] = 2
			list = append(list, i)
		}
	}
	one, err := wlasso.New(&dataset.Split{Train: rows, Val: weighted, Test: rows}, wlasso.Options{})
	require.NoError(t, err)
	two, err := wlasso.New(&dataset.Split{Train: rows, Val: rows.Rows(list), Test: rows}, wlasso.Options{})
	require.NoError(t, err)
	a, b := one.HoldBack(3), two.HoldBack(3)
	require.Len(t, a, 3)
	require.Len(t, b, 3)
	x := [][]float64{{0.3, -1, 0.2, 0}}
	for f := range a {
		require.Equal(t, 8, a[f].Rows)
		require.Equal(t, 10, b[f].Rows)
		require.InEpsilon(t, b[f].Error(x), a[f].Error(x), 1e-12)
	}
}

// span are the numbers below n.
func span(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

package input

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
)

// Folds of one row each of a table that is too large for so many copies are refused before they are made.
func TestFoldMemory(t *testing.T) {
	data := &dataset.Data{X: mat.NewDense(1000, 1000, nil), Y: make([]float64, 1000)}
	require.NoError(t, checkFoldMemory(data, 2))
	require.ErrorContains(t, checkFoldMemory(data, 1_000_000), "do not fit into the budget of memory")
}

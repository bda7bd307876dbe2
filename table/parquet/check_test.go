package parquet

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// The library makes room for every run of a page, also for those after the last value (found by TestDamagedWithinBudget, file 53343).
func TestRunsBeyondTheValues(t *testing.T) {
	page := []byte{3, 0b10110100} // eight values of one bit
	require.True(t, runs(page, 1, 8))
	require.True(t, runs(append(page, 0), 1, 8))
	require.True(t, runs(append(page, 3, 0), 1, 8), "what is as long again costs nothing")
	require.False(t, runs(append(binary.AppendUvarint(page, 1<<28), 1), 1, 8))
	require.False(t, runs(page, 1, 0))
}

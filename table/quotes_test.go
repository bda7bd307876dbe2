package table_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A cell of half a million quotes, what a damaged file of 1 kB was, takes memory in proportion to it (found by TestDamagedWithinBudget, file 54260).
func TestManyQuotes(t *testing.T) {
	text := append([]byte("a,b\n1,\"x"), bytes.Repeat([]byte{'"'}, 500_000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = decodeKnown("f.csv", text, "")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*len(text)))
}

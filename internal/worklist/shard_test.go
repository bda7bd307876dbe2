package worklist

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseShard(t *testing.T) {
	s, err := ParseShard("2/4")
	require.NoError(t, err)
	require.Equal(t, Shard{2, 4}, s)
	s, err = ParseShard("")
	require.NoError(t, err)
	require.Equal(t, Shard{1, 1}, s)
	for _, bad := range []string{"0/4", "5/4", "2", "a/b", "2/4x", "2/4 ", "-1/2", "1/0", "+1/2", "01/2"} {
		_, err := ParseShard(bad)
		require.ErrorContains(t, err, "expected I/N", bad)
	}
}

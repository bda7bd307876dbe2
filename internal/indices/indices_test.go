package indices

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSets(t *testing.T) {
	s := NewSets(6)
	for _, pair := range [][2]int{{0, 3}, {5, 2}, {3, 4}, {0, 4}} {
		s.Join(pair[0], pair[1])
	}
	require.Equal(t, [][]int{{0, 3, 4}, {1}, {2, 5}}, s.Lists())
	require.Equal(t, s.First(2), s.First(5))
	require.Empty(t, NewSets(0).Lists())
}

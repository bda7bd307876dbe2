package scratch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZeros(t *testing.T) {
	v := []float64{1, 2, 3}
	require.Equal(t, []float64{0, 0}, Zeros(v, 2))
	require.Equal(t, []float64{0, 0, 3}, v)
	require.Equal(t, []float64{0, 0, 0, 0}, Zeros(v, 4))
	require.NotNil(t, Zeros[int](nil, 0))
}

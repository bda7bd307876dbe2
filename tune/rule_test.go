package tune

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimplest(t *testing.T) {
	require.Equal(t, 0, simplest([]Rung{{Above: 1, StandardError: 1}, {}}))
	require.Equal(t, 1, simplest([]Rung{{Above: 1.1, StandardError: 1}, {}}))
	require.Equal(t, 1, simplest([]Rung{{Above: 3, StandardError: 1}, {Above: 0.5, StandardError: 1}, {}}))
	// one validation row tells nothing
	require.Equal(t, 0, simplest([]Rung{{Above: math.NaN(), StandardError: math.NaN()}, {}}))
}

package evaluate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Worked out by hand: of four rows one is called wrong, and the probabilities of what came true are 1/2, 1/4, 1/2 and
// 1.
func TestClasses(t *testing.T) {
	s := Sample{Y: []float64{0, 1, 2, 2}, Value: make([]float64, 4)}
	p := [][]float64{{0.5, 0.25, 0.25}, {0.5, 0.25, 0.25}, {0.25, 0.25, 0.5}, {0, 0, 1}}
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	m := s.Classes(p, [][]float64{third, third, third, third})
	require.Equal(t, ErrorRate, m[0].Name)
	require.InDelta(t, 0.25, m[0].Value, 1e-15)
	require.InDelta(t, 0.75, m[0].Base, 1e-15)
	require.Equal(t, LogLoss, m[1].Name)
	require.InDelta(t, math.Ln2, m[1].Value, 1e-15)
	require.InDelta(t, math.Log(3), m[1].Base, 1e-15)
	require.InDeltaSlice(t, []float64{0.25, 0.75}, Softmax([]float64{800, 800 + math.Log(3)}), 1e-12)
}

package glm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// Where sweeps are linear in fewer coefficients than there are differences, the extrapolation is at their fixed point.
func TestExtrapolationIsAtTheFixedPoint(t *testing.T) {
	shrinks, fixed := []float64{0.97, 0.5, -0.3}, []float64{2, -1, 5}
	p := &past{}
	for b := make([]float64, 3); len(p.b) <= depth; {
		p.b = append(p.b, append([]float64(nil), b...))
		for j, m := range shrinks {
			b[j] = fixed[j] + m*(b[j]-fixed[j])
		}
	}
	last := append([]float64(nil), p.b[depth]...)
	require.Greater(t, floats.Distance(last, fixed, 2), 1.0)
	floats.Add(last, p.step())
	require.InDeltaSlice(t, fixed, last, 1e-2) // by what is added to the squares
}

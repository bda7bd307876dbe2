package backends

import (
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
)

// TestUnits has x >= 1000, written with numbers of 1e-12 and 1e-9, where the point 900 misses by a tenth, and beside it
// what must not hide that: a right-hand side in a row without entries, and a bound that is far.
func TestUnits(t *testing.T) {
	p := &Problem{
		Q: []float64{0}, A: sparse.NewCSC(3, 1, []int{0, 2}, []int{0, 2}, []float64{-1e-12, 1e-12}),
		B:     []float64{-1e-9, 5e15, 0},
		Cones: []Cone{Nonnegative(1), Box([]float64{0, -1e20}, []float64{6e15, 0})},
	}
	judge := NewJudge(p)
	excess := func(x float64) float64 {
		return judge.Excess([]float64{x}, []float64{max(0, -1e-9+1e-12*x), 5e15, -1e-12 * x}, make([]float64, 3), 1e-8)
	}
	assert.LessOrEqual(t, excess(1000), 1.0)
	assert.Greater(t, excess(900), 1e3)
}

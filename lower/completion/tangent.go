package completion

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// tangent is a direction or a gradient in the factors A (m x k) and B (n x k) of a completion, both by rows, and
// in the coefficients of the groups in use, S.
type tangent struct{ A, B, S []float64 }

// dot is the inner product.
func (t tangent) dot(u tangent) float64 {
	return floats.Dot(t.A, u.A) + floats.Dot(t.B, u.B) + floats.Dot(t.S, u.S)
}

func (t tangent) clear() {
	clear(t.A)
	clear(t.B)
	clear(t.S)
}

// add is t += a u.
func (t tangent) add(a float64, u tangent) {
	floats.AddScaled(t.A, a, u.A)
	floats.AddScaled(t.B, a, u.B)
	floats.AddScaled(t.S, a, u.S)
}

func (t tangent) scale(a float64) {
	floats.Scale(a, t.A)
	floats.Scale(a, t.B)
	floats.Scale(a, t.S)
}

func (t tangent) copy() tangent {
	return tangent{slices.Clone(t.A), slices.Clone(t.B), slices.Clone(t.S)}
}

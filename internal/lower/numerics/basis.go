package numerics

import "gonum.org/v1/gonum/floats"

// Basis is an orthonormal basis of columns, empty at first.
type Basis struct {
	// Least is the share of a column that is orthogonal to the others up to which it depends on them but for rounding.
	Least float64
	q     [][]float64
}

// Without takes off a column what the basis has of it.
func (q *Basis) Without(v []float64) {
	for range 2 { // twice is enough (Kahan, Parlett)
		for _, e := range q.q {
			floats.AddScaled(v, -floats.Dot(e, v), e)
		}
	}
}

// Along is what a column has of each of the basis.
func (q *Basis) Along(v []float64) (out []float64) {
	for _, e := range q.q {
		out = append(out, floats.Dot(e, v))
	}
	return out
}

// Grow adds what a column, which it changes, has beside the basis, and says whether that is something.
func (q *Basis) Grow(v []float64) bool {
	before := floats.Norm(v, 2)
	q.Without(v)
	after := floats.Norm(v, 2)
	if !(after > q.Least*before) {
		return false
	}
	floats.Scale(1/after, v)
	q.q = append(q.q, v)
	return true
}

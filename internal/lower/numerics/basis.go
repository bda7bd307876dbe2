package numerics

import "gonum.org/v1/gonum/floats"

// Basis is an orthonormal basis of columns, empty at first.
type Basis struct {
	// Least is the share of a column that is orthogonal to the others up to which it depends on them but for rounding.
	Least float64
	q     [][]float64
}

// little is the share of a column that is left of it where rounding calls for another round, of which one is enough
// (Kahan, Parlett).
const little = 0.1

// Without takes off a column what the basis has of it, and returns that.
func (q *Basis) Without(v []float64) (along []float64) {
	along = make([]float64, len(q.q), len(q.q)+1)
	for range 2 {
		before := floats.Norm(v, 2)
		for k, e := range q.q {
			a := floats.Dot(e, v)
			along[k] += a
			floats.AddScaled(v, -a, e)
		}
		if floats.Norm(v, 2) > little*before {
			break
		}
	}
	return along
}

// Grow adds what a column, which it changes, has beside the basis, where that is something. It returns what the column
// has of the basis, with what was added, nil if that is nothing.
func (q *Basis) Grow(v []float64) (along []float64) {
	before := floats.Norm(v, 2)
	along = q.Without(v)
	after := floats.Norm(v, 2)
	if !(after > q.Least*before) {
		return nil
	}
	floats.Scale(1/after, v)
	q.q = append(q.q, v)
	return append(along, after)
}

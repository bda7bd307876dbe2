package factor

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Cholesky is the factor L of a positive definite matrix A = L L' that gains rows at the end, loses any row, and
// changes by products of a vector with itself. The zero Cholesky is the factor of a matrix of order 0.
type Cholesky struct {
	rows     [][]float64 // row i has i+1 entries; beyond the order is room of rows that were there
	cos, sin []float64   // of rotations
}

// Order is that of the matrix.
func (c *Cholesky) Order() int { return len(c.rows) }

// Clone returns a copy, in one piece of memory.
func (c *Cholesky) Clone() Cholesky {
	var out Cholesky
	k := len(c.rows)
	all := make([]float64, 0, k*(k+1)/2)
	for _, row := range c.rows {
		from := len(all)
		all = append(all, row...)
		out.rows = append(out.rows, all[from:len(all):len(all)])
	}
	return out
}

// Add enlarges the matrix by a row: its products with the others, and its diagonal entry. It returns false, and changes
// nothing, unless the square of the new pivot is positive.
func (c *Cholesky) Add(products []float64, diagonal float64) bool {
	k := len(c.rows)
	row := c.room(k)
	copy(row, products)
	c.Forward(row[:k])
	d := diagonal - floats.Dot(row[:k], row[:k])
	if !(d > 0) || math.IsInf(d, 1) {
		return false
	}
	row[k] = math.Sqrt(d)
	c.rows = append(c.rows, row)
	return true
}

// room returns k+1 entries, those of a row that was there before where they are enough.
func (c *Cholesky) room(k int) []float64 {
	if k < cap(c.rows) {
		if row := c.rows[:k+1][k]; cap(row) > k {
			return row[:k+1]
		}
	}
	return make([]float64, k+1, k+1+k/2)
}

// rotations makes room for one of each row.
func (c *Cholesky) rotations() (cos, sin []float64) {
	if k := len(c.rows); len(c.cos) < k {
		c.cos, c.sin = make([]float64, k+k/2), make([]float64, k+k/2)
	}
	return c.cos, c.sin
}

// Remove takes row and column k out of the matrix: the rows of the factor below it have an entry too many, which
// rotations of neighbouring columns take away.
func (c *Cholesky) Remove(k int) {
	cos, sin := c.rotations()
	last := len(c.rows) - 1
	spare := c.rows[k]
	copy(c.rows[k:], c.rows[k+1:])
	c.rows[last] = spare
	c.rows = c.rows[:last]
	for i := k; i < last; i++ {
		row := c.rows[i]
		x := row[k]
		for j := k; j < i; j++ {
			y := row[j+1]
			row[j] = cos[j]*x + sin[j]*y
			x = cos[j]*y - sin[j]*x
		}
		r := math.Hypot(x, row[i+1]) // their squares may be too large or small
		cos[i], sin[i] = x/r, row[i+1]/r
		row[i] = r
		c.rows[i] = row[:i+1]
	}
}

// Grow adds v v' to the matrix, and spends v.
func (c *Cholesky) Grow(v []float64) {
	cos, sin := c.rotations()
	for i, row := range c.rows {
		x := v[i]
		for j := range i {
			y := row[j]
			row[j] = cos[j]*y + sin[j]*x
			x = cos[j]*x - sin[j]*y
		}
		if x == 0 {
			cos[i], sin[i] = 1, 0
			continue
		}
		r := math.Sqrt(row[i]*row[i] + x*x)
		cos[i], sin[i] = row[i]/r, x/r
		row[i] = r
	}
}

// Shrink takes v v' away from the matrix, given w with L w = v and rest = 1 - w'w > 0. It spends w.
func (c *Cholesky) Shrink(w []float64, rest float64) {
	cos, sin := c.rotations()
	a := math.Sqrt(rest)
	for i := len(c.rows) - 1; i >= 0; i-- {
		r := math.Sqrt(a*a + w[i]*w[i])
		cos[i], sin[i], a = a/r, w[i]/r, r
	}
	for i, row := range c.rows {
		x := 0.0
		for j := i; j >= 0; j-- {
			y := row[j]
			row[j] = cos[j]*y - sin[j]*x
			x = cos[j]*x + sin[j]*y
		}
	}
}

// Forward sets v, of the order's length, to the solution y of L y = v.
func (c *Cholesky) Forward(v []float64) {
	for i, row := range c.rows {
		v[i] = (v[i] - floats.Dot(row[:i], v[:i])) / row[i]
	}
}

// Backward sets v to the solution x of L'x = v.
func (c *Cholesky) Backward(v []float64) {
	for i := len(c.rows) - 1; i >= 0; i-- {
		row := c.rows[i]
		v[i] /= row[i]
		floats.AddScaled(v[:i], -v[i], row[:i])
	}
}

// Solve sets v to the solution x of A x = v.
func (c *Cholesky) Solve(v []float64) {
	c.Forward(v)
	c.Backward(v)
}

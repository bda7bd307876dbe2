package factor

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Cholesky is the factor L of a positive definite matrix A = L L', by rows. The zero Cholesky is the factor of a matrix of order 0.
type Cholesky struct {
	rows [][]float64 // row i has i+1 entries
}

// Order is that of the matrix.
func (c *Cholesky) Order() int { return len(c.rows) }

// Clone returns a copy, in one piece of memory.
func (c *Cholesky) Clone() Cholesky {
	var out Cholesky
	size := 0
	for _, row := range c.rows {
		size += len(row)
	}
	all := make([]float64, 0, size)
	for _, row := range c.rows {
		from := len(all)
		all = append(all, row...)
		out.rows = append(out.rows, all[from:len(all):len(all)])
	}
	return out
}

// Factor factors a matrix of order k given by at(i, j), j <= i. It says whether the matrix is positive definite; if
// not, the factor is of the leading part that is.
func (c *Cholesky) Factor(k int, at func(i, j int) float64) bool {
	c.rows = c.rows[:0]
	for i := range k {
		row := make([]float64, i+1)
		for j := range i {
			row[j] = (at(i, j) - floats.Dot(row[:j], c.rows[j][:j])) / c.rows[j][j]
		}
		d := at(i, i) - floats.Dot(row[:i], row[:i])
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		row[i] = math.Sqrt(d)
		c.rows = append(c.rows, row)
	}
	return true
}

// Add enlarges the matrix by a row, and its diagonal entry at the end, in whose place the factor is written. It says
// whether the square of the new pivot is above least.
func (c *Cholesky) Add(row []float64, least float64) bool {
	k := len(c.rows)
	for j, known := range c.rows {
		row[j] = (row[j] - floats.Dot(row[:j], known[:j])) / known[j]
	}
	d := row[k] - floats.Dot(row[:k], row[:k])
	if !(d > least) || math.IsInf(d, 1) {
		return false
	}
	row[k] = math.Sqrt(d)
	c.rows = append(c.rows, row)
	return true
}

// Remove takes row and column k out of the matrix: the rows of the factor below it have an entry too many, which
// rotations of neighbouring columns take away.
func (c *Cholesky) Remove(k int) {
	rows := append(c.rows[:k], c.rows[k+1:]...)
	cos, sin := make([]float64, len(rows)), make([]float64, len(rows))
	for i := k; i < len(rows); i++ {
		row := rows[i]
		for j := k; j < i; j++ {
			a, b := row[j], row[j+1]
			row[j], row[j+1] = cos[j]*a+sin[j]*b, cos[j]*b-sin[j]*a
		}
		length := math.Hypot(row[i], row[i+1])
		cos[i], sin[i] = row[i]/length, row[i+1]/length
		row[i] = length
		rows[i] = row[:i+1]
	}
	c.rows = rows
}

// Solve sets v, of the order's length, to the solution x of A x = v.
func (c *Cholesky) Solve(v []float64) {
	for i, row := range c.rows {
		v[i] = (v[i] - floats.Dot(row[:i], v[:i])) / row[i]
	}
	for i := len(c.rows) - 1; i >= 0; i-- {
		row := c.rows[i]
		v[i] /= row[i]
		floats.AddScaled(v[:i], -v[i], row[:i])
	}
}

// Update adds sign times v v' to the matrix, and spends v. It says whether the matrix stays positive definite; if not, the factor is
// of no use any more.
func (c *Cholesky) Update(v []float64, sign float64) bool {
	cos, sin := make([]float64, len(v)), make([]float64, len(v))
	for i, row := range c.rows {
		w := v[i]
		for j := range i {
			// The rotation of column j, a hyperbolic one for sign -1, from the row of its pivot.
			row[j] = (row[j] + sign*sin[j]*w) / cos[j]
			w = cos[j]*w - sin[j]*row[j]
		}
		d := row[i]*row[i] + sign*w*w
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		d = math.Sqrt(d)
		cos[i], sin[i] = d/row[i], w/row[i]
		row[i] = d
	}
	return true
}

package activeset

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// cholesky is the lower factor L of a positive definite matrix that grows by rows at the end, shrinks by any row, and changes by
// products of a vector with itself.
type cholesky struct {
	n, stride int
	l         []float64
	cos, sin  []float64 // of rotations
}

// dependent is the share of a diagonal entry below which a row counts as a combination of the others.
const dependent = 1e-14

func (c *cholesky) row(i int) []float64 { return c.l[i*c.stride : i*c.stride+i+1] }

// reserve makes room for n rows.
func (c *cholesky) reserve(n int) {
	if n <= c.stride {
		return
	}
	stride := max(n, 2*c.stride, 32)
	l := make([]float64, stride*stride)
	for i := range c.n {
		copy(l[i*stride:], c.row(i))
	}
	c.stride, c.l = stride, l
	c.cos, c.sin = make([]float64, stride), make([]float64, stride)
}

// append adds a row with the products against the rows there are, and the diagonal entry. It returns false, and
// changes nothing, where the row depends on the others.
func (c *cholesky) append(products []float64, diagonal float64) bool {
	c.reserve(c.n + 1)
	row := c.l[c.n*c.stride : c.n*c.stride+c.n+1]
	copy(row, products)
	c.forward(row[:c.n])
	rest := diagonal - floats.Dot(row[:c.n], row[:c.n])
	if !(rest > dependent*diagonal) {
		return false
	}
	row[c.n] = math.Sqrt(rest)
	c.n++
	return true
}

// remove takes row p out: what is left of the factor has one entry too many in each row after it, which
// rotations of neighbouring columns take away.
func (c *cholesky) remove(p int) {
	for i := p; i < c.n-1; i++ {
		copy(c.l[i*c.stride:i*c.stride+i+2], c.row(i+1))
		row := c.l[i*c.stride : i*c.stride+i+2]
		x := row[p]
		for j := p; j < i; j++ {
			y := row[j+1]
			row[j] = c.cos[j]*x + c.sin[j]*y
			x = c.cos[j]*y - c.sin[j]*x
		}
		r := math.Sqrt(x*x + row[i+1]*row[i+1])
		c.cos[i], c.sin[i] = x/r, row[i+1]/r
		row[i] = r
	}
	c.n--
}

// grow adds v v' to the matrix. It overwrites v.
func (c *cholesky) grow(v []float64) {
	for i := range c.n {
		row, x := c.row(i), v[i]
		for j := range i {
			y := row[j]
			row[j] = c.cos[j]*y + c.sin[j]*x
			x = c.cos[j]*x - c.sin[j]*y
		}
		if x == 0 {
			c.cos[i], c.sin[i] = 1, 0
			continue
		}
		r := math.Sqrt(row[i]*row[i] + x*x)
		c.cos[i], c.sin[i] = row[i]/r, x/r
		row[i] = r
	}
}

// shrink takes v v' away from the matrix, given w with L w = v and rest = 1 - w'w > 0.
func (c *cholesky) shrink(w []float64, rest float64) {
	a := math.Sqrt(rest)
	for i := c.n - 1; i >= 0; i-- {
		r := math.Sqrt(a*a + w[i]*w[i])
		c.cos[i], c.sin[i], a = a/r, w[i]/r, r
	}
	for i := range c.n {
		row, x := c.row(i), 0.0
		for j := i; j >= 0; j-- {
			y := row[j]
			row[j] = c.cos[j]*y - c.sin[j]*x
			x = c.cos[j]*x + c.sin[j]*y
		}
	}
}

// forward solves L y = b in place.
func (c *cholesky) forward(b []float64) {
	for i := range c.n {
		row := c.row(i)
		b[i] = (b[i] - floats.Dot(row[:i], b[:i])) / row[i]
	}
}

// solve solves L L'x = b in place.
func (c *cholesky) solve(b []float64) {
	c.forward(b)
	c.backward(b)
}

// backward solves L'x = b in place.
func (c *cholesky) backward(b []float64) {
	for i := c.n - 1; i >= 0; i-- {
		row := c.row(i)
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

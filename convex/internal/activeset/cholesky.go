package activeset

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// cholesky is the lower factor L of a positive definite matrix that grows by rows at the end and shrinks by any row, with the
// solution y of L y = b for a right side that does so with it.
type cholesky struct {
	n, stride int
	l         []float64
	y         []float64
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
	c.y = append(make([]float64, 0, stride), c.y...)
}

// append adds a row with the products against the rows there are, the diagonal entry, and the entry of b. It returns false, and
// changes nothing, where the row depends on the others.
func (c *cholesky) append(products []float64, diagonal, right float64) bool {
	c.reserve(c.n + 1)
	row := c.l[c.n*c.stride : c.n*c.stride+c.n+1]
	copy(row, products)
	c.forward(row[:c.n])
	rest := diagonal - floats.Dot(row[:c.n], row[:c.n])
	if !(rest > dependent*diagonal) {
		return false
	}
	row[c.n] = math.Sqrt(rest)
	c.y = append(c.y[:c.n], (right-floats.Dot(row[:c.n], c.y[:c.n]))/row[c.n])
	c.n++
	return true
}

// remove takes row p out: what is left of the factor has one entry too many in each row after it, which
// rotations of neighbouring columns take away. They turn the entries of y, too: with L y the sum over the columns, no row of b changes.
func (c *cholesky) remove(p int) {
	for i := p + 1; i < c.n; i++ {
		copy(c.l[(i-1)*c.stride:(i-1)*c.stride+i+1], c.row(i))
	}
	c.n--
	for j := p; j < c.n; j++ {
		a, b := c.l[j*c.stride+j], c.l[j*c.stride+j+1]
		r := math.Sqrt(a*a + b*b)
		cos, sin := a/r, b/r
		c.l[j*c.stride+j] = r
		c.y[j], c.y[j+1] = cos*c.y[j]+sin*c.y[j+1], cos*c.y[j+1]-sin*c.y[j]
		for i := j + 1; i < c.n; i++ {
			u, v := c.l[i*c.stride+j], c.l[i*c.stride+j+1]
			c.l[i*c.stride+j], c.l[i*c.stride+j+1] = cos*u+sin*v, cos*v-sin*u
		}
	}
	c.y = c.y[:c.n]
}

// right sets b.
func (c *cholesky) right(b []float64) {
	c.y = append(c.y[:0], b...)
	c.forward(c.y)
}

// forward solves L y = b in place.
func (c *cholesky) forward(b []float64) {
	for i := range c.n {
		row := c.row(i)
		b[i] = (b[i] - floats.Dot(row[:i], b[:i])) / row[i]
	}
}

// solve adds the solution x of L L'x = b to a slice.
func (c *cholesky) solve(to []float64) []float64 {
	to = append(to, c.y...)
	x := to[len(to)-c.n:]
	for i := c.n - 1; i >= 0; i-- {
		row := c.row(i)
		x[i] /= row[i]
		floats.AddScaled(x[:i], -x[i], row[:i])
	}
	return to
}

package activeset

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// cholesky is the lower factor of a positive definite matrix that grows by rows at the end and shrinks by any row.
type cholesky struct {
	n, stride int
	l         []float64
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
	for i := p + 1; i < c.n; i++ {
		copy(c.l[(i-1)*c.stride:(i-1)*c.stride+i+1], c.row(i))
	}
	c.n--
	for j := p; j < c.n; j++ {
		a, b := c.l[j*c.stride+j], c.l[j*c.stride+j+1]
		r := math.Hypot(a, b)
		cos, sin := a/r, b/r
		c.l[j*c.stride+j] = r
		for i := j + 1; i < c.n; i++ {
			u, v := c.l[i*c.stride+j], c.l[i*c.stride+j+1]
			c.l[i*c.stride+j], c.l[i*c.stride+j+1] = cos*u+sin*v, cos*v-sin*u
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

// solve solves LL'y = b in place.
func (c *cholesky) solve(b []float64) {
	c.forward(b)
	for i := c.n - 1; i >= 0; i-- {
		row := c.row(i)
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

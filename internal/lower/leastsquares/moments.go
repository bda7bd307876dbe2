package leastsquares

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// moments are the number of some rows, their means, and the centred products sum_i (z_i - mu)(z_i - mu)', the lower
// triangle by columns.
type moments struct {
	n        float64
	mean     []float64
	products []float64
}

const (
	// momentRows is the least number of rows of a part, and momentParts the most parts.
	momentRows, momentParts = 4096, 64
	// momentBlock are the rows of one product, which stay in the cache.
	momentBlock = 256
)

// centredProducts are the moments of n rows of length q, which row writes.
func centredProducts(n, q, threads int, row func(to []float64, i int)) *moments {
	each := max(momentRows, (n+momentParts-1)/momentParts)
	parts := make([]moments, (n+each-1)/each)
	crew.Each(len(parts), threads, func(k int) { parts[k] = momentsOf(k*each, min(n, (k+1)*each), q, row) })
	all := &parts[0]
	for k := range parts[1:] {
		all.add(&parts[1+k])
	}
	return all
}

// momentsOf are those of the rows from lo to hi-1.
func momentsOf(lo, hi, q int, row func(to []float64, i int)) moments {
	z := moments{n: float64(hi - lo), mean: make([]float64, q), products: make([]float64, q*q)}
	line := make([]float64, q)
	for i := lo; i < hi; i++ {
		row(line, i)
		floats.Add(z.mean, line)
	}
	floats.Scale(1/z.n, z.mean)
	block, minus := make([]float64, q*momentBlock), make([]float64, q*momentBlock)
	for from := lo; from < hi; from += momentBlock {
		rows := min(momentBlock, hi-from)
		for l := range rows {
			to := block[l*q : (l+1)*q]
			row(to, from+l)
			floats.Sub(to, z.mean)
			for j, v := range to {
				minus[l*q+j] = -v
			}
		}
		dense.SyrkNT(q, rows, block, q, minus, q, z.products, q)
	}
	return z
}

// add takes in the moments of other rows (Chan, Golub, LeVeque 1983): with the difference d of the means,
//
//	C = C_a + C_b + n_a n_b / (n_a + n_b) d d'.
func (z *moments) add(o *moments) {
	n := z.n + o.n
	d := make([]float64, len(z.mean))
	floats.SubTo(d, o.mean, z.mean)
	floats.Add(z.products, o.products)
	q, weight := len(d), z.n*o.n/n
	for j, v := range d {
		floats.AddScaled(z.products[j*q+j:(j+1)*q], weight*v, d[j:])
	}
	floats.AddScaled(z.mean, o.n/n, d)
	z.n = n
}

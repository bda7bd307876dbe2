package design

import (
	"context"

	"gonum.org/v1/gonum/floats"
)

// Classes are the columns of a table for predictions of K classes, which stand one class after the other: entry j K + k
// is feature j in the rows of class k, and zero in others. Feature p, after those of the table, is one in all rows.
type Classes struct {
	X *Matrix
	K int
}

// Feature is that of an entry, or [Ones].
func (c Classes) Feature(entry int) int {
	if j := entry / c.K; j < c.X.p {
		return j
	}
	return Ones
}

// Features are those of entries.
func (c Classes) Features(entries []int) []int {
	out := make([]int, len(entries))
	for i, e := range entries {
		out[i] = c.Feature(e)
	}
	return out
}

// of are the rows of the class of an entry.
func (c Classes) of(entry int, r []float64) []float64 {
	n, k := c.X.n, entry%c.K
	return r[k*n : (k+1)*n]
}

// Axpy adds a times the column of an entry to r.
func (c Classes) Axpy(a float64, entry int, r []float64) {
	if r, j := c.of(entry, r), c.Feature(entry); j != Ones {
		c.X.Axpy(a, j, r)
	} else {
		floats.AddConst(a, r)
	}
}

// Dot is the product of the column of an entry and r.
func (c Classes) Dot(entry int, r []float64) float64 {
	r, j := c.of(entry, r), c.Feature(entry)
	if j != Ones {
		return c.X.Dot(j, r)
	}
	return floats.Sum(r)
}

// each are the columns of r of the classes, those of one vector after the other's.
func (c Classes) each(r [][]float64) (list [][]float64) {
	for _, v := range r {
		for k := range c.K {
			list = append(list, v[k*c.X.n:(k+1)*c.X.n])
		}
	}
	return list
}

// LessEach subtracts the columns of all entries times coefficients from each of some vectors.
func (c Classes) LessEach(ctx context.Context, b, r [][]float64, threads int) {
	if c.K == 1 {
		c.X.LessEach(ctx, b, r, threads)
		return
	}
	var steps [][]float64
	rows, p := c.each(r), c.X.p*c.K
	for m, b := range b {
		for k := range c.K {
			one := make([]float64, c.X.p)
			for j := range one {
				one[j] = b[j*c.K+k]
			}
			if steps = append(steps, one); p+k < len(b) && b[p+k] != 0 {
				floats.AddConst(-b[p+k], rows[m*c.K+k])
			}
		}
	}
	c.X.LessEach(ctx, steps, rows, threads)
}

// DotsEach sets each of out to the products of the columns of all entries with one of some vectors.
func (c Classes) DotsEach(ctx context.Context, r, out [][]float64, threads int) {
	if c.K == 1 && len(out[0]) == c.X.p {
		c.X.DotsEach(ctx, r, out, threads)
		return
	}
	var dots [][]float64
	rows := c.each(r)
	for range rows {
		dots = append(dots, make([]float64, c.X.p))
	}
	c.X.DotsEach(ctx, rows, dots, threads)
	for m, to := range out {
		for e := range to {
			if i := m*c.K + e%c.K; e < c.X.p*c.K {
				to[e] = dots[i][e/c.K]
			} else {
				to[e] = floats.Sum(rows[i])
			}
		}
	}
}

// Squares is the sum of those of the column of an entry.
func (c Classes) Squares(entry int) (sum float64, err error) {
	j := c.Feature(entry)
	if j == Ones {
		return float64(c.X.n), nil
	}
	_, sum, err = c.X.Sums(j)
	return sum, err
}

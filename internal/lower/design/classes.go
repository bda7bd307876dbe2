package design

import "gonum.org/v1/gonum/floats"

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

// Dots sets out to the products of r with the columns of the entries from from on.
func (c Classes) Dots(from int, r, out []float64) {
	if c.K == 1 && from+len(out) <= c.X.p {
		c.X.Dots(from, r, out)
		return
	}
	for i := range out {
		out[i] = c.Dot(from+i, r)
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

package native

import "github.com/conetune/conetune/backends/native/internal/dense"

// csc is a sparse matrix in compressed columns. Data often stand in it as
// dense blocks, whose columns are runs of consecutive rows; products with them
// are left to the dense kernels.
type csc struct {
	ptr, ind []int32
	val      []float64
	parts    []part
}

// part is a piece of a column: entries from:to, consecutive rows if dense.
type part struct {
	col, from, to int32
	dense         bool
}

// minRun is the length from which the call of a kernel costs less than a loop.
const minRun = 16

// split finds the runs. It is called once, when the pattern is known. With
// diagonal, the last entry of each column is left out.
func (c *csc) split(diagonal bool) {
	c.parts = c.parts[:0]
	for j := range int32(len(c.ptr) - 1) {
		from, to := c.ptr[j], c.ptr[j+1]
		if diagonal {
			to--
		}
		loose := from // entries since here are in no part yet
		for k := from; k < to; {
			end := k + 1
			for end < to && c.ind[end] == c.ind[end-1]+1 {
				end++
			}
			if end-k >= minRun {
				if loose < k {
					c.parts = append(c.parts, part{j, loose, k, false})
				}
				c.parts = append(c.parts, part{j, k, end, true})
				loose = end
			}
			k = end
		}
		if loose < to {
			c.parts = append(c.parts, part{j, loose, to, false})
		}
	}
}

// addMul adds the matrix times x to y.
func (c *csc) addMul(y, x []float64) {
	for _, p := range c.parts {
		val, xj := c.val[p.from:p.to], x[p.col]
		if p.dense {
			dense.Axpy(xj, val, y[c.ind[p.from]:][:len(val)])
			continue
		}
		for k, i := range c.ind[p.from:p.to] {
			y[i] += val[k] * xj
		}
	}
}

// addMulT adds the transposed matrix times x to y.
func (c *csc) addMulT(y, x []float64) {
	for _, p := range c.parts {
		val := c.val[p.from:p.to]
		if p.dense {
			y[p.col] += dense.Dot(val, x[c.ind[p.from]:][:len(val)])
			continue
		}
		sum := 0.0
		for k, i := range c.ind[p.from:p.to] {
			sum += val[k] * x[i]
		}
		y[p.col] += sum
	}
}

// subMulOff subtracts (U + U')x from y, where U is the strictly upper part of
// a matrix that was split without its diagonal.
func (c *csc) subMulOff(y, x []float64) {
	for _, p := range c.parts {
		val, xj := c.val[p.from:p.to], x[p.col]
		if p.dense {
			first := c.ind[p.from]
			y[p.col] -= dense.Dot(val, x[first:][:len(val)])
			dense.Axpy(-xj, val, y[first:][:len(val)])
			continue
		}
		sum := 0.0
		for k, i := range c.ind[p.from:p.to] {
			v := val[k]
			sum += v * x[i]
			y[i] -= v * xj
		}
		y[p.col] -= sum
	}
}

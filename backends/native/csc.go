package native

import (
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
)

// csc is a sparse matrix in compressed columns. Data often stand in it as
// dense blocks: columns side by side with runs of the same consecutive rows. Products
// with them are left to the dense kernels.
type csc struct {
	ptr, ind []int32
	val      []float64
	parts    []part
	pieces   []int32   // parts that end a piece, of about pieceWork entries or parts
	work     []float64 // of the width of the widest block
	stop     *stop.Stop
}

// pieceWork is how much of a product is done between two looks at stop.
const pieceWork = 1 << 17

// part is a piece of a column, entries from:to, or, if dense, of width columns from col on: the same
// consecutive rows in each, its entries stride after those of the column before.
type part struct {
	col, from, to int32
	dense         bool
	width, stride int32
}

// minRun is the length from which the call of a kernel costs less than a loop.
const minRun = 16

// split finds the runs. It is called once, when the pattern is known. With
// diagonal, the last entry of each column is left out.
func (c *csc) split(diagonal bool) {
	c.parts = make([]part, 0, min(len(c.ind), len(c.ptr)))
	widest := int32(1)
	var last, now []int // the dense parts that the column before, and this one, have a run in
	for j := range int32(len(c.ptr) - 1) {
		if c.stop.Reached(8 + int(c.ptr[j+1]-c.ptr[j])) {
			return
		}
		from, to := c.ptr[j], c.ptr[j+1]
		if diagonal {
			to--
		}
		last, now = now, last[:0]
		loose := from // entries since here are in no part yet
		for k := from; k < to; {
			end := k + 1
			for end < to && c.ind[end] == c.ind[end-1]+1 {
				end++
			}
			if end-k >= minRun {
				if loose < k {
					c.parts = append(c.parts, part{col: j, from: loose, to: k})
				}
				at := c.widen(last, j, k, end)
				if at < 0 {
					at = len(c.parts)
					c.parts = append(c.parts, part{col: j, from: k, to: end, dense: true, width: 1, stride: end - k})
				}
				now = append(now, at)
				widest = max(widest, c.parts[at].width)
				loose = end
			}
			k = end
		}
		if loose < to {
			c.parts = append(c.parts, part{col: j, from: loose, to: to})
		}
	}
	c.work = make([]float64, widest)
	c.pieces = c.pieces[:0]
	work := 0
	for i := range c.parts {
		p := &c.parts[i]
		if work += 2 + int(p.to-p.from)*int(max(1, p.width)); work >= pieceWork || i == len(c.parts)-1 {
			c.pieces = append(c.pieces, int32(i+1))
			work = 0
		}
	}
}

// inPieces yields the parts, one piece after the other.
func (c *csc) inPieces(yield func(parts []part) bool) {
	from := int32(0)
	for _, to := range c.pieces {
		if c.stop.Reached(pieceWork) || !yield(c.parts[from:to]) {
			return
		}
		from = to
	}
}

// widen adds the run from:to of column j to the block among the given ones that it continues, and returns
// the number of the block, -1 if there is none.
func (c *csc) widen(blocks []int, j, from, to int32) int {
	for _, at := range blocks {
		p := &c.parts[at]
		if p.col+p.width != j || p.to-p.from != to-from || c.ind[p.from] != c.ind[from] {
			continue
		}
		stride := (from - p.from) / p.width
		if p.width > 1 && stride != p.stride || stride*p.width != from-p.from {
			continue
		}
		p.width, p.stride = p.width+1, stride
		return at
	}
	return -1
}

// block returns the rows and the numbers of a dense part.
func (c *csc) block(p *part) (rows, width int, val []float64, stride int) {
	rows, width, stride = int(p.to-p.from), int(p.width), int(p.stride)
	return rows, width, c.val[p.from : int(p.to)+(width-1)*stride], stride
}

// addMul adds the matrix times x to y.
func (c *csc) addMul(y, x []float64) {
	for parts := range c.inPieces {
		for i := range parts {
			p := &parts[i]
			if p.dense {
				rows, width, val, stride := c.block(p)
				for k, v := range x[p.col : int(p.col)+width] {
					c.work[k] = -v
				}
				dense.Within{Stop: c.stop}.GemvN(rows, width, val, stride, c.work[:width], y[c.ind[p.from]:][:rows])
				continue
			}
			val, xj := c.val[p.from:p.to], x[p.col]
			for k, i := range c.ind[p.from:p.to] {
				y[i] += val[k] * xj
			}
		}
	}
}

// addMulT adds the transposed matrix times x to y.
func (c *csc) addMulT(y, x []float64) {
	for parts := range c.inPieces {
		for i := range parts {
			p := &parts[i]
			if p.dense {
				rows, width, val, stride := c.block(p)
				work := c.work[:width]
				clear(work)
				dense.Within{Stop: c.stop}.GemvT(rows, width, val, stride, x[c.ind[p.from]:][:rows], work)
				for k, v := range work {
					y[int(p.col)+k] -= v
				}
				continue
			}
			val, sum := c.val[p.from:p.to], 0.0
			for k, i := range c.ind[p.from:p.to] {
				sum += val[k] * x[i]
			}
			y[p.col] += sum
		}
	}
}

// subMulOff subtracts (U + U')x from y, where U is the strictly upper part of
// a matrix that was split without its diagonal.
func (c *csc) subMulOff(y, x []float64) {
	for parts := range c.inPieces {
		for i := range parts {
			p := &parts[i]
			if p.dense {
				rows, width, val, stride := c.block(p)
				first, col := int(c.ind[p.from]), int(p.col)
				dense.Within{Stop: c.stop}.GemvT(rows, width, val, stride, x[first:first+rows], y[col:col+width])
				dense.Within{Stop: c.stop}.GemvN(rows, width, val, stride, x[col:col+width], y[first:first+rows])
				continue
			}
			val, xj, sum := c.val[p.from:p.to], x[p.col], 0.0
			for k, i := range c.ind[p.from:p.to] {
				v := val[k]
				sum += v * x[i]
				y[i] -= v * xj
			}
			y[p.col] -= sum
		}
	}
}

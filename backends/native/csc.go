package native

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/finite"
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

// Symmetric matrices of order n are held in full, column by column, n^2 numbers,
// for the dense kernels; in the vectors of the problem they stand as svec: the
// lower triangle by columns, with the off-diagonal entries times sqrt 2.

// svecPlace returns the place of entry (i, j), i >= j, in svec.
func svecPlace(n, i, j int) int { return j*n - j*(j-1)/2 + i - j }

// tile is the width of the squares in which matrices are transposed.
const tile = 16

// unpack writes the matrix whose svec is v into m.
func unpack(m, v []float64, n int) {
	at := 0
	for j := range n {
		col := m[j*n : j*n+n]
		col[j] = v[at]
		for i, x := range v[at+1 : at+n-j] {
			col[j+1+i] = x * (1 / math.Sqrt2)
		}
		at += n - j
	}
	dense.Mirror(m, n)
}

// packMean writes the svec of (m + m')/2 into v.
func packMean(v, m []float64, n int) {
	for jb := 0; jb < n; jb += tile {
		for ib := jb; ib < n; ib += tile {
			for j := jb; j < min(jb+tile, n); j++ {
				col := m[j*n : j*n+n]
				at := svecPlace(n, j, j) - j
				for i := max(ib, j); i < min(ib+tile, n); i++ {
					if i == j {
						v[at+i] = col[i]
					} else {
						v[at+i] = (col[i] + m[i*n+j]) * (math.Sqrt2 / 2)
					}
				}
			}
		}
	}
}

// triangular is a factorisation M = L D L' of a positive definite matrix.
type triangular struct {
	n    int
	l, d []float64
	root []float64 // D^-1/2
	sign []int8
	dense.Within
}

func newTriangular(n int, within dense.Within) *triangular {
	t := &triangular{n: n, Within: within, l: make([]float64, n*n), d: make([]float64, n), root: make([]float64, n),
		sign: make([]int8, n)}
	for i := range t.sign {
		t.sign[i] = 1
	}
	return t
}

// resize makes it one of matrices of order n, at most what it was made for.
func (t *triangular) resize(n int) {
	t.n, t.l, t.d, t.root, t.sign = n, t.l[:n*n], t.d[:n], t.root[:n], t.sign[:n]
}

// factor factors m, of which it reads the lower triangle; false when m is not positive definite.
func (t *triangular) factor(m []float64) bool {
	copy(t.l, m)
	if t.Stop.Reached(t.n*t.n/2) || t.LDL(t.n, t.l, t.n, t.d, t.sign, 0, 1) > 0 {
		return false
	}
	if t.Stop.Reached(0) {
		return false
	}
	for i, v := range t.d {
		t.root[i] = 1 / math.Sqrt(v)
	}
	return finite.All(t.d...) && finite.All(t.root...)
}

// inverseBlock is the number of rows that inverse takes at a time, so that only
// the nonzero part of the triangular factors is worked on.
const inverseBlock = 64

// inverse writes X = L^-T and M^-1 = X D^-1 X', with a work matrix.
func (t *triangular) inverse(x, out, w []float64) {
	n := t.n
	clear(x)
	for i := range n {
		x[i+i*n] = 1
	}
	for i := 0; i < n; i += inverseBlock { // rows i.. of X, zero left of column i
		nb := min(inverseBlock, n-i)
		if t.Stop.Reached(nb * (n - i)) {
			return
		}
		t.TrsmRightLT(nb, n-i, t.l[i+i*n:], n, x[i+i*n:], n)
	}
	for i, d := range t.d {
		for r, v := range x[i*n : i*n+i+1] {
			w[i*n+r] = -v / d
		}
		clear(w[i*n+i+1 : i*n+n])
	}
	clear(out)
	for i := 0; i < n; i += inverseBlock { // rows i.. up to their diagonal
		nb := min(inverseBlock, n-i)
		if t.Stop.Reached(nb * (i + nb)) {
			return
		}
		t.GemmNT(nb, i+nb, n-i, w[i+i*n:], n, x[i*n:], n, out[i:], n)
	}
	dense.Mirror(out, n)
}

// multiply overwrites V with -V X D^-1.
func (t *triangular) multiply(v []float64) {
	n := t.n
	if t.TrsmRightLT(n, n, t.l, n, v, n); t.Stop.Reached(2 * n * n) {
		return
	}
	for j, d := range t.d {
		dense.Scale(v[j*n:j*n+n], -1/d)
	}
}

// solve writes M^-1 V = X (V X D^-1)' into out, v being what multiply makes of the symmetric V. The
// errors of the result are those of a solve, large only along the eigenvectors of M with
// small eigenvalues; M^-1 itself has errors as large as that in all its entries, and
// would carry them to where the other matrix of a pair has its small eigenvalues.
func (t *triangular) solve(out, v, x []float64) {
	n := t.n
	clear(out)
	for i := 0; i < n; i += inverseBlock {
		nb := min(inverseBlock, n-i)
		if t.Stop.Reached(nb * n) {
			return
		}
		t.GemmNT(nb, n, n-i, x[i+i*n:], n, v[i*n:], n, out[i:], n)
	}
}

// roots writes L D^1/2 and its transpose.
func (t *triangular) roots(out, outT []float64) {
	n := t.n
	for j, d := range t.d {
		r := math.Sqrt(d)
		clear(out[j*n : j*n+j])
		clear(outT[j*n+j+1 : j*n+n])
		out[j+j*n], outT[j+j*n] = r, r
		for i := j + 1; i < n; i++ {
			v := t.l[i+j*n] * r
			out[i+j*n], outT[j+i*n] = v, v
		}
	}
}

// divide overwrites m with m L^-T D^-1/2.
func (t *triangular) divide(m []float64) {
	n := t.n
	t.TrsmRightLT(n, n, t.l, n, m, n)
	for j, r := range t.root {
		dense.Scale(m[j*n:j*n+n], r)
	}
}

// transpose writes m' into out.
func transpose(out, m []float64, n int) {
	for jb := 0; jb < n; jb += tile {
		for ib := 0; ib < n; ib += tile {
			for j := jb; j < min(jb+tile, n); j++ {
				for i := ib; i < min(ib+tile, n); i++ {
					out[i*n+j] = m[j*n+i]
				}
			}
		}
	}
}

// mulTo writes A B' into out, all of order n.
func mulTo(within dense.Within, out, a, b []float64, n int) {
	clear(out[:n*n])
	if within.GemmNT(n, n, n, a, n, b, n, out, n); within.Stop.Reached(4 * n * n) {
		return
	}
	scaleBy(out[:n*n], -1)
}

// allocate makes vectors of length n, side by side.
func allocate(n int, vectors ...*[]float64) {
	slab := make([]float64, n*len(vectors))
	for _, v := range vectors {
		*v, slab = slab[:n:n], slab[n:]
	}
}

func dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// dotAbs returns the sum of |x_i y_i|.
func dotAbs(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += math.Abs(v * y[i])
	}
	return sum
}

func axpy(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// mulP writes Px into out, P given by its upper triangle.
func (f *form) mulP(out, x []float64) {
	clear(out)
	if len(f.p.val) == 0 {
		return
	}
	for j := range f.n {
		if f.stop.Reached(2 + 2*int(f.p.ptr[j+1]-f.p.ptr[j])) {
			return
		}
		xj, sum := x[j], 0.0
		for k := f.p.ptr[j]; k < f.p.ptr[j+1]; k++ {
			i, v := f.p.ind[k], f.p.val[k]
			sum += v * x[i]
			if int(i) != j {
				out[i] += v * xj
			}
		}
		out[j] += sum
	}
}

// mulA writes Ax into out.
func (f *form) mulA(out, x []float64) {
	clear(out)
	f.a.addMul(out, x)
}

// mulAt writes A'z into out.
func (f *form) mulAt(out, z []float64) {
	clear(out)
	f.a.addMulT(out, z)
}

// Those of package dense.
func maxAbs(v []float64) float64      { return dense.MaxAbs(v) }
func norm1(v []float64) float64       { return dense.Norm1(v) }
func scaleBy(v []float64, by float64) { dense.Scale(v, by) }

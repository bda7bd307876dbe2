package convex

import (
	"slices"
	"sync"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// matrix is a read-only matrix of numbers, either dense by rows (dense, stride)
// or compressed by columns (ptr, ind, val, row indices increasing). Views share
// the numbers of the caller's matrix.
type matrix struct {
	rows, cols int
	dense      []float64 // entry (i, j) is dense[i*stride+j]; nil for a sparse matrix
	stride     int
	ptr, ind   []int // columns ptr[j] to ptr[j+1]-1, absolute positions in ind and val
	val        []float64
	full       bool // zeros of a dense matrix count as entries

	once   sync.Once
	counts []int // nonzeros of each column, see nonzeros
}

// wrap makes a matrix of m, sharing the numbers of dense and of sorted sparse
// column matrices, and copying others.
func wrap(m mat.Matrix) *matrix {
	rows, cols := m.Dims()
	switch a := m.(type) {
	case mat.RawMatrixer:
		raw := a.RawMatrix()
		if raw.Data == nil {
			raw.Data = []float64{}
		}
		return &matrix{rows: rows, cols: cols, dense: raw.Data, stride: raw.Stride}
	case *sparse.CSC:
		raw := a.RawMatrix()
		w := &matrix{rows: rows, cols: cols, ptr: raw.Indptr, ind: raw.Ind, val: raw.Data}
		if w.sorted() {
			return w
		}
		t := fromCompressed(cols, rows, raw.Indptr, raw.Ind, raw.Data)
		return fromCompressed(rows, cols, t.ptr, t.ind, t.val)
	case *sparse.CSR:
		raw := a.RawMatrix()
		return fromCompressed(rows, cols, raw.Indptr, raw.Ind, raw.Data)
	}
	if d, ok := m.(mat.Diagonal); ok {
		w := &matrix{rows: rows, cols: cols, ptr: make([]int, cols+1), ind: make([]int, cols), val: make([]float64, cols)}
		for j := range cols {
			w.ptr[j+1], w.ind[j], w.val[j] = j+1, j, d.At(j, j)
		}
		return w
	}
	dense := make([]float64, rows*cols)
	nonzeros := 0
	for i := range rows {
		for j := range cols {
			if v := m.At(i, j); v != 0 {
				dense[i*cols+j] = v
				nonzeros++
			}
		}
	}
	w := &matrix{rows: rows, cols: cols, dense: dense, stride: cols}
	// Below a quarter of nonzeros the compressed form is smaller and faster.
	if 4*nonzeros < rows*cols {
		return w.compress()
	}
	return w
}

// fromCompressed turns rows x cols compressed rows into compressed columns, by
// a counting sort that leaves the row indices of each column in order.
func fromCompressed(rows, cols int, ptr, ind []int, val []float64) *matrix {
	w := &matrix{rows: rows, cols: cols, ptr: make([]int, cols+1), ind: make([]int, len(ind)), val: make([]float64, len(ind))}
	for _, j := range ind {
		w.ptr[j+1]++
	}
	for j := range cols {
		w.ptr[j+1] += w.ptr[j]
	}
	next := slices.Clone(w.ptr[:cols])
	for i := range rows {
		for k := ptr[i]; k < ptr[i+1]; k++ {
			p := next[ind[k]]
			w.ind[p], w.val[p] = i, val[k]
			next[ind[k]]++
		}
	}
	return w
}

// compress returns the nonzeros of a dense matrix by columns.
func (w *matrix) compress() *matrix {
	counts := w.nonzeros()
	c := &matrix{rows: w.rows, cols: w.cols, ptr: make([]int, w.cols+1)}
	for j, n := range counts {
		c.ptr[j+1] = c.ptr[j] + n
	}
	c.ind, c.val = make([]int, c.ptr[w.cols]), make([]float64, c.ptr[w.cols])
	next := slices.Clone(c.ptr[:w.cols])
	for i := range w.rows {
		for j, v := range w.row(i) {
			if v != 0 {
				c.ind[next[j]], c.val[next[j]] = i, v
				next[j]++
			}
		}
	}
	return c
}

func (w *matrix) sorted() bool {
	for j := range w.cols {
		for k := w.ptr[j] + 1; k < w.ptr[j+1]; k++ {
			if w.ind[k] <= w.ind[k-1] {
				return false
			}
		}
	}
	return true
}

// row returns row i of a dense matrix.
func (w *matrix) row(i int) []float64 { return w.dense[i*w.stride : i*w.stride+w.cols] }

// nonzeros returns the number of nonzeros of each column. It is computed once.
func (w *matrix) nonzeros() []int {
	w.once.Do(func() {
		w.counts = make([]int, w.cols)
		if w.dense == nil {
			for j := range w.cols {
				for k := w.ptr[j]; k < w.ptr[j+1]; k++ {
					if w.val[k] != 0 {
						w.counts[j]++
					}
				}
			}
			return
		}
		for i := range w.rows {
			for j, v := range w.row(i) {
				if v != 0 || w.full {
					w.counts[j]++
				}
			}
		}
	})
	return w.counts
}

// finite returns the position of an entry that is not a finite number, if any.
func (w *matrix) finite() (i, j int, ok bool) {
	if w.dense == nil {
		for j := range w.cols {
			for k := w.ptr[j]; k < w.ptr[j+1]; k++ {
				if notFinite(w.val[k]) {
					return w.ind[k], j, false
				}
			}
		}
		return 0, 0, true
	}
	for i := range w.rows {
		// 0*v is 0 for finite v and NaN otherwise; the sum carries a NaN to the end.
		row, sum := w.row(i), 0.0
		for _, v := range row {
			sum += 0 * v
		}
		if sum != 0 {
			for j, v := range row {
				if notFinite(v) {
					return i, j, false
				}
			}
		}
	}
	return 0, 0, true
}

func notFinite(v float64) bool { return v-v != 0 }

// addMul computes y += alpha M x.
func (w *matrix) addMul(y []float64, alpha float64, x []float64) {
	if w.rows == 0 || w.cols == 0 {
		return
	}
	if w.dense != nil {
		blas64.Gemv(blas.NoTrans, alpha, w.general(), blas64.Vector{N: w.cols, Inc: 1, Data: x}, 1, blas64.Vector{N: w.rows, Inc: 1, Data: y})
		return
	}
	for j, v := range x[:w.cols] {
		if v == 0 {
			continue
		}
		v *= alpha
		for k := w.ptr[j]; k < w.ptr[j+1]; k++ {
			y[w.ind[k]] += v * w.val[k]
		}
	}
}

// addMulTrans computes g += alpha M'z, by rows when dense.
func (w *matrix) addMulTrans(g []float64, alpha float64, z []float64) {
	if w.rows == 0 || w.cols == 0 {
		return
	}
	if w.dense != nil {
		for i, v := range z[:w.rows] {
			if v != 0 {
				floats.AddScaled(g[:w.cols], alpha*v, w.row(i))
			}
		}
		return
	}
	for j := range w.cols {
		sum := 0.0
		for k := w.ptr[j]; k < w.ptr[j+1]; k++ {
			sum += w.val[k] * z[w.ind[k]]
		}
		g[j] += alpha * sum
	}
}

func (w *matrix) general() blas64.General {
	return blas64.General{Rows: w.rows, Cols: w.cols, Stride: w.stride, Data: w.dense}
}

// rowRange returns rows i to j-1, without copying when dense.
func (w *matrix) rowRange(i, j int) *matrix {
	if i == 0 && j == w.rows {
		return w
	}
	if w.dense == nil {
		rows := make([]int, j-i)
		for k := range rows {
			rows[k] = i + k
		}
		return w.pick(rows)
	}
	v := &matrix{rows: j - i, cols: w.cols, dense: []float64{}, stride: w.stride}
	if i < j {
		v.dense = w.dense[i*w.stride : (j-1)*w.stride+w.cols]
	}
	return v
}

// colRange returns columns i to j-1, without copying the numbers.
func (w *matrix) colRange(i, j int) *matrix {
	if i == 0 && j == w.cols {
		return w
	}
	v := &matrix{rows: w.rows, cols: j - i, stride: w.stride}
	if w.dense == nil {
		v.ptr, v.ind, v.val = w.ptr[i:j+1], w.ind, w.val
	} else {
		v.dense = w.dense[min(i, len(w.dense)):]
	}
	return v
}

// pick returns a copy of the given rows.
func (w *matrix) pick(rows []int) *matrix {
	if w.dense != nil {
		v := &matrix{rows: len(rows), cols: w.cols, dense: make([]float64, len(rows)*w.cols), stride: w.cols}
		for k, i := range rows {
			copy(v.row(k), w.row(i))
		}
		return v
	}
	// By way of compressed rows, in which rows are copied whole.
	t := w.transpose()
	ptr := make([]int, len(rows)+1)
	var ind []int
	var val []float64
	for k, i := range rows {
		ind = append(ind, t.ind[t.ptr[i]:t.ptr[i+1]]...)
		val = append(val, t.val[t.ptr[i]:t.ptr[i+1]]...)
		ptr[k+1] = len(ind)
	}
	return fromCompressed(len(rows), w.cols, ptr, ind, val)
}

// transpose returns the transpose of a sparse matrix.
func (w *matrix) transpose() *matrix {
	first, last := w.ptr[0], w.ptr[w.cols]
	ptr := make([]int, w.cols+1)
	for j := range ptr {
		ptr[j] = w.ptr[j] - first
	}
	// The compressed columns of M are the compressed rows of M'.
	return fromCompressed(w.cols, w.rows, ptr, w.ind[first:last], w.val[first:last])
}

// combine returns the row c'M as a dense matrix of one row.
func (w *matrix) combine(c []float64) *matrix {
	v := &matrix{rows: 1, cols: w.cols, dense: make([]float64, w.cols), stride: w.cols}
	w.addMulTrans(v.dense, 1, c)
	return v
}

// times returns the dense product M N.
func (w *matrix) times(n *matrix) *matrix {
	v := &matrix{rows: w.rows, cols: n.cols, dense: make([]float64, w.rows*n.cols), stride: n.cols}
	if w.rows == 0 || n.cols == 0 || w.cols == 0 {
		return v
	}
	if w.dense != nil && n.dense != nil {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.general(), n.general(), 0, v.general())
		return v
	}
	if n.dense != nil { // sparse times dense: entry (i, k) adds a row of n to row i
		for k := range w.cols {
			for p := w.ptr[k]; p < w.ptr[k+1]; p++ {
				floats.AddScaled(v.row(w.ind[p]), w.val[p], n.row(k))
			}
		}
		return v
	}
	col, out := make([]float64, n.rows), make([]float64, w.rows)
	for j := range n.cols {
		clear(col)
		clear(out)
		for p := n.ptr[j]; p < n.ptr[j+1]; p++ {
			col[n.ind[p]] = n.val[p]
		}
		w.addMul(out, 1, col)
		for i, x := range out {
			v.dense[i*v.stride+j] = x
		}
	}
	return v
}

// gather returns the matrix with cols columns whose column idx[r] is the sum of
// coef[r] times column r of M over all such r; nil coef means ones.
func (w *matrix) gather(cols int, idx []int, coef []float64) *matrix {
	factor := func(r int) float64 {
		if coef == nil {
			return 1
		}
		return coef[r]
	}
	if w.dense != nil {
		v := &matrix{rows: w.rows, cols: cols, dense: make([]float64, w.rows*cols), stride: cols}
		for i := range w.rows {
			from, to := w.row(i), v.row(i)
			for r, j := range idx {
				to[j] += factor(r) * from[r]
			}
		}
		return v
	}
	var rows, columns []int
	var val []float64
	for r, j := range idx {
		for p := w.ptr[r]; p < w.ptr[r+1]; p++ {
			rows, columns, val = append(rows, w.ind[p]), append(columns, j), append(val, factor(r)*w.val[p])
		}
	}
	return fromTriplets(w.rows, cols, rows, columns, val)
}

// fromTriplets adds up the entries (i[k], j[k], v[k]).
func fromTriplets(rows, cols int, i, j []int, v []float64) *matrix {
	order := make([]int, len(v))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if j[a] != j[b] {
			return j[a] - j[b]
		}
		return i[a] - i[b]
	})
	m := &matrix{rows: rows, cols: cols, ptr: make([]int, cols+1)}
	last := -1
	for _, k := range order {
		if last >= 0 && j[last] == j[k] && i[last] == i[k] {
			m.val[len(m.val)-1] += v[k]
			continue
		}
		m.ind, m.val = append(m.ind, i[k]), append(m.val, v[k])
		m.ptr[j[k]+1]++
		last = k
	}
	for c := range cols {
		m.ptr[c+1] += m.ptr[c]
	}
	return m
}

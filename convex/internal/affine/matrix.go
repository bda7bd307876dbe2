package affine

import (
	"slices"
	"sync"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Matrix is a read-only matrix of numbers, either dense by rows (dense, stride) or compressed by columns (ptr, ind,
// val, row indices increasing). Views share the numbers of the caller's matrix.
type Matrix struct {
	Rows, Cols int
	Dense      []float64 // entry (i, j) is dense[i*stride+j]; nil for a sparse matrix
	Stride     int
	Ptr, Ind   []int // columns ptr[j] to ptr[j+1]-1, absolute positions in ind and val
	Val        []float64

	once   sync.Once
	counts []int // nonzeros of each column, see nonzeros

	turn   sync.Once
	turned *Matrix // see byRows
}

// wrap makes a matrix of m, sharing the numbers of dense and of sorted sparse column matrices, and copying others.
func wrap(m mat.Matrix) *Matrix {
	rows, cols := m.Dims()
	switch a := m.(type) {
	case mat.RawMatrixer:
		raw := a.RawMatrix()
		if raw.Data == nil {
			raw.Data = []float64{}
		}
		return &Matrix{Rows: rows, Cols: cols, Dense: raw.Data, Stride: raw.Stride}
	case *sparse.CSC:
		raw := a.RawMatrix()
		w := &Matrix{Rows: rows, Cols: cols, Ptr: raw.Indptr, Ind: raw.Ind, Val: raw.Data}
		if w.sorted() {
			return w
		}
		t := fromCompressed(cols, rows, raw.Indptr, raw.Ind, raw.Data)
		return fromCompressed(rows, cols, t.Ptr, t.Ind, t.Val)
	case *sparse.CSR:
		raw := a.RawMatrix()
		return fromCompressed(rows, cols, raw.Indptr, raw.Ind, raw.Data)
	}
	d, diagonal := m.(mat.Diagonal)
	of, sparsely := m.(mat.NonZeroDoer)
	if !diagonal && !sparsely {
		return wrap(mat.DenseCopyOf(m))
	}
	coo := sparse.NewCOO(rows, cols, nil, nil, nil)
	if diagonal {
		for j := range cols {
			coo.Set(j, j, d.At(j, j))
		}
	} else {
		of.DoNonZero(coo.Set)
	}
	return wrap(coo.ToCSC())
}

// Each calls f for the entries that are not zero, of a dense matrix row by row, of a sparse one column by column.
func (w *Matrix) Each(f func(i, j int, v float64)) {
	if w.Dense == nil {
		for j := range w.Cols {
			w.EachOf(j, func(i int, v float64) { f(i, j, v) })
		}
		return
	}
	for i := range w.Rows {
		for j, v := range w.Row(i) {
			if v != 0 {
				f(i, j, v)
			}
		}
	}
}

// Nonzeros calls f for the entries of a matrix that are not zero, of sparse ones without looking at others.
func Nonzeros(m mat.Matrix, f func(i, j int, v float64)) { wrap(m).Each(f) }

// fromCompressed turns rows x cols compressed rows into compressed columns, by
// a counting sort that leaves the row indices of each column in order.
func fromCompressed(rows, cols int, ptr, ind []int, val []float64) *Matrix {
	w := &Matrix{Rows: rows, Cols: cols, Ptr: make([]int, cols+1), Ind: make([]int, len(ind)),
		Val: make([]float64, len(ind))}
	for _, j := range ind {
		w.Ptr[j+1]++
	}
	for j := range cols {
		w.Ptr[j+1] += w.Ptr[j]
	}
	next := slices.Clone(w.Ptr[:cols])
	for i := range rows {
		for k := ptr[i]; k < ptr[i+1]; k++ {
			p := next[ind[k]]
			w.Ind[p], w.Val[p] = i, val[k]
			next[ind[k]]++
		}
	}
	return w
}

func (w *Matrix) sorted() bool {
	for j := range w.Cols {
		for k := w.Ptr[j] + 1; k < w.Ptr[j+1]; k++ {
			if w.Ind[k] <= w.Ind[k-1] {
				return false
			}
		}
	}
	return true
}

// EachOf calls f for the entries of column c by increasing row.
func (w *Matrix) EachOf(c int, f func(r int, v float64)) {
	if w.Dense == nil {
		for k := w.Ptr[c]; k < w.Ptr[c+1]; k++ {
			if w.Val[k] != 0 {
				f(w.Ind[k], w.Val[k])
			}
		}
		return
	}
	for r := range w.Rows {
		if v := w.Dense[r*w.Stride+c]; v != 0 {
			f(r, v)
		}
	}
}

// Row returns row i of a dense matrix.
func (w *Matrix) Row(i int) []float64 { return w.Dense[i*w.Stride : i*w.Stride+w.Cols] }

// Nonzeros returns the number of nonzeros of each column. It is computed once.
func (w *Matrix) Nonzeros() []int {
	w.once.Do(func() {
		w.counts = make([]int, w.Cols)
		w.Each(func(_, j int, _ float64) { w.counts[j]++ })
	})
	return w.counts
}

// Finite returns the position of an entry that is not a finite number, if any.
func (w *Matrix) Finite() (i, j int, ok bool) {
	ok = true
	w.Each(func(row, col int, v float64) {
		if ok && NotFinite(v) {
			i, j, ok = row, col, false
		}
	})
	return i, j, ok
}

func NotFinite(v float64) bool { return v-v != 0 }

// addMul computes y += alpha M x.
func (w *Matrix) addMul(y []float64, alpha float64, x []float64) {
	if w.Rows == 0 || w.Cols == 0 {
		return
	}
	if w.Dense != nil {
		blas64.Gemv(blas.NoTrans, alpha, w.general(), blas64.Vector{N: w.Cols, Inc: 1, Data: x}, 1,
			blas64.Vector{N: w.Rows, Inc: 1, Data: y})
		return
	}
	for j, v := range x[:w.Cols] {
		if v == 0 {
			continue
		}
		v *= alpha
		for k := w.Ptr[j]; k < w.Ptr[j+1]; k++ {
			y[w.Ind[k]] += v * w.Val[k]
		}
	}
}

// addMulTrans computes g += alpha M'z, by rows when dense.
func (w *Matrix) addMulTrans(g []float64, alpha float64, z []float64) {
	if w.Rows == 0 || w.Cols == 0 {
		return
	}
	if w.Dense != nil {
		for i, v := range z[:w.Rows] {
			if v != 0 {
				floats.AddScaled(g[:w.Cols], alpha*v, w.Row(i))
			}
		}
		return
	}
	for j := range w.Cols {
		sum := 0.0
		for k := w.Ptr[j]; k < w.Ptr[j+1]; k++ {
			sum += w.Val[k] * z[w.Ind[k]]
		}
		g[j] += alpha * sum
	}
}

func (w *Matrix) general() blas64.General {
	return blas64.General{Rows: w.Rows, Cols: w.Cols, Stride: w.Stride, Data: w.Dense}
}

// rowRange returns rows i to j-1, without copying when dense.
func (w *Matrix) rowRange(i, j int) *Matrix {
	if i == 0 && j == w.Rows {
		return w
	}
	if w.Dense == nil {
		rows := Consecutive(i, j-i)
		return w.pick(rows)
	}
	v := &Matrix{Rows: j - i, Cols: w.Cols, Dense: []float64{}, Stride: w.Stride}
	if i < j {
		v.Dense = w.Dense[i*w.Stride : (j-1)*w.Stride+w.Cols]
	}
	return v
}

// colRange returns columns i to j-1, without copying the numbers.
func (w *Matrix) colRange(i, j int) *Matrix {
	if i == 0 && j == w.Cols {
		return w
	}
	v := &Matrix{Rows: w.Rows, Cols: j - i, Stride: w.Stride}
	if w.Dense == nil {
		v.Ptr, v.Ind, v.Val = w.Ptr[i:j+1], w.Ind, w.Val
	} else {
		v.Dense = w.Dense[min(i, len(w.Dense)):]
	}
	return v
}

// pick returns a copy of the given rows.
func (w *Matrix) pick(rows []int) *Matrix {
	if w.Dense != nil {
		v := &Matrix{Rows: len(rows), Cols: w.Cols, Dense: make([]float64, len(rows)*w.Cols), Stride: w.Cols}
		for k, i := range rows {
			copy(v.Row(k), w.Row(i))
		}
		return v
	}
	// By way of compressed rows, in which rows are copied whole.
	t := w.byRows()
	ptr := make([]int, len(rows)+1)
	var ind []int
	var val []float64
	for k, i := range rows {
		ind = append(ind, t.Ind[t.Ptr[i]:t.Ptr[i+1]]...)
		val = append(val, t.Val[t.Ptr[i]:t.Ptr[i+1]]...)
		ptr[k+1] = len(ind)
	}
	return fromCompressed(len(rows), w.Cols, ptr, ind, val)
}

// byRows returns the transpose of a sparse matrix, whose columns are the rows. It is computed once.
func (w *Matrix) byRows() *Matrix {
	w.turn.Do(func() {
		first, last := w.Ptr[0], w.Ptr[w.Cols]
		ptr := make([]int, w.Cols+1)
		for j := range ptr {
			ptr[j] = w.Ptr[j] - first
		}
		// The compressed columns of M are the compressed rows of M'.
		w.turned = fromCompressed(w.Cols, w.Rows, ptr, w.Ind[first:last], w.Val[first:last])
	})
	return w.turned
}

// combine returns the row c'M as a dense matrix of one row.
func (w *Matrix) combine(c []float64) *Matrix {
	v := &Matrix{Rows: 1, Cols: w.Cols, Dense: make([]float64, w.Cols), Stride: w.Cols}
	w.addMulTrans(v.Dense, 1, c)
	return v
}

// times returns the product M N, dense unless both are sparse.
func (w *Matrix) times(n *Matrix) *Matrix {
	if w.Dense == nil && n.Dense == nil {
		return w.sparseTimes(n)
	}
	v := &Matrix{Rows: w.Rows, Cols: n.Cols, Dense: make([]float64, w.Rows*n.Cols), Stride: n.Cols}
	if w.Rows == 0 || n.Cols == 0 || w.Cols == 0 {
		return v
	}
	if w.Dense != nil && n.Dense != nil {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.general(), n.general(), 0, v.general())
		return v
	}
	if n.Dense != nil { // sparse times dense: entry (i, k) adds a row of n to row i
		for k := range w.Cols {
			for p := w.Ptr[k]; p < w.Ptr[k+1]; p++ {
				floats.AddScaled(v.Row(w.Ind[p]), w.Val[p], n.Row(k))
			}
		}
		return v
	}
	for i := range w.Rows {
		from, to := w.Row(i), v.Row(i)
		for j := range to {
			for p := n.Ptr[j]; p < n.Ptr[j+1]; p++ {
				to[j] += n.Val[p] * from[n.Ind[p]]
			}
		}
	}
	return v
}

// sparseTimes is times for sparse matrices: column j is the sum of the columns k of M times n_kj.
func (w *Matrix) sparseTimes(n *Matrix) *Matrix {
	v := &Matrix{Rows: w.Rows, Cols: n.Cols, Ptr: make([]int, n.Cols+1)}
	sum, seen := make([]float64, w.Rows), make([]int, w.Rows) // seen[i] is j+1 where row i has an entry in column j
	for j := range n.Cols {
		from := len(v.Ind)
		for q := n.Ptr[j]; q < n.Ptr[j+1]; q++ {
			k, x := n.Ind[q], n.Val[q]
			for p := w.Ptr[k]; p < w.Ptr[k+1]; p++ {
				i := w.Ind[p]
				if seen[i] != j+1 {
					seen[i], sum[i] = j+1, 0
					v.Ind = append(v.Ind, i)
				}
				sum[i] += w.Val[p] * x
			}
		}
		slices.Sort(v.Ind[from:])
		for _, i := range v.Ind[from:] {
			v.Val = append(v.Val, sum[i])
		}
		v.Ptr[j+1] = len(v.Ind)
	}
	return v
}

// Consecutive returns the n numbers from first on.
func Consecutive(first, n int) []int {
	out := make([]int, n)
	for k := range out {
		out[k] = first + k
	}
	return out
}

package completion

import "github.com/conetune/conetune/internal/dense"

// entries are places of an m x n matrix, and R(v) is the sparse matrix that has v at them (the sum, where a place is
// there more than once). Dense matrices are stored by columns: element (i, j) of one with k rows is at i + j k.
type entries struct {
	m, n     int
	row, col []int
	columns  [][]int // the places of each column
}

func newEntries(m, n int, row, col []int) *entries {
	e := &entries{m: m, n: n, row: row, col: col, columns: make([][]int, n)}
	for k, j := range col {
		e.columns[j] = append(e.columns[j], k)
	}
	return e
}

// outer adds a R(v) R(w)' to a matrix of m x m.
func (e *entries) outer(to []float64, a float64, v, w []float64) {
	for _, list := range e.columns {
		for _, l := range list {
			x, column := a*w[l], to[e.row[l]*e.m:(e.row[l]+1)*e.m]
			for _, k := range list {
				column[e.row[k]] += v[k] * x
			}
		}
	}
}

// right sets a matrix of k x n to a B R(v), with B of k x m.
func (e *entries) right(to []float64, a float64, b []float64, k int, v []float64) {
	clear(to)
	for l, x := range v {
		i, j := e.row[l], e.col[l]
		dense.Axpy(a*x, b[i*k:(i+1)*k], to[j*k:(j+1)*k])
	}
}

// gather adds a times what an m x n matrix has at the places to v.
func (e *entries) gather(v []float64, a float64, from []float64) {
	for k := range v {
		v[k] += a * from[e.row[k]+e.col[k]*e.m]
	}
}

// transpose sets to, n x m, to the transpose of an m x n matrix.
func transpose(to, from []float64, m, n int) {
	for j := range n {
		for i, v := range from[j*m : (j+1)*m] {
			to[i*n+j] = v
		}
	}
}

// symmetrise replaces a matrix of order n by its symmetric part.
func symmetrise(a []float64, n int) {
	for j := range n {
		for i := range j {
			v := (a[i+j*n] + a[j+i*n]) / 2
			a[i+j*n], a[j+i*n] = v, v
		}
	}
}

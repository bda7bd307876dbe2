package machine

import (
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// signedRows are the rows y_i x_i of a machine, by rows, dense or compressed. Rows that are the same, with the same label, are
// one row with the sum of their weights.
type signedRows struct {
	n, p  int
	dense []float64 // row i is dense[i*p:(i+1)*p]; nil for compressed rows
	// Entries start[i] to start[i+1]-1 of index, increasing, and value of row i.
	start, index []int
	value        []float64
	y, u         []float64
	sum          []float64 // of the absolute entries of each row
	origin       []int     // of each row of the design, its row here
	share        []float64 // of each row of the design, its share of the weight there
}

// denseShare is the share of nonzeros from which rows are dense.
const denseShare = 0.4

func newSignedRows(x *design.Matrix, y, u []float64) *signedRows {
	n, p := x.Dims()
	index, value := make([][]int, n), make([][]float64, n)
	put := func(i, j int, v float64) {
		if v != 0 {
			index[i], value[i] = append(index[i], j), append(value[i], y[i]*v)
		}
	}
	for j := range p {
		rows, column := x.Column(j)
		for k, v := range column {
			if rows != nil {
				put(rows[k], j, v)
			} else {
				put(k, j, v)
			}
		}
	}
	r := &signedRows{p: p, start: []int{0}, origin: make([]int, n)}
	known := make(map[string]int, n)
	var key []byte
	for i := range n {
		key = binary.LittleEndian.AppendUint64(key[:0], math.Float64bits(y[i]))
		for k, j := range index[i] {
			key = binary.LittleEndian.AppendUint64(key, uint64(j))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(value[i][k]))
		}
		at, ok := known[string(key)]
		if !ok {
			at = len(r.y)
			known[string(key)] = at
			r.index, r.value = append(r.index, index[i]...), append(r.value, value[i]...)
			r.start = append(r.start, len(r.index))
			r.y, r.u = append(r.y, y[i]), append(r.u, 0)
		}
		r.origin[i] = at
		r.u[at] += u[i]
	}
	r.n = len(r.y)
	r.sum = make([]float64, r.n)
	for i := range r.sum {
		for _, v := range r.value[r.start[i]:r.start[i+1]] {
			r.sum[i] += math.Abs(v)
		}
	}
	r.share = make([]float64, n)
	for i, at := range r.origin {
		r.share[i] = u[i] / r.u[at]
	}
	if float64(len(r.value)) > denseShare*float64(r.n)*float64(p) {
		r.dense = make([]float64, r.n*p)
		for i := range r.n {
			for k := r.start[i]; k < r.start[i+1]; k++ {
				r.dense[i*p+r.index[k]] = r.value[k]
			}
		}
	}
	return r
}

// dot is row i times v.
func (r *signedRows) dot(i int, v []float64) float64 {
	if r.dense != nil {
		return floats.Dot(r.dense[i*r.p:(i+1)*r.p], v)
	}
	lo, hi := r.start[i], r.start[i+1]
	index, value := r.index[lo:hi], r.value[lo:hi]
	sum := 0.0
	for k, j := range index {
		sum += value[k] * v[j]
	}
	return sum
}

// add adds c times row i to v.
func (r *signedRows) add(i int, c float64, v []float64) {
	if r.dense != nil {
		floats.AddScaled(v, c, r.dense[i*r.p:(i+1)*r.p])
		return
	}
	lo, hi := r.start[i], r.start[i+1]
	index, value := r.index[lo:hi], r.value[lo:hi]
	for k, j := range index {
		v[j] += c * value[k]
	}
}

// at is entry j of row i.
func (r *signedRows) at(i, j int) float64 {
	if r.dense != nil {
		return r.dense[i*r.p+j]
	}
	lo, hi := r.start[i], r.start[i+1]
	for lo < hi {
		mid := (lo + hi) / 2
		if r.index[mid] < j {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < r.start[i+1] && r.index[lo] == j {
		return r.value[lo]
	}
	return 0
}

// squares is the squared length of row i.
func (r *signedRows) squares(i int) float64 {
	v := r.value[r.start[i]:r.start[i+1]]
	return floats.Dot(v, v)
}

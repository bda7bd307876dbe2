package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/stop"
)

// signedRows are the rows y_i x_i of a machine, by rows, dense or compressed.
type signedRows struct {
	n, p  int
	dense bool // whether rows have all their entries
	// Entries start[i] to start[i+1]-1 of value, and their columns, increasing; one list for all rows where these are
	// dense.
	start, index []int
	value        []float64
	y, u         []float64
	need         []float64 // the margins that rows need, 1 but in a kernel
	size         []float64 // the length of each row
}

// denseShare is the share of nonzeros from which rows are dense.
const denseShare = 0.4

func newSignedRows(x *design.Matrix, y, u []float64) *signedRows {
	n, p := x.Dims()
	r := &signedRows{n: n, p: p, y: slices.Clone(y), u: u, size: make([]float64, n), need: slices.Repeat([]float64{1}, n)}
	l := x.List(indices.Range(0, p))
	if float64(l.Entries()) > denseShare*float64(n)*float64(p) {
		r.room(n)
	} else {
		r.start, r.index, r.value = make([]int, n+1), make([]int, l.Entries()), make([]float64, l.Entries())
	}
	for i := range n {
		at, value := l.Row(i)
		if !r.dense {
			r.start[i+1] = r.start[i] + len(at)
		}
		index, to := r.stored(i)
		for k, j := range at {
			if r.dense {
				to[j] = y[i] * value[k]
			} else {
				index[k], to[k] = int(j), y[i]*value[k]
			}
		}
		r.size[i] = math.Sqrt(r.squares(i))
	}
	return r
}

// room makes room for n rows with their zeros.
func (r *signedRows) room(n int) {
	r.dense, r.start, r.index, r.value = true, make([]int, n+1), indices.Range(0, r.p), make([]float64, n*r.p)
	for i := range r.start {
		r.start[i] = i * r.p
	}
}

// stored are the entries of row i that are stored, and their columns.
func (r *signedRows) stored(i int) (index []int, value []float64) {
	index, value = r.index, r.values(i)
	if !r.dense {
		index = index[r.start[i]:r.start[i+1]]
	}
	return index, value
}

// values are the entries of row i that are stored.
func (r *signedRows) values(i int) []float64 { return r.value[r.start[i]:r.start[i+1]] }

// dot is row i times v.
func (r *signedRows) dot(i int, v []float64) float64 {
	if r.dense {
		return floats.Dot(r.values(i), v)
	}
	index, value := r.stored(i)
	sum := 0.0
	for k, j := range index {
		sum += value[k] * v[j]
	}
	return sum
}

// dots are row i times v and times w.
func (r *signedRows) dots(i int, v, w []float64) (a, b float64) {
	if r.dense {
		return r.dot(i, v), r.dot(i, w)
	}
	index, value := r.stored(i)
	value, w = value[:len(index)], w[:len(v)]
	for k, j := range index {
		x := value[k]
		a += x * v[j]
		b += x * w[j]
	}
	return a, b
}

// product is row i times v, by the kernels for long rows where it is dense.
func (r *signedRows) product(i int, v []float64) float64 {
	if r.dense {
		return dense.Dot(r.values(i), v)
	}
	return r.dot(i, v)
}

// products sets out to the products of all rows with v. It says whether it came to the end.
func (r *signedRows) products(out, v []float64, end *stop.Stop) bool {
	if !r.dense {
		for i := range out {
			out[i] = r.dot(i, v)
			if end.Reached(r.length(i)) {
				return false
			}
		}
		return true
	}
	clear(out)
	step := max(1, stop.Interval/(2*max(1, r.p)))
	for from := 0; from < r.n; from += step {
		to := min(r.n, from+step)
		dense.GemvT(r.p, to-from, r.value[from*r.p:], r.p, v, out[from:])
		if end.Reached((to - from) * r.p / 2) {
			return false
		}
	}
	floats.Scale(-1, out)
	return true
}

// margins sets out to 1 - a_i'w + y_i c. It says whether it came to the end.
func (r *signedRows) margins(out, w []float64, c float64, end *stop.Stop) bool {
	if !r.products(out, w, end) {
		return false
	}
	for i, v := range out {
		out[i] = 1 - v + r.y[i]*c
	}
	return true
}

// sampled is the number of rows that quantiles are found from.
const sampled = 2000

// features sets to, of zeros, to the entries of some rows in some features, by columns. at has a 0 for each feature.
func (r *signedRows) features(rows, features []int, at []int32, to []float64) {
	n := len(rows)
	for e, j := range features {
		at[j] = int32(e + 1)
	}
	for k, i := range rows {
		index, value := r.stored(i)
		if r.dense {
			for e, j := range features {
				to[e*n+k] = value[j]
			}
			continue
		}
		for q, j := range index {
			if e := int(at[j]); e > 0 {
				to[(e-1)*n+k] = value[q]
			}
		}
	}
	for _, j := range features {
		at[j] = 0
	}
}

// quantile is about the size of margins that so many rows do not exceed, found from a part of the rows.
func quantile(margins []float64, count int) float64 {
	stride := 1 + len(margins)/sampled
	var sizes []float64
	for i := 0; i < len(margins); i += stride {
		sizes = append(sizes, math.Abs(margins[i]))
	}
	slices.Sort(sizes)
	return sizes[min(len(sizes)-1, count/stride)]
}

// length is the number of entries of row i that are stored.
func (r *signedRows) length(i int) int { return r.start[i+1] - r.start[i] }

// label is 0 or 1, for y_i of -1 or 1.
func (r *signedRows) label(i int) int {
	if r.y[i] > 0 {
		return 1
	}
	return 0
}

// add adds c times row i to v.
func (r *signedRows) add(i int, c float64, v []float64) {
	if r.dense {
		floats.AddScaled(v, c, r.values(i))
		return
	}
	index, value := r.stored(i)
	for k, j := range index {
		v[j] += c * value[k]
	}
}

// at is entry j of row i.
func (r *signedRows) at(i, j int) float64 {
	index, value := r.stored(i)
	if k, found := slices.BinarySearch(index, j); found {
		return value[k]
	}
	return 0
}

// squares is the squared length of row i.
func (r *signedRows) squares(i int) float64 {
	v := r.values(i)
	if r.dense {
		v = slices.DeleteFunc(slices.Clone(v), func(v float64) bool { return v == 0 })
	}
	return floats.Dot(v, v)
}

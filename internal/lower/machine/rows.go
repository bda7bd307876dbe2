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

// signedRows are the rows y_i x_i of a machine, by rows, dense or compressed. Rows that are the same, with the same
// label, are one row with the sum of their weights.
type signedRows struct {
	n, p  int
	dense bool // whether rows have all their entries
	// Entries start[i] to start[i+1]-1 of value, and their columns, increasing; one list for all rows where these are dense.
	start, index []int
	value        []float64
	y, u         []float64
	need         []float64 // the margins that rows need, 1 but in a kernel
	size         []float64 // the length of each row
	origin       []int     // of each row of the design, its row here
	share        []float64 // of each row of the design, its share of the weight there
}

// denseShare is the share of nonzeros from which rows are dense.
const denseShare = 0.4

func newSignedRows(x *design.Matrix, y, u []float64) *signedRows {
	n, p := x.Dims()
	r := &signedRows{p: p, origin: make([]int, n), share: make([]float64, n)}
	entries := 0
	for j := range p {
		_, value := x.Column(j)
		for _, v := range value {
			if v != 0 {
				entries++
			}
		}
	}
	if float64(entries) > denseShare*float64(n)*float64(p) {
		r.fill(x, y)
	} else {
		r.compress(x, y, entries)
	}
	kept := r.merge(y, u)
	for i, at := range r.origin {
		r.share[i] = u[i] / r.u[at]
	}
	r.keep(kept)
	r.n = len(kept)
	r.size, r.need = make([]float64, r.n), slices.Repeat([]float64{1}, r.n)
	for i := range r.size {
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

// fill stores the rows with their zeros.
func (r *signedRows) fill(x *design.Matrix, y []float64) {
	n, p := x.Dims()
	r.room(n)
	const block = 16 // rows and columns that stay in the cache
	for j0 := 0; j0 < p; j0 += block {
		for i0 := 0; i0 < n; i0 += block {
			for j := j0; j < min(p, j0+block); j++ {
				if rows, value := x.Column(j); rows == nil {
					for i := i0; i < min(n, i0+block); i++ {
						if value[i] != 0 {
							r.value[i*p+j] = y[i] * value[i]
						}
					}
				} else if i0 == 0 {
					for k, i := range rows {
						r.value[i*p+j] = y[i] * value[k]
					}
				}
			}
		}
	}
}

// compress stores the nonzeros of the rows, of which there are so many.
func (r *signedRows) compress(x *design.Matrix, y []float64, entries int) {
	n, p := x.Dims()
	r.start, r.index, r.value = make([]int, n+1), make([]int, entries), make([]float64, entries)
	each := func(put func(i, j int, v float64)) {
		for j := range p {
			rows, column := x.Column(j)
			for k, v := range column {
				if v == 0 {
					continue
				}
				if rows != nil {
					put(rows[k], j, v)
				} else {
					put(k, j, v)
				}
			}
		}
	}
	each(func(i, _ int, _ float64) { r.start[i+1]++ })
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	next := append([]int(nil), r.start[:n]...)
	each(func(i, j int, v float64) {
		r.index[next[i]], r.value[next[i]] = j, y[i]*v
		next[i]++
	})
}

// merge finds the rows that are the same, with the same label, and returns the first of each.
func (r *signedRows) merge(y, u []float64) (kept []int) {
	known := make(map[uint64][]int, len(y)) // by a hash, the numbers among those kept
	for i := range y {
		index, value := r.stored(i)
		hash := mix(0, math.Float64bits(y[i]))
		for k, v := range value {
			if v == 0 {
				continue
			}
			hash = mix(mix(hash, uint64(index[k])), math.Float64bits(v))
		}
		at := -1
		for _, k := range known[hash] {
			other, same := r.stored(kept[k])
			if r.y[k] == y[i] && slices.Equal(index, other) && slices.Equal(value, same) {
				at = k
				break
			}
		}
		if at < 0 {
			at = len(kept)
			known[hash] = append(known[hash], at)
			kept, r.y, r.u = append(kept, i), append(r.y, y[i]), append(r.u, 0)
		}
		r.origin[i] = at
		r.u[at] += u[i]
	}
	return kept
}

// mix is a step of a hash.
func mix(hash, v uint64) uint64 {
	hash = (hash ^ v) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}

// keep leaves these rows, in increasing order.
func (r *signedRows) keep(kept []int) {
	if len(kept) == len(r.origin) {
		return
	}
	at := 0
	for to, i := range kept {
		lo, hi := r.start[i], r.start[i+1]
		r.start[to] = at
		if !r.dense {
			copy(r.index[at:], r.index[lo:hi])
		}
		at += copy(r.value[at:], r.value[lo:hi])
	}
	r.start[len(kept)] = at
	r.start, r.value = r.start[:len(kept)+1], slices.Clone(r.value[:at])
	if !r.dense {
		r.index = slices.Clone(r.index[:at])
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

package glm

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/design"
)

// scaled is a quadratic model of the curvatures of a fold: a fit of squares whose columns are those of the working set times the roots of the curvatures, in
// the rows that it trains. The constant is as in [rows].
type scaled struct {
	columns *columns
	place   []int     // of the features in the columns
	list    []int     // rows
	at32    []int32   // of the table's rows in the list, -1 for others, for sparse ones
	curve   []float64 // of all rows
	root    []float64 // of the curvatures of the list
	weight  float64   // sum of the curvatures
	r       []float64 // residuals
	shift   float64
	linear  []float64 // what is added to gradients, nil for none
}

// columns are those of a model while it is solved.
type columns struct {
	n             int
	value         []float64 // of a dense table n of each
	start         []int     // of a sparse one those from start[k] to start[k+1]
	index         []int32
	mean, squares []float64 // means, and curvatures
}

// lent are columns that are not in use: the models of all folds on a thread have the same memory, which stays in the cache.
type lent struct {
	lock sync.Mutex
	free []*columns
}

func (l *lent) take() *columns {
	l.lock.Lock()
	defer l.lock.Unlock()
	n := len(l.free)
	if n == 0 {
		return new(columns)
	}
	c := l.free[n-1]
	l.free = l.free[:n-1]
	return c
}

func (l *lent) give(c *columns) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.free = append(l.free, c)
}

// takeOwn has the curvatures of a fold in its model.
func (f *fold) takeOwn() {
	s := f.scaledBy(f.point.curve)
	f.point.model, f.point.unit = s.curve, f.point.total/s.weight
}

// scaledBy is the model of a fold with some curvatures of its training rows.
func (f *fold) scaledBy(curve []float64) *scaled {
	d := f.d
	s, ok := f.products.(*scaled)
	if !ok {
		s = &scaled{place: make([]int, d.p), at32: make([]int32, d.n), curve: make([]float64, d.n)}
		for i, train := range d.train[f.number] {
			if s.at32[i] = -1; train {
				s.at32[i] = int32(len(s.list))
				s.list = append(s.list, i)
			}
		}
		s.root, s.r = make([]float64, len(s.list)), make([]float64, len(s.list))
		f.products = s
	}
	copy(s.curve, curve)
	raise(s.curve, d.train[f.number])
	s.weight = floats.Sum(s.curve)
	for l, i := range s.list {
		s.root[l] = math.Sqrt(s.curve[i])
	}
	f.part = &part{weight: s.weight}
	return s
}

// begin implements products.
func (s *scaled) begin(f *fold) {
	f.work = s
	pt := f.point
	s.columns = f.d.curved.lent.take()
	s.load(f, f.features())
	s.shift = -pt.slant * pt.unit
	for l, i := range s.list {
		s.r[l] = pt.pull[i] / s.root[l]
	}
}

// load makes the columns of features.
func (s *scaled) load(f *fold, features []int) {
	d, c, n := f.d, s.columns, len(s.list)
	x := d.columns()
	c.n, c.value, c.index, c.start = n, c.value[:0], c.index[:0], append(c.start[:0], 0)
	c.mean, c.squares = c.mean[:0], c.squares[:0]
	for k, j := range features {
		s.place[j] = k
		sum, squares := 0.0, 0.0
		if index, value := x.Column(j); index == nil {
			c.value = slices.Grow(c.value, n)[:(k+1)*n]
			to := c.value[k*n:]
			for l, i := range s.list {
				v := value[i] * s.root[l]
				to[l] = v
				sum, squares = sum+v*s.root[l], squares+v*v
			}
		} else {
			for m, i := range index {
				if l := s.at32[i]; l >= 0 {
					v := value[m] * s.root[l]
					c.index, c.value = append(c.index, l), append(c.value, v)
					sum, squares = sum+v*s.root[l], squares+v*v
				}
			}
			c.start = append(c.start, len(c.index))
		}
		mean := 0.0
		if d.intercept {
			mean = sum / s.weight
		}
		c.mean, c.squares = append(c.mean, mean), append(c.squares, max(squares/s.weight-mean*mean, 0))
	}
}

// end gives the columns back.
func (s *scaled) end(f *fold) {
	f.d.curved.lent.give(s.columns)
	s.columns = nil
}

// dense says that all of the table's numbers are stored.
func (c *columns) dense() bool { return len(c.start) == 1 }

// entries counts those of feature j.
func (s *scaled) entries(j int) int {
	if s.columns.dense() {
		return s.columns.n
	}
	k := s.place[j]
	return s.columns.start[k+1] - s.columns.start[k]
}

// rows are those of the entries of column k of a sparse table.
func (c *columns) rows(k int) []int32 { return c.index[c.start[k]:c.start[k+1]] }

// dot is the product of column k and r.
func (c *columns) dot(k int, r []float64) (sum float64) {
	if c.dense() {
		return dense.Dot(c.value[k*c.n:(k+1)*c.n], r)
	}
	lo, hi := c.start[k], c.start[k+1]
	index, value := c.index[lo:hi], c.value[lo:hi]
	var s0, s1, s2, s3 float64 // which do not wait for each other
	for ; len(index) >= 4 && len(value) >= 4; index, value = index[4:], value[4:] {
		s0 += value[0] * r[index[0]]
		s1 += value[1] * r[index[1]]
		s2 += value[2] * r[index[2]]
		s3 += value[3] * r[index[3]]
	}
	for m, i := range index {
		s0 += value[m] * r[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// axpy adds a times column k to r.
func (c *columns) axpy(a float64, k int, r []float64) {
	if c.dense() {
		dense.Axpy(a, c.value[k*c.n:(k+1)*c.n], r)
		return
	}
	lo, hi := c.start[k], c.start[k+1]
	value := c.value[lo:hi]
	for m, i := range c.index[lo:hi] {
		r[i] += a * value[m]
	}
}

// at implements work.
func (s *scaled) at(j, _ int) float64 {
	k := s.place[j]
	g := s.columns.dot(k, s.r)/s.weight + s.shift*s.columns.mean[k]
	if s.linear != nil {
		g += s.linear[k]
	}
	return g
}

// move implements work.
func (s *scaled) move(j int, step []float64) {
	k := s.place[j]
	s.columns.axpy(-step[0], k, s.r)
	s.shift += step[0] * s.columns.mean[k]
}

// diagonal implements work.
func (s *scaled) diagonal(j int) float64 { return s.columns.squares[s.place[j]] }

// system implements work.
func (s *scaled) system(features []int, h []float64) {
	for a, row := range s.block(nil, features) {
		copy(h[a*len(features)+a:(a+1)*len(features)], row[a:])
	}
}

// times implements work.
func (s *scaled) times(features []int, step, out []float64) {
	c := s.columns
	image, mean := make([]float64, len(s.list)), 0.0
	for i, j := range features {
		if k := s.place[j]; step[i] != 0 {
			c.axpy(step[i], k, image)
			mean += step[i] * c.mean[k]
		}
	}
	for i, j := range features {
		k := s.place[j]
		out[i] = c.dot(k, image)/s.weight - mean*c.mean[k]
	}
}

// block implements products.
func (s *scaled) block(_ *fold, features []int) [][]float64 {
	n, c := len(features), s.columns
	h := make([][]float64, n)
	for a := range h {
		h[a] = make([]float64, n)
	}
	if c.dense() {
		all := design.FromColumns(c.n, len(c.mean), c.value)
		at := make([]int, n)
		for a, j := range features {
			at[a] = s.place[j]
		}
		lower := all.Lower(at)
		for a := range n {
			copy(h[a][a:], lower[a*n+a:(a+1)*n])
		}
	} else {
		// By rows, whose entries are those of the features so far.
		begin := make([]int, len(s.list)+1)
		for _, j := range features {
			for _, i := range c.rows(s.place[j]) {
				begin[i+1]++
			}
		}
		for i := range s.list {
			begin[i+1] += begin[i]
		}
		end, at, value := slices.Clone(begin), make([]int32, begin[len(s.list)]), make([]float64, begin[len(s.list)])
		for b, j := range features {
			k := s.place[j]
			for m, i := range c.rows(k) {
				v, to := c.value[c.start[k]+m], end[i]
				at[to], value[to] = int32(b), v
				end[i]++
				for l := begin[i]; l <= to; l++ {
					h[b][at[l]] += v * value[l]
				}
			}
		}
		for b := range n {
			for a := range b {
				h[a][b] = h[b][a]
			}
		}
	}
	for a, j := range features {
		for b := a; b < n; b++ {
			v := h[a][b]/s.weight - c.mean[s.place[j]]*c.mean[s.place[features[b]]]
			h[a][b], h[b][a] = v, v
		}
	}
	return h
}

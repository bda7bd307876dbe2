package completion

import (
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

// lines are the features of a set of entries that are features of their rows, or of their columns: products with them
// go through a number for each row and column of the matrix, and not through the entries of each feature.
type lines struct {
	count [2]int      // of rows and of columns of the matrix
	of    []int       // 0 or 1 for a feature of rows or of columns
	value [][]float64 // by row or column; nil for a feature of neither
	place [2][]int    // row and col of the entries
	all   []int       // all features
}

// newLines finds them.
func newLines(d *Data) *lines {
	p := d.X.Columns()
	s := &lines{count: [2]int{d.M, d.N}, of: make([]int, p), value: make([][]float64, p), place: [2][]int{d.Row, d.Col},
		all: indices.Range(0, p)}
	column := make([]float64, len(d.Y))
	for l := range p {
		clear(column)
		d.X.Axpy(1, l, column)
		for side := range 2 {
			if s.value[l] = s.valuesOf(column, side); s.value[l] != nil {
				s.of[l] = side
				break
			}
		}
	}
	return s
}

// valuesOf are the values of a column of the design by rows or columns of the matrix, nil where entries of one differ.
func (s *lines) valuesOf(column []float64, side int) []float64 {
	values, known := make([]float64, s.count[side]), make([]bool, s.count[side])
	for e, v := range column {
		i := s.place[side][e]
		if known[i] && values[i] != v {
			return nil
		}
		values[i], known[i] = v, true
	}
	return values
}

// push adds c X_set t to the numbers of the entries.
func (s *lines) push(to []float64, c float64, x *design.Matrix, set []int, t []float64) {
	var sums [2][]float64
	for i, l := range set {
		switch v := s.value[l]; {
		case t[i] == 0:
		case v == nil:
			x.Axpy(c*t[i], l, to)
		default:
			if sums[s.of[l]] == nil {
				sums[s.of[l]] = make([]float64, len(v))
			}
			dense.Axpy(c*t[i], v, sums[s.of[l]])
		}
	}
	for side, sum := range sums {
		if sum != nil {
			for e, i := range s.place[side] {
				to[e] += sum[i]
			}
		}
	}
}

// pull adds c X_set'v to out.
func (s *lines) pull(out []float64, c float64, x *design.Matrix, set []int, v []float64) {
	var sums [2][]float64
	for i, l := range set {
		value := s.value[l]
		if value == nil {
			out[i] += c * x.Dot(l, v)
			continue
		}
		side := s.of[l]
		if sums[side] == nil {
			sums[side] = make([]float64, len(value))
			for e, at := range s.place[side] {
				sums[side][at] += v[e]
			}
		}
		out[i] += c * dense.Dot(value, sums[side])
	}
}

package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/design"
)

// residual works with the residuals of rows times their weights omega: of a table as it is, see rows, or of columns
// that are multiplied with the roots of curvatures, see scaled. Those about the mean of the training rows differ from
// them by a shift, which is kept apart:
//
//	x_j'(r + shift omega) = x_j'r + shift sum(omega) mean_j.
type residual struct {
	x             *design.Matrix
	place         []int     // column of each feature
	mean, squares []float64 // of the columns: means, and curvatures
	weight        float64   // sum of the weights
	count         int       // of training rows
	rows          []float64 // weights, 0 of rows that are left out; nil where all are 1, or are in the columns
	left          []int     // rows that are left out
	even          bool      // the weights of others are 1, or in the columns
	root          []float64 // of the weights that are in the columns, nil for none
	r             [][]float64
	shift         []float64        // of each target, as are residuals
	linear        []float64        // what is added to gradients, nil for none
	fresh         bool             // made of the coefficients as they are
	gram          func() []float64 // of all columns, made once, of which blocks of more than mostSparse are; or nil
}

func (s *residual) diagonal(j int) float64 { return s.squares[s.place[j]] }

func (s *residual) at(j, k int) float64 {
	c := s.place[j]
	g := (s.x.Dot(c, s.r[k])/s.weight + s.shift[k]*s.mean[c]) / float64(len(s.r))
	if s.linear != nil {
		g += s.linear[c]
	}
	return g
}

// atAll are those of at for some columns from from on.
func (s *residual) atAll(from, k int, out []float64) {
	s.x.Dots(from, s.r[k], out)
	for i, v := range out {
		out[i] = (v/s.weight + s.shift[k]*s.mean[from+i]) / float64(len(s.r))
	}
}

func (s *residual) fall(to []float64, features []int) []float64 {
	if n := len(to); len(s.r) == 1 && s.linear == nil && consecutive(s.place, features) {
		to = append(to, make([]float64, len(features))...)
		s.atAll(s.place[features[0]], 0, to[n:])
		return to
	}
	for _, j := range features {
		for k := range s.r {
			to = append(to, s.at(j, k))
		}
	}
	return to
}

func (s *residual) move(steps []float64, features []int) {
	s.fresh = false
	q := len(s.r)
	plain := s.rows == nil || s.even && s.x.Dense()
	if plain && q == 1 && consecutive(s.place, features) {
		s.x.Less(s.place[features[0]], steps, s.r[0])
		for i, j := range features {
			s.shift[0] += steps[i] * s.mean[s.place[j]]
		}
	} else {
		for i, j := range features {
			c := s.place[j]
			for k, by := range steps[i*q : (i+1)*q] {
				if by != 0 {
					s.shift[k] += by * s.mean[c]
					s.one(c, by, s.r[k], plain)
				}
			}
		}
	}
	if plain {
		for _, r := range s.r {
			for _, i := range s.left {
				r[i] = 0
			}
		}
	}
}

// one subtracts a column times a number from the residuals of a target.
func (s *residual) one(c int, by float64, r []float64, plain bool) {
	index, value := s.x.Column(c)
	switch {
	case plain:
		s.x.Axpy(-by, c, r)
	case index == nil:
		weights, r := s.rows[:len(value)], r[:len(value)]
		for i, v := range value {
			r[i] -= by * v * weights[i]
		}
	default:
		for l, i := range index {
			r[i] -= by * value[l] * s.rows[i]
		}
	}
}

func (s *residual) times(features []int, step, out []float64) {
	q, root := len(s.r), s.roots()
	v, back := make([]float64, len(features)), make([]float64, len(features))
	for k := range q {
		for i := range v {
			v[i] = step[i*q+k]
		}
		image := make([]float64, s.x.Rows())
		s.image(features, v, root, image)
		s.products(features, image, root, back)
		for i, b := range back {
			out[i*q+k] = b / (s.weight * float64(q))
		}
	}
}

func (s *residual) block(features []int) []float64 {
	columns := make([]int, len(features))
	for a, j := range features {
		columns[a] = s.place[j]
	}
	var h []float64
	if len(columns) > mostSparse && s.gram != nil {
		h = pick(s.gram(), s.x.Columns(), columns)
	} else {
		h = s.x.Gram(context.Background(), columns, s.rows, 1)
	}
	for a, c := range columns {
		column := h[a*len(columns):]
		column[a] = s.squares[c]
		for b := a + 1; b < len(columns); b++ {
			column[b] = (column[b]/s.weight - s.mean[c]*s.mean[columns[b]]) / float64(len(s.r))
		}
	}
	return h
}

// pick are the entries of some features of a symmetric matrix of order p: the lower triangle, by columns.
func pick(h []float64, p int, features []int) []float64 {
	n := len(features)
	out := make([]float64, n*n)
	for a, j := range features {
		column, from := out[a*n:(a+1)*n], h[j*p:(j+1)*p]
		for b := a; b < n; b++ {
			column[b] = from[features[b]]
		}
	}
	return out
}

// roots are those of the weights of the rows.
func (s *residual) roots() []float64 {
	if s.root != nil {
		return s.root
	}
	out := make([]float64, s.x.Rows())
	for i := range out {
		if out[i] = 1; s.rows != nil {
			out[i] = math.Sqrt(s.rows[i])
		}
	}
	return out
}

// image sets out, which is zero, to B v for some features: B are their columns about their means, times the roots of
// the rows, which are in the columns already where the work has them there.
func (s *residual) image(features []int, v, root, out []float64) {
	mean := 0.0
	for i, j := range features {
		if k := s.place[j]; v[i] != 0 {
			s.x.Axpy(v[i], k, out)
			mean += v[i] * s.mean[k]
		}
	}
	if s.root == nil {
		floats.Mul(out, root)
	}
	dense.Axpy(-mean, root, out)
}

// products sets out to B'u.
func (s *residual) products(features []int, u, root, out []float64) {
	along := dense.Dot(root, u)
	if s.root == nil {
		u = slices.Clone(u)
		floats.Mul(u, root)
	}
	for i, j := range features {
		k := s.place[j]
		out[i] = s.x.Dot(k, u) - s.mean[k]*along
	}
}

// columns are those of features while they are worked with, see [residual].
type columns struct {
	n, count      int
	full          bool // all numbers are stored
	value         []float64
	start, index  []int
	mean, squares []float64
}

// begin has room for columns of n rows.
func (c *columns) begin(n int, full bool) {
	*c = columns{
		n: n, full: full, value: c.value[:0], index: c.index[:0], start: append(c.start[:0], 0), mean: c.mean[:0],
		squares: c.squares[:0],
	}
}

// add takes in some rows of column j of a matrix, or [design.Ones], from row from on, times the roots, and returns
// their sum with these and that of their squares: those of a list, at being the places of all in it and -1 for others.
func (c *columns) add(x *design.Matrix, j int, list []int, at []int32, from int, root []float64) (sum,
	squares float64) {
	put := func(l int, v float64) {
		l += from
		v *= root[l]
		sum, squares = sum+v*root[l], squares+v*v
		if c.value = append(c.value, v); !c.full {
			c.index = append(c.index, l)
		}
	}
	if j == design.Ones {
		for l := range list {
			put(l, 1)
		}
		return sum, squares
	}
	index, value := x.Column(j)
	if index == nil {
		for l, i := range list {
			put(l, value[i])
		}
		return sum, squares
	}
	for m, i := range index {
		if l := at[i]; l >= 0 {
			put(int(l), value[m])
		}
	}
	return sum, squares
}

// end ends a column with its mean and curvature.
func (c *columns) end(mean, square float64) {
	c.mean, c.squares, c.count = append(c.mean, mean), append(c.squares, square), c.count+1
	if !c.full {
		c.start = append(c.start, len(c.index))
	}
}

// matrix has the columns.
func (c *columns) matrix() *design.Matrix {
	if c.full {
		return design.FromColumns(c.n, c.count, c.value)
	}
	return design.FromEntries(c.n, c.count, c.start, c.index, c.value)
}

package machine

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// leastDifference of the classes' means is none: ten over a smaller one may be no number.
const leastDifference = 1e-300

// fresh begins along the difference d of the classes' means: at the w = t d, cut to the box, before the value rises as
// t becomes smaller by powers of ten, with the best c. All rows have then their sides, and one of them is at its kink.
func (s *path) fresh() {
	rows := s.g.rows
	n, p := rows.n, rows.p
	s.alpha, s.side, s.box = make([]float64, n), make([]int8, n), make([]int8, p)
	// The means have weights of equal sums, so that the sum of the y_i alpha_i is 0.
	var class [2]float64
	for i, u := range rows.u {
		class[int(rows.y[i]+1)/2] += u
	}
	d := make([]float64, p)
	for i, u := range rows.u {
		rows.add(i, u/class[int(rows.y[i]+1)/2], d)
	}
	top := floats.Norm(d, math.Inf(1))
	if top < leastDifference {
		top = 1
	}
	least := math.Inf(1)
	w, product := make([]float64, p), make([]float64, n)
	for t := 10 / top; t > 1e-9/top; t /= 10 {
		floats.ScaleTo(w, t, d)
		s.limits.cut(w, w)
		for i := range product {
			product[i] = rows.dot(i, w)
		}
		order, at := s.quantile(product)
		c := rows.y[at] * (product[at] - 1)
		value := s.objective(w, c)
		if value > least {
			break
		}
		least = value
		s.w, s.c = append(s.w[:0], w...), c
		for j, v := range w {
			s.box[j] = 0
			if math.Abs(v) >= s.bound[j] {
				s.box[j] = int8(math.Copysign(1, v))
			}
		}
		balance, before := 0.0, true
		for _, i := range order {
			s.side[i], s.alpha[i] = -1, 0
			switch {
			case i == at:
				s.side[i], before = 0, false
			case before == (rows.y[i] > 0):
				s.side[i], s.alpha[i] = 1, rows.u[i]
				balance += rows.y[i] * rows.u[i]
			}
		}
		s.kinks = kinks{held: []int{at}}
		s.alpha[at] = math.Max(0, math.Min(rows.u[at], -rows.y[at]*balance))
	}
	s.fromNothing = true
	s.factor()
}

// quantile returns the rows in the order of the c at which they are at their kinks, y_i (m_i - 1) for the products
// m_i = a_i'w, and the one whose c is best: with rising c the slope of the loss rises from minus the sum of the weights
// of label -1 by u_i at each of them.
func (s *path) quantile(product []float64) (order []int, at int) {
	rows := s.g.rows
	order = make([]int, rows.n)
	kink, slope := make([]float64, rows.n), 0.0
	for i, y := range rows.y {
		order[i], kink[i] = i, y*(product[i]-1)
		if y < 0 {
			slope -= rows.u[i]
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(kink[a], kink[b]), cmp.Compare(a, b)) })
	for _, i := range order {
		if slope += rows.u[i]; slope >= 0 {
			return order, i
		}
	}
	return order, order[rows.n-1]
}

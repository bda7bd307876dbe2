package glm

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/design"
)

// rowwise is the model of [Multinomial] about a point without a matrix of its second derivatives, which in the
// predictions of row i are W_i = diag(c_i) - c_i c_i' / w_i: with what steps leave of the derivatives in the
// predictions. A step of the coefficients of a feature changes them in the rows of its column, which of sparse columns
// is little beside columns of a matrix. The constants follow each step to their minimum, kept apart, as columns stay
// sparse so.
type rowwise struct {
	x            design.Classes
	total        float64
	curve, r     []float64 // c_i, and what is left, of all classes of a row together
	inverse      []float64 // 1 / w_i, 0 of rows that are left out
	place        []int     // of the features in use
	second, mean []float64 // K x K of each: second derivatives, constants at their minimum, and sums x_i W_i
	constants    *definite // second derivatives of the constants, nil for none
	shift        []float64 // by which they have moved
	g, step      []float64 // of the classes of a feature
}

// begin implements products.
func (s *rowwise) begin(f *fold) {
	pt := f.point
	s.x, s.total = f.d.entries(), pt.total
	n, k := s.x.X.Rows(), s.x.K
	if s.r == nil {
		room := func(n int) []float64 { return make([]float64, n) }
		s.curve, s.r, s.inverse = room(n*k), room(n*k), room(n)
		s.place = make([]int, s.x.X.Columns())
		s.g, s.step, s.shift = room(k), room(k), room(k)
	}
	for i := range n {
		sum := 0.0
		for m := range k {
			c := pt.curve[m*n+i]
			s.curve[i*k+m], s.r[i*k+m] = c, pt.pull[m*n+i]
			sum += c
		}
		if s.inverse[i] = 0; sum > 0 {
			s.inverse[i] = 1 / sum
		}
	}
	if clear(s.shift); len(pt.constants) > 0 {
		h := make([]float64, k*k)
		for i := range n {
			s.add(h, i, 1)
			floats.Add(s.shift, s.row(s.r, i))
		}
		s.constants = factorise(k, h, slight)
		s.constants.solve(s.shift)
	}
	var features []int
	for _, e := range f.features() {
		if j := e / k; j < s.x.X.Columns() {
			features = append(features, j)
		}
	}
	slices.Sort(features)
	features = slices.Compact(features)
	size := len(features) * k * k
	s.second, s.mean = slices.Grow(s.second[:0], size)[:size], slices.Grow(s.mean[:0], size)[:size]
	for a, j := range features {
		s.place[j] = a
		s.derive(j)
	}
	f.work = s
}

func (s *rowwise) row(v []float64, i int) []float64 { return v[i*s.x.K : (i+1)*s.x.K] }

// of are the K x K numbers of a feature.
func (s *rowwise) of(v []float64, j int) []float64 {
	size, a := s.x.K*s.x.K, s.place[j]
	return v[a*size : (a+1)*size]
}

// add adds a factor times W_i to the lower triangle of h, by columns.
func (s *rowwise) add(h []float64, i int, factor float64) {
	k, c := s.x.K, s.row(s.curve, i)
	for a, by := range c {
		by *= factor
		h[a*k+a] += by
		by *= s.inverse[i]
		for b, other := range c[a:] {
			h[a*k+a+b] -= by * other
		}
	}
}

// derive makes the second derivatives of feature j.
func (s *rowwise) derive(j int) {
	k, h, mean := s.x.K, s.of(s.second, j), s.of(s.mean, j)
	clear(h)
	clear(mean)
	index, value := s.x.X.Column(j)
	for l, v := range value {
		s.add(h, index[l], v*v)
		s.add(mean, index[l], v)
	}
	dense.Mirror(mean, k)
	for a := 0; s.constants != nil && a < k; a++ {
		along := append(s.g[:0], mean[a*k:(a+1)*k]...)
		s.constants.solve(along)
		for b := a; b < k; b++ {
			h[a*k+b] -= floats.Dot(along, mean[b*k:(b+1)*k])
		}
		h[a*k+a] = max(h[a*k+a], 0)
	}
	dense.Mirror(h, k)
	floats.Scale(1/s.total, h)
}

// pulls sets g to the derivatives in the classes of feature j, where the constants have moved by shift.
func (s *rowwise) pulls(j int, r, shift []float64) {
	g, mean := s.g, s.of(s.mean, j)
	clear(g)
	index, value := s.x.X.Column(j)
	for l, v := range value {
		for m, x := range s.row(r, index[l]) {
			g[m] += v * x
		}
	}
	for m := range g {
		g[m] = (g[m] - floats.Dot(s.row(mean, m), shift)) / s.total
	}
}

// take takes the step of feature j from what is left.
func (s *rowwise) take(j int) {
	step := s.step
	index, value := s.x.X.Column(j)
	for l, v := range value {
		i := index[l]
		c, r := s.row(s.curve, i), s.row(s.r, i)
		mean := 0.0
		for m, by := range step {
			mean += c[m] * by
		}
		mean *= s.inverse[i]
		for m, by := range step {
			r[m] -= v * c[m] * (by - mean)
		}
	}
	change, mean := s.g, s.of(s.mean, j)
	for m := range change {
		change[m] = floats.Dot(s.row(mean, m), step)
	}
	s.follow(change)
}

// follow takes the constants to their minimum after a change of their derivatives.
func (s *rowwise) follow(change []float64) {
	s.answer(change)
	floats.Sub(s.shift, change)
}

// answer puts the steps of the constants in the place of their derivatives, which these take to zero.
func (s *rowwise) answer(change []float64) {
	if s.constants == nil {
		clear(change)
		return
	}
	s.constants.solve(change)
}

// images returns the second derivatives in the predictions times what features make of steps, and in the constants.
func (s *rowwise) images(steps []float64, features []int) (image, change []float64) {
	k := s.x.K
	image, change = make([]float64, len(s.r)), make([]float64, k)
	for a, e := range features {
		if j := e / k; steps[a] != 0 && j < s.x.X.Columns() {
			index, value := s.x.X.Column(j)
			for l, v := range value {
				image[index[l]*k+e%k] += v * steps[a]
			}
		}
	}
	for i, inverse := range s.inverse {
		c, v := s.row(s.curve, i), s.row(image, i)
		mean := floats.Dot(c, v) * inverse
		for m := range v {
			v[m] = c[m] * (v[m] - mean)
			change[m] += v[m]
		}
	}
	return image, change
}

func (s *rowwise) diagonal(e int) float64 {
	k := s.x.K
	if e/k >= s.x.X.Columns() { // a constant, which follows
		return 1
	}
	return s.of(s.second, e/k)[e%k*(k+1)]
}

func (s *rowwise) at(e, _ int) float64 { return s.dots(nil, []int{e}, s.r, s.shift)[0] }

func (s *rowwise) fall(to []float64, features []int) []float64 {
	return s.dots(to, features, s.r, s.shift)
}

// dots appends the derivatives of features.
func (s *rowwise) dots(to []float64, features []int, r, shift []float64) []float64 {
	last, k := -1, s.x.K
	for _, e := range features {
		if j := e / k; j >= s.x.X.Columns() {
			to = append(to, 0)
			continue
		} else if j != last {
			last = j
			s.pulls(j, r, shift)
		}
		to = append(to, s.g[e%k])
	}
	return to
}

func (s *rowwise) move(steps []float64, features []int) {
	image, change := s.images(steps, features)
	floats.Sub(s.r, image)
	s.follow(change)
}

func (s *rowwise) times(features []int, step, out []float64) {
	image, change := s.images(step, features)
	s.answer(change)
	s.dots(out[:0], features, image, change)
}

func (s *rowwise) block(features []int) []float64 {
	n := len(features)
	h, one := make([]float64, n*n), make([]float64, n)
	for a := range features {
		one[a] = 1
		s.times(features, one, h[a*n:(a+1)*n])
		one[a] = 0
	}
	return h
}

// end brings the constants of a fold to where they are; that of the last class is 0.
func (s *rowwise) end(f *fold) {
	last := len(f.point.constants)
	for k, v := range s.shift[:last] {
		f.b[f.d.p-last+k] += v - s.shift[last]
	}
	clear(s.shift)
}

// sweep is that of a fold: over one feature after the other, and its classes in turn until they hardly move.
func (s *rowwise) sweep(f *fold, list []int, w *Weights) (most float64) {
	const turns, near = 10, 1e-2
	k, g := s.x.K, s.g
	for end := 0; len(list) > 0; list = list[end:] {
		j := list[0] / k
		for end = 1; end < len(list) && list[end]/k == j; end++ {
		}
		if j >= s.x.X.Columns() {
			continue
		}
		s.pulls(j, s.r, s.shift)
		h, first := s.of(s.second, j), 0.0
		clear(s.step)
		for turn := range turns {
			fall := 0.0
			for _, e := range list[:end] {
				m := e % k
				curve, second, b := h[m*k+m], w.second(e), f.b[e]
				if !(curve > 0) {
					continue
				}
				step := f.minimum(e, g[m], curve, w.Norm[e]+w.absolute(e), second) - b
				if step == 0 {
					continue
				}
				f.b[e] += step
				s.step[m] += step
				floats.AddScaled(g, -step, s.row(h, m))
				fall += (curve + second) * step * step
			}
			if turn == 0 {
				first = fall
			}
			if !(fall > near*first) {
				break
			}
		}
		if first > 0 {
			s.take(j)
			most = max(most, first)
		}
	}
	return most
}

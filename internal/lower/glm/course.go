package glm

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
)

// course is a direction of coefficients whose entries become zero one by one, as coefficients stop, with the slope of
// the objective along what is left of it, less its sign, and the curvature, but for norms of several coefficients.
type course struct {
	f             *fold
	features      []int
	w             *Weights
	step, descent []float64 // what is left, and the descents at the beginning
	// left and gone are the products of entry e with what is left of the direction, and with the moves of coefficients
	// that have stopped, by the curvature of the loss; drop makes an entry zero, after a move.
	left, gone      func(e int) float64
	drop            func(e int, step, move float64)
	at              float64 // how far it has come
	slope, curve    float64
	least, flattest float64 // below which they are made anew, as sums of many terms have lost digits
}

// lostDigits is the share of a sum at the beginning that has half of its digits.
const lostDigits = 1e-8

// course is that of a step, which may have stops: where fits work by residuals, these cost a column.
func (f *fold) course(features []int, step, descent []float64, w *Weights, stops bool) *course {
	c, q := &course{f: f, features: features, w: w, step: step, descent: descent}, f.d.q
	if s, ok := f.work.(*residual); ok && stops {
		left, gone := s.alike(), s.alike()
		left.move(step, features)
		c.left = func(e int) float64 { return -left.at(features[e/q], e%q) }
		c.gone = func(e int) float64 { return -gone.at(features[e/q], e%q) }
		c.drop = func(e int, step, move float64) {
			one, feature := make([]float64, q), features[e/q:e/q+1]
			one[e%q] = -step
			left.move(one, feature)
			one[e%q] = move
			gone.move(one, feature)
		}
	} else {
		left, gone := make([]float64, len(step)), make([]float64, len(step))
		f.work.times(features, step, left)
		c.left, c.gone = func(e int) float64 { return left[e] }, func(e int) float64 { return gone[e] }
		c.drop = func(e int, step, move float64) {
			one, column := make([]float64, len(left)), make([]float64, len(left))
			one[e] = 1
			f.work.times(features, one, column)
			dense.Axpy(-step, column, left)
			dense.Axpy(move, column, gone)
		}
	}
	c.renew()
	return c
}

// ahead is left with the half squares, too.
func (c *course) ahead(e int) float64 { return c.left(e) + c.w.second(c.features[e/c.f.d.q])*c.step[e] }

// renew makes the sums.
func (c *course) renew() {
	left, descent := make([]float64, len(c.step)), slices.Clone(c.descent)
	for e, s := range c.step {
		if s != 0 {
			left[e] = c.ahead(e)
			descent[e] = descent[e] - c.at*left[e] - c.gone(e)
		}
	}
	c.slope, c.curve = dense.Dot(descent, c.step), dense.Dot(left, c.step)
	c.least, c.flattest = lostDigits*math.Abs(c.slope), lostDigits*c.curve
}

// stop stops coefficient e where the course has come so far.
func (c *course) stop(e int, at float64) {
	c.slope, c.at = c.slope-(at-c.at)*c.curve, at
	s, left, gone := c.step[e], c.ahead(e), c.gone(e)
	c.drop(e, s, at*s)
	c.step[e] = 0
	c.slope, c.curve = c.slope-s*(c.descent[e]-at*left-gone), c.curve-s*(left+c.ahead(e))
	if !(math.Abs(c.slope) > c.least) || !(c.curve > c.flattest) {
		c.renew()
	}
}

// alike has the same columns and no residuals.
func (s *residual) alike() *residual {
	to := *s
	to.r, to.shift, to.linear = slices.Clone(s.r), make([]float64, len(s.shift)), nil
	for k, r := range s.r {
		to.r[k] = make([]float64, len(r))
	}
	return &to
}

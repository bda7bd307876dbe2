package glm

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
)

// course is a direction of coefficients whose entries become zero one by one, as coefficients stop, with the slope of
// the objective along what is left of it, less its sign, and the curvature, but for norms of several coefficients.
type course struct {
	f               *fold
	features        []int
	w               *Weights
	step, descent   []float64 // what is left, and the descents at the beginning
	trail           trail
	at              float64 // how far it has come
	slope, curve    float64
	least, flattest float64 // below which they are made anew, as sums of many terms have lost digits
}

// trail has the products of a direction with the curvature of the loss.
type trail interface {
	// of are those of entry e with what is left of the direction, and with the moves of coefficients that have stopped.
	of(e int) (left, gone float64)
	// stop makes an entry zero, after a move.
	stop(e int, step, move float64)
}

// lostDigits is the share of a sum at the beginning that has half of its digits.
const lostDigits = 1e-8

// course is that of a step, which may have stops.
func (f *fold) course(features []int, step, descent []float64, w *Weights, stops bool) *course {
	c := &course{f: f, features: features, w: w, step: step, descent: descent}
	if s, ok := f.work.(*residual); ok && stops {
		t := &residualTrail{features, s.alike(), s.alike()}
		t.left.move(step, features)
		c.trail = t
	} else {
		p := &productTrail{f.work, features, make([]float64, len(step)), make([]float64, len(step))}
		f.work.times(features, step, p.left)
		c.trail = p
	}
	c.renew()
	return c
}

// of has the half squares, too.
func (c *course) of(e int) (left, gone float64) {
	left, gone = c.trail.of(e)
	return left + c.w.second(c.features[e/c.f.d.q])*c.step[e], gone
}

// renew makes the sums.
func (c *course) renew() {
	left, descent := make([]float64, len(c.step)), slices.Clone(c.descent)
	for e, s := range c.step {
		if s != 0 {
			l, gone := c.of(e)
			left[e], descent[e] = l, descent[e]-c.at*l-gone
		}
	}
	c.slope, c.curve = dense.Dot(descent, c.step), dense.Dot(left, c.step)
	c.least, c.flattest = lostDigits*math.Abs(c.slope), lostDigits*c.curve
}

// stop stops coefficient e where the course has come so far.
func (c *course) stop(e int, at float64) {
	c.slope, c.at = c.slope-(at-c.at)*c.curve, at
	s := c.step[e]
	left, gone := c.of(e)
	c.trail.stop(e, s, at*s)
	c.step[e] = 0
	without, _ := c.of(e)
	c.slope, c.curve = c.slope-s*(c.descent[e]-at*left-gone), c.curve-s*(left+without)
	if !(math.Abs(c.slope) > c.least) || !(c.curve > c.flattest) {
		c.renew()
	}
}

// residualTrail has changes of residuals, so that a stop costs a column.
type residualTrail struct {
	features   []int
	left, gone *residual
}

func (t *residualTrail) of(e int) (left, gone float64) {
	q := len(t.left.r)
	return -t.left.at(t.features[e/q], e%q), -t.gone.at(t.features[e/q], e%q)
}

func (t *residualTrail) stop(e int, step, move float64) {
	q := len(t.left.r)
	one, feature := make([]float64, q), t.features[e/q:e/q+1]
	one[e%q] = -step
	t.left.move(one, feature)
	one[e%q] = move
	t.gone.move(one, feature)
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

// productTrail has the products.
type productTrail struct {
	work       work
	features   []int
	left, gone []float64
}

func (t *productTrail) of(e int) (left, gone float64) { return t.left[e], t.gone[e] }

func (t *productTrail) stop(e int, step, move float64) {
	one, column := make([]float64, len(t.left)), make([]float64, len(t.left))
	one[e] = 1
	t.work.times(t.features, one, column)
	dense.Axpy(-step, column, t.left)
	dense.Axpy(move, column, t.gone)
}

package sparse

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower/design"
)

// Truncated Newton steps, for working sets whose second derivatives cost more to form than to multiply with.
//
// Each goes to the minimum of the model in the orthant of the coefficients, with zeros on the side to which they want to move, by conjugate gradients to an accuracy that grows with that of the point; what leaves the
// orthant on the way is zero (Byrd, Chin, Nocedal, Oztoprak, A family of second-order methods for convex l1-regularized optimization, Math. Program. 2016).

const (
	// truncatedSize is the number of entries from which on the steps are truncated: of digits, 1797 x 64 with ten classes, products with 17 directions take as long as forming the matrix of 500, and a step needs as many.
	truncatedSize = 400
	// truncatedIdle steps without half the gap bring a whole one where the set has wholeSize entries at most, a quarter of a gigabyte.
	truncatedIdle, wholeSize = 6, 4096
	// truncatedShare: ten products with directions take as much time as one column of the matrix does when it is formed. A solve that has done as many as two matrices would take goes on with whole steps:
	// with a large weight of the 1-norm signs change with each step, which whole ones find at once.
	truncatedShare = 5
	// truncatedProducts bounds those of a step, truncatedLoosest is the largest residual that they leave, and truncatedHalvings the smallest part of a step.
	truncatedProducts, truncatedLoosest, truncatedHalvings = 250, 0.1, 12
)

// truncation is a step.
type truncation struct {
	*multinomialSolve
	list   []placed    // the working set by features
	side   []float64   // of the entries: 1, -1, or 0 where there is no penalty on the absolute value
	ridge  []float64   // w2 times their factors, and a little more
	held   []bool      // they are at a bound beyond which they want to move
	down   []float64   // minus the derivatives of the objective on that side
	second []float64   // the diagonal of its second derivatives, nearly
	along  [][]float64 // a direction by rows and classes
}

// truncated takes a truncated step over the working set. It says whether the objective fell.
func (s *multinomialSolve) truncated(ctx context.Context, accuracy float64) bool {
	t := s.truncation()
	step, old := t.conjugate(ctx, accuracy), make([]float64, len(s.set))
	if ctx.Err() != nil {
		return false
	}
	for i, e := range s.set {
		old[i] = s.coefficient(e)
	}
	return t.search(old, step)
}

// truncation has the derivatives at the point.
func (s *multinomialSolve) truncation() *truncation {
	size := len(s.set)
	t := &truncation{multinomialSolve: s, list: place(s.set), side: make([]float64, size), ridge: make([]float64, size), held: make([]bool, size), down: make([]float64, size), second: make([]float64, size)}
	for range s.k {
		t.along = append(t.along, make([]float64, len(s.class)))
	}
	mean := make([]float64, s.k)
	for k, p := range s.p {
		for i, v := range p {
			mean[k] += s.weigh(i, v*(1-v)) / s.n
		}
	}
	for i, e := range s.set {
		t.down[i] = s.descent(e)
		t.ridge[i] = leastCurvature
		if t.second[i] = mean[e.class] + leastCurvature; e.feature != design.Ones {
			t.penalise(i, mean[e.class])
		}
	}
	return t
}

// penalise adds the penalties of a coefficient to the derivatives.
func (t *truncation) penalise(i int, mean float64) {
	e := t.set[i]
	v, f := t.coefficient(e), t.terms.weight(e.feature)
	if f*t.w1 > 0 {
		if t.side[i] = sign(v); v == 0 {
			t.side[i] = sign(t.down[i])
		}
	}
	t.down[i] -= f * (t.w1*t.side[i] + t.w2*v)
	_, squares, _ := t.x.Sums(e.feature)
	t.ridge[i] += f * t.w2
	t.second[i] = mean*squares/t.n + t.ridge[i]
	lo, hi := t.terms.room(e.feature)
	if t.held[i] = v >= hi && t.down[i] > 0 || v <= lo && t.down[i] < 0; t.held[i] {
		t.down[i] = 0
	}
}

// product sets out to the second derivatives times a direction.
func (t *truncation) product(out, v []float64) {
	for _, rows := range t.along {
		clear(rows)
	}
	t.add(t.along, t.list, v)
	t.turn()
	t.correlate(out, t.list, t.along)
	for i := range out {
		if out[i] = out[i]/t.n + t.ridge[i]*v[i]; t.held[i] {
			out[i] = 0
		}
	}
}

// turn takes predictions along a direction to the second derivatives of the losses of the rows times them.
func (t *truncation) turn() {
	mean := make([]float64, len(t.class))
	for k, rows := range t.along {
		p := t.p[k]
		for i, v := range rows {
			mean[i] += p[i] * v
		}
	}
	for k, rows := range t.along {
		p := t.p[k]
		for i, v := range rows {
			rows[i] = t.weigh(i, p[i]*(v-mean[i]))
		}
	}
}

// conjugate is the step to the minimum of the model, to a relative accuracy.
func (t *truncation) conjugate(ctx context.Context, accuracy float64) []float64 {
	size := len(t.set)
	step, rest, scaled, next := make([]float64, size), slices.Clone(t.down), make([]float64, size), make([]float64, size)
	length := func() float64 {
		floats.DivTo(scaled, rest, t.second)
		return dense.Dot(scaled, rest)
	}
	now := length()
	target := accuracy * accuracy * now
	way := slices.Clone(scaled)
	for range truncatedProducts {
		if !(now > target) || ctx.Err() != nil {
			break
		}
		t.product(next, way)
		t.products++
		bend := dense.Dot(way, next)
		if !(bend > 0) {
			break
		}
		dense.Axpy(now/bend, way, step)
		dense.Axpy(-now/bend, next, rest)
		before := now
		now = length()
		floats.Scale(now/before, way)
		floats.Add(way, scaled)
	}
	return step
}

// search goes along a step, as far as the objective falls by a share of what its derivative promises, with what leaves its side at zero.
func (t *truncation) search(old, step []float64) bool {
	value, b, b0 := t.loss+t.penalty(t.b), slices.Clone(t.b), slices.Clone(t.b0)
	for length := 1.0; length > math.Pow(0.5, truncatedHalvings+1); length /= 2 {
		promise := 0.0
		for i, e := range t.set {
			v := old[i] + length*step[i]
			if v*t.side[i] < 0 {
				v = 0
			}
			if e.feature != design.Ones {
				lo, hi := t.terms.room(e.feature)
				v = math.Max(lo, math.Min(hi, v))
			}
			promise += (v - old[i]) * t.down[i]
			if e.feature == design.Ones {
				t.b0[e.class] = v
			} else {
				t.b[e.feature*t.k+e.class] = v
			}
		}
		if !(promise > 0) {
			continue
		}
		t.predict()
		t.probabilities()
		next := t.loss + t.penalty(t.b)
		if promise <= rounded*value || next <= value-1e-4*promise && next < value {
			return true
		}
	}
	copy(t.b, b)
	copy(t.b0, b0)
	t.predict()
	t.probabilities()
	return false
}

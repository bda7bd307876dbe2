package sparse

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// Truncated Newton steps, for working sets of several classes whose second derivatives cost more to form than to
// multiply with.
//
// Each goes to the minimum of the model in the orthant of the coefficients, with zeros on the side to which they want
// to move, by conjugate gradients to an accuracy that grows with that of the point; what leaves the orthant on the way
// is zero (Byrd, Chin, Nocedal, Oztoprak, A family of second-order methods for convex l1-regularized optimization,
// Math. Program. 2016).

const (
	// truncatedSize is the number of entries from which on the steps are truncated: of digits, 1797 x 64 with ten
	// classes, products with 17 directions take as long as forming the matrix of 500, and a step needs as many.
	truncatedSize = 400
	// truncatedIdle steps without half the gap bring a whole one where the set has wholeSize entries at most, a
	// quarter of a gigabyte.
	truncatedIdle, wholeSize = 3, 4096
	// truncatedShare: ten products with directions take as much time as one column of the matrix does when it is
	// formed. A solve that has done as many as two matrices would take goes on with whole steps: with a large weight
	// of the 1-norm signs change with each step, which whole ones find at once.
	truncatedShare = 5
	// truncatedProducts bounds those of a step, truncatedLoosest is the largest residual that they leave, and
	// truncatedHalvings the smallest part of a step.
	truncatedProducts, truncatedLoosest, truncatedHalvings = 250, 0.1, 12
)

// truncation is a step.
type truncation struct {
	*solver
	rows   *classed
	look   *look
	side   []float64 // of the positions: 1, -1, or 0 where there is no penalty on the absolute value
	ridge  []float64 // weights of the half squares, and a little more
	held   []bool    // they are at a bound or at zero, and want to stay
	down   []float64 // minus the derivatives of the objective on that side
	second []float64 // the diagonal of its second derivatives, nearly
}

// truncated takes a step for training weights from the last solution, at a relative gap that steps before have not
// halved so often. It says whether the objective fell, and whether a whole step may be tried else.
func (s *solver) truncated(ctx context.Context, w *lower.JointWeights, gap float64, idle int) (fell, whole bool) {
	rows, ok := s.sets[training].(*classed)
	size := len(s.set)
	if !ok || size < truncatedSize || size <= wholeSize && (s.products >= size/truncatedShare || idle > truncatedIdle) {
		return false, true
	}
	t := s.truncation(rows, w)
	step := t.conjugate(ctx, math.Min(truncatedLoosest, math.Sqrt(gap)))
	return ctx.Err() == nil && t.search(w, step), size <= wholeSize
}

// truncation has the derivatives at the last solution, which was looked at.
func (s *solver) truncation(rows *classed, w *lower.JointWeights) *truncation {
	n := len(s.set)
	t := &truncation{solver: s, rows: rows, look: s.seen[training], held: make([]bool, n)}
	for _, list := range []*[]float64{&t.side, &t.ridge, &t.down, &t.second} {
		*list = make([]float64, n)
	}
	mean := make([]float64, s.k)
	for k, p := range t.look.curve {
		for i, v := range p {
			mean[k] += rows.weights[i] * v * (1 - v) / float64(len(p))
		}
	}
	for i, e := range s.set {
		t.down[i], t.ridge[i] = t.look.descent(rows.x, e, s.k), leastCurvature
		if t.second[i] = mean[e.class] + leastCurvature; e.feature != design.Ones {
			t.penalise(i, mean[e.class]/(s.reach[e.feature]*s.reach[e.feature]), w)
		}
	}
	return t
}

// penalise adds the penalties of a coefficient to the derivatives.
func (t *truncation) penalise(i int, second float64, w *lower.JointWeights) {
	j, v := t.set[i].feature, t.b[i]
	f := t.terms.weight(j)
	bend := f * w.Penalties[0]
	if bend > 0 {
		if t.side[i] = sign(v); v == 0 {
			t.side[i] = sign(t.down[i])
		}
		t.held[i] = v == 0 && math.Abs(t.down[i]) <= bend
	}
	t.ridge[i] += f * w.Penalties[1]
	t.down[i] -= bend*t.side[i] + f*w.Penalties[1]*v
	t.second[i] = second + t.ridge[i]
	lo, hi := t.terms.room(j)
	if t.held[i] = t.held[i] || v >= hi && t.down[i] > 0 || v <= lo && t.down[i] < 0; t.held[i] {
		t.down[i] = 0
	}
}

// product sets out to the second derivatives times a direction.
func (t *truncation) product(out, v []float64) {
	f := t.predictions(training, v)
	n := float64(len(t.rows.class))
	mean := make([]float64, len(t.rows.class))
	for k, p := range t.look.curve {
		for i, v := range f[k] {
			mean[i] += p[i] * v
		}
	}
	for k, p := range t.look.curve {
		for i, v := range f[k] {
			f[k][i] = t.rows.weights[i] * p[i] * (v - mean[i]) / n
		}
	}
	image := &look{slopes: f}
	for i, e := range t.set {
		if out[i] = 0; !t.held[i] {
			out[i] = image.descent(t.rows.x, e, t.k) + t.ridge[i]*v[i]
		}
	}
}

// conjugate is the step to the minimum of the model, to a relative accuracy.
func (t *truncation) conjugate(ctx context.Context, accuracy float64) []float64 {
	n := len(t.set)
	step, rest, scaled, next := make([]float64, n), slices.Clone(t.down), make([]float64, n), make([]float64, n)
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

// search goes along a step, as far as the objective falls by a share of what its derivative promises, with what leaves
// its side at zero.
func (t *truncation) search(w *lower.JointWeights, step []float64) bool {
	old := slices.Clone(t.b)
	value := t.objective(w, lower.Values{Train: t.look.value, Penalties: t.penaltiesAt()})
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
			t.b[i] = v
		}
		if !(promise > 0) {
			continue
		}
		at := t.lookAt(training, t.b)
		next := t.objective(w, lower.Values{Train: at.value, Penalties: t.penaltiesAt()})
		if promise <= rounded*value || next <= value-1e-4*promise && next < value {
			t.seen[training] = at
			return true
		}
	}
	copy(t.b, old)
	return false
}

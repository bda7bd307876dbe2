package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// inner minimises the model of a Newton step at z = (w, c),
//
//	gradient'd + d'H d / 2   within the box,
//
// by active sets: coefficients at a bound that the rate leads out of stay there, the others go by a Newton step, or as
// far as to the first bound.
type inner struct {
	h        *curvature
	bound    []float64 // of each coordinate, +Inf of c
	at, d    []float64 // w + d and c + d, d
	rate     []float64 // gradient + H d
	free     []int
	right    []float64
	step     []float64
	next     []float64
	moved    []float64
	image    []float64 // H moved
	bent     bool      // the last step was cut
	rough    bool      // and systems are solved roughly
	accuracy float64   // of systems else
	systems  int       // that were solved
	most     float64   // bounds the multiplications in them
}

const (
	// leastFall is the share of the slope times the way that a cut step takes off at least.
	leastFall = 0.1
	// mostRounds bounds the changes of pieces in one model.
	mostRounds = 50
	// leastShare ends them where a round takes off less than this share of all before.
	leastShare = 1e-3
	// mostHalves bounds how often a cut step is made half as long.
	mostHalves = 6
	// mostSlides bounds the gradient steps of a round, and slideShare ends them where one takes off less than this share
	// of the best.
	mostSlides, slideShare = 10, 0.25
	// roughly is the accuracy of systems in pieces that change.
	roughly   = 0.1
	fewRounds = 3
)

func newInner(h *curvature, bound []float64, most float64) *inner {
	q := &inner{h: h, most: most, bound: append(slices.Clone(bound), math.Inf(1))}
	for _, v := range []*[]float64{&q.at, &q.d, &q.rate, &q.right, &q.step, &q.next, &q.moved, &q.image} {
		*v = make([]float64, len(bound)+1)
	}
	return q
}

// minimise sets d and returns how much it takes off the model; false where a system had no solution or the end was
// reached. Where H is not stored, it is a rough minimum unless a precise one is asked for: far from the solution the
// pieces are others after the step.
func (q *inner) minimise(z, gradient []float64, precise bool) (fall float64, ok bool) {
	copy(q.at, z)
	copy(q.rate, gradient)
	clear(q.d)
	q.rough = false
	rounds := mostRounds
	q.accuracy = q.h.least
	if !precise && !q.h.stored() {
		rounds = fewRounds
		q.accuracy = math.Max(q.accuracy, roughly)
	}
	for round := range rounds {
		before, bent := len(q.free), q.bent
		expected := q.pieces()
		if len(q.free) == 0 || expected == 0 || round > 0 && !bent && !q.rough && len(q.free) == before {
			return fall, true // after a whole step in the same pieces
		}
		if q.rough = round > 0 && bent && !q.h.stored(); q.rough {
			fall += q.slide()
		}
		off, ok := q.advance()
		if !ok {
			return fall, false
		}
		if !(off > 0) || !q.h.stored() && q.h.work >= q.most {
			return fall + off, true
		}
		fall += off
		if round > 0 && !q.rough && off <= leastShare*fall {
			break
		}
	}
	return fall, true
}

// slide takes steps along the gradient, scaled by the diagonal of H and cut to the pieces, as long as they change the
// pieces and take off much (Moré, Toraldo 1991). They cost a product each, and leave the next system with other pieces
// in many coordinates at once.
func (q *inner) slide() (fall float64) {
	best := 0.0
	for range mostSlides {
		clear(q.step)
		slope := 0.0
		for _, j := range q.free {
			q.step[j] = q.right[j] / q.h.diag[j]
			slope += q.step[j] * q.right[j]
		}
		q.h.times(q.image, q.step)
		curve := 0.0
		for _, j := range q.free {
			curve += q.step[j] * q.image[j]
		}
		if !(curve > 0) {
			break
		}
		off := q.change(slope/curve, leastFall)
		fall += off
		best = math.Max(best, off)
		before := len(q.free)
		if q.pieces(); len(q.free) == 0 || !(off > slideShare*best) || !q.bent && len(q.free) == before {
			break
		}
	}
	return fall
}

// advance goes by a Newton step in the pieces and returns what it takes off: cut to them, the whole or a part of it, or
// where that is little as far as to the first limit. Coordinates that begin at a limit and would cross it stay there
// then.
func (q *inner) advance() (off float64, ok bool) {
	accuracy := q.accuracy
	if q.rough {
		accuracy = roughly
	}
	for first := true; len(q.free) > 0; first = false {
		q.systems++
		if !q.h.solve(q.free, q.right, q.step, accuracy) {
			return 0, false
		}
		if first {
			t := 1.0
			for range mostHalves {
				if off := q.change(t, leastFall); off > 0 {
					return off, true
				}
				t /= 2
			}
		}
		if t := q.room(); t > 0 {
			return q.change(t, 0), true
		}
		before := len(q.free)
		q.free = slices.DeleteFunc(q.free, func(j int) bool {
			return math.Abs(q.at[j]) == q.bound[j] && q.at[j]*q.step[j] > 0
		})
		if len(q.free) == before { // the step overflows
			return 0, false
		}
	}
	return 0, true
}

// pieces finds the free coordinates, with the right sides of their step. It returns the size of these.
func (q *inner) pieces() float64 {
	q.free = q.free[:0]
	size := 0.0
	for j, x := range q.at {
		r := q.rate[j]
		q.right[j] = 0
		if most := q.bound[j]; x == most && r <= 0 || x == -most && r >= 0 {
			continue
		}
		q.right[j] = -r
		size = math.Max(size, math.Abs(r))
		q.free = append(q.free, j)
	}
	return size
}

// room is how far along the step the first limit is.
func (q *inner) room() float64 {
	t := 1.0
	for _, j := range q.free {
		if x := q.at[j] + q.step[j]; math.Abs(x) > q.bound[j] {
			t = math.Min(t, (math.Copysign(q.bound[j], x)-q.at[j])/q.step[j])
		}
	}
	return t
}

// change goes t along the step, cut to the pieces, where that takes off at least a share of the slope times the way,
// and returns how much; else 0.
func (q *inner) change(t, share float64) float64 {
	clear(q.moved)
	bent := t < 1
	for _, j := range q.free {
		q.next[j] = q.at[j] + t*q.step[j]
		if x := q.next[j]; math.Abs(x) > (1-limitShare)*q.bound[j] { // a limit is met exactly
			q.next[j], bent = math.Copysign(q.bound[j], x), bent || math.Abs(x) > q.bound[j]
		}
		q.moved[j] = q.next[j] - q.at[j]
	}
	q.h.times(q.image, q.moved)
	off, slope := 0.0, 0.0
	for _, j := range q.free {
		slope += q.moved[j] * q.right[j]
		off += q.moved[j] * (q.right[j] - q.image[j]/2)
	}
	if !(off > 0) || off < share*slope {
		return 0
	}
	for _, j := range q.free {
		q.at[j] = q.next[j]
		q.d[j] += q.moved[j]
	}
	floats.Add(q.rate, q.image)
	q.bent = bent
	return off
}

// limitShare of a limit is how near it is met.
const limitShare = 1e-15

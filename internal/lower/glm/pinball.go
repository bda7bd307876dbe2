package glm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// Pinball is the loss of a quantile: the level times y - eta where that is positive, and 1 - level times eta - y
// elsewhere. Fits minimise smooth envelopes of it.
type Pinball struct{ Level float64 }

// Rows implements [Loss], with one of the subgradients.
func (p Pinball) Rows(y []float64) Sums {
	return alone(func(rows Counted, eta, pull, curve []float64) float64 {
		sum := 0.0
		for i := range y {
			w, u := rows.at(i), p.Level
			if y[i] < eta[i] {
				u--
			}
			sum, pull[i], curve[i] = sum+w*u*(y[i]-eta[i]), w*u, 0
		}
		return sum
	})
}

// envelope is a smooth loss from below a pinball loss: with residuals r = y - eta and multipliers u of the rows, in the
// place of max over u of u r
//
//	max over level - 1 <= u <= level of  u r - width/2 (u - about)^2.
//
// Where the maxima are taken for the next about whenever a fit has nearly been found (the method of multipliers:
// Rockafellar, Math. Oper. Res. 1, 1976; of lassos with Newton steps: Li, Sun, Toh, SIAM J. Optim. 28, 2018), envelopes
// of any width come to touch the loss, after few times, as both are linear in pieces. Rows whose u is between its
// bounds end on the quantile.
type envelope struct {
	level, width, narrowest float64
	far                     float64 // curvature of rows whose u is at a bound, in models
	y, weights              []float64
	about                   []float64
	due                     bool    // about is to move
	loss, loose             float64 // at the last look, the pinball loss and what it is above u r
}

const (
	// envelopeWidth is the width of an envelope beside the mean loss, times features to a row, as so many rows may end on
	// the quantile, envelopeFar its far beside 1 over that loss, leastWidth the least one beside the loss without
	// coefficients.
	envelopeWidth, envelopeFar, leastWidth = 10, 0.4, 1e-3
	// nearer and farther are the factors of far after a step that was taken whole, and one that was cut.
	nearer, farther, enough = 0.25, 4, 0.5
	// narrower is the factor of the width from one envelope to the next, down to narrowest beside the mean loss.
	narrower, narrowest = 0.5, 1e-4
)

// envelope is about multipliers with which the best constant beside an offset, or zero, is a fit: eta is set to its
// predictions.
func (p Pinball) envelope(y, weights, eta []float64, intercept bool) (e *envelope, constant float64) {
	e = &envelope{level: p.Level, width: 1, y: y, weights: weights, about: make([]float64, len(y))}
	var rows []int
	total := 0.0
	for i, w := range weights {
		if w > 0 {
			rows, total = append(rows, i), total+w
		}
	}
	if intercept && len(rows) > 0 {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(y[a]-eta[a], y[b]-eta[b]) })
		below := 0.0
		for _, i := range rows {
			constant = y[i] - eta[i]
			if below += weights[i]; below >= p.Level*total {
				break
			}
		}
		for i := range eta {
			eta[i] += constant
		}
	}
	sum, level := 0.0, 0.0 // of multipliers, and weight of rows on the constant
	for _, i := range rows {
		switch r := y[i] - eta[i]; {
		case math.Abs(r) <= 1e-14*(math.Abs(y[i])+math.Abs(eta[i])):
			level += weights[i]
			continue
		case r > 0:
			e.about[i] = p.Level
		default:
			e.about[i] = p.Level - 1
		}
		sum += weights[i] * e.about[i]
	}
	for _, i := range rows {
		if e.about[i] == 0 && intercept {
			e.about[i] = max(p.Level-1, min(p.Level, -sum/level))
		}
	}
	return e, constant
}

// sum is a [Sum].
func (e *envelope) sum(eta, pull, curve []float64) (sum float64) {
	e.loss, e.loose = 0, 0
	for i, w := range e.weights {
		if w == 0 {
			pull[i], curve[i] = 0, 0
			continue
		}
		r := e.y[i] - eta[i]
		u, bend := e.about[i]+r/e.width, e.far
		if lo, hi := e.level-1, e.level; u <= lo {
			u = lo
		} else if u >= hi {
			u = hi
		} else {
			bend += 1 / e.width
		}
		loss, step := max(e.level*r, (e.level-1)*r), u-e.about[i]
		e.loss += w * loss
		e.loose += w * (loss - u*r)
		sum += w * (u*r - e.width/2*step*step)
		pull[i], curve[i] = w*u, w*bend
	}
	return sum
}

// moves says whether it is time for the next envelope, as the gap to the pinball loss is more that of the envelope than
// that of its own fit.
func (e *envelope) moves(gap float64) bool {
	if e == nil {
		return false
	}
	e.due = gap <= 2*e.loose
	return e.due
}

// advance takes the maxima for the next ones to be about.
func (e *envelope) advance(pull []float64) {
	for i, w := range e.weights {
		if w > 0 {
			e.about[i] = max(e.level-1, min(e.level, pull[i]/w))
		}
	}
	e.due = false
	e.width = max(e.width*narrower, e.narrowest)
}

// learn sets the curvature of far rows after a step by its share that was taken.
func (e *envelope) learn(share float64) {
	if share > enough {
		e.far *= nearer
	} else {
		e.far *= farther
	}
}

// suit gives the envelope the width that suits a mean loss, beside that without coefficients, and features to a row.
func (e *envelope) suit(loss, null, features float64) {
	size := max(loss, leastWidth*null)
	if !(size > 0) {
		size = 1
	}
	e.width, e.narrowest, e.far = envelopeWidth*features*size, narrowest*size, envelopeFar/size
}

// reach is how far along a change of predictions and coefficients, from their values to others, the objective falls.
func (f *fold) reach(eta, change []float64, features []int, after []float64, w *Weights) float64 {
	d, pt := f.d, f.point
	slope := func(t float64) float64 {
		for i, v := range change {
			pt.eta[i] = eta[i] + t*v
		}
		d.look(pt)
		sum, k := -dense.Dot(pt.pull, change)/pt.total, 0
		for _, u := range f.working {
			size, along, moved := 0.0, 0.0, 0.0
			for _, j := range d.units[u] {
				step := after[k] - pt.before[k]
				b := pt.before[k] + t*step
				if sum += w.second(j) * b * step; b != 0 {
					sum += w.absolute(j) * math.Copysign(step, b*step)
				} else {
					sum += w.absolute(j) * math.Abs(step)
				}
				size, along, moved = size+b*b, along+b*step, moved+step*step
				k++
			}
			if size > 0 {
				sum += w.Norm[u] * along / math.Sqrt(size)
			} else {
				sum += w.Norm[u] * math.Sqrt(moved)
			}
		}
		return sum
	}
	const points, near = 20, 1e-2
	at := 1.0
	numerics.Search(-slope(0), near, points, func(t float64) (rise float64, ok, done bool) {
		at = t
		return -slope(t), true, false
	})
	pt.envelope.learn(at)
	return at
}

// stays says that the weights are those of the last solve, as of one to a larger gap.
func (p *Path) stays() bool {
	return !slices.ContainsFunc(p.folds, func(f *fold) bool {
		w, last := f.weights, f.last
		return last == nil || !slices.Equal(w.Norm, last.Norm) || !slices.Equal(w.L1, last.L1) ||
			!slices.Equal(w.L2, last.L2)
	})
}

// renewEnvelopes has them about the multipliers of the last fit, of the width that suits its loss.
func (p *Path) renewEnvelopes(ctx context.Context) {
	crew.Each(len(p.folds), p.d.threads, func(t int) {
		pt := p.folds[t].point
		pt.envelope.advance(pt.pull)
		pt.envelope.suit(pt.envelope.loss/pt.total, pt.null, min(1, float64(p.d.p)/float64(p.d.n)))
		p.d.look(pt)
	})
	p.d.slopes(ctx, p.folds)
}

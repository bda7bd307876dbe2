package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
)

// The method for many rows.
//
// At shares beta_i in [0, 1] of the weights, alpha_i = u_i beta_i, and the width of a band, the augmented function is
//
//	sum_i u_i max over t in [0, 1] of (t s_i - width (t - beta_i)^2 / 2) + lambda/2 |w|^2   within the box,
//
// once differentiable in the first sum and quadratic while the rows keep their sides, t_i = beta_i + s_i / width below 0, above 1, or in the band between. Newton steps with the
// box as it is (see inner) and a search along them minimise it, the t_i become the beta_i, and the width goes down: the method of multipliers, a proximal
// point method in the shares (Rockafellar 1976; for support vector machines Yan and Li 2020). In the end the band has the rows at their kinks alone.
//
// Only the rows whose margins are near 0 take part, the working rows. The others keep their sides, and add a linear function. As soon as margins have gone half as far as those of
// the other rows were away from 0 at least, all margins are computed anew, and the working rows chosen anew; the same before the end, so that the gap is one of all rows.

// program is, with the margins s_i = 1 - a_i'w + y_i c and weights u_i >= 0,
//
//	minimize over w, c   sum_i u_i max(0, s_i) + lambda/2 |w|^2   subject to |w_j| <= bound_j.
type program struct {
	rows *signedRows
	u    []float64
	box
	unit float64 // of the tolerance
	most float64 // bounds the multiplications in systems that are not stored
}

// point is where a solve of a program is.
type point struct {
	w       []float64
	c       float64
	margins []float64
	shares  []float64
	sums    [2][]float64 // of alpha_i a_i, by label
	weight  [2]float64   // of alpha_i, by label
}

// augmented minimises a program.
type augmented struct {
	*program
	point
	tol    float64
	end    stop.Stop
	prox   []float64 // beta
	width  float64
	work   []int    // the working rows
	radius float64  // about the largest size of their margins
	moved  float64  // how far a margin of them has gone since all were computed
	rest   struct { // what the other rows add to the value: weight - v'w + balance c
		weight, balance float64
		v               []float64
	}
	banded  []bool
	rate    []float64 // of the margins along a step
	z       []float64 // w and c
	slope   []float64 // the gradient in z
	h       curvature
	inner   *inner
	settled bool    // the last step was whole, or took off little, so that the next is to be precise
	sharp   float64 // the share of the accuracy of systems by products
	reached float64 // the gap at the last change of the shares
	steps   int
	value   float64
	gap     float64
}

// Constants of the method were chosen on 16 000 rows of 100 normal features, by the time of 100 fits on a grid; those twice as large or small take up to a third more.
const (
	// mostSteps bounds the Newton steps, mostInner those for the same shares.
	mostSteps, mostInner = 500, 25
	// mostSystems, and half as many as rows besides, bound the systems solved where H is not stored: beyond, a path is shorter.
	mostSystems = 1000
	// sharpest is the least share of their accuracy that is asked for.
	sharpest = 1e-4
	// idleSteps without half the gap say that it is down to rounding, where it is small.
	idleSteps = 40
	// narrowest and widest are bounds of the width.
	narrowest, widest = 1e-9, 2
	// workShare and bandShare are the numbers of working rows, and of rows in the first band, for each unknown.
	workShare, bandShare = 20, 10
	// farMove and farthest are shares of the radius: how far a margin goes before all are computed anew, and at most.
	farMove, farthest = 0.5, 2
	// enough is the share of the regularisation that what a step takes off is small against.
	enough = 0.1
)

// narrowing is the share of the width that is left after so many steps at most.
var narrowing = []struct {
	steps int
	share float64
}{{2, 0.05}, {4, 0.2}, {8, 0.5}}

func newAugmented(g *program, from point, tol float64) *augmented {
	n, p := g.rows.n, g.rows.p
	a := &augmented{program: g, point: from, tol: tol, sharp: 1, reached: math.Inf(1)}
	a.prox, a.rate, a.banded = slices.Clone(from.shares), make([]float64, n), make([]bool, n)
	a.z, a.slope, a.rest.v = make([]float64, p+1), make([]float64, p+1), make([]float64, p)
	a.h = curvature{rows: g.rows, end: &a.end, curve: make([]float64, p+1)}
	a.inner = newInner(&a.h, &a.box, p)
	a.inner.most = g.most
	return a
}

// measure computes all margins.
func (a *augmented) measure() bool { return a.rows.margins(a.margins, a.w, a.c, &a.end) }

// sum computes the sums of the shares.
func (a *augmented) sum() bool {
	a.weight = [2]float64{}
	clear(a.sums[0])
	clear(a.sums[1])
	for i, b := range a.shares {
		if alpha := a.u[i] * b; alpha != 0 {
			k := a.rows.label(i)
			a.rows.add(i, alpha, a.sums[k])
			a.weight[k] += alpha
			if a.end.Reached(a.rows.length(i)) {
				return false
			}
		}
	}
	return true
}

// put gives row i a share.
func (a *augmented) put(i int, share float64) bool {
	if d := (share - a.shares[i]) * a.u[i]; d != 0 {
		k := a.rows.label(i)
		a.rows.add(i, d, a.sums[k])
		a.weight[k] += d
	}
	a.shares[i] = share
	return !a.end.Reached(a.rows.length(i))
}

// choose puts the rows near their kinks to work, and the others on the sides where their margins are.
func (a *augmented) choose() bool {
	unknowns, n, kinks := a.rows.p+1, a.rows.n, 0
	for _, b := range a.shares {
		if b > 0 && b < 1 {
			kinks++ // their margins are 0
		}
	}
	a.radius, a.moved = quantile(a.margins, kinks+min(workShare*unknowns, n/2)), 0
	if a.width == 0 {
		// Where the gap is large, margins have far to go.
		a.width = math.Max(narrowest, math.Min(widest, math.Max(a.gap/a.unit, quantile(a.margins, kinks+min(bandShare*unknowns, n/8)))))
	}
	a.work = a.work[:0]
	for i, s := range a.margins {
		if math.Abs(s) <= a.radius || a.shares[i] > 0 && a.shares[i] < 1 {
			a.work = append(a.work, i)
			continue
		}
		a.prox[i] = 0
		if s > 0 {
			a.prox[i] = 1
		}
		if a.shares[i] != a.prox[i] && !a.put(i, a.prox[i]) {
			return false
		}
	}
	a.rest.weight, a.rest.balance = a.weight[0]+a.weight[1], a.weight[1]-a.weight[0]
	floats.AddTo(a.rest.v, a.sums[0], a.sums[1])
	for _, i := range a.work {
		if alpha := a.u[i] * a.shares[i]; alpha != 0 {
			a.rest.weight -= alpha
			a.rest.balance -= alpha * a.rows.y[i]
			a.rows.add(i, -alpha, a.rest.v)
		}
	}
	return true
}

// multipliers sets the shares of the working rows to their t_i, and the band.
func (a *augmented) multipliers() bool {
	for _, i := range a.work {
		t := a.prox[i] + a.margins[i]/a.width
		a.banded[i] = t > 0 && t < 1 && a.u[i] > 0
		if t = max(0, min(1, t)); t != a.shares[i] && !a.put(i, t) {
			return false
		}
	}
	return true
}

// certify computes the value, of all rows or with the others on their sides, and its distance from that of the dual program, whose multipliers are the alpha_i, those of
// one label made smaller so that the sums of both are the same, as c is free.
func (a *augmented) certify(all bool) {
	if all {
		a.value = 0
		for i, s := range a.margins {
			if s > 0 {
				a.value += a.u[i] * s
			}
		}
	} else {
		a.value = a.rest.weight - floats.Dot(a.rest.v, a.w) + a.rest.balance*a.c
		for _, i := range a.work {
			if s := a.margins[i]; s > 0 {
				a.value += a.u[i] * s
			}
		}
	}
	scale := a.scales()
	dual := scale[0]*a.weight[0] + scale[1]*a.weight[1]
	for j, w := range a.w {
		a.value += a.lambda * w * w / 2
		dual -= a.box.conjugate(j, scale[0]*a.sums[0][j]+scale[1]*a.sums[1][j])
	}
	a.gap = math.Abs(a.value - dual)
}

// scales are the factors of the alpha_i of each label in the dual program.
func (a *augmented) scales() [2]float64 {
	scale := [2]float64{1, 1}
	least := math.Min(a.weight[0], a.weight[1])
	for k, s := range a.weight {
		if s > least {
			scale[k] = math.Max(0, least/s)
		}
	}
	return scale
}

// run solves. The point has its margins and sums.
func (a *augmented) run() lower.Status {
	a.certify(true)
	if a.gap <= a.tol*a.unit {
		return lower.Optimal
	}
	if !a.choose() {
		return lower.Cancelled
	}
	since, idle, best := 0, 0, math.Inf(1)
	for {
		if !a.multipliers() {
			return lower.Cancelled
		}
		a.certify(false)
		if idle++; a.gap < best/2 {
			idle, best = 0, a.gap
		}
		long := a.steps >= mostSteps || !a.h.stored() && (a.inner.systems >= mostSystems+a.rows.n/2 || a.h.work >= a.most)
		ended := long || idle > idleSteps && best <= exhaustedGap*a.unit
		if a.gap <= a.tol*a.unit || ended || a.moved > farMove*a.radius && len(a.work) < a.rows.n {
			if !a.measure() {
				return lower.Cancelled
			}
			a.certify(true)
			switch {
			case a.gap <= a.tol*a.unit:
				return lower.Optimal
			case ended && a.gap <= exhaustedGap*a.unit:
				return lower.Exhausted
			case long:
				return lower.Stalled
			case !a.choose() || !a.multipliers():
				return lower.Cancelled
			}
		}
		fall, whole, ok := a.step()
		if !ok {
			if a.end.Reached(0) {
				return lower.Cancelled
			}
			a.steps = mostSteps // what rounding leaves of the step is nothing
			continue
		}
		a.steps++
		since++
		same, far := a.compare()
		precise := a.settled || a.h.stored()
		if a.settled = whole || fall <= enough*far; a.settled && !precise && since < mostInner {
			continue // what a rough step takes off says little
		}
		if whole && same || fall <= enough*far || since >= mostInner {
			for _, i := range a.work {
				a.prox[i] = max(0, min(1, a.prox[i]+a.margins[i]/a.width))
			}
			if a.h.stored() || a.gap <= a.reached/2 {
				a.narrow(since)
			} else { // with so narrow a band systems are not accurate enough
				a.sharp = math.Max(a.sharp/10, sharpest)
			}
			a.reached = a.gap
			since = 0
		}
	}
}

// compare says whether the band is the same at the margins now, and what the regularisation is there.
func (a *augmented) compare() (same bool, far float64) {
	same = true
	for _, i := range a.work {
		b := a.prox[i]
		t := b + a.margins[i]/a.width
		same = same && (t > 0 && t < 1 && a.u[i] > 0) == a.banded[i]
		t = max(0, min(1, t)) - b
		far += a.u[i] * t * t
	}
	return same, far * a.width / 2
}

// narrow makes the band narrower, by more where few steps were needed.
func (a *augmented) narrow(steps int) {
	for _, n := range narrowing {
		if steps <= n.steps {
			a.width = math.Max(a.width*n.share, narrowest)
			return
		}
	}
}

// step is a Newton step with a search along it. It returns how much the model falls, and whether the step was whole.
func (a *augmented) step() (fall float64, whole, ok bool) {
	p := a.rows.p
	a.h.band, a.h.weight = a.h.band[:0], a.h.weight[:0]
	for _, i := range a.work {
		if a.banded[i] {
			a.h.band, a.h.weight = append(a.h.band, i), append(a.h.weight, a.u[i]/a.width)
		}
	}
	for j := range p {
		a.h.curve[j] = a.lambda
	}
	a.h.curve[p] = 0
	if len(a.h.band) == 0 {
		a.h.curve[p] = a.hold() // nothing else would hold c
	}
	copy(a.z, a.w)
	a.z[p] = a.c
	for j, w := range a.w {
		a.slope[j] = a.lambda*w - a.sums[0][j] - a.sums[1][j]
	}
	a.slope[p] = a.weight[1] - a.weight[0]
	a.h.least = math.Max(tightest, a.sharp*math.Min(loosest, 0.1*math.Sqrt(a.gap/a.unit))) // the gap is of second order
	if !a.h.set() {
		return 0, false, false
	}
	if fall, ok = a.inner.minimise(a.z, a.slope, a.settled); !ok || !(fall > 0) {
		return 0, ok, ok // but for rounding, this is the minimum
	}
	d, most := a.inner.d, 0.0
	for _, i := range a.work {
		a.rate[i] = a.rows.y[i]*d[p] - a.rows.product(i, d[:p])
		most = math.Max(most, math.Abs(a.rate[i]))
		if a.end.Reached(a.rows.length(i)) {
			return 0, false, false
		}
	}
	t := 1.0
	if len(a.work) < a.rows.n && most > 0 {
		t = math.Min(t, math.Max(farthest*a.radius-a.moved, 0.1*a.radius)/most)
	}
	t = flatten(t, a.along(0), a.along)
	for j, x := range a.inner.at[:p] {
		if t == 1 {
			a.w[j] = x // a limit is met exactly
		} else if d[j] != 0 {
			a.w[j] = a.box.within(j, a.w[j]+t*d[j])
		}
	}
	a.c += t * d[p]
	for _, i := range a.work {
		a.margins[i] += t * a.rate[i]
	}
	a.moved += t * most
	return fall, t == 1, true
}

// hold is the curvature with which c goes as far as to where the next row comes into the band, where none is in it.
func (a *augmented) hold() float64 {
	balance := a.weight[1] - a.weight[0]
	next := a.radius
	for _, i := range a.work {
		if s := a.margins[i]; a.u[i] > 0 && s*a.rows.y[i]*balance > 0 { // c goes against the balance
			next = math.Min(next, math.Abs(s))
		}
	}
	if balance = math.Abs(balance); balance > 0 {
		return balance / (next + a.width/2)
	}
	return 1 / a.width
}

// along is the derivative of the augmented function t along the step.
func (a *augmented) along(t float64) float64 {
	p, d := len(a.w), a.inner.d
	sum := d[p] * a.rest.balance
	for j, v := range d[:p] {
		if v != 0 {
			sum += v * (a.lambda*(a.w[j]+t*v) - a.rest.v[j])
		}
	}
	for _, i := range a.work {
		if x := a.prox[i] + (a.margins[i]+t*a.rate[i])/a.width; x >= 1 {
			sum += a.u[i] * a.rate[i]
		} else if x > 0 {
			sum += a.u[i] * x * a.rate[i]
		}
	}
	return sum
}

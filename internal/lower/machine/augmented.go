package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// The method for many rows.
//
// At shares beta_i in [0, 1] of the weights, alpha_i = u_i beta_i, and the width of a band, the augmented function is
//
//	sum_i u_i max over t in [0, 1] of (t s_i - width (t - beta_i)^2 / 2) + lambda/2 |w|^2   within the box,
//
// once differentiable in the first sum and quadratic while the rows keep their sides, t_i = beta_i + s_i / width below
// 0, above 1, or in the band between. Newton steps with the box as it is (see inner) and a search along them minimise
// it, the t_i become the beta_i, and the width goes down: the method of multipliers, a proximal point method in the
// shares (Rockafellar 1976; for support vector machines Yan and Li 2020). In the end the band has the rows at their
// kinks alone.
//
// The rows whose margins are near 0 alone take part, see [hinges].

// augmented minimises
//
//	sum_i u_i max(0, s_i) + lambda/2 |w|^2   subject to |w_j| <= bound_j,
//
// over w and c. Its two losses are those of the rows of each label.
type augmented struct {
	*hinges
	box
	unit    float64 // of the tolerance
	tol     float64
	width   float64
	inner   *inner
	settled bool    // the last step was whole, or took off little, so that the next is to be precise
	sharp   float64 // the share of the accuracy of systems by products
	reached float64 // the gap at the last change of the shares
	steps   int
	value   float64
	gap     float64
}

// Constants of the method were chosen on 16 000 rows of 100 normal features, by the time of 100 fits on a grid; those
// twice as large or small take up to a third more.
const (
	// mostSteps bounds the Newton steps, mostInner those for the same shares.
	mostSteps, mostInner = 500, 25
	// mostSystems, and half as many as rows besides, bound the systems solved where H is not stored: beyond, a path is
	// shorter.
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
	// wideGaps is how many gaps, in the unit of the margins, the width has at least: a band that is narrower than what
	// margins have to go is empty, and nothing bends the next steps.
	wideGaps = 4
)

// narrowing is the share of the width that is left after so many steps at most.
var narrowing = []struct {
	steps int
	share float64
}{{2, 0.05}, {4, 0.2}, {8, 0.5}}

func newAugmented(g *Problem, b box, tol float64) *augmented {
	n := g.rows.n
	part := [2][]float64{make([]float64, n), make([]float64, n)}
	for i, u := range g.rows.u {
		part[g.rows.label(i)][i] = u
	}
	a := &augmented{
		hinges: newHinges(g.rows, part), box: b, unit: g.scale, tol: tol, sharp: 1, reached: math.Inf(1),
	}
	a.inner = newInner(&a.curve, b.bound, g.mostWork)
	a.d = a.inner.d
	if g.squared {
		a.top, a.width, a.curve.few = math.Inf(1), squaredWidth, g.fewRows()
	}
	return a
}

// regroup chooses the working rows, and the first width: where the gap is large, margins have far to go.
func (a *augmented) regroup() bool {
	if a.width == 0 {
		a.width = math.Max(narrowest, math.Min(widest, math.Max(a.gap/a.unit, a.band())))
	}
	return a.choose(workShare)
}

// certify computes the value, with the losses as they are, and its distance from that of the dual program, whose
// multipliers are the alpha_i, those of one label made smaller so that the sums of both are the same, as c is free. The
// squared hinge takes alpha_i^2 / (4 u_i) from it.
func (a *augmented) certify() {
	scale := a.scales()
	a.value = a.loss[0] + a.loss[1]
	dual := a.multipliers(scale)
	for j, w := range a.z[:a.rows.p] {
		a.value += a.lambda * w * w / 2
		dual -= a.box.conjugate(j, scale[0]*a.sums[0][j]+scale[1]*a.sums[1][j])
	}
	a.gap = math.Abs(a.value - dual)
}

// multipliers is what the alpha_i with these factors bring to the dual value.
func (a *augmented) multipliers(scale [2]float64) float64 {
	sum := scale[0]*a.total[0] + scale[1]*a.total[1]
	if a.squared() {
		for i, t := range a.shares {
			k := a.rows.label(i)
			t *= scale[k]
			sum -= a.part[k][i] * squaredWidth / 2 * t * t
		}
	}
	return sum
}

// scales are the factors of the alpha_i of each label in the dual program.
func (a *augmented) scales() [2]float64 {
	scale := [2]float64{1, 1}
	least := math.Min(a.total[0], a.total[1])
	for k, s := range a.total {
		if s > least {
			scale[k] = math.Max(0, least/s)
		}
	}
	return scale
}

// run solves. The point has its margins and sums.
func (a *augmented) run() outcome.Stop {
	a.losses()
	a.certify()
	if a.gap <= a.tol*a.unit {
		return outcome.Converged
	}
	if !a.regroup() {
		return outcome.Cancelled
	}
	since, idle, best := 0, 0, math.Inf(1)
	for {
		if !a.classify(a.width) {
			return outcome.Cancelled
		}
		a.certify()
		if idle++; a.gap < best/2 {
			idle, best = 0, a.gap
		}
		long := a.steps >= mostSteps || !a.curve.stored() && (a.inner.systems >= mostSystems+a.rows.n/2 ||
			a.curve.work >= a.inner.most)
		ended := long || idle > idleSteps && best <= exhaustedGap*a.unit
		if a.gap <= a.tol*a.unit || ended || a.far() {
			if !a.measure() {
				return outcome.Cancelled
			}
			a.losses()
			a.certify()
			switch {
			case a.gap <= a.tol*a.unit:
				return outcome.Converged
			case ended && a.gap <= exhaustedGap*a.unit:
				return numerics.Exhausted
			case long:
				return outcome.Stalled
			case !a.regroup() || !a.classify(a.width):
				return outcome.Cancelled
			}
		}
		fall, whole, ok := a.step()
		if !ok {
			if a.end.Reached(0) {
				return outcome.Cancelled
			}
			a.steps = mostSteps // what rounding leaves of the step is nothing
			continue
		}
		a.steps++
		since++
		if !a.classify(a.width) {
			return outcome.Cancelled
		}
		far := a.apart[0] + a.apart[1]
		precise := a.settled || a.curve.stored()
		if a.settled = whole || fall <= enough*far; a.settled && !precise && since < mostInner {
			continue // what a rough step takes off says little
		}
		if whole && a.same || fall <= enough*far || since >= mostInner {
			if !a.squared() {
				a.renew()
			}
			switch {
			case !a.curve.stored() && a.gap > a.reached/2: // with so narrow a band systems are not accurate enough
				a.sharp = math.Max(a.sharp/10, sharpest)
			case !a.squared():
				a.narrow(since)
			}
			a.reached = a.gap
			since = 0
		}
	}
}

// narrow makes the band narrower, by more where few steps were needed.
func (a *augmented) narrow(steps int) {
	for _, n := range narrowing {
		if steps <= n.steps {
			least := math.Max(narrowest, math.Min(a.width, wideGaps*a.gap/a.unit))
			a.width = math.Max(a.width*n.share, least)
			return
		}
	}
}

// step is a Newton step with a search along it. It returns how much the model falls, and whether the step was whole.
func (a *augmented) step() (fall float64, whole, ok bool) {
	p, curve := a.rows.p, a.curve.curve
	a.bands(1, a.width)
	for j, w := range a.z[:p] {
		curve[j] = a.lambda
		a.gradient[j] = a.lambda*w - a.sums[0][j] - a.sums[1][j]
	}
	curve[p], a.gradient[p] = 0, -a.sums[0][p]-a.sums[1][p]
	if len(a.curve.band) == 0 {
		curve[p] = a.hold() // nothing else would hold c
	}
	// the gap is of second order
	a.curve.least = math.Max(tightest, a.sharp*math.Min(loosest, 0.1*math.Sqrt(a.gap/a.unit)))
	if !a.curve.set() {
		return 0, false, false
	}
	if fall, ok = a.inner.minimise(a.z, a.gradient, a.settled); !ok || !(fall > 0) {
		return 0, ok, ok // but for rounding, this is the minimum
	}
	if !a.rates() {
		return 0, false, false
	}
	t := flatten(a.reach(), a.derivative(0), a.derivative)
	for j, x := range a.inner.at[:p] {
		if t == 1 {
			a.z[j] = x // a limit is met exactly
		} else if a.d[j] != 0 {
			a.z[j] = a.box.within(j, a.z[j]+t*a.d[j])
		}
	}
	a.z[p] += t * a.d[p]
	a.advance(t)
	return fall, t == 1, true
}

// hold is the curvature with which c goes as far as to where the next row comes into the band, where none is in it.
func (a *augmented) hold() float64 {
	balance := a.gradient[a.rows.p]
	next := a.radius
	for _, i := range a.work {
		if s := a.margins[i]; s*a.rows.y[i]*balance > 0 { // c goes against the balance
			next = math.Min(next, math.Abs(s))
		}
	}
	if balance = math.Abs(balance); balance > 0 {
		return balance / (next + a.width/2)
	}
	return 1 / a.width
}

// derivative is that of the augmented function t along the step.
func (a *augmented) derivative(t float64) float64 {
	_, rate := a.smoothed(t, a.width)
	w, d := a.z[:a.rows.p], a.d[:a.rows.p]
	return rate[0] + rate[1] + a.lambda*(floats.Dot(w, d)+t*floats.Dot(d, d))
}

package glm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// newtons takes Newton steps until one is not cut, or they have taken so many multiplications, each over what the one
// before has left, and says whether any moved.
func (f *fold) newtons(ctx context.Context, active []int, w *Weights, work float64) (moved bool) {
	if s := f.byRows(active, w); s != nil {
		solved, moved := f.solveDual(ctx, s, w)
		if f.primal = !solved; moved {
			return true
		}
	}
	if f.coupled(active, w) && !f.d.single {
		work = 0
	}
	for range f.d.p*f.d.q + 1 { // as each but the last takes out a coefficient
		order := 0.0
		for _, u := range active {
			order += float64(len(f.d.units[u]) * f.d.q)
		}
		went, cut := f.newton(active, w, func(features, unit []int, g []float64, w *Weights) []float64 {
			return f.direction(ctx, features, unit, g, w)
		})
		moved = moved || went
		if work -= order * order * order; !went || !cut || work <= 0 {
			break
		}
		active = f.active()
	}
	return moved
}

// newton goes along a direction, as Newton's, for the coefficients that are not zero, see follow. It says whether it
// moved, and whether any coefficient stopped on the way.
func (f *fold) newton(active []int, w *Weights, direction func(features, unit []int, g []float64,
	w *Weights) []float64) (moved, cut bool) {
	var features, unit []int
	for _, u := range active {
		if !f.inUse(u) { // sweeps have made it zero
			continue
		}
		for _, j := range f.d.units[u] {
			if w.absolute(j) > 0 && !f.used(j) || f.atBound(j) {
				continue
			}
			features, unit = append(features, j), append(unit, u)
		}
	}
	g := f.descents(features, unit, w)
	step := direction(features, unit, g, w)
	if step == nil || !finite.All(step...) {
		return false, false
	}
	if f.d.classes > 1 {
		f.uncommon(features, step)
	}
	return f.follow(features, unit, step, g, w)
}

// follow goes along a direction, on which each coefficient stops at its next kink or bound, to the first minimum:
// between these stops the objective is a parabola and the norms of units of several coefficients. It says whether it
// moved, and whether any stopped.
func (f *fold) follow(features, unit []int, step, descent []float64, w *Weights) (moved, cut bool) {
	const points, near = 60, 1e-3 // of the slope at the beginning
	type stop struct {
		at float64
		e  int
	}
	type way struct{ weight, bb, bs, ss float64 } // of a norm: after t, |b|^2 + 2 t b's + t^2 |s|^2 is its square
	q, norms := f.d.q, f.norms(features, unit, w)
	var stops []stop
	end, b := make([]float64, len(step)), make([]float64, 0, len(step)) // where coefficients are at last, and now
	for i, j := range features {
		b = append(b, f.b[j*q:(j+1)*q]...)
		for e := i * q; e < (i+1)*q; e++ {
			if end[e] = f.within(b[e], math.Copysign(math.MaxFloat64, step[e]), j, unit[i], w); step[e] != 0 &&
				math.Abs(end[e]) < math.MaxFloat64 {
				stops = append(stops, stop{(end[e] - b[e]) / step[e], e})
			}
			if norm := norms[i]; norm > 0 {
				descent[e] += w.Norm[unit[i]] * b[e] / norm // but for the norms
			}
		}
	}
	slices.SortFunc(stops, func(a, b stop) int { return cmp.Or(cmp.Compare(a.at, b.at), a.e-b.e) })
	c := f.course(features, step, descent, w, len(stops) > 0)
	for k := 0; ; k++ {
		var ways []way
		for e, s := range step {
			if u := unit[e/q]; norms[e/q] > 0 {
				if e == 0 || unit[(e-1)/q] != u {
					ways = append(ways, way{weight: w.Norm[u]})
				}
				n := &ways[len(ways)-1]
				n.bb, n.bs, n.ss = n.bb+b[e]*b[e], n.bs+b[e]*s, n.ss+s*s
			}
		}
		slope := func(t float64) float64 {
			value := c.slope - t*c.curve
			for _, n := range ways {
				value -= n.weight * (n.bs + t*n.ss) / math.Sqrt(max(n.bb+t*(2*n.bs+t*n.ss), math.SmallestNonzeroFloat64))
			}
			return value
		}
		first, by := slope(0), math.Inf(1)
		if !(first > 0) {
			break
		}
		if c.curve > 0 {
			by = first / c.curve // or less, as norms bend
		}
		if k < len(stops) {
			by = min(by, stops[k].at-c.at)
		}
		if math.IsInf(by, 1) {
			return false, false // along which nothing is penalised
		}
		far := by
		numerics.Search(first, near, points, func(t float64) (rises float64, ok, done bool) {
			by = t * far
			return slope(by), true, false
		})
		dense.Axpy(by, step, b)
		if moved = moved || by > 0; k == len(stops) || by < stops[k].at-c.at {
			break
		}
		e := stops[k].e
		c.stop(e, stops[k].at)
		b[e], cut, moved = end[e], true, true
	}
	if moved {
		for i, j := range features {
			for k := range q {
				step[i*q+k], f.b[j*q+k] = b[i*q+k]-f.b[j*q+k], b[i*q+k]
			}
		}
		f.work.move(step, features)
	}
	return moved, cut
}

// shift brings the coefficient of feature j to a value.
func (f *fold) shift(j int, to float64) {
	f.step[0] = to - f.b[j]
	f.b[j] = to
	f.one[0] = j
	f.work.move(f.step, f.one)
}

// coupled says that some of the units have norms of several coefficients.
func (f *fold) coupled(units []int, w *Weights) bool {
	return slices.ContainsFunc(units, func(u int) bool { return !f.alone(u) && w.Norm[u] > 0 })
}

// within is where a coefficient stops on its way: at zero, where its penalty bends, and at its bounds.
func (f *fold) within(from, to float64, j, u int, w *Weights) float64 {
	if from*to < 0 && (f.alone(u) && w.Norm[u] > 0 || w.absolute(j) > 0) {
		return 0
	}
	lo, hi := f.d.bounds(j)
	return max(lo, min(hi, to))
}

// norms are, of each feature, that of the coefficients of its unit, 0 where no penalty is one of several coefficients.
func (f *fold) norms(features, unit []int, w *Weights) []float64 {
	norms := make([]float64, len(features))
	if !f.coupled(unit, w) {
		return norms
	}
	for first, end := 0, 0; first < len(features); first = end {
		sum := 0.0
		for end = first; end < len(features) && unit[end] == unit[first]; end++ {
			for _, b := range f.b[features[end]*f.d.q : (features[end]+1)*f.d.q] {
				sum += b * b
			}
		}
		for i := first; i < end; i++ {
			norms[i] = math.Sqrt(sum)
		}
	}
	return norms
}

// alone says that unit u has one coefficient.
func (f *fold) alone(u int) bool { return len(f.d.units[u]) == 1 && f.d.q == 1 }

// descents are the derivatives of the objective, less their signs, in the coefficients of features, whose units are not
// zero.
func (f *fold) descents(features, unit []int, w *Weights) []float64 {
	g := f.work.fall(nil, features)
	floats.Sub(g, f.slopes(features, unit, w))
	return g
}

// slopes are those of the penalties.
func (f *fold) slopes(features, unit []int, w *Weights) []float64 {
	q := f.d.q
	g := make([]float64, 0, len(features)*q)
	norms := f.norms(features, unit, w)
	for i, j := range features {
		for _, b := range f.b[j*q : (j+1)*q] {
			v := w.second(j)*b + math.Copysign(w.absolute(j), b)
			if weight := w.Norm[unit[i]]; f.alone(unit[i]) {
				v += math.Copysign(weight, b)
			} else if norm := norms[i]; norm > 0 {
				v += weight * b / norm
			}
			g = append(g, v)
		}
	}
	return g
}

// mostOrder bounds the order of the systems of Newton steps, as do mostTimesRows times the rows where that is more than
// fewOrder, which does where columns are sparse: beyond, each step takes out little of what is too many.
const mostOrder, mostTimesRows, fewOrder = 4000, 4, 1000

// mostSparse is the number of sparse columns from which on a Newton step waits until sweeps have cost as much: these
// may be all that is needed, and cost little. Of a multiplication in a sweep, entryCost are done in factors.
const mostSparse, entryCost = 100, 16

// waits is how many sweeps over sparse columns cost as much as a Newton step, 0 where that does not count.
func (f *fold) waits(units []int) int {
	s, ok := f.work.(*residual)
	if !ok || s.x.Dense() || f.d.single || len(units) <= mostSparse {
		return 0
	}
	order, entries := 0.0, 0
	for _, u := range units {
		for _, j := range f.d.units[u] {
			order, entries = order+1, entries+s.x.Len(s.place[j])
		}
	}
	return int(order * order * order / 3 / float64(entryCost*(entries+1)))
}

// direction is Newton's for the coefficients of features, nil where their system is too large or the context ends.
func (f *fold) direction(ctx context.Context, features, unit []int, g []float64, w *Weights) (step []float64) {
	n, q := len(features), f.d.q
	order := n * q
	if order == 0 || f.rowwise() {
		return nil
	}
	system := f.system(features, unit, w, mostOrder)
	s, ok := f.work.(*residual)
	most := min(mostOrder, max(fewOrder, mostTimesRows*f.d.n))
	if ok && !s.x.Dense() && !f.d.single {
		most = fewOrder
	}
	if !system.rows && order > most {
		return nil
	}
	if step = system.solve(ctx, g, 0); ctx.Err() != nil {
		return nil
	}
	return step
}

// overRows says that Newton steps of units have a system of the order of the rows, of which there are most at most, see
// [wide], as half squares and norms of several coefficients hold more coefficients than there are rows.
func (f *fold) overRows(units []int, w *Weights, most int) bool {
	s, ok := f.work.(*residual)
	if !ok || f.d.q > 1 || s.x.Rows() > most {
		return false
	}
	least, size, n := math.Inf(1), 0.0, 0
	for _, u := range units {
		_, bent := f.bent(u, w)
		for _, j := range f.d.units[u] {
			if w.absolute(j) == 0 || f.used(j) {
				n, least, size = n+1, min(least, w.second(j)+bent), size+s.diagonal(j)
			}
		}
	}
	return n > s.count && least*float64(n) > leastSecond*size
}

// bent is the norm of unit u of several coefficients of one target, and its second derivative across these.
func (f *fold) bent(u int, w *Weights) (norm, second float64) {
	if f.alone(u) || !f.inUse(u) {
		return 0, 0
	}
	for _, j := range f.d.units[u] {
		norm = math.Hypot(norm, f.b[j])
	}
	return norm, w.Norm[u] / norm
}

// atBound says that the coefficient of a feature is at a bound.
func (f *fold) atBound(j int) bool {
	lo, hi := f.d.bounds(j)
	b := f.b[j]
	return b != 0 && (b == lo || b == hi)
}

// penalties are those of the coefficients of some units.
func (f *fold) penalties(units []int, w *Weights) (sum float64) {
	for _, u := range units {
		sum = f.d.withPenalty(sum, u, w, f.b)
	}
	return sum
}

package glm

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
)

// curved is what fits of a [Loss] have beside those of squares. Each round solves a quadratic model about the last
// predictions, with the exact gradient, to a share of what it has to gain (Lee, Sun, Saunders, Proximal Newton-type
// methods for minimizing composite functions, SIAM J. Optim. 24, 2014). Its curvatures are a fold's own, by the columns
// of the working set, or those of all folds together, by products of all columns, as long as a fold gets on with them;
// it then has products of its own, where most columns are in use.
type curved struct {
	shared bool      // there are products of all columns
	train  []point   // where the folds start, without coefficients, predictions and derivatives
	val    []Sum     // of the validation rows, or of all rows where they add to those for training
	added  bool      // they do
	unit   []float64 // by which these are divided
	lent   sync.Pool // of columns
	rooms  sync.Pool // for vectors of the rows, see [Data.room]
}

// point is where the fit of a fold of a [Loss] is.
type point struct {
	coupled     Coupled   // the loss of the training rows
	envelope    *envelope // nil but of a pinball loss
	renew       func() Coupled
	products    int       // of truncated steps, in this solve
	truncated   bool      // as the last step was
	whole       *whole    // products, where they are these
	total       float64   // their weight
	null        float64   // mean loss without coefficients
	eta         []float64 // of all rows
	pull, curve []float64 // derivatives of the training rows, 0 for others; changes of eta stand in the place of pull
	b0, value   float64   // constant, and mean loss
	constants   []float64 // of classes, where the fit starts
	slant       float64   // mean of the pulls, 0 without intercept
	own         bool      // the model has the curvatures of the fold
	slow        bool      // so that these are to be as they are
	last        bool      // the round is the last one, to all digits
	model       []float64 // curvatures of the model
	unit        float64   // total over their sum
	before      []float64 // coefficients of the working set before a round
}

// renew is the mean relative change of the curvatures from which on products of one fold are made anew, and a fifth of
// it those that all share, as these cost as much; leastCurve is the share of their mean that all have at least.
const renew, leastCurve = 0.1, 1e-7

// bend makes the data ready for a loss.
func (d *Data) bend(t *Table) {
	_, banded := t.Loss.(Pinball)
	hazards, added := t.Loss.(Hazards)
	d.intercept = d.intercept || added
	d.curved = &curved{
		shared: d.classes == 1 && !banded && d.multiplies(), added: added,
		train: make([]point, len(d.folds)), val: make([]Sum, len(d.folds)), unit: make([]float64, len(d.folds)),
	}
	d.center = make([]float64, d.p)
	if d.curved.shared {
		if d.x = d.columns(); d.intercept && !Sparse(d.x) { // the steps have the columns anyway
			d.center = d.someMeans()
		}
	}
	rows, n := t.Loss.Rows(d.y[0]), len(d.y[0])
	d.each(func(k int) {
		in, out := Counted{Weights: d.weights, In: d.train[k]}, Counted{Weights: d.weights, In: d.train[k], Not: true}
		train, total := in.of(n), 0.0
		for _, w := range train {
			total += w
		}
		d.curved.unit[k] = floats.Sum(out.of(n))
		if added {
			out, d.curved.unit[k] = Counted{Weights: d.weights}, hazards.Unit
		}
		d.curved.val[k] = rows(out)().Sum
		pt := point{total: total}
		if m, ok := t.Loss.(Multinomial); ok && t.Intercept {
			pt.constants = m.frequencies(d.y[0], train)
		}
		d.predict(&pt)
		if pinball, ok := t.Loss.(Pinball); ok {
			pt.envelope, pt.b0 = pinball.envelope(d.y[0], train, pt.eta, d.intercept)
			pt.coupled.Sum = pt.envelope.sum
			d.look(&pt)
			pt.null = pt.envelope.loss / total
		} else {
			pt.renew = rows(in)
			pt.coupled = pt.renew()
			d.level(&pt)
			pt.null = pt.value
		}
		pt.eta, pt.pull, pt.curve = nil, nil, nil // in the way of the table until a path begins
		d.curved.train[k] = pt
	})
}

// predict has the predictions of the constants of a point, and room for the derivatives.
func (d *Data) predict(pt *point) {
	pt.eta, pt.pull, pt.curve = make([]float64, d.n), make([]float64, d.n), make([]float64, d.n)
	copy(pt.eta, d.offset)
	floats.AddConst(pt.b0, pt.eta)
	for c, v := range pt.constants {
		d.entries().Axpy(v, d.p-len(pt.constants)+c, pt.eta)
	}
}

// level finds the best constant at coefficients.
func (d *Data) level(pt *point) {
	const steps = 100
	for range steps {
		d.look(pt)
		step := max(-2, min(2, pt.slant*pt.total/floats.Sum(pt.curve)))
		if !(math.Abs(step) > 1e-14) {
			break
		}
		pt.b0 += step
		floats.AddConst(step, pt.eta)
	}
}

// start is where fold t starts.
func (d *Data) start(t int) *point {
	pt := d.curved.train[t]
	if pt.envelope != nil {
		e := *pt.envelope
		e.about = slices.Clone(e.about)
		pt.envelope, pt.coupled.Sum = &e, e.sum
	} else {
		pt.coupled = pt.renew()
	}
	d.predict(&pt)
	d.look(&pt)
	pt.own = d.classes > 1 // whose curvatures alone bound the second derivatives badly
	return &pt
}

// look computes the loss at the predictions, and its derivatives.
func (d *Data) look(pt *point) {
	pt.value, pt.slant = pt.coupled.Sum(pt.eta, pt.pull, pt.curve)/pt.total, 0
	if d.intercept {
		pt.slant = floats.Sum(pt.pull) / pt.total
	}
}

// raise makes curvatures a share of their mean at least, or one where all are zero, in the rows of a list of bits, nil
// for all.
func raise(curve []float64, rows []bool) {
	least := leastCurve * floats.Sum(curve) / float64(len(curve))
	if !(least > 0) {
		least = 1
	}
	for i, v := range curve {
		if v < least && (rows == nil || rows[i]) {
			curve[i] = least
		}
	}
}

// share makes the products of all folds anew, of the mean curvatures of the folds that train a row, where these have
// changed; within a solve, not for folds that have all second derivatives of a coupled loss.
func (p *Path) share(ctx context.Context, within bool) {
	d := p.d
	curve := make([]float64, d.n)
	crew.Each(d.threads, d.threads, func(k int) {
		from, to := k*d.n/d.threads, (k+1)*d.n/d.threads
		count := make([]float64, to-from)
		for _, f := range p.folds {
			floats.Add(curve[from:to], f.point.curve[from:to])
			for i, train := range d.train[f.number][from:to] {
				if train {
					count[i]++
				}
			}
		}
		for i, c := range count {
			curve[from+i] /= max(c, 1)
		}
	})
	raise(curve, nil)
	begun, renewed := p.folds[0].point.model != nil, p.model == nil
	if !renewed {
		change := 0.0
		for i, v := range p.model.weights {
			change += math.Abs(curve[i] - v)
		}
		renewed = change > renew/5*floats.Sum(p.model.weights)
	}
	if renewed {
		q := *d
		q.weights, q.curved, q.gaps, q.y, q.q = curve, nil, nil, nil, 0
		q.products = newGram(ctx, &q)
		p.model = &q
	}
	for _, f := range p.folds {
		pt := f.point
		joint := pt.own && pt.coupled.Second != nil
		if joint && !within || !joint && (renewed || !begun) {
			f.products, f.part, f.local, pt.own = p.model.products, p.model.parts[f.number], nil, false
			pt.model, pt.unit = p.model.weights, pt.total/f.part.weight
		}
	}
}

// scaled are the weights times a factor.
func (w *Weights) scaled(by float64) *Weights {
	times := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		return floats.ScaleTo(make([]float64, len(v)), by, v)
	}
	return &Weights{Norm: times(w.Norm), L1: times(w.L1), L2: times(w.L2)}
}

// round solves the model of a fold.
func (f *fold) round(ctx context.Context, w *Weights) {
	d, pt := f.d, f.point
	if e := pt.envelope; e != nil && e.due {
		e.advance(pt.pull)
		d.look(pt)
		for _, j := range f.features() {
			f.gradient[j] = d.columns().Dot(j, pt.pull) / pt.total
		}
	}
	if _, ok := f.products.(*banded); ok {
		pt.model, pt.unit = slices.Clone(pt.curve), 1
	} else if pt.own && pt.coupled.Second != nil {
		if _, is := f.products.(*rowwise); f.rowwise() && !is {
			f.products = new(rowwise)
		} else if !f.rowwise() && f.products != products(pt.whole) {
			pt.whole = new(whole)
			f.products = pt.whole
		}
		pt.model, pt.unit, f.part = slices.Clone(pt.curve), 1, new(part)
	} else if pt.own || !d.curved.shared {
		f.takeOwn(ctx)
	}
	pt.before = pt.before[:0]
	for _, j := range f.features() {
		pt.before = append(pt.before, f.b[j])
	}
	if pt.truncated = f.truncated(ctx, w); !pt.truncated {
		f.products.begin(f)
		share := min(modelShare, math.Sqrt(f.gap/max(f.null(), math.SmallestNonzeroFloat64)))
		if pt.envelope != nil {
			share = envelopeShare
		} else if pt.last {
			share = lastShare
		}
		f.settle(ctx, w.scaled(pt.unit), ending{share: share, again: pt.own &&
			(pt.envelope != nil || pt.coupled.Second != nil)})
		if s, ok := f.products.(interface{ end(f *fold) }); ok {
			s.end(f)
		}
	}
}

// rowwise says that the model has no matrix, as sparse columns of classes are many.
func (f *fold) rowwise() bool {
	return f.d.classes > 1 && len(f.working) >= fewOrder && !f.d.columns().Dense()
}

// advance goes from before the round towards the solution of its model, by which the predictions have the whole change,
// as far as the objective falls, and returns by how much.
func (f *fold) advance(w *Weights) float64 {
	d, pt := f.d, f.point
	change, from, pull, features := pt.pull, d.room(), d.room(), f.features()
	defer d.curved.rooms.Put(&change)
	defer d.curved.rooms.Put(from)
	eta := *from
	copy(eta, pt.eta)
	pt.pull = *pull
	step := 0.0
	if d.intercept {
		slope, curve := pt.slant*pt.total, 0.0
		for i, train := range d.train[f.number] {
			if train {
				slope, curve = slope-pt.model[i]*change[i], curve+pt.model[i]
			}
		}
		step = slope / curve
		floats.AddConst(step, change)
	}
	after := make([]float64, len(features))
	for i, j := range features {
		after[i], f.b[j] = f.b[j], pt.before[i]
	}
	before := pt.value + f.penalties(f.working, w)
	const halvings = 20
	far := 1.0
	if pt.envelope != nil {
		far = f.reach(eta, change, features, after, w)
	}
	for k := 0; k < halvings; far, k = far/2, k+1 {
		for i, v := range change {
			pt.eta[i] = eta[i] + far*v
		}
		for i, j := range features {
			if f.b[j] = after[i]; far != 1 {
				f.b[j] = pt.before[i] + far*(after[i]-pt.before[i])
			}
		}
		d.look(pt)
		if total := pt.value + f.penalties(f.working, w); total <= before+1e-13*math.Abs(before) {
			pt.b0 += far * step
			return before - total
		}
	}
	copy(pt.eta, eta)
	for i, j := range features {
		f.b[j] = pt.before[i]
	}
	d.look(pt)
	return 0
}

// changes sets the changes of predictions of some folds, in the place of their pulls, to what coefficients have changed
// by since before the round.
func (d *Data) changes(ctx context.Context, folds []*fold) {
	x := d.entries()
	var steps, to [][]float64
	for _, f := range folds {
		pt := f.point
		clear(pt.pull)
		to = append(to, pt.pull)
		if !x.X.Dense() { // few of many columns
			continue
		}
		less := make([]float64, d.p)
		for i, j := range f.features() {
			less[j] = pt.before[i] - f.b[j]
		}
		steps = append(steps, less)
	}
	if x.X.Dense() {
		x.LessEach(ctx, steps, to, d.threads)
		crew.Each(len(folds), d.threads, func(k int) {
			floats.Scale(-1, steps[k])
			d.gaps.rows(folds[k].number, steps[k], to[k])
		})
		return
	}
	crew.Each(len(folds), d.threads, func(k int) {
		f := folds[k]
		for i, j := range f.features() {
			if step := f.b[j] - f.point.before[i]; step != 0 {
				x.Axpy(step, j, to[k])
			}
		}
	})
}

// room is one for a vector of the rows while a fold is at work, of those that all folds share.
func (d *Data) room() *[]float64 {
	if v, ok := d.curved.rooms.Get().(*[]float64); ok {
		return v
	}
	v := make([]float64, d.n)
	return &v
}

// features are those of the working set.
func (f *fold) features() (list []int) {
	for _, u := range f.working {
		list = append(list, f.d.units[u]...)
	}
	return list
}

// slopes fills in the gradients of all features for some folds, with one pass over the columns.
func (d *Data) slopes(ctx context.Context, folds []*fold) {
	var pulls, to [][]float64
	for _, f := range folds {
		pulls, to = append(pulls, f.point.pull), append(to, f.gradient)
	}
	d.entries().DotsEach(ctx, pulls, to, d.threads)
	crew.Each(len(folds), d.threads, func(k int) {
		f := folds[k]
		d.gaps.dots(f.number, pulls[k], f.gradient)
		for j := range f.gradient {
			f.gradient[j] /= f.point.total
		}
	})
}

// together is how many columns of the table are read at a time, by all folds, while they stay in the cache.
const together = 8

// columnwise calls f for so many columns after the other, on the threads that there are, until the context ends.
func (d *Data) columnwise(ctx context.Context, f func(from, to int)) {
	crew.Until(ctx, (d.p+together-1)/together, d.threads, func(k int) { f(k*together, min(d.p, (k+1)*together)) })
}

// solveCurved is Solve for a loss that is not of squares.
func (p *Path) solveCurved(ctx context.Context, tol float64) {
	d := p.d
	if p.folds[0].point.envelope != nil && !p.stays() {
		p.renewEnvelopes(ctx)
	}
	crew.Each(len(p.folds), d.threads, func(t int) {
		f := p.folds[t]
		f.gap, f.point.last, f.point.products, f.point.own = math.Inf(1), false, 0, f.point.own && f.point.envelope == nil
		f.joins = f.propose(f.weights)
	})
	if d.curved.shared {
		p.share(ctx, false)
	}
	const passes, few, entries = 1000, 2, 200_000 // few until products are looked at again; entries of a table
	whole := len(p.folds) == 1 && d.classes == 1 && p.folds[0].point.envelope == nil && d.columns().Stored() < entries
	last := slices.Repeat([]float64{math.Inf(1)}, len(p.folds)) // decreases of the last rounds
	slow := make([]int, len(p.folds))
	gradients := func(ctx context.Context, folds []*fold) {
		d.changes(ctx, folds)
		crew.Each(len(folds), d.threads, func(i int) {
			f := folds[i]
			t, fell := f.number, f.advance(f.weights)
			if len(f.joins) == 0 && fell >= stallShare*last[t] {
				slow[t]++
			}
			if f.point.truncated && !(fell > 0) {
				f.point.products = math.MaxInt
			}
			last[t] = fell
		})
		d.slopes(ctx, folds)
	}
	round := func(f *fold) {
		t, pt := f.number, f.point
		pt.own, pt.slow = pt.own || slow[t] > 1, slow[t] > 0
		f.round(ctx, f.weights)
	}
	judge := func(f *fold) {
		pt, before := f.point, f.gap
		f.measure(f.weights)
		f.joins = f.violators(f.weights)
		// Where labels are told apart, the objective falls to zero with the weights, and so must the gap.
		if f.gap <= min(tol*f.null(), math.Sqrt(tol)*f.objective) {
			f.solved = pt.last || !whole || Sparse(d.x) && len(f.active()) > mostSparse // which have few Newton steps
			pt.last, pt.own = true, pt.own || whole
			return
		}
		moves := pt.envelope.moves(f.inner * f.point.total)
		// Where the objective has no more digits, the gap still has, as it falls by the root of what that does.
		f.ended = pt.own && !pt.truncated && !moves && len(f.joins) == 0 && last[f.number] <= roundedFall*f.null() &&
			f.gap > before/2
		f.solved = f.ended && f.gap <= roundingGap*f.null()
	}
	open := func(f *fold) bool { return !f.solved && !f.ended }
	for k := passes / few; d.curved.shared && p.folds[0].point.envelope == nil && k > 0; k-- {
		if p.rounds(ctx, few, gradients, round, judge); ctx.Err() != nil || !slices.ContainsFunc(p.folds, open) {
			break
		}
		p.share(ctx, true)
	}
	p.rounds(ctx, passes, gradients, round, judge)
	for _, f := range p.folds {
		f.last = f.weights
	}
}

// roundedFall is the decrease of the objective, beside that without coefficients, that is rounding.
const roundedFall = 1e-15

// modelShare is the share of its first sweep's largest decrease to which a model is solved at most, less where the gap
// is small, envelopeShare that of one of an envelope, of which the bends count for more, lastShare that of the last
// model of a small single fit, whose coefficients then have twice the digits that the gap asks for, and stallShare that
// of the decrease in the round before from which on a round is slow. After two of these a fold has curvatures of its
// own, or of a coupled loss all second derivatives.
const modelShare, envelopeShare, lastShare, stallShare = 1e-2, 0.1, 1e-10, 0.2

// Gap bounds how far the objective of a convex loss that is not negative is from its least, where the loss has some
// value and gradients, less their signs, in the coefficients b, of classes with the constants after them, and in the
// constant b0 the slope slant. null is its value without coefficients.
func (d *Data) Gap(loss, null float64, gradient, b []float64, slant, b0 float64, w *Weights) float64 {
	f := &fold{d: d, b: b, gradient: gradient, bound: math.Inf(-1), point: &point{value: loss, null: null, slant: slant,
		b0: b0}}
	for u := range d.units {
		if f.inUse(u) {
			f.working = append(f.working, u)
		}
	}
	f.measure(w)
	return f.gap
}

// losses are the mean losses on the validation rows of a fold.
func (d *Data) losses(f *fold) float64 {
	c, t := d.curved, f.number
	if c.unit[t] == 0 {
		return 0
	}
	pull, curve := d.room(), d.room()
	defer c.rooms.Put(pull)
	defer c.rooms.Put(curve)
	sum := c.val[t](f.point.eta, *pull, *curve)
	if c.added {
		sum -= f.point.value * f.point.total
	}
	return sum / c.unit[t]
}

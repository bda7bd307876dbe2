package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
)

// fold is the fit of one fold, each solve from the one before. Vectors have q entries for each feature.
type fold struct {
	d      *Data
	number int
	part   *part
	b      []float64
	// of the loss, less its sign; of features outside the working set as it was after the last round
	gradient         []float64
	products         products
	work             work      // over the working set
	noise            float64   // norm of a gradient that is rounding
	point            *point    // of a loss that is not of squares
	residual         *residual // of rows
	local            *local    // of gram
	primal           bool      // the dual problem did not come to its end
	weights          *Weights  // to solve with
	last             *Weights  // of an envelope, at which it was solved, nil for none
	working          []int     // units
	chain            *chain    // of a chained table
	inWork           []bool
	outers           outers
	gap              float64
	inner            float64
	objective, bound float64   // the latter of the dual problem, for the weights at work
	solved, ended    bool      // the latter as no more can be done
	joins            []int     // what joins the working set in the next round
	step             []float64 // of one feature, which one holds
	one              []int
	next             []float64 // of a unit
	pull             []float64 // gradients of it
}

func (d *Data) newFold(t int) *fold {
	f := &fold{
		d: d, number: t, b: make([]float64, d.p*d.q), gradient: make([]float64, d.p*d.q), inWork: make([]bool, len(d.units)),
		step: make([]float64, d.q), one: make([]int, 1), products: d.products,
	}
	if d.curved != nil {
		f.point = d.start(t)
		f.noise = 1e-14 * floats.Norm(f.point.pull, 2) / math.Sqrt(float64(d.n))
		if f.point.envelope != nil && !Sparse(d.x) {
			f.products, f.part = d.newBanded(f.point), new(part)
		}
		if first := d.p - len(f.point.constants); first < d.p {
			copy(f.b[first:], f.point.constants)
			f.join(d.all[first:])
		}
		return f
	}
	f.part = d.parts[t]
	f.noise = 1e-14 * math.Sqrt(f.part.yy)
	copy(f.gradient, f.part.c)
	if d.chained {
		f.chain = &chain{b: make([]float64, d.p), step: 1}
	}
	return f
}

// null is the loss without coefficients.
func (f *fold) null() float64 {
	if f.point != nil {
		return f.point.null
	}
	return f.part.yy / 2
}

// support are the features whose coefficients are not zero.
func (f *fold) support() (list []int) {
	for _, u := range f.working {
		for _, j := range f.d.units[u] {
			if f.used(j) {
				list = append(list, j)
			}
		}
	}
	return list
}

func (f *fold) used(j int) bool {
	a := j * f.d.q
	for _, v := range f.b[a : a+f.d.q] {
		if v != 0 {
			return true
		}
	}
	return false
}

// intercepts are those about the columns less center and the targets less their means.
func (f *fold) intercepts() []float64 {
	q := f.d.q
	out := append([]float64(nil), f.part.target...)
	for _, j := range f.support() {
		for k := range out {
			out[k] -= f.part.mean[j] * f.b[j*q+k]
		}
	}
	return out
}

// move changes the coefficients of features by steps.
func (f *fold) move(steps []float64, features []int) {
	q := f.d.q
	for i, j := range features {
		for k, s := range steps[i*q : (i+1)*q] {
			f.b[j*q+k] += s
		}
	}
	f.work.move(steps, features)
}

func nonzero(list []float64) bool {
	for _, v := range list {
		if v != 0 {
			return true
		}
	}
	return false
}

// penalty is the weight of the half square of feature j, and of its absolute values.
func (w *Weights) second(j int) float64 {
	if w.L2 == nil {
		return 0
	}
	return w.L2[j]
}

func (w *Weights) absolute(j int) float64 {
	if w.L1 == nil {
		return 0
	}
	return w.L1[j]
}

// excess is the norm of the gradient of unit u, less scale times the half squares' part, beyond what the absolute
// values of its coefficients hold back.
func (f *fold) excess(u int, w *Weights, factor float64) float64 {
	members, q := f.d.units[u], f.d.q
	if len(members) == 1 && q == 1 {
		j := members[0]
		g := f.gradient[j]
		if b := f.b[j]; b != 0 {
			g -= w.second(j) * b
		}
		return max(factor*math.Abs(g)-w.absolute(j), 0)
	}
	sum := 0.0
	for _, j := range members {
		if w.L1 == nil && w.L2 == nil {
			for _, g := range f.gradient[j*q : (j+1)*q] {
				g *= factor
				sum += g * g
			}
			continue
		}
		by := w.absolute(j)
		for k := range q {
			v := numerics.Soft(factor*(f.gradient[j*q+k]-w.second(j)*f.b[j*q+k]), by)
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// propose begins a solve: the working set has what is in use, and what is not optimal at zero.
func (f *fold) propose(w *Weights) (join []int) {
	f.primal, f.bound = false, math.Inf(-1)
	f.leave()
	return f.violators(w)
}

// bounds are those of feature j.
func (d *Data) bounds(j int) (lo, hi float64) { return d.lower[j], d.upper[j] }

// join takes units into the working set, which has those of a class one after the other, as have its products.
func (f *fold) join(units []int) {
	for _, u := range units {
		f.inWork[u] = true
		f.working = append(f.working, u)
	}
	if k := f.d.classes; k > 1 {
		slices.SortStableFunc(f.working, func(a, b int) int { return a%k - b%k })
	}
}

// spare is the number of units that the working set may always have beside those in use.
const spare = 100

// leave drops units without coefficients from the working set where these are many, or where products are of a band,
// which are better of few: they join again when they are wanted.
func (f *fold) leave() {
	const many = 2 // of the working set to one in use
	if active := f.active(); len(f.working) > many*len(active)+spare || f.point != nil && f.point.envelope != nil {
		for _, u := range f.working {
			f.inWork[u] = false
		}
		f.working = f.working[:0]
		f.join(active)
	}
}

// violators are the units outside the working set that are not optimal at zero: of more than are in use those that are
// furthest from it, as few of many stay in use. All join where most do, as half squares weigh more than norms, or where
// they cost little, as columns are sparse and no classes share a matrix.
func (f *fold) violators(w *Weights) (list []int) {
	var by []float64
	for u := range f.d.units {
		if f.inWork[u] {
			continue
		}
		if e := f.excess(u, w, 1); e > w.Norm[u]*(1+1e-9) && e > f.noise && f.pulls(u) {
			list, by = append(list, u), append(by, e-w.Norm[u])
		}
	}
	most := max(spare, len(f.active()))
	if len(list) <= most || w.second(f.d.units[list[0]][0]) > w.Norm[list[0]] || Sparse(f.d.x) && f.d.classes == 1 {
		return list
	}
	return numerics.Foremost(list, by, most)
}

// pulls says whether the gradient of a unit at zero leads within its bounds.
func (f *fold) pulls(u int) bool {
	if !f.alone(u) {
		return true
	}
	j := f.d.units[u][0]
	lo, hi := f.d.bounds(j)
	g := f.gradient[j]
	return g > 0 && hi > 0 || g < 0 && lo < 0
}

// ending says where settle ends: a sweep moves no coefficient by more than fall in the objective, or by more than a
// share of what the first did. again says that it has ended so before, and that was not enough.
type ending struct {
	fall, share float64
	again       bool
}

// settle solves over the working set by sweeps, which are extrapolated, and Newton steps where they are slow, or where
// it is done again.
func (f *fold) settle(ctx context.Context, w *Weights, end ending) {
	const rounds, sweeps = 100, 3000 // at most: the gap says what they leave
	left, work := sweeps, 1e7
	newtons := func(active []int) bool { // which are asked for again where coefficients depend on each other
		defer func() { work *= 2 }()
		return f.newtons(ctx, active, w, work)
	}
	for round := range rounds {
		if ctx.Err() != nil || left == 0 {
			return
		}
		if f.d.classes > 1 {
			f.centre(w)
		}
		again, most := end.again && round == 0, f.sweep(f.working, w)
		if most <= end.fall && !again {
			return
		}
		if round == 0 {
			end.fall = max(end.fall, end.share*most)
		}
		active := f.active()
		if len(active) == 0 {
			continue
		}
		slow, rows := 3+min(len(active)/20, 5), f.overRows(active, w, mostOrder)
		coupled := f.coupled(active, w) // where objectives are not quadratic, and systems large
		if order := len(active) * len(f.d.units[active[0]]) * f.d.q; coupled && rows {
			slow = 3 + min(order, f.d.n)/20
		} else if coupled {
			slow = 3 + order/20
		} else if rows || f.byRows(active, w) != nil {
			slow = 1
		}
		waits := f.waits(active)
		if slow = max(slow, waits); again && waits == 0 {
			newtons(active)
		}
		done := past{units: active}
		_, banded := f.products.(*banded) // whose rows come and go before sweeps have a direction
		for n := 1; left > 0 && f.sweep(active, w) > end.fall; n++ {
			if left--; ctx.Err() != nil || n%(slow+1) == 0 && newtons(active) {
				break
			}
			if !banded {
				f.extrapolate(&done, w)
			}
		}
	}
}

// read fills in the gradients of the working set.
func (f *fold) read() {
	q, features := f.d.q, f.features()
	g := f.work.fall(nil, features)
	for i, j := range features {
		copy(f.gradient[j*q:(j+1)*q], g[i*q:])
	}
}

// active are the units of the working set that are not zero.
func (f *fold) active() (list []int) {
	for _, u := range f.working {
		if f.inUse(u) {
			list = append(list, u)
		}
	}
	return list
}

// inUse says that a unit is not zero.
func (f *fold) inUse(u int) bool { return slices.ContainsFunc(f.d.units[u], f.used) }

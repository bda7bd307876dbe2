package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
)

// Loss is a smooth convex loss of one target, of a prediction eta.
type Loss interface {
	// At are the loss of a row of target y and its first and second derivative.
	At(y, eta float64) (value, slope, curve float64)
}

// curved is what fits of a [Loss] have beside those of squares: each round solves the quadratic model with the exact gradient and the weights of rows of
// the mean prediction of the folds (Lee, Sun, Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM J. Optim. 24, 2014).
type curved struct {
	loss   Loss
	offset []float64
}

// point is where the fit of a fold of a [Loss] is.
type point struct {
	eta   []float64 // of all rows
	b0    float64
	value float64   // mean loss of the training rows
	null  float64   // without coefficients
	slope []float64 // of the training rows, with their weights, less its sign; 0 for others
	total float64   // weight of the training rows
	slant float64   // mean of the slopes
	curve []float64 // curvatures of the rows in the model
	unit  float64   // total over the weight of the quadratic model
	last  float64   // decrease of the last round
	// before are the coefficients before a round, of the features of the working set.
	before []float64
	inner  Weights
}

// renew is the mean relative change of the curvatures from which on products are made anew; leastCurve and leastOwn are the shares of their mean that all have
// at least in the model of all folds and of one: at the mean prediction they may be far smaller than at a fold's.
const renew, leastCurve, leastOwn = 0.05, 1e-3, 1e-7

// start is the fit without coefficients of fold t.
func (d *Data) start(f *fold) {
	c := d.curved
	pt := &point{eta: make([]float64, d.n), slope: make([]float64, d.n)}
	if c.offset != nil {
		copy(pt.eta, c.offset)
	}
	for i, train := range d.train[f.number] {
		if train {
			pt.total += d.weight(i)
		}
	}
	f.point = pt
	const steps = 100
	for range steps {
		pt.value = d.look(f)
		if !d.intercept {
			break
		}
		slope, curve := 0.0, 0.0
		for i, train := range d.train[f.number] {
			if train {
				_, _, c := c.loss.At(d.y[0][i], pt.eta[i])
				slope, curve = slope+pt.slope[i], curve+d.weight(i)*c
			}
		}
		step := max(-2, min(2, slope/curve))
		if !(math.Abs(step) > 1e-12) {
			break
		}
		pt.b0 += step
		floats.AddConst(step, pt.eta)
	}
	pt.null = pt.value
}

// look computes the slopes at the predictions of a fold, and returns the mean loss.
func (d *Data) look(f *fold) float64 {
	pt, c := f.point, d.curved
	sum := 0.0
	pt.slant = 0
	for i, train := range d.train[f.number] {
		if !train {
			continue
		}
		w := d.weight(i)
		value, slope, _ := c.loss.At(d.y[0][i], pt.eta[i])
		pt.slope[i] = -w * slope
		sum += w * value
		pt.slant += pt.slope[i] / pt.total
	}
	if !d.intercept {
		pt.slant = 0
	}
	return sum / pt.total
}

// curvatures are those of the rows at a prediction, with their weights, a share of their mean at least.
func (d *Data) curvatures(least float64, eta func(i int) float64) []float64 {
	curve, mean := make([]float64, d.n), 0.0
	for i := range curve {
		_, _, v := d.curved.loss.At(d.y[0][i], eta(i))
		curve[i] = v * d.weight(i)
		mean += curve[i] / float64(d.n)
	}
	for i := range curve {
		curve[i] = max(curve[i], least*mean)
	}
	return curve
}

// share makes the products of all folds anew, of the curvatures at the mean prediction of the folds, where these have changed.
func (p *Path) share(ctx context.Context) {
	curve := p.d.curvatures(leastCurve, func(i int) float64 {
		eta := 0.0
		for _, f := range p.folds {
			eta += f.point.eta[i] / float64(len(p.folds))
		}
		return eta
	})
	if p.curve != nil {
		change := 0.0
		for i, v := range curve {
			change += math.Abs(v - p.curve[i])
		}
		if change <= renew*floats.Sum(p.curve) {
			return
		}
	}
	p.curve = curve
	model := p.d.model(ctx, curve, p.d.folds, p.d.train)
	for _, f := range p.folds {
		f.take(model, f.number, curve)
	}
}

// own makes the products of a fold alone, of its curvatures.
func (p *Path) own(ctx context.Context, f *fold) {
	curve := p.d.curvatures(leastOwn, func(i int) float64 { return f.point.eta[i] })
	t := f.number
	f.take(p.d.model(ctx, curve, p.d.folds[t:t+1], p.d.train[t:t+1]), 0, curve)
}

// model are the data of the quadratic model with these curvatures of rows.
func (d *Data) model(ctx context.Context, curve []float64, folds [][]int, train [][]bool) *Data {
	q := *d
	q.weights, q.curved, q.y, q.untargeted = curve, nil, [][]float64{make([]float64, d.n)}, true
	q.folds, q.train = folds, train
	q.prepare(ctx)
	return &q
}

// take makes a model that of a fold.
func (f *fold) take(model *Data, index int, curve []float64) {
	f.products, f.part, f.index, f.local, f.residue = model.products, model.parts[index], index, nil, nil
	clear(f.curve)
	f.point.curve, f.point.unit = curve, f.point.total/f.part.weight
}

// scaled are the weights of the penalties in the unit of the model of fold f.
func (w *Weights) scaled(to *Weights, unit float64) *Weights {
	for _, pair := range []struct {
		to   *[]float64
		from []float64
	}{{&to.Norm, w.Norm}, {&to.L1, w.L1}, {&to.L2, w.L2}} {
		if pair.from == nil {
			*pair.to = nil
			continue
		}
		if len(*pair.to) != len(pair.from) {
			*pair.to = make([]float64, len(pair.from))
		}
		for j, v := range pair.from {
			(*pair.to)[j] = unit * v
		}
	}
	return to
}

// round takes a step of a fold with the model, and returns the decrease of the objective.
func (f *fold) round(ctx context.Context, w *Weights, tol float64) float64 {
	d, pt := f.d, f.point
	features := f.features()
	pt.before = pt.before[:0]
	for _, j := range features {
		pt.before = append(pt.before, f.b[j])
	}
	f.products.begin(f)
	f.settle(ctx, w.scaled(&pt.inner, pt.unit), tol*pt.unit)
	change := make([]float64, d.n)
	for i, j := range features {
		if s := f.b[j] - pt.before[i]; s != 0 {
			d.columns().Axpy(s, j, change)
		}
	}
	step := 0.0
	if d.intercept {
		slope, curve := 0.0, 0.0
		for i, train := range d.train[f.number] {
			if train {
				slope, curve = slope+pt.slope[i]-pt.curve[i]*change[i], curve+pt.curve[i]
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
	eta := append([]float64(nil), pt.eta...)
	for far, k := 1.0, 0; k < halvings; far, k = far/2, k+1 {
		for i, v := range change {
			pt.eta[i] = eta[i] + far*v
		}
		for i, j := range features {
			if f.b[j] = after[i]; far < 1 {
				f.b[j] = pt.before[i] + far*(after[i]-pt.before[i])
			}
		}
		value := d.look(f)
		if math.IsNaN(value) {
			continue
		}
		if total := value + f.penalties(f.working, w); total <= before+1e-13*math.Abs(before) {
			pt.value, pt.b0 = value, pt.b0+far*step
			return before - total
		}
	}
	copy(pt.eta, eta)
	for i, j := range features {
		f.b[j] = pt.before[i]
	}
	pt.value = d.look(f)
	return 0
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
	const columns = 256
	x := d.columns()
	crew.Each((d.p+columns-1)/columns, d.threads, func(part int) {
		for j := part * columns; j < min(d.p, (part+1)*columns) && ctx.Err() == nil; j++ {
			for _, f := range folds {
				f.gradient[j] = x.Dot(j, f.point.slope) / f.point.total
			}
		}
	})
}

// solveCurved is Solve for a loss that is not of squares.
func (p *Path) solveCurved(ctx context.Context, w *Weights, tol float64) {
	d := p.d
	joins := make([][]int, len(p.folds))
	crew.Each(len(p.folds), d.threads, func(t int) {
		f := p.folds[t]
		f.leave()
		joins[t] = f.propose(w)
		f.solved, f.point.last = false, math.Inf(1)
	})
	open := append([]*fold(nil), p.folds...)
	p.share(ctx)
	const rounds = 100
	stalls := make([]int, len(p.folds))
	for k := 0; len(open) > 0 && k < rounds && ctx.Err() == nil; k++ {
		crew.Each(len(open), d.threads, func(i int) {
			f := open[i]
			t, pt := f.number, f.point
			if stalls[t] > 1 {
				p.own(ctx, f)
				stalls[t] = 1
			}
			f.join(joins[t])
			size := max(pt.value, leastLoss*pt.null)
			fell := f.round(ctx, w, innerTol*tol*size)
			slow := fell > stallShare*pt.last
			f.solved = fell <= tol*size && !slow || fell <= tol*stalledTol*size
			if pt.last = fell; slow && !f.solved {
				stalls[t]++
			}
		})
		d.slopes(ctx, open)
		crew.Each(len(open), d.threads, func(i int) {
			f := open[i]
			if joins[f.number] = f.violators(w); len(joins[f.number]) > 0 {
				f.solved, f.point.last = false, math.Inf(1)
			}
		})
		open = slices.DeleteFunc(open, func(f *fold) bool { return f.solved })
	}
	for _, f := range p.folds {
		f.last, f.gap = w, math.NaN()
	}
}

// stallShare is the share of the decrease in the round before from which on a round is slow: what is left is not small beside it. After two of these a fold has
// curvatures of its own. stalledTol times the tolerance is enough all the same.
// Tolerances are relative to the loss, or leastLoss of that without coefficients: where labels are told apart, errors of folds are as small.
const stallShare, stalledTol, leastLoss = 0.2, 1e-3, 1e-9

// losses are the mean losses on the validation rows of the folds.
func (d *Data) losses(f *fold) float64 {
	sum, weight := 0.0, 0.0
	for _, i := range d.folds[f.number] {
		w := d.weight(i)
		value, _, _ := d.curved.loss.At(d.y[0][i], f.point.eta[i])
		sum, weight = sum+w*value, weight+w
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

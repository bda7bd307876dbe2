package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
)

// paperRange are the bounds of the paper's searches for weights or for upper variables, 0 for a model
// that is not in it.
func (t *task) paperRange(upper bool) (low, high float64) {
	p := t.Advice.Paper
	span := p.Weights
	switch method := t.tuner.name; {
	case upper:
		span = p.Upper
	case p.Parzen[1] > 0 && (method == MethodTPE || method == MethodTPE2):
		span = p.Parzen
	}
	return span[0], span[1]
}

// dataRanges returns bounds of all h = (lambda, u). The weights of [dca.Program.Path], from just below the smallest
// that makes the solution zero on down, bound those of the lambda. Where a model has no path, those of
// [dca.Program.Weights] take their place. Upper variables keep to their own bounds.
func (t *task) dataRanges(ctx context.Context) (low, high []float64, err error) {
	p := &t.Program
	low, high = make([]float64, len(p.H0)), make([]float64, len(p.H0))
	for j := p.Radii; j < len(p.H0); j++ {
		if low[j], high[j], err = upperRange(p, j); err != nil {
			return nil, nil, fmt.Errorf("tune: %s: %w", t.Model.Name(), err)
		}
	}
	if len(p.Path) > 0 {
		for j := range p.Radii {
			low[j] = math.Inf(1)
			for _, lambda := range p.Path {
				w := lambda[min(j, len(lambda)-1)]
				low[j], high[j] = math.Min(low[j], w), math.Max(high[j], w)
			}
		}
		return low, high, t.farther(ctx, low, high)
	}
	most, stats, err := p.Weights(ctx, t.settings())
	if err != nil {
		return nil, nil, err
	}
	t.stats.Add(stats)
	top := slices.Max(append([]float64{0}, most...))
	if !(top > 0) {
		top = 1 // nothing is held back, so that any weight will do
	}
	for j := range p.Radii {
		high[j] = cmp.Or(most[j], top)
		low[j] = leastIdle * high[j]
	}
	return low, high, nil
}

// leastIdle of the largest weight of a radius is the least.
const leastIdle = 1e-4

// upperRange are the bounds of hyperparameter j, an upper variable.
func upperRange(p *dca.Program, j int) (low, high float64, err error) {
	low, high = 0, math.Inf(1)
	if p.Lo != nil {
		low = p.Lo[j]
	}
	if p.Hi != nil {
		high = p.Hi[j]
	}
	h := p.H0[j]
	if math.IsInf(high, 1) && h > 0 {
		high = 1e3 * h
	}
	if !(low > 0) && h > 0 {
		low = math.Min(h, high) / 1e3
	}
	if !(low > 0) || math.IsInf(high, 1) {
		return 0, 0, fmt.Errorf("hyperparameter %d has no positive bounds to search between; give a range", j)
	}
	return low, high, nil
}

// The ranges of a separable model go on down to farLeast of the largest weight while its error, solved for to farGap,
// falls by farGain a decade.
const farLeast, farGain, farGap = 1e-8, 1e-3, 1e-4

// farther moves the lower ends of the ranges of a separable model's weights down by folds, by a decade after the other
// as long as the validation error falls at the ends by the share that VF-iDCA goes on for: its searches end where its
// lists would.
func (t *task) farther(ctx context.Context, low, high []float64) error {
	if !t.Advice.Separable || !t.byWeights() {
		return nil
	}
	e, err := t.everyWeight(ctx, nil)
	if e == nil || err != nil {
		return err
	}
	defer e.close()
	e.gap = farGap
	least, share := math.Inf(1), 1.0
	for ctx.Err() == nil && least > 0 && share*slices.Max(low) > farLeast*slices.Max(high) {
		tr, err := e.at(ctx, scaled(low, share))
		if err != nil {
			return err
		}
		if tr.X == nil || !(tr.Errors.Validation < least*(1-farGain)) {
			break
		}
		least, share = tr.Errors.Validation, share/10
	}
	if share < 0.05 { // the last one that was tried was of no use
		floats.Scale(10*share, low)
	}
	return nil
}

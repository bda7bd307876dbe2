package evaluate

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// Bootstrap is the whole choice made anew on samples of the rows: hyperparameters by folds of the sample and the final
// fit (Efron, Annals of Statistics 7, 1979). What differs between samples would differ between other tables of as many
// rows from where these come from. Percentiles of coefficients of little penalty are confidence intervals; a penalty
// draws coefficients to 0, and the percentiles with them, so that they say how the choice varies and not where the
// truth is (Chatterjee, Lahiri, JASA 106, 2011).
type Bootstrap struct {
	Of      int            // samples that were wanted
	Samples []BootstrapFit // that have a model, by their number
	Failed  int            // samples without a model
	Why     error          // of the first of these; nil without
	Stopped bool           // by the end of the context
}

// BootstrapFit is the choice on a sample.
type BootstrapFit struct {
	// Names and Lambda are the weights of the penalties that were chosen, in the units that reports have.
	Names  []string
	Lambda []float64
	Fit    problems.Fit // the final one, in the user's units
}

// Bootstrap makes the choice on so many samples, several side by side, each drawn by the seed and its number alone, see
// [input.Outer.Draw]; what is done when the context ends is kept. Observe, if not nil, is told how many are done. A
// sample for which there is no model is counted, and an error where none has one.
func (c *Choice) Bootstrap(ctx context.Context, o *input.Outer, samples int, seed uint64, observe func(done int)) (
	*Bootstrap, error) {
	if samples < 2 {
		return nil, fmt.Errorf("%d samples, expected at least 2", samples)
	}
	if _, p := o.Data.Dims(); 8*float64(p)*float64(samples) > float64(memory.Default())/2 {
		return nil, fmt.Errorf("the coefficients of %d samples do not fit into half of the budget of memory, %s (%s)",
			samples, memory.Format(memory.Default()), memory.More)
	}
	fits := make([]*BootstrapFit, samples)
	errs := c.anew(ctx, samples, observe, func(k int) (rows *input.Rows, model problems.Model, err error) {
		if rows, err = o.Draw(seed, k); err == nil {
			model, err = c.model(rows)
		}
		return rows, model, err
	}, func(k int, _ *input.Rows, _ problems.Model, r *tune.Result) error {
		fits[k] = &BootstrapFit{r.Names, r.Lambda, r.RefitFit}
		fits[k].Fit.Freedom = nil // which holds the rows
		return nil
	})
	b := &Bootstrap{Of: samples, Stopped: ctx.Err() != nil}
	for k, f := range fits {
		switch {
		case f != nil:
			b.Samples = append(b.Samples, *f)
		case errs[k] != nil:
			b.Failed++
			if b.Why == nil {
				b.Why = fmt.Errorf("sample %d: %w", k, errs[k])
			}
		}
	}
	if len(b.Samples) == 0 && !b.Stopped {
		return nil, b.Why
	}
	return b, nil
}

// Selected is the share of the samples in which each feature has a coefficient that is not zero.
func (b *Bootstrap) Selected() []float64 {
	var share []float64
	for _, s := range b.Samples {
		if share == nil {
			share = make([]float64, len(s.Fit.Features))
		}
		for j := range share {
			if floats.Count(func(v float64) bool { return v != 0 }, s.Fit.Of(j)) > 0 {
				share[j]++
			}
		}
	}
	floats.Scale(1/float64(len(b.Samples)), share)
	return share
}

// Interval are the percentiles of a value over the samples between which a share level of further samples is, and the
// median: of B samples the values at the places (B + 1) q in their order, interpolated between neighbours (Davison,
// Hinkley, Bootstrap Methods and their Application, 1997, section 5.3). For less than 2/(1 - level) samples these are
// the least and the largest.
func (b *Bootstrap) Interval(level float64, of func(f *BootstrapFit) float64) (low, median, high float64) {
	values := make([]float64, len(b.Samples))
	for k := range values {
		values[k] = of(&b.Samples[k])
	}
	slices.Sort(values)
	at := func(q float64) float64 {
		place := min(max(q*float64(len(values)+1)-1, 0), float64(len(values)-1))
		i := int(place)
		if i+1 == len(values) {
			return values[i]
		}
		return values[i] + (place-float64(i))*(values[i+1]-values[i])
	}
	return at((1 - level) / 2), at(0.5), at((1 + level) / 2)
}

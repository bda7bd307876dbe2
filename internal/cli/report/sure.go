package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// How sure a choice and its predictions are: samples of the rows, and intervals.

// IntervalLevel is the level of the prediction intervals that a report judges, sampledLevel that of the percentiles
// over samples, and wide is the ratio of two ends of the weights from which on a choice is called uncertain.
const IntervalLevel, sampledLevel, wide = 0.9, 0.95, 10

// describeIntervals says what prediction intervals do on the test rows.
func describeIntervals(c *evaluate.Covered) string {
	return fmt.Sprintf("Prediction intervals of %.0f %% are %s wide in the mean on the test rows, and %s of their "+
		"targets are inside (predict --interval %g).", 100*c.Level, words.Short(c.Width),
		words.PlusMinus(100*c.Coverage, 100*c.StandardError)+" %", c.Level)
}

// Percentiles are those of a number over the samples: two ends, and the median.
type Percentiles struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}

// percentiles are those of what a function has of a sample.
func percentiles(b *evaluate.Bootstrap, of func(f *evaluate.BootstrapFit) float64) Percentiles {
	low, median, high := b.Interval(sampledLevel, of)
	return Percentiles{low, median, high}
}

// sampledCoefficients are those of the coefficients and constants, in the order of a fit.
func sampledCoefficients(b *evaluate.Bootstrap) (coefficients, constants []Percentiles) {
	all := func(of func(f problems.Fit) []float64) (list []Percentiles) {
		for k := range of(b.Samples[0].Fit) {
			list = append(list, percentiles(b, func(f *evaluate.BootstrapFit) float64 { return of(f.Fit)[k] }))
		}
		return list
	}
	return all(func(f problems.Fit) []float64 { return f.Coefficients }), all(problems.Fit.Constants)
}

// sampledCells are cells of the file of coefficients, of a feature, -1 for the constant, and a target: the share of the
// samples that have the feature, and the percentiles.
func sampledCells(b *evaluate.Bootstrap) func(feature, target int) []string {
	share := b.Selected()
	coefficients, constants := sampledCoefficients(b)
	return func(feature, target int) []string {
		chosen, p := "", constants[target]
		if feature >= 0 {
			chosen, p = words.Exact(share[feature]), coefficients[feature*len(constants)+target]
		}
		return []string{chosen, words.Exact(p.Low), words.Exact(p.High)}
	}
}

// sampledWeights are the percentiles of the weights over the samples by their names, in their order; none where the
// samples have others, or many.
func sampledWeights(model string, b *evaluate.Bootstrap) (names []string, list []Percentiles) {
	add := func(name string, of func(weights []float64) float64) {
		names, list = append(names, name), append(list, percentiles(b, func(f *evaluate.BootstrapFit) float64 {
			return of(f.Lambda)
		}))
	}
	first := b.Samples[0].Names
	for _, f := range b.Samples {
		if !slices.Equal(f.Names, first) || len(f.Lambda) > min(len(f.Names), MostHyperparameters) {
			return nil, nil
		}
	}
	ones := slices.Repeat([]float64{1}, len(b.Samples[0].Lambda))
	if _, _, ok := parametrised(model, ones); ok {
		add("lambda", func(w []float64) float64 { lambda, _, _ := parametrised(model, w); return lambda })
		if slices.Contains(mixing, model) {
			add("l1_ratio", func(w []float64) float64 { _, l1, _ := parametrised(model, w); return l1 })
		}
		return names, list
	}
	for k := range b.Samples[0].Lambda {
		add(first[k], func(w []float64) float64 { return w[k] })
	}
	return names, list
}

// usedBy is the number of features of a sample.
func usedBy(f *evaluate.BootstrapFit) float64 { return float64(f.Fit.Used()) }

// describeBootstrap says how far the choice varies over the samples.
func describeBootstrap(run *Run, r *tune.Result) string {
	b := run.Bootstrap
	names, list := sampledWeights(r.Model, b)
	uncertain, said := false, []string{}
	for k, p := range list {
		if !(p.High > p.Low) || len(list) > 2 {
			continue
		}
		said = append(said, fmt.Sprintf("%s from %s to %s", names[k], words.Short(p.Low), words.Short(p.High)))
		if names[k] == "l1_ratio" {
			said[len(said)-1] = fmt.Sprintf("l1_ratio from %s to %s", words.Ratio(p.Low, 3), words.Ratio(p.High, 3))
		} else if p.High > wide*p.Low {
			uncertain = true
		}
	}
	used := percentiles(b, usedBy)
	low, high := math.Round(used.Low), math.Round(used.High)
	few := fmt.Sprintf("%.0f to %.0f", low, high)
	if low == high {
		few = fmt.Sprintf("%.0f", low)
	}
	weights := ""
	if len(said) > 0 {
		weights = strings.Join(said, " and ") + ", and "
	}
	text := fmt.Sprintf("Over %s of the rows, 95 %% of the choices have %s%s of %s.",
		words.Count(len(b.Samples), "sample"), weights, few, words.Count(len(r.RefitFit.Features), "feature"))
	if b.Failed > 0 {
		text += fmt.Sprintf(" %d of %d samples have no model.", b.Failed, b.Of)
	}
	if uncertain {
		text += " The rows do not say which weight is best; that of another sample may do as well."
	}
	return text
}

// ToldBootstrap is what JSON has of the samples.
type ToldBootstrap struct {
	Of      int     `json:"of"`
	Samples int     `json:"samples"` // with a model
	Failed  int     `json:"failed"`
	Level   float64 `json:"level"`
	// Hyperparameters are the weights where they are few, and Features the number of features in the model.
	Hyperparameters map[string]Percentiles `json:"hyperparameters,omitempty"`
	Features        Percentiles            `json:"features"`
	// Selected are the shares of the samples that have each feature, of those that one has, and Coefficients their
	// percentiles; these and Intercept with several targets by target, too.
	Selected     map[string]float64 `json:"selected"`
	Coefficients map[string]any     `json:"coefficients"`
	Intercept    any                `json:"intercept"`
}

// TellBootstrap is what JSON has of the samples; nil without.
func (run *Run) TellBootstrap(r *tune.Result) *ToldBootstrap {
	b := run.Bootstrap
	if b == nil || r.Refit == nil {
		return nil
	}
	all := func(Percentiles) bool { return true }
	coefficients, constants := sampledCoefficients(b)
	out := &ToldBootstrap{Of: b.Of, Samples: len(b.Samples), Failed: b.Failed, Level: sampledLevel,
		Hyperparameters: map[string]Percentiles{}, Features: percentiles(b, usedBy), Selected: map[string]float64{},
		Coefficients: map[string]any{}, Intercept: byTarget(r.RefitFit, constants, all)}
	names, list := sampledWeights(r.Model, b)
	for k, name := range names {
		out.Hyperparameters[name] = list[k]
	}
	q := len(constants)
	for j, share := range b.Selected() {
		if name := r.RefitFit.Features[j]; share > 0 {
			out.Selected[name], out.Coefficients[name] = share, byTarget(r.RefitFit, coefficients[j*q:(j+1)*q], all)
		}
	}
	return out
}

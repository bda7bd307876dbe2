package main

import (
	"math"

	"github.com/conetune/conetune/internal/unpenalised"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// learned are rows, and those that their predictor learned from.
type learned struct{ rows, from *dataset.Data }

// unpenalisedFits are predictions of fits without penalty, or why there are none.
type unpenalisedFits struct {
	value []float64
	why   error
}

// mostUnpenalised bounds the multiplications of all fits without penalty, which are there for comparison only.
const mostUnpenalised = 1e9

// kindOf is the loss whose fit without penalty a predictor is compared with; ok is false where there is none.
func (j *judge) kindOf(f tune.Fit) (kind unpenalised.Kind, ok bool) {
	switch {
	case f.Hazard, f.Classes(), f.Matrix != nil, f.Labels != nil && !j.logOdds(), j.spec.Name == "quantile":
		return 0, false
	case f.Labels != nil:
		return unpenalised.Logistic, true
	case f.LogLink:
		return unpenalised.Poisson, true
	}
	return unpenalised.Squares, true
}

// plainName names the fit without penalty in the head of a column.
func (j *judge) plainName(f tune.Fit) string {
	if kind, _ := j.kindOf(f); kind == unpenalised.Squares {
		return "least squares"
	}
	return "without penalty"
}

// plainFit names it in a sentence.
func (j *judge) plainFit(f tune.Fit) string {
	if kind, _ := j.kindOf(f); kind == unpenalised.Squares {
		return "least squares, without a penalty,"
	}
	return "the fit without a penalty"
}

// addUnpenalised adds the predictions of fits without penalty to the rows that the parts of a predictor learned from, which are the same for all
// predictors that are trained on them.
func (j *judge) addUnpenalised(d *judged, trainedOn string) {
	defer func() { d.learned = nil }() // copies of rows
	kind, ok := j.kindOf(d.fit)
	if !ok {
		return
	}
	key := d.on
	if d.on == onTest {
		key += " " + trainedOn
	}
	fits, known := j.plain[key]
	if !known {
		fits = j.unpenalised(kind, d)
		j.plain[key] = fits
	}
	d.Plain, d.whyNotPlain = fits.value, fits.why
}

func (j *judge) unpenalised(kind unpenalised.Kind, d *judged) (out unpenalisedFits) {
	work := 0.0
	for _, part := range d.learned {
		work += unpenalised.Work(kind, part.from)
	}
	if work > mostUnpenalised {
		return out
	}
	fit := func(from *dataset.Data, start *unpenalised.Solution) (*unpenalised.Solution, error) {
		if kind == unpenalised.Logistic {
			other := *from
			other.Y, from = is(from.Y, d.fit.Labels[1]), &other
		}
		return unpenalised.Fit(kind, from, j.intercept, start)
	}
	var all *unpenalised.Solution
	if len(d.learned) > 1 && kind != unpenalised.Squares { // where the rows of all folds have no fit, those of one have none
		var err error
		if all, err = fit(j.rows.Split.Train, nil); err != nil {
			return unpenalisedFits{why: err}
		}
	}
	for _, part := range d.learned {
		s, err := fit(part.from, all)
		if err != nil {
			return unpenalisedFits{why: err}
		}
		out.value = append(out.value, predicted(part.rows, tune.Fit{Coefficients: s.Coefficients, Intercept: s.Constant, LogLink: d.fit.LogLink})...)
	}
	return out
}

// predicted are the predictions of a fit for rows: of a classifier the values whose sign is the label, of counts the means, of hazards their logarithms.
func predicted(rows *dataset.Data, f tune.Fit) []float64 {
	out := make([]float64, len(rows.Y))
	for i := range out {
		out[i] = f.Intercept + rows.Dot(i, f.Coefficients)
		if rows.Offset != nil {
			out[i] += rows.Offset[i]
		}
		if f.LogLink {
			out[i] = math.Exp(out[i])
		}
	}
	return out
}

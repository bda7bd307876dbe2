package main

import (
	"encoding/csv"
	"io"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/tune"
)

// deviations are the standard deviations of the features over the training rows, to be read only.
func (job *tuneJob) deviations() []float64 {
	job.once.Do(func() { job.deviation = job.rows.Split.Train.Deviations() })
	return job.deviation
}

// effects lists the features whose coefficients are not zero, the largest effect first.
func (job *tuneJob) effects(fit tune.Fit) []model.Effect {
	return model.Effects(fit, model.Sizes(fit, job.deviations()))
}

// stability is the share of the fits of folds that have each feature; nil without folds.
func (job *tuneJob) stability(j *evaluate.Judged) []float64 {
	if j == nil || j.Folds == nil {
		return nil
	}
	return model.Stability(j.Folds, job.deviations())
}

// origin is where a feature comes from: the level of a category and the reference that it is compared with.
type origin struct{ column, level, reference string }

// origins are those of all features of an encoding.
func origins(e *table.Encoder) map[string]origin {
	out := map[string]origin{}
	if e == nil {
		return out
	}
	for _, c := range e.Columns {
		names := (&table.Encoder{Columns: []table.Coding{c}}).Features()
		for k, name := range names {
			o := origin{column: c.Column}
			switch {
			case c.Kind == table.Category && k+1 < len(c.Levels):
				o.level, o.reference = c.Levels[k+1], c.Levels[0]
			case c.Missing && k == len(names)-1:
				o.level = "(missing)"
				if len(c.Levels) > 0 {
					o.reference = c.Levels[0]
				}
			}
			out[name] = o
		}
	}
	return out
}

// writeCoefficients writes the intercept and the coefficients that are not zero as CSV, those of the largest effect first; with several targets a
// row for each feature and target, and with folds the share of those that have the feature.
func (job *tuneJob) writeCoefficients(w io.Writer, fit tune.Fit, j *evaluate.Judged) error {
	from, deviation := origins(job.rows.Encoder), job.deviations()
	out := csv.NewWriter(w)
	head := []string{"feature", "coefficient", "effect", "column", "level", "reference"}
	targets := []string{""}
	if fit.Targets != nil {
		targets, head = fit.Targets, append(head, "target")
	}
	stable := job.stability(j)
	if stable != nil {
		head = append(head, "chosen_by_folds")
	}
	var lines [][]string
	line := func(k, feature int, cells ...string) {
		if fit.Targets != nil {
			cells = append(cells, targets[k])
		}
		if stable != nil {
			share := ""
			if feature >= 0 {
				share = exact(stable[feature])
			}
			cells = append(cells, share)
		}
		lines = append(lines, cells)
	}
	for k := range targets {
		intercept := fit.Intercept
		if fit.Targets != nil {
			intercept = fit.Intercepts[k]
		}
		line(k, -1, "(intercept)", exact(intercept), "", "", "", "")
	}
	for _, f := range job.effects(fit) {
		o, there := from[f.Feature]
		if !there {
			o.column = f.Feature
		}
		for k, v := range fit.Of(f.Index) {
			if v != 0 {
				line(k, f.Index, f.Feature, exact(v), exact(v*deviation[f.Index]), o.column, o.level, o.reference)
			}
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	return out.WriteAll(lines)
}

// toldCoefficients are the intercept and the coefficients that are not zero, for JSON.
type toldCoefficients struct {
	Coefficients any `json:"coefficients"` // of a feature, with several targets of a feature and a target
	Intercept    any `json:"intercept"`    // with several targets of a target
}

// tellCoefficients names the coefficients of a fit.
func tellCoefficients(fit tune.Fit) *toldCoefficients {
	q := len(fit.Targets)
	if q == 0 {
		named := map[string]float64{}
		for j, v := range fit.Coefficients {
			if v != 0 {
				named[fit.Features[j]] = v
			}
		}
		return &toldCoefficients{named, fit.Intercept}
	}
	named, intercepts := map[string]map[string]float64{}, map[string]float64{}
	for k, target := range fit.Targets {
		intercepts[target] = fit.Intercepts[k]
	}
	for j, feature := range fit.Features {
		for k, v := range fit.Of(j) {
			if v != 0 {
				if named[feature] == nil {
					named[feature] = map[string]float64{}
				}
				named[feature][fit.Targets[k]] = v
			}
		}
	}
	return &toldCoefficients{named, intercepts}
}

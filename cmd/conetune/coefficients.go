package main

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/tune"
)

func absolutes(v []float64) []float64 {
	out := make([]float64, len(v))
	for j, x := range v {
		out[j] = math.Abs(x)
	}
	return out
}

// spread keeps the standard deviations of the rows that it was asked for last, as the parts of a report all need those of the training rows.
type spread struct {
	lock   sync.Mutex
	rows   *dataset.Data
	values []float64
}

// of are the standard deviations of the features over some rows, to be read only.
func (s *spread) of(rows *dataset.Data) []float64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.rows != rows {
		s.rows, s.values = rows, rows.Deviations()
	}
	return s.values
}

// sizes are what features do when they move by one standard deviation over the training rows.
func (job *tuneJob) sizes(split *dataset.Split, fit tune.Fit) []float64 {
	out := slices.Clone(job.spread.of(split.Train))
	for j := range out {
		out[j] *= floats.Norm(fit.Of(j), 2)
	}
	return out
}

// effect is a coefficient, and what it does when its feature moves by one standard
// deviation: the coefficients of different units compare by that. With several targets it is the norm of what it does to them.
type effect struct {
	feature           string
	at                int // of the features
	coefficient, size float64
}

// effects lists the features whose coefficients are not zero, the largest effect first.
func (job *tuneJob) effects(split *dataset.Split, fit tune.Fit) []effect {
	return sortedEffects(fit, job.sizes(split, fit))
}

// sortedEffects lists the features of nonzero coefficients by the sizes of their effects.
func sortedEffects(fit tune.Fit, sizes []float64) []effect {
	var list []effect
	for j, size := range sizes {
		if row := fit.Of(j); floats.Norm(row, 1) > 0 {
			list = append(list, effect{fit.Features[j], j, row[0], size})
		}
	}
	slices.SortStableFunc(list, func(a, b effect) int { return cmp.Compare(b.size, a.size) })
	return list
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
func (job *tuneJob) writeCoefficients(w io.Writer, split *dataset.Split, fit tune.Fit, j *judged) error {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	from, deviation := origins(job.rows.Encoder), job.spread.of(split.Train)
	out := csv.NewWriter(w)
	head := []string{"feature", "coefficient", "effect", "column", "level", "reference"}
	targets := []string{""}
	if fit.Targets != nil {
		targets, head = fit.Targets, append(head, "target")
	}
	stable := job.stability(split, j)
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
				share = text(stable[feature])
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
		line(k, -1, "(intercept)", text(intercept), "", "", "", "")
	}
	for _, f := range job.effects(split, fit) {
		o, there := from[f.feature]
		if !there {
			o.column = f.feature
		}
		for k, v := range fit.Of(f.at) {
			if v != 0 {
				line(k, f.at, f.feature, text(v), text(v*deviation[f.at]), o.column, o.level, o.reference)
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

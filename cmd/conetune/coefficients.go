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

// inThreshold is the share of the largest effect up to which a coefficient counts as zero: an interior-point solution has no
// exact zeros. Solvers at a tolerance of --eps leave coefficients of some hundred times that.
func inThreshold(eps float64) float64 { return max(1e-6, 100*eps) }

// dropNegligible sets coefficients of the refit to zero whose effect is within the accuracy of the solver, in the place of which stands their mean in the intercept,
// and scores the refit that is left. Report, files and predictions so have the same features.
func (job *tuneJob) dropNegligible(split *dataset.Split, model tune.Model, r *tune.Result) {
	fit := r.RefitFit
	if r.Refit == nil || job.spec.keepsAll || len(fit.Coefficients) == 0 {
		return
	}
	if fit.Matrix != nil { // which predicts, and in which the coefficients are
		r.RefitFit.Coefficients = slices.Clone(fit.Coefficients)
		for _, j := range negligible(job.eps, absolutes(fit.Coefficients)) {
			r.RefitFit.Coefficients[j] = 0
		}
		return
	}
	gone := negligible(job.eps, job.sizes(split, fit))
	if len(gone) == 0 {
		return
	}
	n, _ := split.Train.Dims()
	each := make([]float64, n)
	for i := range each {
		each[i] = 1 / float64(n)
	}
	means := split.Train.MulTrans(each)
	fit.Coefficients, fit.Intercepts = slices.Clone(fit.Coefficients), slices.Clone(fit.Intercepts)
	for _, j := range gone {
		row := coefficients(fit, j)
		switch {
		case !job.scaling.intercept:
		case fit.Targets != nil:
			floats.AddScaled(fit.Intercepts, means[j], row)
		default:
			fit.Intercept += means[j] * row[0]
		}
		clear(row)
	}
	r.RefitFit = fit
	if tester, ok := model.(interface{ TestError(tune.Fit) *float64 }); ok && r.Refit.Test != nil {
		refit, old := *r.Refit, r.Refit.Test
		refit.Test = tester.TestError(fit)
		r.Refit = &refit
		if r.Errors.Test == old { // with folds they are the same predictor
			r.Errors.Test, r.Iterate = refit.Test, fit
		}
	}
}

// negligible are the indices of sizes that are not zero, and within the accuracy of a solver beside the largest.
func negligible(eps float64, sizes []float64) (gone []int) {
	bound := inThreshold(eps) * slices.Max(sizes)
	for j, size := range sizes {
		if !(size > bound) {
			gone = append(gone, j)
		}
	}
	return gone
}

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
		out[j] *= floats.Norm(coefficients(fit, j), 2)
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

// coefficients are those of feature j, one for each target.
func coefficients(fit tune.Fit, j int) []float64 {
	q := max(1, len(fit.Targets))
	return fit.Coefficients[j*q : (j+1)*q]
}

// effects lists the features whose coefficients are not zero, the largest effect first.
func (job *tuneJob) effects(split *dataset.Split, fit tune.Fit) []effect {
	return sortedEffects(fit, job.sizes(split, fit))
}

// sortedEffects lists the features of nonzero coefficients by the sizes of their effects.
func sortedEffects(fit tune.Fit, sizes []float64) []effect {
	var list []effect
	for j, size := range sizes {
		if row := coefficients(fit, j); floats.Norm(row, 1) > 0 {
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
	from, deviation := origins(job.data.encoder()), job.spread.of(split.Train)
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
		for k, v := range coefficients(fit, f.at) {
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
		for k, v := range coefficients(fit, j) {
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

package report

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table"
)

// deviations are the standard deviations of the features over the training rows.
func (run *Run) deviations() []float64 { return run.Rows.Split.Train.Deviations() }

// effects lists the features whose coefficients are not zero, the largest effect first.
func (run *Run) effects(fit problems.Fit) []model.Effect {
	return model.Effects(fit, model.Sizes(fit, run.deviations()))
}

// Stability is the share of the fits of folds that have each feature; nil without folds.
func (run *Run) Stability(j *evaluate.Sample) []float64 {
	if j == nil || j.Folds == nil {
		return nil
	}
	return model.Stability(j.Folds, run.deviations())
}

// coefficientTable lists the coefficients in use, the largest effect first and as far as most allows, with a bar for
// each and how many folds choose it; more are left out.
func coefficientTable(run *Run, fit problems.Fit, j *evaluate.Sample, most int) (t *webpage.Table, note string,
	more int) {
	list := run.effects(fit)
	if len(list) == 0 {
		return nil, "", 0
	}
	t = webpage.NewTable("effects", "Effects of one standard deviation", webpage.Text("feature"), webpage.Number("effect"))
	t.Sortable = true
	shown, group := []string{"coefficient"}, ""
	if fit.Targets != nil {
		shown, group = fit.Targets[:min(len(fit.Targets), most/2)], "coefficients"
	}
	for _, name := range shown {
		t.Columns = append(t.Columns, webpage.Column{Title: name, Group: group, Number: true})
	}
	stable, by := run.Stability(j), "folds"
	sampled := run.Bootstrap != nil && fit.Targets == nil
	if run.Bootstrap != nil {
		stable, by = run.Bootstrap.Selected(), "samples"
		if sampled {
			t.Columns = append(t.Columns, webpage.Number("2.5 %"), webpage.Number("97.5 %"))
		}
	}
	if stable != nil {
		t.Columns = append(t.Columns, webpage.Number("chosen by "+by))
	}
	t.Columns = append(t.Columns, webpage.Column{Title: "picture", Spoken: "of the effect", Number: true, Picture: true})
	for _, e := range list[:min(len(list), most)] {
		effect := e.Size
		if fit.Targets == nil {
			effect = math.Copysign(e.Size, e.Coefficient)
		}
		cells := []webpage.Cell{{Text: e.Feature}, webpage.Sorted(words.Fine(effect), words.Exact(effect))}
		for _, v := range fit.Of(e.Index)[:len(shown)] {
			cells = append(cells, webpage.Sorted(words.Fine(v), words.Exact(v)))
		}
		if sampled {
			p := percentiles(run.Bootstrap, func(f *evaluate.BootstrapFit) float64 { return f.Fit.Coefficients[e.Index] })
			cells = append(cells, webpage.Sorted(words.Fine(p.Low), words.Exact(p.Low)), webpage.Sorted(words.Fine(p.High),
				words.Exact(p.High)))
		}
		if stable != nil {
			share := stable[e.Index]
			cells = append(cells, webpage.Sorted(fmt.Sprintf("%.0f %%", 100*share), words.Exact(share)))
		}
		bar := webpage.Sorted("", words.Exact(effect))
		bar.Picture = effectBar(effect / list[0].Size)
		t.Add(append(cells, bar)...)
	}
	return t, effectsNote(run, fit, len(list), len(shown), j), len(list) - len(t.Rows)
}

// effectsNote says what the numbers of that table are, of a model with so many features in use, and so many of several
// targets or labels that are shown.
func effectsNote(run *Run, fit problems.Fit, used, shown int, j *evaluate.Sample) string {
	of := words.Count(len(fit.Features), "feature")
	note := fmt.Sprintf("%d of %s are in the model.", used, of)
	if used == 1 {
		note = "1 of " + of + " is in the model."
	}
	if fit.Targets != nil {
		of, unit := "targets", "in the units of the table"
		if fit.Classes() {
			of, unit = "labels", "of the logarithms of their odds, in the units of the table"
		}
		which := "those of each"
		if shown < len(fit.Targets) {
			which = fmt.Sprintf("those of the first %d of %d (--coefficients FILE.csv has all)", shown, len(fit.Targets))
		}
		note += fmt.Sprintf(" The effect of one standard deviation is the norm over the %s; the coefficients are %s, %s.", of,
			which, unit)
	} else {
		note += " An effect is what the prediction changes by when the feature rises by one standard deviation; a " +
			"coefficient is in the unit of the table."
		switch {
		case run.Bootstrap != nil:
			note += fmt.Sprintf(" Between the two percentages are 95 %% of the coefficients of the %s, and the last number "+
				"is the share of these that have the feature.", words.Count(len(run.Bootstrap.Samples), "sample"))
		case j != nil && j.Folds != nil:
			note += fmt.Sprintf(" The last number is the share of the %d fits of the folds that have the feature.", len(j.Folds))
		}
	}
	switch {
	case fit.Targets != nil:
	case fit.Hazard:
		note += " Effects are on the logarithm of the hazard."
	case fit.LogLink:
		note += " Effects are on the logarithm of the mean."
	case fit.Labels != nil:
		label, what := run.Rows.Label(fit.Labels[1]), "the sum of features times coefficients and the intercept"
		if run.logOdds() {
			what = fmt.Sprintf("the log odds of %s, which are %s", label, what)
		}
		note += " Effects are on " + what + "."
		if j == nil || j.Rule == nil {
			note += fmt.Sprintf(" The label is %s where that is above 0 (--decide: from elsewhere on).", label)
		}
	}
	return note + interceptNote(run, fit)
}

// interceptNote tells the constants.
func interceptNote(run *Run, fit problems.Fit) string {
	switch {
	case !run.Options.Intercept:
		return ""
	case fit.Targets == nil:
		return " The intercept is " + words.Fine(fit.Intercept) + "."
	}
	const most = 40
	var list []string
	for k, v := range fit.Intercepts[:min(len(fit.Intercepts), most)] {
		list = append(list, words.Fine(v)+" of "+fit.Targets[k])
	}
	if rest := len(fit.Intercepts) - most; rest > 0 {
		list = append(list, fmt.Sprintf("%d more", rest))
	}
	return " The intercepts are " + words.Joined(list) + "."
}

// effectBar is a bar from the middle to a share of the half width, from -1 to 1; the number beside it is its text.
func effectBar(share float64) template.HTML {
	const half = 60
	from, length := float64(half), half*math.Abs(share)
	if share < 0 {
		from -= length
	}
	return template.HTML(
		fmt.Sprintf(`<svg class="bar" viewBox="0 0 %d 12" aria-hidden="true"><path class="axis" d="M%d 0v12"/>`+
			`<rect x="%.2f" y="2" width="%.2f" height="8"/></svg>`, 2*half, half, from, length))
}

// origin is where a feature comes from: the level of a category and the reference that it is compared with.
type origin struct{ column, level, reference string }

// origins are those of all features of an encoding.
func origins(e *table.Encoder) map[string]origin {
	out := map[string]origin{}
	if e == nil {
		return out
	}
	for n, t := range e.Terms() {
		c := &e.Columns[t.Columns[0]]
		for k, name := range t.Features {
			o := origin{column: c.Column}
			switch {
			case n >= len(e.Columns):
				o.column = strings.Join(e.Interactions[n-len(e.Columns)], ":")
			case c.Kind == table.Category && k+1 < len(c.Levels):
				o.level, o.reference = c.Levels[k+1], c.Levels[0]
				if c.Ordered {
					o.reference = c.Levels[k] // the step from there
				}
			case c.Missing && k == len(t.Features)-1:
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

// WriteCoefficients writes the intercept and the coefficients that are not zero as CSV, those of the largest effect
// first; with several targets a row for each feature and target, and with folds the share of those that have the
// feature.
func (run *Run) WriteCoefficients(w io.Writer, fit problems.Fit, j *evaluate.Sample) error {
	from, deviation, stable := origins(run.Rows.Encoder), run.deviations(), run.Stability(j)
	var names []string
	sampled := func(feature, target int) []string { return nil }
	if run.Bootstrap != nil {
		names, sampled = []string{"chosen_by_samples", "low", "high"}, sampledCells(run.Bootstrap)
	}
	lines := [][]string{{"feature", "coefficient", "effect", "column", "level", "reference"}}
	line := func(target, share string, sampled []string, cells ...string) {
		if fit.Targets != nil {
			cells = append(cells, target)
		}
		if stable != nil {
			cells = append(cells, share)
		}
		lines = append(lines, append(cells, sampled...))
	}
	line("target", "chosen_by_folds", names, lines[0]...)
	lines = lines[1:]
	targets := fit.Targets
	if targets == nil {
		targets = []string{""}
	}
	for k, v := range fit.Constants() {
		line(targets[k], "", sampled(-1, k), "(intercept)", words.Exact(v), "", "", "", "")
	}
	for _, f := range run.effects(fit) {
		o, there := from[f.Feature]
		if !there {
			o.column = f.Feature
		}
		share := ""
		if stable != nil {
			share = words.Exact(stable[f.Index])
		}
		for k, v := range fit.Of(f.Index) {
			if v != 0 {
				line(targets[k], share, sampled(f.Index, k), f.Feature, words.Exact(v), words.Exact(v*deviation[f.Index]),
					o.column, o.level, o.reference)
			}
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// ToldCoefficients are the intercept and the coefficients that are not zero, for JSON.
type ToldCoefficients struct {
	Coefficients any `json:"coefficients"` // of a feature, with several targets of a feature and a target
	Intercept    any `json:"intercept"`    // with several targets of a target
}

// TellCoefficients names the coefficients of a fit.
func TellCoefficients(fit problems.Fit) *ToldCoefficients {
	named, nonzero := map[string]any{}, func(v float64) bool { return v != 0 }
	for j, feature := range fit.Features {
		if row := fit.Of(j); slices.ContainsFunc(row, nonzero) {
			named[feature] = byTarget(fit, row, nonzero)
		}
	}
	return &ToldCoefficients{named, byTarget(fit, fit.Constants(), func(float64) bool { return true })}
}

// byTarget are the values of a feature, or of the constants: one, and with several targets those that are wanted by the
// names of the targets.
func byTarget[T any](fit problems.Fit, list []T, wanted func(v T) bool) any {
	if fit.Targets == nil {
		return list[0]
	}
	named := map[string]T{}
	for k, target := range fit.Targets {
		if wanted(list[k]) {
			named[target] = list[k]
		}
	}
	return named
}

// describeSides says what is known of the matrix and of its rows and columns.
func describeSides(d *matcomp.Data, sets string) string {
	text := fmt.Sprintf("matrix of %d x %d; %s entries", d.Rows, d.Cols, sets)
	for _, side := range []struct {
		name string
		f    *matcomp.Features
	}{{"row", &d.Row}, {"column", &d.Col}} {
		if side.f.X != nil {
			text += fmt.Sprintf("\n          %s in %s", words.Count(len(side.f.Names), side.name+" feature"),
				words.Count(side.f.Groups.Len(), "group"))
		}
	}
	return text
}

// describeMatrix describes a completed matrix.
func describeMatrix(fit problems.Fit, intercept bool) string {
	m := fit.Matrix
	rows, cols := m.Dims()
	var b strings.Builder
	fmt.Fprintf(&b, "the completed matrix of %d x %d: a part of rank %d", rows, cols, m.Rank())
	used := model.Effects(fit, model.Sizes(fit, nil))
	if len(fit.Coefficients) > 0 {
		fmt.Fprintf(&b, " and %d of %d features", len(used), len(fit.Coefficients))
	}
	b.WriteString("\n")
	t := webpage.NewTable("", "", webpage.Text(""), webpage.Text(""))
	if k := m.Rank(); k > 0 {
		sizes := make([]string, min(k, MostHyperparameters))
		for i := range sizes {
			sizes[i] = words.Number(floats.Norm(mat.Col(nil, i, m.Left), 2) * floats.Norm(mat.Col(nil, i, m.Right), 2))
		}
		t.AddTexts("singular values", words.Joined(sizes))
	}
	if len(used) > 0 {
		t.AddTexts("feature", "coefficient")
	}
	for _, e := range used[:min(len(used), mostFeatures)] {
		t.AddTexts(e.Feature, words.Number(e.Coefficient))
	}
	if intercept {
		t.AddTexts("intercept", words.Number(fit.Intercept))
	}
	b.WriteString(t.String() + words.Rest(len(used)-mostFeatures, "and %d more that are smaller\n"))
	return b.String()
}

package main

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/tune"
)

// coefficientTable lists the coefficients in use, the largest effect first and as far as most allows, with a bar for each and how many folds choose it; more are left out.
func coefficientTable(job *tuneJob, fit tune.Fit, j *evaluate.Judged, most int) (t *webpage.Table, note string, more int) {
	list := job.effects(fit)
	note = fmt.Sprintf("%s in the model. An effect is what the prediction changes by when the feature rises by one standard deviation; a coefficient is in the unit of the table.",
		someOf(len(list), count(len(fit.Features), "feature")))
	t = &webpage.Table{ID: "effects", Caption: "Effects of one standard deviation", Sortable: true,
		Columns: []webpage.Column{{Title: "feature"}, {Title: "effect", Number: true}}}
	shown := shownTargets(fit)
	for _, name := range shown {
		t.Columns = append(t.Columns, webpage.Column{Title: name, Number: true})
	}
	stable := job.stability(j)
	if stable != nil {
		t.Columns = append(t.Columns, webpage.Column{Title: "chosen by folds", Number: true})
		note += fmt.Sprintf(" The last number is the share of the %d fits of the folds that have the feature.", len(j.Folds))
	}
	t.Columns = append(t.Columns, webpage.Column{Title: "picture", Spoken: ofPicture, Number: true})
	switch {
	case fit.Targets != nil:
		note = severalNote(fit, len(list), len(shown))
	case fit.Hazard:
		note += " Effects are on the logarithm of the hazard."
	case fit.LogLink:
		note += " Effects are on the logarithm of the mean."
	case fit.Labels != nil:
		note += onLabel(job.rows.Label(fit.Labels[1]), job.logOdds())
	}
	if job.model.Intercept {
		note += interceptNote(fit, len(shown))
	}
	for _, e := range list[:min(len(list), most)] {
		effect := math.Copysign(e.Size, e.Coefficient)
		if fit.Targets != nil {
			effect = e.Size
		}
		key := exact(effect)
		cells := []webpage.Cell{{Text: e.Feature}, {Text: fine(effect), Key: &key}}
		for k := range shown {
			v := e.Coefficient
			if fit.Targets != nil {
				v = fit.Coefficients[e.Index*len(fit.Targets)+k]
			}
			own := exact(v)
			cells = append(cells, webpage.Cell{Text: fine(v), Key: &own})
		}
		if stable != nil {
			share := stable[e.Index]
			k := exact(share)
			cells = append(cells, webpage.Cell{Text: fmt.Sprintf("%.0f %%", 100*share), Key: &k})
		}
		cells = append(cells, webpage.Cell{Picture: effectBar(effect / list[0].Size), Key: &key})
		t.Rows = append(t.Rows, webpage.Row{Cells: cells})
	}
	if len(list) == 0 {
		return nil, "", 0
	}
	return t, note, len(list) - len(t.Rows)
}

// ofPicture marks the column of pictures, which say nothing that the row does not.
const ofPicture = "of the effect"

// interceptNote tells the constants, of several targets or labels those that are shown.
func interceptNote(fit tune.Fit, shown int) string {
	if fit.Targets == nil {
		return " The intercept is " + fine(fit.Intercept) + "."
	}
	var list []string
	for _, v := range fit.Intercepts[:min(shown, len(fit.Intercepts))] {
		list = append(list, fine(v))
	}
	return " The intercepts are " + strings.Join(list, ", ") + "."
}

// shownTargets are the headings of the columns of coefficients: one, or the first of several targets or labels.
func shownTargets(fit tune.Fit) []string {
	if fit.Targets == nil {
		return []string{"coefficient"}
	}
	var out []string
	for _, name := range fit.Targets[:min(len(fit.Targets), mostTargets)] {
		out = append(out, "coefficient, "+name)
	}
	return out
}

// severalNote is about the table of a model of several targets or labels with so many features in use, of which some are shown.
func severalNote(fit tune.Fit, used, shown int) string {
	of, unit := "targets", "in the units of the table"
	if fit.Classes() {
		of, unit = "labels", "of the logarithms of their odds, in the units of the table"
	}
	which := "those of each"
	if shown < len(fit.Targets) {
		which = fmt.Sprintf("those of the first %d of %d (--coefficients FILE.csv has all)", shown, len(fit.Targets))
	}
	return fmt.Sprintf("%s in the model. The effect of one standard deviation is the norm over the %s; the coefficients are %s, %s.", someOf(used, count(len(fit.Features), "feature")), of, which, unit)
}

// someOf is the beginning of a sentence about n of something.
func someOf(n int, of string) string {
	if n == 1 {
		return "1 of " + of + " is"
	}
	return fmt.Sprintf("%d of %s are", n, of)
}

// effectBar is a bar from the middle to a share of the half width, from -1 to 1; the number beside it is its text.
func effectBar(share float64) template.HTML {
	const half = 60
	from, length := float64(half), half*math.Abs(share)
	if share < 0 {
		from -= length
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 %d 12" aria-hidden="true"><path class="axis" d="M%d 0v12"/><rect x="%.2f" y="2" width="%.2f" height="8"/></svg>`, 2*half, half, from, length))
}

// cellCount is a number of rows, or a sum of their weights.
func cellCount(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return short(v)
}

// confusionTable counts labels and predicted labels, or sums up the weights of their rows.
func confusionTable(job *tuneJob, j *evaluate.Judged, fit tune.Fit) *webpage.Table {
	var names []string
	for _, v := range fit.Labels {
		names = append(names, job.rows.Label(v))
	}
	n := j.Confusion(len(names))
	caption := "Labels and predicted labels, "
	if j.Rows != len(j.Y) {
		caption = "Labels and predicted labels, each row once for each deal, "
	}
	if j.Weight != nil {
		caption = strings.Replace(caption, "labels, ", "labels by the weights of rows, ", 1)
	}
	t := &webpage.Table{ID: "confusion", Caption: caption + judgedOn(j), Columns: []webpage.Column{{Title: "label"}}}
	for _, name := range names {
		t.Columns = append(t.Columns, webpage.Column{Title: "predicted " + name, Number: true})
	}
	t.Columns = append(t.Columns, webpage.Column{Title: "share right", Number: true})
	for k, name := range names {
		share, sum := "-", 0.0
		cells := []webpage.Cell{{Text: name}}
		for _, v := range n[k] {
			sum += v
			cells = append(cells, webpage.Cell{Text: cellCount(v)})
		}
		if sum > 0 {
			share = fmt.Sprintf("%.1f %%", 100*n[k][k]/sum)
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: append(cells, webpage.Cell{Text: share})})
	}
	return t
}

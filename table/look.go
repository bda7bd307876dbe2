package table

import (
	"slices"
	"time"
)

// Look is what a table was read as, before anything is fitted.
type Look struct {
	File string `json:"file"`
	Rows int    `json:"rows"`
	// Separator stands between cells and Decimal in numbers; empty for workbooks and other files without.
	Separator string       `json:"separator,omitempty"`
	Decimal   string       `json:"decimal,omitempty"`
	Header    bool         `json:"header"`
	Columns   []LookColumn `json:"columns"`
	// Interactions have the names of columns whose products are features.
	Interactions [][]string `json:"interactions,omitempty"`
	// Findings are those of [Design.Findings], and of the kind error what a model could not be fitted with.
	Findings []Finding `json:"findings"`
}

// LookColumn is a column of a [Look].
type LookColumn struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Missing int    `json:"missing"`
	// Use is target, feature, or empty for a column that is neither.
	Use string `json:"use"`
	// Form is that of [Coding.Form], as all rows would have it, but for knots.
	Form string `json:"form,omitempty"`
	// Levels are those of a category, in order, the first mostLooked of Different ones.
	Levels    []string `json:"levels,omitempty"`
	Different int      `json:"different,omitempty"`
	// Low and High are the range of numbers; of dates they are texts, in the Layout of package time.
	Low    any    `json:"low,omitempty"`
	High   any    `json:"high,omitempty"`
	Layout string `json:"layout,omitempty"`
	// Whole says that all numbers are integers.
	Whole bool `json:"whole,omitempty"`
}

// mostLooked is the number of levels that are listed.
const mostLooked = 20

// LookAt says what a table was read as and how its columns would be used, also where [Choose] ends with an error. There
// need not be a target.
func LookAt(t *Table, w Wanted) Look {
	d := newDesign(t, w)
	if len(w.Targets) > 0 || w.Survival || t.Index(defaultTarget) >= 0 {
		d.findTargets()
	}
	for _, step := range d.steps() {
		step()
	}
	out := Look{File: t.name, Rows: t.rows, Header: t.dialect.Header, Findings: slices.Concat([]Finding{}, d.Findings())}
	if t.dialect.Separator != 0 {
		out.Separator, out.Decimal = string(t.dialect.Separator), string(t.dialect.Decimal)
	}
	for j := range t.columns {
		out.Columns = append(out.Columns, d.look(j))
	}
	for _, columns := range d.interactions {
		out.Interactions = append(out.Interactions, t.namesOf(columns))
	}
	for _, one := range d.wrong.List {
		text := one.Reason
		if one.Field != "" {
			text = one.Field + ": " + text
		}
		out.Findings = append(out.Findings, Finding{Kind: "error", Text: text})
	}
	return out
}

// look describes a column.
func (d *Design) look(j int) LookColumn {
	c := &d.table.columns[j]
	out := LookColumn{Name: c.Name, Kind: c.Kind, Missing: c.Missing}
	switch {
	case slices.Contains(d.targets, j):
		out.Use = "target"
	case slices.Contains(d.features, j):
		out.Use = "feature"
	}
	if d.category[j] {
		out.Kind = Category
	}
	var levels []string
	if out.Kind == Category || out.Kind == Mixed {
		levels, _ = d.table.levels(j, nil)
	}
	if c := (Coding{Column: c.Name, Kind: out.Kind, Layout: c.layout}); out.Use == "feature" {
		if d.category[j] {
			c.Levels = levels
		}
		if err := d.form(&c, j, d.rows); err != nil {
			d.wrong.List = append(d.wrong.List, err.(*faults).List...)
		}
		out.Form = c.Form()
		if c.Kind == Category {
			out.Levels = c.Levels[:min(len(c.Levels), mostLooked)]
		}
	}
	switch out.Kind {
	case Number:
		out.Low, out.High, out.Whole = c.low, c.high, c.Integer
	case Date:
		text := func(days float64) string {
			return time.Unix(0, 0).UTC().Add(time.Duration(days * float64(24*time.Hour)).Round(time.Second)).Format(c.layout)
		}
		out.Low, out.High, out.Layout = text(c.low), text(c.high), c.layout
	case Category, Mixed:
		if out.Different = len(levels); out.Levels == nil {
			out.Levels = levels[:min(len(levels), mostLooked)]
		}
	}
	return out
}

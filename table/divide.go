package table

import (
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/words"
)

// Division is the columns of a table that say how its rows are divided, and are no features unless these are named
// among the features. Empty means none.
type Division struct {
	// Fold says in which fold a row validates, Group which rows belong together, Time in which order rows came.
	Fold, Group, Time string
}

// String is the purpose and the name of the column, "group ward" for example; empty for none.
func (d Division) String() string {
	var list []string
	for _, c := range []struct{ purpose, name string }{{"folds", d.Fold}, {"group", d.Group}, {"time", d.Time}} {
		if c.name != "" {
			list = append(list, c.purpose+" "+c.name)
		}
	}
	return strings.Join(list, ", ")
}

// helper is a column that divides or weighs rows, or has their offset.
type helper struct {
	name, option string
	// use says what it is for, and what to do about missing values; numbers, where it has to have some, which.
	use, numbers string
}

// helpers are those that are wanted.
func (w *Wanted) helpers() []helper {
	const divides = "says how rows are divided: give these cells a value, or take the rows out of the table"
	return slices.DeleteFunc([]helper{
		{w.Division.Fold, "Division.Fold", divides, ""},
		{w.Division.Group, "Division.Group", divides, ""},
		{w.Division.Time, "Division.Time", divides, ""},
		{w.Weights, "Wanted.Weights", "has their weights: give these cells a number; 0 leaves a row out",
			"weights of rows: numbers that are not negative"},
		{w.Offset, "Wanted.Offset", "has their offset: give these cells a number, such as 0",
			"known terms of predictions: numbers"},
	}, func(h helper) bool { return h.name == "" })
}

// findHelpers are their columns.
func (d *Design) findHelpers() (found []int) {
	for _, h := range d.wanted.helpers() {
		for _, j := range d.columns(h.option, []string{h.name}) {
			found = append(found, j)
			if slices.Contains(d.targets, j) {
				d.wrong.add(d.table.header, "", "the column %s is wanted for %s and is the target", quote(h.name), h.option)
			}
		}
	}
	return found
}

// checkHelpers says why columns cannot do what they are for in the rows in use, and leaves out the rows of weight 0.
func (d *Design) checkHelpers() {
	t := d.table
	for _, h := range d.wanted.helpers() {
		j := t.Index(h.name)
		c, missing := &t.columns[j], FoundColumn{}
		for _, i := range d.rows {
			if isMissing(t.cell(i, j)) {
				missing.add(t.Line(i))
			}
		}
		if missing.Count > 0 {
			d.wrong.add(missing.Lines[0], t.field(j), "%s (%s) in a column that %s",
				words.Count(missing.Count, "missing value"), atLines(missing.Lines, missing.Count), h.use)
		}
		line, what := 0, "no numbers"
		if c.Texts > 0 {
			line, what = c.textLines[0], "texts found ("+atLines(c.textLines, c.Texts)+")"
		}
		switch {
		case h.numbers != "" && (c.Kind != Number || c.Texts > 0):
			d.wrong.add(line, t.field(j), "%s, expected %s", what, h.numbers)
		case h.option == "Wanted.Weights":
			if kept, gone := t.weighing(j, d.rows, d.wrong); gone.Count > 0 {
				d.rows = kept
				d.findings = found(d.findings, "rows", []FoundColumn{gone}, "%s: rows of weight 0, left out")
			}
		case h.numbers != "" || missing.Count > 0:
		case h.option == "Division.Time":
			if c.Kind != Number && c.Kind != Date && c.Texts > 0 {
				d.wrong.add(line, t.field(j), "%s, expected times: numbers, or dates of one form", what)
			}
		case c.overflow:
			d.wrong.add(0, t.field(j), "too many different texts to tell them apart")
		}
	}
}

// Numbers are those of the different values of a column in the rows: 0 for the first, with numbers by size before texts
// by their bytes. It is nil without a name. The column must be one of the wanted [Division].
func (d *Design) Numbers(name string, rows []int) []int {
	j := d.table.Index(name)
	if name == "" || j < 0 {
		return nil
	}
	c := &d.table.columns[j]
	levels, _ := d.table.levels(j, rows)
	number := make(map[string]int, len(levels))
	for k, level := range levels {
		number[level] = k
	}
	of := byCell(func(v float64) int {
		level, _ := c.level(v)
		return number[level]
	})
	list := make([]int, len(rows))
	for k, i := range rows {
		list[k] = of(d.table.cell(i, j))
	}
	return list
}

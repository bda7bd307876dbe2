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

// divisors are the columns that divide or weigh rows, or have their offset.
func (d *Design) divisors() (found []int) {
	for _, c := range []struct{ name, purpose string }{
		{d.wanted.Division.Fold, "Division.Fold"}, {d.wanted.Division.Group, "Division.Group"}, {d.wanted.Division.Time, "Division.Time"}, {d.wanted.Weights, "Wanted.Weights"}, {d.wanted.Offset, "Wanted.Offset"},
	} {
		if c.name == "" {
			continue
		}
		for _, j := range d.columns(c.purpose, []string{c.name}) {
			found = append(found, j)
			if slices.Contains(d.targets, j) {
				d.wrong.add(d.table.header, "", "the column %s is wanted for %s and is the target", quote(c.name), c.purpose)
			}
		}
	}
	return found
}

// checkDivisors says why columns cannot divide or weigh the rows in use.
func (d *Design) checkDivisors() {
	t := d.table
	for _, j := range d.divisors() {
		c := &t.columns[j]
		missing := FoundColumn{}
		for _, i := range d.rows {
			if isMissing(t.cell(i, j)) {
				missing.add(t.Line(i))
			}
		}
		time, number := c.Name == d.wanted.Division.Time, c.Name == d.wanted.Weights || c.Name == d.wanted.Offset
		purpose := "says how rows are divided: give these cells a value, or take the rows out of the table"
		switch c.Name {
		case d.wanted.Offset:
			purpose = "has their offset: give these cells a number, such as 0"
		case d.wanted.Weights:
			purpose = "has their weights: give these cells a number; 0 leaves a row out"
		}
		switch {
		case missing.Count > 0:
			d.wrong.add(missing.Lines[0], t.field(j), "%s (%s) in a column that %s", words.Count(missing.Count, "missing value"), atLines(missing.Lines, missing.Count), purpose)
		case time && c.Kind != Number && c.Kind != Date && c.Texts > 0:
			d.wrong.add(c.textLines[0], t.field(j), "texts found (%s), expected times: numbers, or dates of one form", atLines(c.textLines, c.Texts))
		case !time && !number && c.overflow:
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
	list := make([]int, len(rows))
	for k, i := range rows {
		level, _ := c.level(d.table.cell(i, j))
		list[k] = number[level]
	}
	return list
}

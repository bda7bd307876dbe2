package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// The rules for missing values of features.
const (
	// Median and Mean put that of the training rows in the place of a missing number; the zero value is Median.
	Median = "median"
	Mean   = "mean"
	// Regression puts a weighted sum of the features of the other columns there, learned from the training rows, see
	// [Coding].Others.
	Regression = "regression"
	// Level is Median with a feature for the missing values of a column however few there are in the training rows.
	Level = "level"
	// DropRows leaves rows out in which a feature is missing.
	DropRows = "drop"
	// Reject makes missing values an error.
	Reject = "error"
)

// MissingRules are the names of all rules.
func MissingRules() []string { return []string{DropRows, Level, Mean, Median, Reject, Regression} }

// Wanted says what columns are for.
type Wanted struct {
	// Targets are the names of the targets; without one it is the column y.
	Targets []string
	// Features are the columns to use, all that are left where there are none; Drop are those to leave out.
	Features, Drop []string
	// Labels are columns that name rows, beside those that do by their names or count rows; the name none says that no
	// column does.
	Labels []string
	// Categorical are columns whose numbers are names.
	Categorical []string
	// Missing is the rule for missing values.
	Missing string
	// Forms say what columns become.
	Forms Forms
	// Classes says that the target is a label, which may be a text; there are MostClasses of them, where it is more than
	// two.
	Classes     bool
	MostClasses int
	// Positive is the text of the label that comes last, whose probability is predicted; empty for the order of numbers
	// or texts.
	Positive string
	// Survival says that the target is a time, by default the column y or time, until an event or until a row was
	// censored, and Event is the column that says which it was, NAME or NAME=VALUE with the value of events; by default
	// event or status, whose value is found. Times of censored rows become negative; in a table without such a column,
	// negative times are those of censored rows. The name none says that all rows have an event.
	Survival bool
	Event    string
	// Division are columns that say how rows are divided.
	Division Division
	// Weights is the column of the weights of rows, which is no feature unless it is named among them; empty for none.
	// Rows of weight 0 are left out.
	Weights string
	// Offset is the column of a known term of predictions, which is no feature unless it is named among them; empty for
	// none.
	Offset string
}

// Design says what each column of a table is for.
type Design struct {
	table    *Table
	wanted   Wanted
	targets  []int
	features []int
	category []bool // of the columns
	crowded  []int  // columns of too many different texts for a category
	rows     []int
	forms    map[int]*form
	// interactions are of columns, by their numbers
	interactions [][]int
	labels       []string // of text targets
	event        *Event   // of times
	findings     []Finding
	noted        map[string]int // findings whose columns are gathered, by their texts
	wrong        *faults
}

// Findings are what the user should know about the columns and rows in use, those about the file first.
func (d *Design) Findings() []Finding { return slices.Concat(d.table.findings, d.findings) }

// Rows are those that can be used.
func (d *Design) Rows() []int { return d.rows }

// Targets are the names of the targets.
func (d *Design) Targets() []string {
	var names []string
	for _, j := range d.targets {
		names = append(names, d.table.columns[j].Name)
	}
	return names
}

// Choose gives the columns of a table their parts. The error wraps [*formats.Error]s.
func Choose(t *Table, w Wanted) (*Design, error) {
	d := newDesign(t, w)
	d.findTargets()
	for _, step := range d.steps() {
		if err := d.wrong.err(); err != nil {
			return nil, err
		}
		step()
	}
	return d, nil
}

// steps are what a design is made in, after its targets: each may find that something is wrong.
func (d *Design) steps() []func() {
	return []func(){
		func() { d.findForms() },
		func() { d.findFeatures(); d.checkForms(); d.checkTargets(); d.checkFeatures() },
		func() { d.findRows(); d.checkHelpers(); d.tellMissing() },
		func() { d.hints(); d.nameNoted() },
	}
}

func newDesign(t *Table, w Wanted) *Design {
	if w.Missing == "" {
		w.Missing = Median
	}
	return &Design{table: t, wanted: w, category: make([]bool, len(t.columns)), noted: map[string]int{},
		forms: map[int]*form{},
		wrong: &faults{File: t.name}}
}

// note adds a column to a finding, whose text has %s in the place of all of them.
func (d *Design) note(kind, text string, c FoundColumn) {
	k, known := d.noted[text]
	if !known {
		k = len(d.findings)
		d.noted[text] = k
		d.findings = append(d.findings, Finding{Kind: kind})
	}
	d.findings[k].Columns = append(d.findings[k].Columns, c)
}

// nameNoted puts the columns of findings into their texts.
func (d *Design) nameNoted() {
	for text, k := range d.noted {
		d.findings[k].Text = fmt.Sprintf(text, describe(d.findings[k].Columns))
	}
}

// columns looks names up that the user gave for a purpose.
func (d *Design) columns(purpose string, names []string) (found []int) {
	for _, name := range names {
		j := d.table.Index(name)
		if j < 0 {
			d.wrong.add(d.table.header, "", "has no column %s for %s; there are: %s%s%s", quote(name), purpose,
				list(d.table.Names()), similar(name, d.table.Names()), d.table.unnamed())
			continue
		}
		found = append(found, j)
	}
	return found
}

// unnamed says that the names of columns are none of the file, where that is so.
func (t *Table) unnamed() string {
	if t.header > 0 {
		return ""
	}
	for _, f := range t.findings {
		if f.Kind == "header" {
			return "; " + f.Text
		}
	}
	return ""
}

// similar suggests the name that differs in the case of letters or in blanks alone.
func similar(name string, names []string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" ._-", r) {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	for _, other := range names {
		if plain(other) == plain(name) {
			return fmt.Sprintf(" (did you mean %s?)", quote(other))
		}
	}
	return ""
}

// defaultTarget is the name of the target unless it is given.
const defaultTarget = "y"

func (d *Design) findTargets() {
	if len(d.wanted.Targets) > 0 {
		purpose := "the target"
		if len(d.wanted.Targets) > 1 {
			purpose = "a target"
		}
		d.targets = d.columns(purpose, d.wanted.Targets)
	}
	if d.wanted.Survival {
		d.findEvents()
		return
	}
	if len(d.wanted.Targets) > 0 {
		return
	}
	if j := d.table.Index(defaultTarget); j >= 0 {
		d.targets = []int{j}
		return
	}
	d.wrong.add(d.table.header, "", "has no column %s: name the target by Wanted.Targets; the columns are: %s%s",
		quote(defaultTarget), list(d.table.Names()), d.table.unnamed())
}

// noRowNames says in the place of columns that none names the rows.
const noRowNames = "none"

// rowNames are names that columns of row names and numbers have.
var rowNames = []string{"rownames", "row.names", "row_names", "rowname", "Unnamed: 0", "__index_level_0__"}

// timeNames are names of first columns that count and are features all the same.
var timeNames = []string{"time", "t", "year", "month", "week", "day", "hour", "date", "period", "age", "x", "dose",
	"distance"}

// isLabel says whether a column names the rows by its name, and counts whether it is the first and has the numbers of
// the rows.
func (d *Design) isLabel(j int) bool {
	c := &d.table.columns[j]
	switch {
	case c.Kind == Empty:
		return false
	case c.Unnamed && d.table.dialect.Header && j == 0, slices.Contains(rowNames, c.Name):
		return true
	}
	return d.table.rows > 2 && c.Kind == Number && c.Texts == 0 && c.Distinct && idName.MatchString(c.Name)
}

func (d *Design) counts(j int) bool {
	c := &d.table.columns[j]
	return j == 0 && c.Counting && d.table.rows > 2 && !slices.Contains(timeNames, strings.ToLower(c.Name))
}

func (d *Design) findFeatures() {
	t, w := d.table, d.wanted
	drop, labels, noNames := d.columns("Wanted.Drop", w.Drop), []int(nil), slices.Equal(w.Labels, []string{noRowNames}) &&
		t.Index(noRowNames) < 0
	if !noNames {
		labels = d.columns("Wanted.Labels", w.Labels)
	}
	chosen, categorical := d.columns("Wanted.Features", w.Features), d.columns("Wanted.Categorical", w.Categorical)
	helpers := d.findHelpers()
	for _, j := range categorical {
		d.category[j] = true
	}
	for _, j := range chosen {
		if slices.Contains(d.targets, j) {
			d.wrong.add(t.header, "", "the column %s is wanted as a feature and is the target", quote(t.columns[j].Name))
		}
	}
	if len(d.wrong.List) > 0 {
		return
	}
	const anyway = " (Wanted.Labels none takes it all the same)"
	for j := range t.columns {
		c := &t.columns[j]
		note := func(kind, text string, count int) { d.note(kind, text, FoundColumn{Name: c.Name, Count: count}) }
		if c.Kind == Category {
			d.category[j] = true
		}
		switch {
		case slices.Contains(d.targets, j), slices.Contains(drop, j), slices.Contains(labels, j):
		case w.Features != nil:
			if slices.Contains(chosen, j) {
				d.features = append(d.features, j)
			}
		case slices.Contains(helpers, j):
		case !noNames && d.isLabel(j):
			note("columns", "%s: names or numbers of rows, no feature"+anyway, 0)
		case !noNames && d.counts(j):
			first := "0, 1, 2, .."
			if c.counts[1] == t.rows {
				first = "1, 2, 3, .."
			}
			note("columns", "%s: counts the rows, "+first+", no feature"+anyway, 0)
		case c.Kind == Empty:
			note("columns", "%s: no values, left out", 0)
		case c.Constant && d.category[j]:
			note("columns", "%s: the same text in all rows, left out", 0)
		case c.Kind == Category && !slices.Contains(categorical, j) && d.tooMany(c):
			note("columns", "%s: too many different texts for a category, left out (Wanted.Categorical takes it all the same)",
				c.Levels())
			d.crowded = append(d.crowded, j)
		default:
			if c.Constant {
				note("hint", "%s: the same number in all rows, which tells nothing", 0)
			}
			d.features = append(d.features, j)
		}
	}
	switch {
	case len(d.targets) == len(t.columns):
		d.wrong.add(t.header, "", "all %d columns are targets, expected at least one feature", len(t.columns))
	case len(d.features) == 0:
		d.wrong.add(t.header, "",
			"has no column that can be a feature, expected a target and at least one feature; the columns are: %s",
			list(t.Names()))
	}
}

// tooMany says whether a column of texts has so many that they tell little: more than 50 and more than a fifth of the
// rows, or one of its own for each row.
func (d *Design) tooMany(c *Column) bool {
	n := d.table.rows - c.Missing
	levels := c.Levels()
	return c.overflow || levels > mostLevels && float64(levels) > levelShare*float64(n) || levels == n && n > 2
}

// field names a column in an error.
func (t *Table) field(j int) string {
	return fmt.Sprintf("column %d (%s)", j+1, quote(t.columns[j].Name))
}

// checkTargets says why a target cannot be one.
func (d *Design) checkTargets() {
	t := d.table
	for k, j := range d.targets {
		c := &t.columns[j]
		switch {
		case c.Kind == Empty:
			d.wrong.add(0, t.field(j), "the target is missing in all rows")
		case d.wanted.Classes:
			d.checkClasses(j)
		case d.event != nil && k == 1:
			d.checkEvents()
		case c.Kind == Mixed, c.Kind == Category && c.Texts < t.rows-c.Missing:
			d.addMixed(j)
		case c.Kind == Category:
			words := slices.Sorted(slices.Values(c.texts))
			models := "logistic and svm take two texts as labels"
			if len(words) > 2 {
				models = "multinomial takes several texts as labels"
			}
			d.wrong.add(0, t.field(j), "the target holds texts (%s), expected numbers; %s", list(words), models)
		case c.Kind == Date:
			d.note("date", "the target, %s, holds dates: days since 1970-01-01 are predicted", FoundColumn{Name: c.Name})
		}
	}
}

// checkClasses finds the labels of a text target.
func (d *Design) checkClasses(j int) {
	t := d.table
	c := &t.columns[j]
	positive := d.wanted.Positive
	if c.Kind == Number && c.Texts == 0 && positive == "" {
		return // its values are the labels
	}
	levels, _ := t.levels(j, nil)
	switch {
	case len(levels) == 1:
		d.wrong.add(0, t.field(j), "all rows have the label %s, expected two labels", quote(levels[0]))
	case d.wanted.MostClasses > 2 && len(levels) > d.wanted.MostClasses:
		d.wrong.add(0, t.field(j), "the target has %d labels (%s), expected %d at most", len(levels), list(levels),
			d.wanted.MostClasses)
	case d.wanted.MostClasses <= 2 && len(levels) > 2:
		more := alike(levels)
		if more != "" {
			more = "; " + more
		}
		d.wrong.add(0, t.field(j), "the target has %d labels (%s), expected two; multinomial takes more%s", len(levels),
			list(levels), more)
	}
	if k := indexOf(levels, positive); k >= 0 && positive != "" {
		levels = slices.Concat(levels[:k], levels[k+1:], levels[k:k+1])
	} else if positive != "" {
		d.wrong.add(0, t.field(j), "no row has the label %s of Wanted.Positive; the labels are %s", quote(positive),
			list(levels))
	}
	d.labels = levels
}

// addMixed is the error about a column of numbers and texts.
func (d *Design) addMixed(j int) {
	t := d.table
	c := &t.columns[j]
	numbers := t.rows - c.Missing - c.Texts
	line := c.textLines[0]
	text := ""
	for _, v := range t.eachOf(j) {
		if _, ok := textCode(v); ok {
			text, _ = c.level(v)
			break
		}
	}
	if isInfinite(text) {
		_, reason := textfile.NumberUpTo([]byte(text), textfile.LargestEntry)
		if c.Texts > 1 {
			reason += fmt.Sprintf("; %s", atLines(c.textLines, c.Texts))
		}
		d.wrong.add(line, t.field(j), "%s", reason)
		return
	}
	d.wrong.add(line, t.field(j), "%s found, expected a number: %s and %s (%s); correct or empty these, or say by "+
		"Options.Missing what stands for a missing value, or leave the column out by Wanted.Drop, or take it as a category "+
		"by Wanted.Categorical",
		quote(text), words.Count(numbers, "number"), words.Count(c.Texts, "text"), atLines(c.textLines, c.Texts))
}

// checkFeatures says why columns cannot be features, and how they are used.
func (d *Design) checkFeatures() {
	t := d.table
	var units []FoundColumn
	var signs []string
	for _, j := range slices.Concat(d.targets, d.features) {
		c := &t.columns[j]
		switch {
		case c.units != "" && !d.category[j]:
			units = append(units, FoundColumn{c.Name, c.Texts, c.textLines})
			signs = append(signs, strings.Split(c.units, ", ")...)
		case slices.Contains(d.targets, j):
		case d.category[j]:
			if f := d.forms[j]; f == nil || !f.ordered {
				d.note("category", "%s: categories, a feature for each level but the first", FoundColumn{Name: c.Name})
			} else {
				d.note("category", "%s: ordered categories, a feature from each level but the first on", FoundColumn{Name: c.Name})
			}
			if c.Texts > 0 && c.Texts < t.rows-c.Missing {
				d.note("category", "%s: numbers, and texts as counted here, taken as a category",
					FoundColumn{c.Name, c.Texts, c.textLines})
			}
		case c.Kind == Mixed:
			d.addMixed(j)
		case c.Kind == Date && d.forms[j] == nil:
			d.note("date", "%s: dates, taken as days since 1970-01-01", FoundColumn{Name: c.Name})
		}
	}
	slices.Sort(signs)
	d.findings = found(d.findings, "units", units, "%s: numbers, read without "+strings.Join(slices.Compact(signs), ", "))
}

// findRows leaves out rows that cannot be used.
func (d *Design) findRows() {
	t := d.table
	gone, goneFeature := FoundColumn{}, FoundColumn{}
	targets, features := t.withGaps(d.targets), t.withGaps(d.features)
	for i := range t.rows {
		switch {
		case t.lacks(i, targets):
			gone.add(t.Line(i))
		case d.wanted.Missing == DropRows && t.lacks(i, features):
			goneFeature.add(t.Line(i))
		default:
			d.rows = append(d.rows, i)
		}
	}
	if gone.Count > 0 {
		gone.Name = t.columns[d.targets[0]].Name
		d.findings = append(d.findings, Finding{Kind: "rows", Columns: []FoundColumn{gone}, Text: fmt.Sprintf(
			"%s without a target left out (%s)", words.Count(gone.Count, "row"), atLines(gone.Lines, gone.Count))})
	}
	if goneFeature.Count > 0 {
		d.findings = append(d.findings, Finding{Kind: "rows", Text: fmt.Sprintf("%s with missing values left out (%s)",
			words.Count(goneFeature.Count, "row"), atLines(goneFeature.Lines, goneFeature.Count))})
	}
	if len(d.rows) == 0 {
		d.wrong.add(0, "", "no row is left: all %d lack the target or other values", t.rows)
	}
}

// withGaps are those columns that have missing values.
func (t *Table) withGaps(columns []int) []int {
	var list []int
	for _, j := range columns {
		if t.columns[j].Missing > 0 {
			list = append(list, j)
		}
	}
	return list
}

// lacks says whether a row has a missing value in one of the columns.
func (t *Table) lacks(i int, columns []int) bool {
	if len(columns) == 0 {
		return false
	}
	index, cells := t.row(i)
	return slices.ContainsFunc(columns, func(j int) bool { return isMissing(cellOf(index, cells, j)) })
}

// tellMissing says what becomes of missing values.
func (d *Design) tellMissing() {
	t := d.table
	for _, j := range d.features {
		c := &t.columns[j]
		switch gaps := (FoundColumn{c.Name, c.Missing, c.missingLines}); {
		case c.Missing == 0:
		case d.wanted.Missing == Reject:
			d.wrong.add(c.missingLines[0], t.field(j), "%s (%s), and Wanted.Missing is error",
				words.Count(c.Missing, "missing value"), atLines(c.missingLines, c.Missing))
		case d.wanted.Missing == DropRows:
		case d.category[j] && d.wanted.Missing == Level:
			d.note("missing", "missing values in %s: a level of their own", gaps)
		case d.category[j]:
			d.note("missing", "missing values in %s: a level of their own where they are more than 5 %% of the training rows, "+
				"and else the reference", gaps)
		default:
			d.note("missing", "missing values in %s: the "+fillOf(d.wanted.Missing)+" of the training rows is put in "+
				"their place", gaps)
		}
	}
}

// fillOf says what a rule puts in the place of a missing number.
func fillOf(rule string) string {
	switch rule {
	case Regression:
		return "regression on the other columns"
	case Mean:
		return Mean
	}
	return Median
}

package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/words"
)

// Forms say what columns become in the place of the usual.
type Forms struct {
	// Reference has NAME=LEVEL for categories, of which that level is the reference.
	Reference []string
	// Ordered has NAME=LOW:..:HIGH for columns that are categories in this order, or NAME in that of numbers and texts.
	Ordered []string
	// Splines and Polynomials have NAME=D, see [Basis].
	Splines, Polynomials []string
	// Dates are the [DateParts] of all dates.
	Dates []string
	// Interactions are A:B, of which the products are features, or A and B, of which all pairs are.
	Interactions []string
}

// form is what a column becomes.
type form struct {
	reference string
	ordered   bool
	levels    []string // in their order; nil for the usual one
	basis     string
	size      int // features of a spline or polynomial
}

// findForms reads what columns are to become.
func (d *Design) findForms() {
	f := &d.wanted.Forms
	for _, list := range []struct {
		option, expected string
		texts            []string
		set              func(f *form, value string) bool
	}{
		{"Forms.Reference", "NAME=LEVEL", f.Reference, func(f *form, value string) bool {
			f.reference = value
			return value != ""
		}},
		{"Forms.Ordered", "NAME=LOW:..:HIGH or NAME", f.Ordered, func(f *form, value string) bool {
			if f.ordered = true; value != "" {
				f.levels = strings.Split(value, ":")
			}
			return value == "" || len(f.levels) > 1 && unique(f.levels)
		}},
		{"Forms.Splines", "NAME=D", f.Splines, func(f *form, value string) bool { return f.expand(Spline, value) }},
		{"Forms.Polynomials", "NAME=D", f.Polynomials, func(f *form, value string) bool {
			return f.expand(Polynomial, value)
		}},
	} {
		for _, text := range list.texts {
			j, value := d.assigned(text)
			if j < 0 {
				name, _, _ := strings.Cut(text, "=")
				d.columns(list.option, []string{name})
				continue
			}
			before := d.forms[j]
			d.forms[j] = &form{}
			if !list.set(d.forms[j], value) {
				more := ""
				if list.expected == "NAME=D" {
					more = ", with D from 2 to " + strconv.Itoa(mostDegree)
				}
				d.wrong.add(d.table.header, "", "%s %s: expected %s%s", list.option, quote(text), list.expected, more)
			} else if before != nil {
				d.wrong.add(d.table.header, "", "%s %s: the column has another form already", list.option, quote(text))
			}
			d.category[j] = d.category[j] || d.forms[j].ordered
		}
	}
	for _, part := range f.Dates {
		if !slices.Contains(DateParts(), part) {
			d.wrong.add(d.table.header, "", "Forms.Dates has %s, expected some of %s", quote(part), words.Joined(DateParts()))
		}
	}
	var names []int
	for _, text := range f.Interactions {
		switch columns := d.product(text); {
		case columns == nil:
			d.wrong.add(d.table.header, "", "Forms.Interactions %s: expected names of columns, A:B or A,B; the columns are: %s",
				quote(text), list(d.table.Names()))
		case len(columns) == 1:
			names = append(names, columns...)
		default:
			d.interactions = append(d.interactions, columns)
		}
	}
	if len(names) == 1 {
		d.wrong.add(d.table.header, "", "Forms.Interactions has %s alone, expected A:B, or names of which all pairs "+
			"are taken", quote(d.table.columns[names[0]].Name))
	}
	for k, a := range names {
		for _, b := range names[k+1:] {
			d.interactions = append(d.interactions, []int{a, b})
		}
	}
}

// expand sets a spline or polynomial of so many features.
func (f *form) expand(basis, value string) bool {
	var err error
	f.basis = basis
	f.size, err = strconv.Atoi(value)
	return err == nil && f.size >= 2 && f.size <= mostDegree
}

// assigned are the column and the value of NAME=VALUE, or of NAME: that of the longest name that there is.
func (d *Design) assigned(text string) (j int, value string) {
	for at := len(text); at > 0; at = strings.LastIndexByte(text[:at], '=') {
		if j = d.table.Index(text[:at]); j >= 0 {
			return j, strings.TrimPrefix(text[at:], "=")
		}
	}
	return -1, ""
}

// product are the columns of A:B:.., nil where it is none.
func (d *Design) product(text string) []int {
	if j := d.table.Index(text); j >= 0 {
		return []int{j}
	}
	for at, c := range text {
		if j := d.table.Index(text[:at]); c == ':' && j >= 0 {
			if rest := d.product(text[at+1:]); rest != nil && !slices.Contains(rest, j) {
				return append([]int{j}, rest...)
			}
		}
	}
	return nil
}

// checkForms says why columns cannot have their forms.
func (d *Design) checkForms() {
	t, dates := d.table, false
	for _, j := range d.features {
		if c := &t.columns[j]; c.Kind == Date && !d.category[j] && d.wanted.Forms.Dates != nil {
			if dates = true; d.forms[j] == nil {
				d.forms[j] = &form{basis: Parts}
			}
		}
	}
	if !dates && d.wanted.Forms.Dates != nil {
		d.wrong.add(t.header, "", "no feature is a date, for Forms.Dates")
	}
	for j := range t.columns {
		f := d.forms[j]
		if f == nil {
			continue
		}
		levels := []string(nil)
		if d.category[j] {
			levels, _ = t.levels(j, nil)
		}
		switch {
		case !slices.Contains(d.features, j):
			d.wrong.add(0, t.field(j), "is no feature, and has no other form")
		case f.basis != "" && d.category[j]:
			d.wrong.add(0, t.field(j), "is a category, expected numbers for a %s", f.basis)
		case f.reference != "" && !d.category[j]:
			d.wrong.add(0, t.field(j), "has numbers, expected a category for Forms.Reference (Wanted.Categorical takes it "+
				"as one)")
		case f.reference != "" && indexOf(levels, f.reference) < 0:
			d.wrong.add(0, t.field(j), "no row has the level %s of Forms.Reference; the levels are %s", quote(f.reference),
				list(levels))
		case f.levels != nil:
			for _, level := range levels {
				if indexOf(f.levels, level) < 0 {
					d.wrong.add(0, t.field(j), "has the level %s, which Forms.Ordered does not name; it names %s", quote(level),
						list(f.levels))
					break
				}
			}
		}
	}
	for _, columns := range d.interactions {
		for _, j := range columns {
			if !slices.Contains(d.features, j) {
				d.wrong.add(0, t.field(j), "is no feature, and has no part in Forms.Interactions")
			}
		}
	}
}

// form gives a coding its form, but for what is learned of numbers. The error is that the rows have too few values for
// it.
func (d *Design) form(c *Coding, j int, rows []int) error {
	f, t := d.forms[j], d.table
	switch {
	case f == nil:
	case f.ordered:
		if c.Ordered = true; f.levels != nil {
			c.Levels = f.levels
		}
	case f.reference != "":
		k := indexOf(c.Levels, f.reference)
		if k < 0 {
			return oneError(t.name, "column "+quote(c.Column)+": no training row has the level "+quote(f.reference)+
				" of Forms.Reference")
		}
		c.Levels = slices.Concat(c.Levels[k:k+1], c.Levels[:k], c.Levels[k+1:])
	default:
		x := t.observed(j, rows)
		slices.Sort(x)
		if f.basis == Parts {
			span := 0.0
			if len(x) > 0 {
				span = x[len(x)-1] - x[0]
			}
			c.Basis = dateBasis(d.wanted.Forms.Dates, span, strings.Contains(c.Layout, "04"))
			return nil
		}
		if n := len(slices.Compact(x)); n <= f.size {
			return oneError(t.name, "column "+quote(c.Column)+": "+words.Count(n, "different number")+
				" in the training rows, expected more than the "+strconv.Itoa(f.size)+" of its "+f.basis)
		}
		c.Basis = newBasis(f.basis, f.size)
	}
	return nil
}

// observed are the numbers of a column in rows that have one.
func (t *Table) observed(j int, rows []int) []float64 {
	return slices.DeleteFunc(t.numbers(j, rows), func(v float64) bool { return v != v })
}

// namesOf are those of columns.
func (t *Table) namesOf(columns []int) (names []string) {
	for _, j := range columns {
		names = append(names, t.columns[j].Name)
	}
	return names
}

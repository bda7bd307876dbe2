package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/backends"
)

// NewPlan makes a plan of known names, each once; nil means all tables, all methods, and the native backend. Rows
// without their file in data are left out, with the reason.
func NewPlan(tables, methods, conic []string, repeats int, data *Files) (Plan, error) {
	p := Plan{Tables: tables, Methods: methods, Backends: conic, Repeats: repeats}
	if tables == nil {
		for _, t := range Tables() {
			p.Tables = append(p.Tables, t.Name)
		}
	}
	if methods == nil {
		for _, m := range Methods() {
			p.Methods = append(p.Methods, m.Name)
		}
	}
	if conic == nil {
		p.Backends = []string{backends.Default}
	}
	for _, t := range p.tables() {
		for _, r := range t.Rows {
			if reason := data.missing(r.files); reason != "" {
				p.Skipped = append(p.Skipped, Skipped{Table: t.Name, Row: r.Name, Reason: reason})
			}
		}
	}
	return p, p.empty()
}

// tables are those of the plan. Names that are not known are of another version.
func (p *Plan) tables() (list []Table) {
	for _, name := range p.Tables {
		if t, err := FindTable(name); err == nil {
			list = append(list, t)
		}
	}
	return list
}

// NotAsked is the reason for a row that [Plan.Only] leaves out.
const NotAsked = "it was not asked for"

// Only leaves out all rows but those of these names, in whatever table they are.
func (p Plan) Only(rows []string) (Plan, error) {
	var known []string
	p.Skipped = slices.Clone(p.Skipped)
	for _, t := range p.tables() {
		for _, r := range t.Rows {
			if !slices.Contains(known, r.Name) {
				known = append(known, r.Name)
			}
			if _, skip := p.skipped(t.Name, r.Name); !skip && !slices.Contains(rows, r.Name) {
				p.Skipped = append(p.Skipped, Skipped{Table: t.Name, Row: r.Name, Reason: NotAsked})
			}
		}
	}
	for _, name := range rows {
		if !slices.Contains(known, name) {
			return Plan{}, fmt.Errorf("unknown row %q; known in these tables are: %s", name, strings.Join(known, ", "))
		}
	}
	return p, p.empty()
}

// empty says why a plan has no items; nil where it has some.
func (p *Plan) empty() error {
	switch {
	case len(p.Items()) > 0:
		return nil
	case len(p.Skipped) > 0:
		return fmt.Errorf("nothing to do: %s", p.Skipped[0].Reason)
	}
	return fmt.Errorf("nothing to do: none of the methods %s is in the tables %s", strings.Join(p.Methods, ", "),
		strings.Join(p.Tables, ", "))
}

// skipped says whether a row is left out, and why.
func (p *Plan) skipped(table, row string) (reason string, ok bool) {
	for _, s := range p.Skipped {
		if s.Table == table && s.Row == row {
			return s.Reason, true
		}
	}
	return "", false
}

// lines are the items of a row for one seed: methods in the order of the table, each with its backends. A method that
// solves no conic programs has the first backend only.
func (p *Plan) lines(t *Table, row string, seed uint64) []Item {
	if _, skip := p.skipped(t.Name, row); skip {
		return nil
	}
	var items []Item
	for _, name := range t.Methods {
		m, err := FindMethod(name)
		if err != nil || !slices.Contains(p.Methods, name) {
			continue
		}
		for i, b := range p.Backends {
			if i == 0 || m.conic {
				items = append(items, Item{Table: t.Name, Row: row, Method: name, Backend: b, Seed: seed})
			}
		}
	}
	return items
}

// Items is the list of work: all rows and methods for the first seed, then for the second. So work that is
// stopped halfway has every line of every table, with fewer repeats, and the time of what is left is easy to foresee.
func (p *Plan) Items() []Item {
	var items []Item
	for seed := uint64(1); seed <= uint64(p.Repeats); seed++ {
		for _, t := range p.tables() {
			for _, r := range t.Rows {
				items = append(items, p.lines(&t, r.Name, seed)...)
			}
		}
	}
	return items
}

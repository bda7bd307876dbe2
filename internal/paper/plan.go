package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/backends"
)

// NewPlan makes a plan of names; nil means all tables, all methods, and the native backend. Rows without their file in
// data are left out, with the reason.
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
	if err := p.check(); err != nil {
		return Plan{}, err
	}
	for _, name := range p.Backends {
		if _, err := backends.Open(name); err != nil {
			return Plan{}, err
		}
	}
	for _, name := range p.Tables {
		t, err := FindTable(name)
		if err != nil {
			return Plan{}, err
		}
		for _, r := range t.Rows {
			if reason := data.missing(r.files); reason != "" {
				p.Skipped = append(p.Skipped, Skipped{Table: t.Name, Row: r.Name, Reason: reason})
			}
		}
	}
	if len(p.Items()) == 0 {
		return Plan{}, fmt.Errorf("nothing to do: %s", p.nothing())
	}
	return p, nil
}

// NotAsked is the reason for a row that [Plan.Only] leaves out.
const NotAsked = "it was not asked for"

// Only leaves out all rows but those of these names, in whatever table they are.
func (p Plan) Only(rows []string) (Plan, error) {
	var known []string
	p.Skipped = slices.Clone(p.Skipped)
	for _, name := range p.Tables {
		t, err := FindTable(name)
		if err != nil {
			return Plan{}, err
		}
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
	if len(p.Items()) == 0 {
		return Plan{}, fmt.Errorf("nothing to do: %s", p.nothing())
	}
	return p, nil
}

// check rejects names that are not known or there twice.
func (p *Plan) check() error {
	if p.Repeats < 1 {
		return fmt.Errorf("%d repeats, expected at least 1", p.Repeats)
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"table", p.Tables}, {"method", p.Methods}, {"backend", p.Backends}} {
		for i, name := range list.names {
			if slices.Contains(list.names[:i], name) {
				return fmt.Errorf("%s %s is named twice", list.what, name)
			}
		}
	}
	for _, name := range p.Tables {
		if _, err := FindTable(name); err != nil {
			return err
		}
	}
	for _, name := range p.Methods {
		if _, err := FindMethod(name); err != nil {
			return err
		}
	}
	return nil
}

// nothing says why a plan has no items.
func (p *Plan) nothing() string {
	if len(p.Skipped) == 0 {
		return fmt.Sprintf("none of the methods %s is in the tables %s", strings.Join(p.Methods, ", "), strings.Join(p.Tables, ", "))
	}
	return p.Skipped[0].Reason
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
		for _, name := range p.Tables {
			t, err := FindTable(name)
			if err != nil {
				continue // a plan of another version; NewPlan has checked ours
			}
			for _, r := range t.Rows {
				items = append(items, p.lines(&t, r.Name, seed)...)
			}
		}
	}
	return items
}

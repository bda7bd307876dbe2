package table

import (
	"fmt"
	"slices"
	"strings"
)

// suspects hints at columns that are read as they are and may be meant otherwise.
func (d *Design) suspects() {
	for _, j := range append(slices.Clone(d.targets), d.features...) {
		if code, where := d.missingCode(j); where.Count > 0 {
			d.findings = found(d.findings, "hint", []FoundColumn{where},
				"%s: "+formatNumber(code)+", far from all other values, is read as a number; if it stands for a missing value, "+
					"Options.Missing "+formatNumber(code)+" says so")
		}
	}
	if text := alike(d.labels); text != "" {
		d.findings = append(d.findings, Finding{Kind: "hint", Text: "labels of the target: " + text})
	}
}

// missingCodes are numbers by which tables say that a value is missing.
var missingCodes = []float64{-99, -999, -9999, -99999, 999, 9999, 99999}

// missingCode is a number of missingCodes that several rows of a column have, and that is further from the other
// numbers than these are from each other.
func (d *Design) missingCode(j int) (code float64, where FoundColumn) {
	t := d.table
	c := &t.columns[j]
	if c.Kind != Number || d.category[j] || len(d.rows) == 0 {
		return 0, where
	}
	value := func(i int) float64 { return c.value(t.cell(i, j)) }
	for _, v := range []float64{c.low, c.high} {
		if !slices.Contains(missingCodes, v) {
			continue
		}
		low, high, others := 0.0, 0.0, 0
		where = FoundColumn{Name: c.Name}
		for _, i := range d.rows {
			switch u := value(i); {
			case u == v:
				where.add(t.Line(i))
			case u == u:
				if others++; others == 1 {
					low, high = u, u
				}
				low, high = min(low, u), max(high, u)
			}
		}
		if where.Count > 1 && others > where.Count && high > low && (v < low && low-v > high-low || v > high &&
			v-high > high-low) {
			return v, where
		}
	}
	return 0, FoundColumn{}
}

// alike says that two names differ in the case of letters or in blanks alone; empty where none do.
func alike(names []string) string {
	before := map[string]string{}
	for _, name := range names {
		key := strings.ToLower(strings.Join(strings.Fields(name), " "))
		if other, ok := before[key]; ok {
			return fmt.Sprintf("%s and %s differ in the case of letters or in blanks alone, and may mean the same", quote(other),
				quote(name))
		}
		before[key] = name
	}
	return ""
}

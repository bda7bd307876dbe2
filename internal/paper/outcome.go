package paper

import (
	"fmt"
	"strings"
)

// newOutcome puts the records of the plan into its order.
func newOutcome(m Manifest, records []Record) (*Outcome, error) {
	have := make(map[Item]*Record, len(records))
	for k := range records {
		r := &records[k]
		if first, ok := have[r.Item]; ok {
			if !same(first, r) {
				return nil, fmt.Errorf("%v is there twice, with different results (by versions %s and %s)", r.Item, first.Version, r.Version)
			}
			continue
		}
		have[r.Item] = r
	}
	out := &Outcome{Manifest: m}
	for _, i := range m.Plan.Items() {
		if r, ok := have[i]; ok {
			out.Records = append(out.Records, *r)
		} else {
			out.Missing++
		}
	}
	return out, nil
}

// same says whether two records of an item put the same into the tables of errors.
func same(a, b *Record) bool {
	equal := func(x, y *float64) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	errors := func(x, y Errors) bool { return equal(x.Validation, y.Validation) && equal(x.Test, y.Test) }
	return a.Settings == b.Settings && a.Status == b.Status && a.Iterations == b.Iterations &&
		errors(a.Iterate, b.Iterate) && errors(a.Refit, b.Refit) && equal(a.Deployed, b.Deployed)
}

// listed joins names.
func listed(names []string) string { return strings.Join(names, ", ") }

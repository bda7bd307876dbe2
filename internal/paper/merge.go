package paper

import (
	"fmt"
	"reflect"

	"github.com/conetune/conetune/internal/worklist"
)

// Merge puts the results of several folders, shards of one plan, into a new one, with the tables of all. An item may be
// in several folders if it came out alike. The outcome says how many items are missing still.
func Merge(dirs []string, into string) (*Outcome, error) {
	out, err := worklist.Merge(experiments, dirs, into)
	if err != nil {
		return nil, err
	}
	return out, WriteTables(into, out.Manifest.Plan, out.Records)
}

// same says whether two records of an item put the same into the tables of errors.
func same(a, b *Record) bool {
	equal := func(x, y *float64) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	errors := func(x, y Errors) bool { return equal(x.Validation, y.Validation) && equal(x.Test, y.Test) }
	return a.Settings == b.Settings && a.Status == b.Status && a.Iterations == b.Iterations &&
		errors(a.Iterate, b.Iterate) && errors(a.Refit, b.Refit) && equal(a.Deployed, b.Deployed)
}

// sameSettings rejects records of one row with different settings.
func sameSettings(records []Record) error {
	first := map[[2]string]*Record{}
	for k := range records {
		r := &records[k]
		key := [2]string{r.Table, r.Row}
		if f := first[key]; f == nil {
			first[key] = r
		} else if f.Settings != r.Settings {
			return fmt.Errorf("the results of %s %s were made with %q and with %q", r.Table, r.Row, f.Settings, r.Settings)
		}
	}
	return nil
}

// difference names what two plans disagree in.
func difference(a, b Plan) string {
	for _, f := range []struct {
		what string
		a, b any
	}{
		{"tables", a.Tables, b.Tables}, {"methods", a.Methods, b.Methods}, {"backends", a.Backends, b.Backends},
		{"repeats", a.Repeats, b.Repeats}, {"skipped rows", a.Skipped, b.Skipped},
	} {
		if !reflect.DeepEqual(f.a, f.b) {
			return fmt.Sprintf("%s %v and %v", f.what, f.a, f.b)
		}
	}
	return "their plans differ"
}

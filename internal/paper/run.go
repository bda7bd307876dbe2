package paper

import (
	"context"
	"fmt"
	"reflect"
	"runtime"

	"github.com/conetune/conetune/internal/worklist"
)

// The folders of the tables, and of the figures, which package report draws.
const (
	TablesDir  = "tables"
	FiguresDir = "figures"
)

// experiments is what the runner must know of the experiments. A group of the list is a row with a seed, so that every
// shard gets its share of the slow methods and of the slow rows.
var experiments = &worklist.Kind[Item, Record, Plan]{
	Schema:  Schema,
	Folders: []string{TablesDir, FiguresDir},
	Items:   func(p Plan) []Item { return p.Items() },
	Head: func(r *Record) worklist.Head[Item] {
		return worklist.Head[Item]{Item: r.Item, Schema: r.Schema, Version: r.Version, Seconds: r.Seconds}
	},
	Together:   func(a, b Item) bool { return a.Table == b.Table && a.Row == b.Row && a.Seed == b.Seed },
	Same:       same,
	Agree:      sameSettings,
	Difference: difference,
}

// Manifest says what a folder of results is about.
type Manifest = worklist.Manifest[Plan]

// Outcome is what a run leaves behind.
type Outcome = worklist.Outcome[Record, Plan]

// Options say where and how to do the work of a plan.
type Options struct {
	worklist.Options[Plan]
	// Files are the real data, those that the plan was made with.
	Files *Files
}

// Run does the items of the plan that have no record yet, and writes the tables of all records that are there then. A
// cancelled context ends it in the same way with what was done until then.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	do := func(ctx context.Context, i Item) (*Record, error) {
		r, err := Execute(ctx, i, o.Files)
		if err != nil {
			return nil, err
		}
		if r.Version = o.Version; o.Workers > 1 {
			r.CPU = 0 // that of several items
		}
		return r, nil
	}
	out, err := worklist.Run(ctx, experiments, worklist.Work[Item, Record]{Check: o.checkSettings, Do: do}, o.Options)
	if err != nil {
		return nil, err
	}
	return out, WriteTables(o.Dir, o.Plan, out.Records)
}

// checkSettings rejects records of earlier runs that were made with other settings. All files are read here, so that
// one that cannot be read is an error before the work and not in its middle.
func (o *Options) checkSettings(have map[Item]*Record) error {
	settings := map[[2]string]string{}
	for _, i := range o.Plan.Items() {
		key := [2]string{i.Table, i.Row}
		if _, known := settings[key]; !known {
			t, err := taskOf(i, o.Files)
			if err != nil {
				return err
			}
			settings[key] = t.settings
		}
		if r, ok := have[i]; ok && r.Settings != settings[key] {
			return fmt.Errorf("the results of %s %s were made with %q, these would be with %q: choose another folder", i.Table,
				i.Row, r.Settings, settings[key])
		}
	}
	return nil
}

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
	told := func(r *Record) []any {
		return []any{r.Settings, r.Status, r.Iterations, r.Iterate, r.Refit, r.Deployed}
	}
	return reflect.DeepEqual(told(a), told(b))
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

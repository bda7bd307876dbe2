package paper

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/conetune/conetune/internal/crew"
)

// errWorker ends a run whose worker has panicked.
var errWorker = errors.New("paper: internal failure")

// Options say where and how to do the work of a plan.
type Options struct {
	// Dir is the folder of the results.
	Dir  string
	Plan Plan
	// Shard is the part of the plan to do.
	Shard Shard
	// Files are the real data, those that the plan was made with.
	Files *Files
	// Resume goes on with results that are in the folder.
	Resume bool
	// Workers is how many items run at once; 0 means as many as there are processors.
	Workers int
	// Version, Machine and Command are noted in the results.
	Version, Machine, Command string
	// Observe, if not nil, is called at the start and after each item.
	Observe func(Progress)
}

// Progress is how far the work is.
type Progress struct {
	// Done and All count items, those done by earlier runs included.
	Done, All int
	// Left is an estimate of the time that the rest takes; 0 as long as nothing is known.
	Left time.Duration
}

// Outcome is what a run leaves behind.
type Outcome struct {
	Manifest Manifest
	// Records are all those of the plan in the folder, in the order of the plan.
	Records []Record
	// Notes are what the user should know about results of earlier runs.
	Notes []string
	// Missing is how many items of the whole plan have no record yet.
	Missing int
}

// Run does the items of the plan that have no record yet, and writes the tables of all records that are there then. A
// cancelled context ends it in the same way with what was done until then.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	if o.Shard == (Shard{}) {
		o.Shard = Shard{1, 1}
	}
	s, err := openStore(o.Dir, o.Resume)
	if err != nil {
		return nil, err
	}
	defer s.close()
	m, rebuilt, err := manifestOf(o.Dir)
	if err != nil {
		return nil, err
	}
	m.Version, m.Plan = o.Version, o.Plan
	m.Shards = with(m.Shards, o.Shard.String())
	m.Machines, m.Commands = with(m.Machines, o.Machine), with(m.Commands, o.Command)
	have, err := o.earlier(s.records)
	if err != nil {
		return nil, err
	}
	notes := notesOn(s.records, o.Version)
	if rebuilt != "" {
		notes = append(notes, rebuilt)
	}
	if err := m.write(o.Dir); err != nil {
		return nil, err
	}
	items := o.Shard.Of(o.Plan.Items())
	var todo []Item
	e := &estimate{all: len(items), workers: o.workers()}
	for _, i := range items {
		if r, ok := have[i]; ok {
			e.add(i, r.Seconds)
		} else {
			todo = append(todo, i)
		}
	}
	e.todo = todo
	if err := o.work(ctx, s, todo, e); err != nil {
		return nil, err
	}
	out, err := newOutcome(*m, s.records)
	if err != nil {
		return nil, err
	}
	out.Notes = notes
	return out, WriteTables(o.Dir, o.Plan, out.Records)
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// with appends what is not there.
func with(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// earlier are the records by item. Those of the plan must have been made with the same settings. All files are read here, so that
// one that cannot be read is an error before the work and not in its middle.
func (o *Options) earlier(records []Record) (map[Item]*Record, error) {
	have := make(map[Item]*Record, len(records))
	for k := range records {
		have[records[k].Item] = &records[k]
	}
	settings := map[[2]string]string{}
	for _, i := range o.Plan.Items() {
		key := [2]string{i.Table, i.Row}
		if _, known := settings[key]; !known {
			t, err := FindTable(i.Table)
			if err != nil {
				return nil, err
			}
			row, err := t.row(i.Row)
			if err != nil {
				return nil, err
			}
			if settings[key], err = settingsOf(row, o.Files); err != nil {
				return nil, err
			}
		}
		if r, ok := have[i]; ok && r.Settings != settings[key] {
			return nil, fmt.Errorf("the results of %s %s were made with %q, these would be with %q: choose another folder", i.Table, i.Row, r.Settings, settings[key])
		}
	}
	return have, nil
}

// notesOn says which records are those of another version.
func notesOn(records []Record, version string) []string {
	var others []string
	n := 0
	for _, r := range records {
		if r.Version != version {
			n++
			others = with(others, r.Version)
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the results that are kept were made by version %s, this is %s; choose another folder to have all by one version", n, listed(others), version)}
}

// work does items, several at once, in the order of the list.
func (o *Options) work(ctx context.Context, s *store, todo []Item, e *estimate) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan Item)
	workers := crew.Crew{Failed: func() { stop(errWorker) }}
	var mu sync.Mutex
	observe := func() {
		if o.Observe != nil {
			o.Observe(e.progress())
		}
	}
	observe()
	for range min(o.workers(), max(1, len(todo))) {
		workers.Go(func() {
			for i := range queue {
				r, err := Execute(ctx, i, o.Files)
				if err == nil {
					r.Version = o.Version
					if o.workers() > 1 {
						r.CPU = 0 // that of several items
					}
					err = s.add(r)
				}
				if err != nil {
					stop(err) // the first cause stays
					continue
				}
				mu.Lock()
				e.add(i, r.Seconds)
				observe()
				mu.Unlock()
			}
		})
	}
	for _, i := range todo {
		select {
		case queue <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	workers.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

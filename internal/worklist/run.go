package worklist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/words"
)

// Run does the items of the plan that have no record yet. A cancelled context ends it in the same way with what was
// done until then.
func Run[I comparable, R, P any](ctx context.Context, k *Kind[I, R, P], w Work[I, R], o Options[P]) (*Outcome[R, P],
	error) {
	if o.Shard == (Shard{}) {
		o.Shard = Shard{1, 1}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s, err := k.open(o.Dir, o.Resume)
	if err != nil {
		return nil, err
	}
	defer s.file.Close() // which also ends the lock
	m, err := k.ReadManifest(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		m = &Manifest[P]{Schema: k.Schema}
	} else if err != nil {
		return nil, err
	}
	m.Version, m.Plan = o.Version, o.Plan
	m.Shards = With(m.Shards, o.Shard.String())
	m.Machines, m.Commands = With(m.Machines, o.Machine), With(m.Commands, o.Command)
	have, err := k.byItem(s.records)
	if err != nil {
		return nil, err
	}
	if w.Again != nil {
		for i, r := range have {
			if w.Again(r) {
				delete(have, i)
			}
		}
	}
	if w.Check != nil {
		if err := w.Check(have); err != nil {
			return nil, err
		}
	}
	notes := k.notesOn(s.records, o.Version)
	if err := m.write(o.Dir); err != nil {
		return nil, err
	}
	items := k.Of(o.Shard, k.Items(o.Plan))
	var todo []I
	p := Progress{All: len(items), Workers: o.Workers}
	for _, i := range items {
		if r, ok := have[i]; ok {
			p.add(k.Head(r).Seconds)
		} else {
			todo = append(todo, i)
		}
	}
	if o.Observe == nil {
		o.Observe = func(Progress) {}
	}
	err = work(ctx, todo, o.Workers, w.Do, func() { o.Observe(p) }, func(r *R) error {
		if err := s.add(r); err != nil {
			return err
		}
		p.add(k.Head(r).Seconds)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out, err := k.outcome(*m, s.records)
	if err != nil {
		return nil, err
	}
	out.Notes = notes
	return out, nil
}

// work does items, several at once, in the order of the list, and keeps their records one at a time.
func work[I, R any](ctx context.Context, todo []I, workers int, do func(context.Context, I) (*R, error), observe func(),
	keep func(*R) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	observe()
	crew.By(len(todo), workers, func(_, k int) {
		if ctx.Err() != nil {
			return
		}
		r, err := do(ctx, todo[k])
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			err = keep(r)
		}
		if err != nil {
			stop(err) // the first cause stays
		} else {
			observe()
		}
	})
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// outcome puts the records of the plan into its order.
func (k *Kind[I, R, P]) outcome(m Manifest[P], records []R) (*Outcome[R, P], error) {
	have, err := k.byItem(records)
	if err != nil {
		return nil, err
	}
	out := &Outcome[R, P]{Manifest: m}
	for _, i := range k.Items(m.Plan) {
		if r, ok := have[i]; ok {
			out.Records = append(out.Records, *r)
		} else {
			out.Missing++
		}
	}
	return out, nil
}

// byItem are the records of the items. An item may have several that came out alike, and one that takes the place of
// those before.
func (k *Kind[I, R, P]) byItem(records []R) (map[I]*R, error) {
	have := make(map[I]*R, len(records))
	for n := range records {
		r := &records[n]
		item := k.Head(r).Item
		first, ok := have[item]
		switch {
		case !ok, k.Replaces != nil && k.Replaces(r, first):
			have[item] = r
		case k.Replaces != nil && k.Replaces(first, r):
		case !k.Same(first, r):
			return nil, fmt.Errorf("%v is there twice, with different results (by versions %s and %s)", item,
				k.Head(first).Version, k.Head(r).Version)
		}
	}
	return have, nil
}

// notesOn says which records are those of another version.
func (k *Kind[I, R, P]) notesOn(records []R, version string) []string {
	var others []string
	n := 0
	for i := range records {
		if v := k.Head(&records[i]).Version; v != version {
			n++
			others = With(others, v)
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the results that are kept were made by version %s, this is %s; choose another "+
		"folder to have all by one version", n, words.Joined(others), version)}
}

// With appends what is not there, and not empty.
func With(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Shard is one part of the work, number Index of Count, from 1.
type Shard struct{ Index, Count int }

// String writes it as on the command line.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// ParseShard reads "2/4"; the empty text is the whole work.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{1, 1}, nil
	}
	var s Shard
	var rest string
	n, _ := fmt.Sscanf(text+" ", "%d/%d%s", &s.Index, &s.Count, &rest)
	if n != 2 || s.Count < 1 || s.Index < 1 || s.Index > s.Count || s.String() != text {
		return Shard{}, fmt.Errorf("%q found, expected I/N with I from 1 to N, such as 2/4", text)
	}
	return s, nil
}

// Of is the part of a list that a shard does. From one group of the list to the next the part that has its first item
// moves on by one, so that every part gets its share of what is slow at the same place of each group, and of the slow
// groups.
func (k *Kind[I, R, P]) Of(s Shard, items []I) []I {
	var part []I
	group, at := 0, 0
	for i, it := range items {
		if i > 0 && (k.Together == nil || !k.Together(items[i-1], it)) {
			group, at = group+1, 0
		}
		if (group+at)%s.Count == s.Index-1 {
			part = append(part, it)
		}
		at++
	}
	return part
}

package worklist

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/conetune/conetune/internal/crew"
)

// Run does the items of the plan that have no record yet. A cancelled context ends it in the same way with what was
// done until then.
func Run[I comparable, R, P any](ctx context.Context, k *Kind[I, R, P], o Options[I, R, P]) (*Outcome[R, P], error) {
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
	defer s.close()
	m, rebuilt, err := k.manifestOf(o.Dir)
	if err != nil {
		return nil, err
	}
	m.Version, m.Plan = o.Version, o.Plan
	m.Shards = with(m.Shards, o.Shard.String())
	m.Machines, m.Commands = with(m.Machines, o.Machine), with(m.Commands, o.Command)
	have, err := k.byItem(s.records)
	if err != nil {
		return nil, err
	}
	if o.Again != nil {
		for i, r := range have {
			if o.Again(r) {
				delete(have, i)
			}
		}
	}
	if o.Check != nil {
		if err := o.Check(have); err != nil {
			return nil, err
		}
	}
	notes := k.notesOn(s.records, o.Version)
	if rebuilt != "" {
		notes = append(notes, rebuilt)
	}
	if err := m.write(o.Dir); err != nil {
		return nil, err
	}
	items := k.Of(o.Shard, k.Items(o.Plan))
	var todo []I
	e := &estimate[I]{all: len(items), workers: o.Workers, line: k.Line}
	for _, i := range items {
		if r, ok := have[i]; ok {
			e.add(i, k.Head(r).Seconds, false)
		} else {
			todo = append(todo, i)
			e.plan(i)
		}
	}
	if err := o.work(ctx, k, s, todo, e); err != nil {
		return nil, err
	}
	out, err := k.outcome(*m, s.records)
	if err != nil {
		return nil, err
	}
	out.Notes = notes
	return out, nil
}

// work does items, several at once, in the order of the list.
func (o *Options[I, R, P]) work(ctx context.Context, k *Kind[I, R, P], s *store[R], todo []I, e *estimate[I]) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan I)
	workers := crew.Crew{Failed: func() { stop(errWorker) }}
	var mu sync.Mutex
	observe := func() {
		if o.Observe != nil {
			o.Observe(e.progress())
		}
	}
	observe()
	for range min(o.Workers, max(1, len(todo))) {
		workers.Go(func() {
			for i := range queue {
				if ctx.Err() != nil {
					continue
				}
				r, err := o.Do(ctx, i)
				if err == nil {
					err = s.add(r)
				}
				if err != nil {
					stop(err) // the first cause stays
					continue
				}
				mu.Lock()
				e.add(i, k.Head(r).Seconds, true)
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

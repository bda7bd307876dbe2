package worklist

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/conetune/conetune/internal/crew"
)

// Run does the items of the plan that have no record yet. A cancelled context ends it in the same way with what was
// done until then.
func Run[I comparable, R, P any](ctx context.Context, k *Kind[I, R, P], w Work[I, R], o Options[P]) (*Outcome[R, P], error) {
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
	if rebuilt != "" {
		notes = append(notes, rebuilt)
	}
	if err := m.write(o.Dir); err != nil {
		return nil, err
	}
	items := k.Of(o.Shard, k.Items(o.Plan))
	var todo []I
	e := &estimate{all: len(items), workers: o.Workers}
	for _, i := range items {
		if r, ok := have[i]; ok {
			e.add(k.Head(r).Seconds)
		} else {
			todo = append(todo, i)
		}
	}
	if o.Observe == nil {
		o.Observe = func(Progress) {}
	}
	err = work(ctx, todo, o.Workers, w.Do, func() { o.Observe(e.progress()) }, func(r *R) error {
		if err := s.add(r); err != nil {
			return err
		}
		e.add(k.Head(r).Seconds)
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
func work[I, R any](ctx context.Context, todo []I, workers int, do func(context.Context, I) (*R, error), observe func(), keep func(*R) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan I)
	all := crew.Crew{Failed: func() { stop(errWorker) }}
	var mu sync.Mutex
	observe()
	for range min(workers, max(1, len(todo))) {
		all.Go(func() {
			for i := range queue {
				if ctx.Err() != nil {
					continue
				}
				r, err := do(ctx, i)
				mu.Lock()
				if err == nil {
					err = keep(r)
				}
				if err != nil {
					stop(err) // the first cause stays
				} else {
					observe()
				}
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
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// estimate foresees how long the rest of the work takes.
type estimate struct {
	done, all, workers int
	seconds            float64 // of what is done
}

func (e *estimate) add(seconds float64) { e.done, e.seconds = e.done+1, e.seconds+seconds }

func (e *estimate) progress() Progress {
	left := e.seconds / float64(max(1, e.done)) * float64(e.all-e.done) / float64(e.workers)
	return Progress{Done: e.done, All: e.all, Left: time.Duration(left * float64(time.Second))}
}

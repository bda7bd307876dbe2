package tune

import (
	"context"
	"runtime"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/crew"
)

// settings are those of the lower level.
func (t *Task) settings() dca.Settings {
	s := t.Config.settings(t.Model)
	s.Backend = t.Backend
	return s
}

// sweep solves the lower level at all points, given by the values of the axes, and records them in their order. The chains
// are the points in the order in which they are solved, each from the one before; a chain starts
// afresh, so that results do not depend on how many workers share the chains. It ends early, without an error,
// when the context does.
func (t *Task) sweep(ctx context.Context, s *space, points [][]float64, chains [][]int) error {
	workers := t.Config.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, len(chains)))
	evaluators := make([]*evaluator, workers)
	for w := range evaluators {
		e, err := t.evaluator(ctx, s) // here, as models need not build their programs side by side
		if err != nil {
			return err
		}
		defer e.close()
		evaluators[w] = e
	}

	type outcome struct {
		point int
		trial Trial
		err   error
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan []int)
	outcomes := make(chan outcome)
	running := crew.Crew{Failed: stop}
	go func() {
		defer close(next)
		for _, chain := range chains {
			select {
			case next <- chain:
			case <-ctx.Done():
				return
			}
		}
	}()
	for _, e := range evaluators {
		running.Go(func() {
			for chain := range next {
				err := e.forget()
				for _, i := range chain {
					var tr Trial
					if err == nil {
						tr, err = e.at(ctx, points[i])
					}
					if err == nil && ctx.Err() != nil {
						return // the solve was cut short
					}
					outcomes <- outcome{i, tr, err}
					if err != nil {
						return
					}
				}
			}
		})
	}
	go func() {
		running.Settle()
		close(outcomes)
	}()

	// Trials are recorded as soon as those before them are; after an early end, what is there.
	waiting := make(map[int]Trial)
	recorded, done := 0, 0
	count := func() { t.begin(Place{Place: dca.Place{Stage: StageSearch, Point: done, Points: len(points)}}) }
	count()
	var failed error
	for o := range outcomes {
		if o.err != nil {
			if failed == nil {
				failed = o.err
			}
			stop()
			continue
		}
		waiting[o.point] = o.trial
		done++
		count()
		for tr, ok := waiting[recorded]; ok; tr, ok = waiting[recorded] {
			delete(waiting, recorded)
			t.Record(tr)
			recorded++
		}
	}
	running.Wait() // for the panic of one of them
	if failed != nil {
		return failed
	}
	var rest []int
	for i := range waiting {
		rest = append(rest, i)
	}
	slices.Sort(rest)
	for _, i := range rest {
		t.Record(waiting[i])
	}
	return nil
}

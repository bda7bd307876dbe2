package tune

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/crew"
)

// settings are those of the lower level.
func (t *task) settings() dca.Settings {
	s := t.Config.settings(t.Model)
	s.Backend = t.Backend
	return s
}

// sweep solves the lower level at all points of the unit cube, and records them in their order. The chains are the
// points in the order in which they are solved, each from the one before; a chain starts afresh, so that results do not
// depend on how many workers share the chains. It ends early, without an error, when the context does.
func (t *task) sweep(ctx context.Context, s *space, points [][]float64, chains [][]int) (*Result, error) {
	t.searched = s
	workers := t.Config.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, len(chains)))
	free := make(chan *evaluator, workers)
	for range workers {
		e, err := t.evaluator(ctx, s) // here, as models need not build their programs side by side
		if err != nil {
			return nil, err
		}
		defer e.close()
		free <- e
	}
	until, stop := context.WithCancel(ctx)
	defer stop()
	r := recorder{task: t, trials: make([]*trial, len(points))}
	r.count()
	errs := make([]error, len(chains))
	crew.Each(len(chains), workers, func(k int) {
		e := <-free
		defer func() { free <- e }()
		if errs[k] = e.forget(); errs[k] == nil {
			errs[k] = r.chain(until, e, points, chains[k])
		}
		if errs[k] != nil {
			stop()
		}
	})
	for range workers {
		(<-free).close()
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for _, tr := range r.trials[r.recorded:] { // what is there after an early end
		if tr != nil {
			t.record(*tr)
		}
	}
	return t.finish(ctx, "", "")
}

// recorder records trials as soon as those before them are.
type recorder struct {
	task     *task
	working  sync.Mutex // of what follows
	trials   []*trial   // of each point, nil before it is done
	done     int
	recorded int // of them the first
}

// chain tries the points of a chain up to the end of the context.
func (r *recorder) chain(ctx context.Context, e *evaluator, points [][]float64, chain []int) error {
	for _, i := range chain {
		tr, err := e.at(ctx, e.space.values(points[i]))
		if err != nil || ctx.Err() != nil { // the solve was cut short
			return err
		}
		r.take(i, tr)
	}
	return nil
}

// take takes the trial of a point.
func (r *recorder) take(point int, tr trial) {
	r.working.Lock()
	defer r.working.Unlock()
	r.trials[point] = &tr
	r.done++
	r.count()
	for ; r.recorded < len(r.trials) && r.trials[r.recorded] != nil; r.recorded++ {
		r.task.record(*r.trials[r.recorded])
	}
}

// count tells how many points are done.
func (r *recorder) count() {
	r.task.begin(dca.Place{Stage: dca.StageSearch, Point: r.done, Points: len(r.trials)})
}

// errStopped ends a method whose context has ended; the result then is what was recorded.
var errStopped = errors.New("tune: stopped")

// search runs a method that proposes one point of the unit cube after the other. Its lower levels are solved each from
// the one before. An error of evaluate ends the method, which passes it on.
func (t *task) search(ctx context.Context, scope string,
	propose func(axes int, evaluate func(unit []float64) (float64, error)) error) (*Result, error) {
	s, err := t.space(ctx, scope)
	if err != nil {
		return nil, err
	}
	t.searched = s
	e, err := t.evaluator(ctx, s)
	if err != nil {
		return nil, err
	}
	err = propose(len(s.axes), func(unit []float64) (float64, error) {
		t.begin(dca.Place{Stage: dca.StageSearch, Point: t.trials, Points: t.evaluations()})
		tr, err := e.at(ctx, s.values(unit))
		if err != nil {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, errStopped
		}
		return t.record(tr), nil
	})
	e.close()
	if err != nil && !errors.Is(err, errStopped) {
		return nil, err
	}
	return t.finish(ctx, "", "")
}

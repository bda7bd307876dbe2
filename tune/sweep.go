package tune

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/indices"
)

// settings are those of the lower level.
func (t *task) settings() dca.Settings {
	s := t.Config.settings(t.Model)
	s.Backend = t.Backend
	return s
}

// chainLength bounds how many lower levels are solved each from the one before. Chains are what workers
// share, so they are cut for any number of workers: long ones save starts from nothing, short ones use many cores.
const chainLength = 25

// tour orders a block so that each point is the nearest to the one before it; the first is that of the largest values.
func tour(block []int, units [][]float64) {
	score := func(i int) float64 { return -floats.Sum(units[i]) }
	for k := range block {
		next := k
		for i := k + 1; i < len(block); i++ {
			if score(block[i]) < score(block[next]) {
				next = i
			}
		}
		block[k], block[next] = block[next], block[k]
		at := units[block[k]]
		score = func(i int) float64 { return floats.Distance(at, units[i], 2) }
	}
}

// sweep solves the lower level at all points of the unit cube, and records them in their order. A chain solves a block
// of them, from one to the nearest of the others; it starts afresh, so that results do not depend on how many workers
// share the chains. It ends early, without an error, when the context does.
func (t *task) sweep(ctx context.Context, s *space, points [][]float64) (*Result, error) {
	t.searched = s
	chains := slices.Collect(slices.Chunk(indices.Range(0, len(points)), chainLength))
	for _, chain := range chains {
		tour(chain, points)
	}
	workers := max(1, min(cmp.Or(t.Config.Workers, runtime.GOMAXPROCS(0)), len(chains)))
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
	trials, done, recorded := make([]*trial, len(points)), 0, 0
	count := func() { t.begin(dca.Place{Stage: dca.StageSearch, Point: done, Points: len(points)}) }
	count()
	var working sync.Mutex // of what follows
	take := func(point int, tr trial) {
		working.Lock()
		defer working.Unlock()
		trials[point] = &tr
		done++
		count()
		for ; recorded < len(trials) && trials[recorded] != nil; recorded++ {
			t.record(*trials[recorded])
		}
	}
	errs := make([]error, len(chains))
	crew.Each(len(chains), workers, func(k int) {
		e := <-free
		defer func() { free <- e }()
		errs[k] = e.form.Forget()
		for _, i := range chains[k] {
			var tr trial
			if errs[k] == nil {
				tr, errs[k] = e.at(until, s.values(points[i]))
			}
			if errs[k] != nil {
				stop()
			}
			if until.Err() != nil { // the solve was cut short
				return
			}
			take(i, tr)
		}
	})
	for range workers {
		(<-free).close()
	}
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for _, tr := range trials[recorded:] { // what is there after an early end
		if tr != nil {
			t.record(*tr)
		}
	}
	return t.finish(ctx, "", "")
}

// errStopped ends a method whose context has ended; the result then is what was recorded.
var errStopped = errors.New("tune: stopped")

// search runs a method that proposes one point of the unit cube after the other. Its lower levels are solved each from
// the one before. An error of evaluate ends the method, which passes it on.
func (t *task) search(ctx context.Context,
	propose func(axes int, evaluate func(unit []float64) (float64, error)) error) (*Result, error) {
	s, err := t.space(ctx, t.defaultScope())
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

// Package crew runs functions side by side such that a panic of one of them is one of whoever waits for them, who can
// recover it, and does not end the process.
package crew

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Crew is a group of goroutines. The zero Crew is ready for use.
type Crew struct {
	group    sync.WaitGroup
	once     sync.Once
	panicked any
}

// Go runs f in a goroutine.
func (c *Crew) Go(f func()) { c.group.Go(func() { c.run(f) }) }

func (c *Crew) run(f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.once.Do(func() { c.panicked = p })
		}
	}()
	f()
}

// Each calls f(0) to f(n-1), so many workers at a time, which take them in their order; with one worker it is a loop.
func Each(n, workers int, f func(i int)) { By(n, workers, func(_, i int) { f(i) }) }

// By is Each for an f that is told which of the workers, 0 to workers-1, calls it. The caller is one of them, so that
// what is done before another wakes up has not waited for it.
func By(n, workers int, f func(worker, i int)) {
	if n == 1 || workers <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var group Crew
	work := func(worker int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(worker, i)
		}
	}
	for worker := range min(n, workers) - 1 {
		group.Go(func() { work(worker + 1) })
	}
	group.run(func() { work(0) })
	group.Wait()
}

// Until is Each in a few parts for each worker, which ask before each call whether the context has ended.
func Until(ctx context.Context, n, workers int, f func(i int)) {
	parts := min(n, 4*workers)
	Each(parts, workers, func(part int) {
		for i := part * n / parts; i < (part+1)*n/parts && ctx.Err() == nil; i++ {
			f(i)
		}
	})
}

// All is Each with as many workers as there are threads.
func All(n int, f func(i int)) { Each(n, runtime.GOMAXPROCS(0), f) }

// Ranges calls f for as many ranges of n things as there are threads, side by side.
func Ranges(n int, f func(from, to int)) {
	parts := min(n, runtime.GOMAXPROCS(0))
	All(parts, func(k int) { f(k*n/parts, (k+1)*n/parts) })
}

// Wait waits for all, and panics with what the first of them panicked with.
func (c *Crew) Wait() {
	c.group.Wait()
	if c.panicked != nil {
		panic(c.panicked)
	}
}

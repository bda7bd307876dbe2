package process

import (
	"context"
	"time"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/memory"
)

// The times of the watchdog.
const (
	watchEvery = 25 * time.Millisecond
	// memoryPatience is how long a run may take to come to its end, and write what it has, once it is over the limit.
	memoryPatience = 5 * time.Second
)

// watchdog compares the memory in use with a limit. Over the limit it cancels the run, which then keeps and reports
// what it has; where that does not help in time, it ends the process, before the system or the Go runtime does so
// without a clear word.
type watchdog struct {
	// look returns bytes: what is in use, the limit, which a flag may set later, and what a run that was told to stop may
	// go to.
	look    func() (used, limit, last int64)
	collect func() // frees what is not in use any more
	exit    func(code int)
	note    func(format string, args ...any)
	tick    time.Duration // between two looks; 0 means watchEvery
}

// start returns a context that ends with errMemory as its cause when the limit is passed.
func (w *watchdog) start(ctx context.Context) (watched context.Context, stop func()) {
	if w.tick == 0 {
		w.tick = watchEvery
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.watch(cancel, done)
	}()
	return ctx, func() {
		close(done)
		<-ended
		cancel(nil)
	}
}

func (w *watchdog) watch(cancel context.CancelCauseFunc, done chan struct{}) {
	ticker := time.NewTicker(w.tick)
	defer ticker.Stop()
	var quiet time.Time // until then garbage is not collected again
	var cancelled time.Time
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		used, limit, last := w.look()
		switch {
		case used <= limit:
		case cancelled.IsZero() && time.Now().After(quiet):
			begun := time.Now()
			w.collect()
			quiet = time.Now().Add(10 * time.Since(begun)) // at most a tenth of the time
			if used, limit, _ = w.look(); used <= limit {
				continue
			}
			w.note("conetune: out of memory: %s in use, the limit is %s; stopping, with what is done", memory.Format(used), memory.Format(limit))
			cancelled = time.Now()
			cancel(cli.ErrMemory)
		case !cancelled.IsZero() && (used > last || time.Since(cancelled) > memoryPatience):
			w.note("conetune: out of memory: %s in use; stopped", memory.Format(used))
			w.exit(cli.ExitMemory)
			return
		}
	}
}

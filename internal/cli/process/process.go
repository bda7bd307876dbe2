// Package process prepares the process of a command line, and ends it when it takes too much memory.
package process

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/stdfd"
)

// Begin prepares the process for a command line: signals, standard output, and what becomes of a failure of the
// runtime.
func Begin() (context.Context, io.Writer) {
	// A panic in a goroutine of a library, or memory that the system does not give, ends a program of Go with status 2,
	// which is bad input here; so it ends by the signal SIGABRT.
	debug.SetTraceback("crash")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(latePercent)
	}
	prepareSystem()
	ctx, stop := context.Background(), context.CancelFunc(func() {})
	if !obeyParent() {
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	}
	// After the first signal the next one ends the program at once.
	context.AfterFunc(ctx, stop)
	if stdfd.Closed(1) {
		return ctx, cli.ClosedOutput{}
	}
	return ctx, os.Stdout
}

// Watch ends the process when it takes too much memory, see [watchdog]. The watch is over with stop.
func Watch(ctx context.Context, stderr io.Writer) (watched context.Context, stop func()) {
	// Nearly all that the machine or the container gives: beyond, the system kills without a word.
	hundredth := memory.Available() / 100
	now := latePercent
	w := &watchdog{
		look: func() (used, limit, last int64) {
			var live int64
			used, live, limit = memoryInUse()
			if percent := garbage(live); live > 0 && percent != now && os.Getenv("GOGC") == "" {
				now = percent
				debug.SetGCPercent(percent)
			}
			limit = min(limit, 90*hundredth)
			return used, limit, min(limit+max(limit/8, 64<<20), 97*hundredth)
		},
		collect: debug.FreeOSMemory, exit: os.Exit, note: (&cli.App{Stderr: stderr}).Note,
	}
	return w.start(ctx)
}

// Garbage is let come together until the heap has easeTo bytes, or twice what the last collection left, up to
// thriftFrom, and beyond by thriftPercent of that: what takes the memory then are numbers, in which a collection has
// nothing to look for, so that it costs little. The first collection, to which many commands never come, waits for 8 MB
// and not 4.
const (
	easeTo        = 16 << 20
	thriftFrom    = 128 << 20
	thriftPercent = 5
	leastHeap     = 4 << 20 // of the Go runtime
	latePercent   = 200
)

// garbage is how many percent of what the last collection left may come together.
func garbage(live int64) int {
	heap := max(easeTo, min(2*live, thriftFrom))
	return int(max(thriftPercent, 100*(heap-live)/max(live, leastHeap)))
}

// memoryInUse is the memory of the process: that of the Go runtime, which counts what it has promised and not yet used,
// or with that of C libraries the resident one, whichever is more. live is what the last collection of garbage left,
// limit that of the Go runtime, which --memory or GOMEMLIMIT sets.
func memoryInUse() (used, live, limit int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(sample)
	of := func(k int) int64 { return int64(sample[k].Value.Uint64()) }
	return max(of(0)-of(1), residentMemory()), of(2), of(3)
}

// JobProcess is set in a process that does a job of a batch.
const JobProcess = "CONETUNE_JOB"

// obeyParent makes the process of a job of a batch end with the one that started it, that is at the end of standard
// input, and leaves signals to that one, which decides what becomes of its jobs. It says whether this is such a
// process.
func obeyParent() bool {
	if os.Getenv(JobProcess) == "" {
		return false
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(cli.ExitInterrupted)
	}()
	return true
}

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
	w.tick = cmp.Or(w.tick, watchEvery)
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
			w.note("conetune: out of memory: %s in use, the limit is %s; stopping, with what is done", memory.Format(used),
				memory.Format(limit))
			cancelled = time.Now()
			cancel(cli.ErrMemory)
		case !cancelled.IsZero() && (used > last || time.Since(cancelled) > memoryPatience):
			w.note("conetune: out of memory: %s in use; stopped", memory.Format(used))
			w.exit(cli.ExitMemory)
			return
		}
	}
}

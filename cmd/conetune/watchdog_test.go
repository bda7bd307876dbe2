package main

import (
	"bytes"
	"context"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watched is a watchdog over numbers that a test sets.
type watched struct {
	used, garbage atomic.Int64
	exits         atomic.Int64
	mu            sync.Mutex
	text          strings.Builder
}

func (w *watched) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.WriteString(sprintf(format, args...) + "\n")
}

func (w *watched) notes() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (w *watched) start(ctx context.Context, limit int64) (context.Context, func()) {
	return (&watchdog{
		look:    func() (int64, int64, int64) { return w.used.Load() + w.garbage.Load(), limit, limit + limit/8 },
		collect: func() { w.garbage.Store(0) },
		exit:    func(code int) { w.exits.Store(int64(code)) },
		note:    w.note, tick: time.Millisecond,
	}).start(ctx)
}

func TestWatchdogCancels(t *testing.T) {
	var w watched
	w.used.Store(900)
	w.garbage.Store(5000) // is collected, and no reason to end
	ctx, stop := w.start(context.Background(), 1000)
	require.Eventually(t, func() bool { return w.garbage.Load() == 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, ctx.Err())
	w.used.Store(1001)
	<-ctx.Done()
	require.Equal(t, errMemory, context.Cause(ctx))
	require.Equal(t, "conetune: out of memory: 1 kB in use, the limit is 1 kB; stopping, with what is done\n", w.notes())
	w.used.Store(500) // the run came to its end
	stop()
	require.Zero(t, w.exits.Load())
}

// A run that goes on taking memory is ended.
func TestWatchdogExits(t *testing.T) {
	var w watched
	ctx, stop := w.start(context.Background(), 1000)
	defer stop()
	w.used.Store(1100)
	<-ctx.Done()
	require.Zero(t, w.exits.Load())
	w.used.Store(1200)
	require.Eventually(t, func() bool { return w.exits.Load() == exitMemory }, 10*time.Second, time.Millisecond)
	require.Equal(t, 2, strings.Count(w.notes(), "\n"))
}

// What a run has when memory ends is reported, with a status of its own.
func TestOutOfMemory(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 60, 5))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var out stopAfterLine
	out.stop = func() { cancel(errMemory) }
	var stderr bytes.Buffer
	code := run(ctx, []string{"tune", "weighted-lasso", "--data", data, "--tol", "1e-300", "--gap-tol", "1e-300", "--max-iter", "1000000", "--trace", "-"}, &out, &stderr)
	require.Equal(t, exitMemory, code)
	require.Contains(t, out.text.String(), `"validation_error"`)
	require.Contains(t, stderr.String(), "what was reached is reported and kept")

	stderr.Reset()
	code = run(ctx, []string{"tune", "weighted-lasso", "--data", data}, &out, &stderr)
	require.Equal(t, exitMemory, code)
	require.Empty(t, stderr.String(), "the watchdog has said it")
}

// stopAfterLine calls stop after the first line.
type stopAfterLine struct {
	text bytes.Buffer
	stop func()
}

func (s *stopAfterLine) Write(p []byte) (int, error) {
	s.stop()
	return s.text.Write(p)
}

func TestMemoryInUse(t *testing.T) {
	debug.FreeOSMemory() // what other tests left is not in use now, nor is it used again
	before, limit := memoryInUse()
	require.Positive(t, before)
	require.Positive(t, limit)
	block := make([]byte, 256<<20)
	for i := range block {
		block[i] = 1
	}
	after, _ := memoryInUse()
	require.Greater(t, after, before+200<<20)
	require.Equal(t, byte(1), block[len(block)-1])
}

// A panic is a failure of the program, and not of its input.
func TestInternalFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := run(context.Background(), []string{"backends"}, panicWriter{}, &stderr)
	require.Equal(t, exitInternal, code)
	require.Contains(t, stderr.String(), "conetune: internal error: bug")
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("bug") }

package process

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
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
	w.text.WriteString(fmt.Sprintf(format, args...) + "\n")
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
	require.Equal(t, cli.ErrMemory, context.Cause(ctx))
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
	require.Eventually(t, func() bool { return w.exits.Load() == cli.ExitMemory }, 10*time.Second, time.Millisecond)
	require.Equal(t, 2, strings.Count(w.notes(), "\n"))
}

func TestMemoryInUse(t *testing.T) {
	debug.FreeOSMemory() // what other tests left is not in use now, nor is it used again
	before, _, limit := memoryInUse()
	require.Positive(t, before)
	require.Positive(t, limit)
	block := make([]byte, 256<<20)
	for i := range block {
		block[i] = 1
	}
	runtime.GC()
	after, live, _ := memoryInUse()
	require.Greater(t, after, before+200<<20)
	require.Greater(t, live, int64(256<<20))
	require.Equal(t, []int{375, 100, 100, 28, 5}, []int{garbage(1 << 20), garbage(8 << 20), garbage(64 << 20),
		garbage(100 << 20), garbage(live)}) // the heap goes to 16 MB, to twice itself, to 128 MB, or a twentieth further
	require.Equal(t, byte(1), block[len(block)-1])
}

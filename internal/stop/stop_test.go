package stop_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

func TestNeverReached(t *testing.T) {
	var none *stop.Stop
	assert.False(t, none.Reached(math.MaxInt))
	assert.False(t, none.Look())
	assert.NoError(t, none.Cause())
	assert.False(t, new(stop.Stop).Reached(math.MaxInt), "before Begin")
}

func TestLooksAreRare(t *testing.T) {
	ctx := stoptest.After(3)
	var s stop.Stop
	s.Begin(ctx, 0)
	calls := 0
	for !s.Reached(stop.Interval / 4) {
		calls++
	}
	assert.Equal(t, 4*4-1, calls)
	assert.Equal(t, 4, ctx.Looks())
	assert.ErrorIs(t, s.Cause(), context.Canceled)
	assert.True(t, s.Reached(0), "it stays reached")
	assert.Equal(t, 4, ctx.Looks(), "and there is no need to look again")
}

func TestDeadlines(t *testing.T) {
	late, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		limit time.Duration
	}{"limit": {context.Background(), time.Nanosecond}, "context": {late, 0}, "context before limit": {late, time.Hour}} {
		var s stop.Stop
		s.Begin(c.ctx, c.limit)
		time.Sleep(time.Microsecond)
		assert.True(t, s.Look(), name)
		assert.ErrorIs(t, s.Cause(), context.DeadlineExceeded, name)
		s.Begin(context.Background(), time.Hour)
		assert.False(t, s.Look(), "begun again")
		assert.NoError(t, s.Cause())
		s.End()
		assert.False(t, s.Look())
	}
}

// TestCancelBeforeDeadline has both: who cancelled knows why.
func TestCancelBeforeDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var s stop.Stop
	s.Begin(ctx, time.Nanosecond)
	assert.True(t, s.Look())
	assert.ErrorIs(t, s.Cause(), context.Canceled)
}

func TestWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	seven := func() (int, error) { return 7, nil }
	for _, c := range []context.Context{context.Background(), ctx} {
		require.Equal(t, 7, must.Of(stop.Wait(c, stop.Patience, seven))(t))
		require.PanicsWithValue(t, "lost", func() {
			_, _ = stop.Wait(c, stop.Patience, func() (int, error) { panic("lost") })
		})
	}

	// What notices the end in time is waited for.
	begun := make(chan struct{})
	go func() { <-begun; cancel() }()
	require.Equal(t, 8, must.Of(stop.Wait(ctx, time.Hour, func() (int, error) {
		close(begun)
		<-ctx.Done()
		return 8, nil
	}))(t))

	// What does not is left.
	forever := make(chan struct{})
	defer close(forever)
	got, err := stop.Wait(ctx, time.Millisecond, func() (int, error) { <-forever; return 9, nil })
	require.ErrorIs(t, err, stop.ErrLeft)
	require.Zero(t, got)
}

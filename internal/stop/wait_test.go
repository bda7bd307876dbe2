package stop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/stop"
)

func TestWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	seven := func() int { return 7 }
	for _, c := range []context.Context{context.Background(), ctx} {
		got, done := stop.Wait(c, seven)
		require.True(t, done)
		require.Equal(t, 7, got)
		require.PanicsWithValue(t, "lost", func() { stop.Wait(c, func() int { panic("lost") }) })
	}

	// What notices the end in time is waited for.
	begun := make(chan struct{})
	go func() { <-begun; cancel() }()
	got, done := stop.WaitFor(ctx, time.Hour, func() int { close(begun); <-ctx.Done(); return 8 })
	require.True(t, done)
	require.Equal(t, 8, got)

	// What does not is left.
	forever := make(chan struct{})
	defer close(forever)
	got, done = stop.WaitFor(ctx, time.Millisecond, func() int { <-forever; return 9 })
	require.False(t, done)
	require.Zero(t, got)
}

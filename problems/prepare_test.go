package problems_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems"
)

func TestPrepare(t *testing.T) {
	require.NoError(t, problems.Prepare(context.Background(), 1e9), "without a deadline all the time in the world")
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	require.NoError(t, problems.Prepare(ctx, 1e3))
	require.ErrorIs(t, problems.Prepare(ctx, 1e9), context.DeadlineExceeded, "eight seconds")
	end()
	require.ErrorIs(t, problems.Prepare(ctx, 0), context.Canceled)
}

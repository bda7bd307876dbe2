package problems_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems"
)

func TestPrepare(t *testing.T) {
	require.NoError(t, problems.Prepare(context.Background(), 1e12), "without a deadline all the time in the world")
	ctx, end := context.WithTimeout(context.Background(), time.Hour)
	require.NoError(t, problems.Prepare(ctx, 1e6))
	require.ErrorIs(t, problems.Prepare(ctx, 1e12), context.DeadlineExceeded, "more than two hours")
	end()
	require.ErrorIs(t, problems.Prepare(ctx, 0), context.Canceled)
}

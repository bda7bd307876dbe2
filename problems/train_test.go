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
	long, end := context.WithTimeout(context.Background(), time.Hour)
	require.NoError(t, problems.Prepare(long, 1e3))
	end()
	require.ErrorIs(t, problems.Prepare(long, 0), context.Canceled)
	short, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	require.ErrorIs(t, problems.Prepare(short, 1e9), context.DeadlineExceeded, "eight seconds")
}

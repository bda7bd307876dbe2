package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The log of a run has its stages in their order; without -v nothing is written where nobody looks.
func TestStagesInTheLog(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 90, 6))
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitDone, run(context.Background(), []string{"tune", "elastic-net", "--data", data, "-v", "--max-iter", "100"}, nil, &stdout, &stderr))
	text := stderr.String()
	for _, stage := range []string{
		"reading ", "building the model", `at="start: point 1 of `, `at="start: lower level"`,
		`at="iteration 1: subproblem"`, `at="iteration 1: lower level"`, `at="final fit"`,
	} {
		_, rest, found := strings.Cut(text, stage)
		require.True(t, found, stage)
		text = rest
	}
	stderr.Reset()
	require.Equal(t, exitDone, run(context.Background(), []string{"tune", "elastic-net", "--data", data, "--method", "grid"}, nil, &stdout, &stderr))
	require.Empty(t, stderr.String())
}

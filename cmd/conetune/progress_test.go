package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/internal/cli/root"
)

// The log of a run has its stages in their order; without -v nothing is written where nobody looks.
func TestStagesInTheLog(t *testing.T) {
	data := clitest.Write(t, t.TempDir(), "table.csv", clitest.CsvText(1, 90, 6))
	var stdout, stderr bytes.Buffer
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"tune", "elastic-net", "--data", data, "-v", "--max-iter", "100"}, nil, &stdout, &stderr))
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
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"tune", "elastic-net", "--data", data, "--method", "grid"}, nil, &stdout, &stderr))
	require.Empty(t, stderr.String())
}

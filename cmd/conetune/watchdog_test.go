package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/internal/cli/root"
)

// What a run has when memory ends is reported, with a status of its own.
func TestOutOfMemory(t *testing.T) {
	data := clitest.Write(t, t.TempDir(), "table.csv", clitest.CsvText(1, 60, 5))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var out stopAfterLine
	out.stop = func() { cancel(cli.ErrMemory) }
	var stderr bytes.Buffer
	code := root.Run(ctx, []string{"tune", "weighted-lasso", "--data", data, "--tol", "1e-300", "--gap-tol", "1e-300", "--max-iter", "1000000", "--trace", "-"}, nil, &out, &stderr)
	require.Equal(t, cli.ExitMemory, code)
	require.Contains(t, out.text.String(), `"validation_error"`)
	require.Contains(t, stderr.String(), "what was reached is reported and kept")

	stderr.Reset()
	code = root.Run(ctx, []string{"tune", "weighted-lasso", "--data", data}, nil, &out, &stderr)
	require.Equal(t, cli.ExitMemory, code)
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

// A panic is a failure of the program, and not of its input.
func TestInternalFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := root.Run(context.Background(), []string{"backends"}, nil, panicWriter{}, &stderr)
	require.Equal(t, cli.ExitInternal, code)
	require.Contains(t, stderr.String(), "conetune: internal error: bug")
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("bug") }

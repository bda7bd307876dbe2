package main

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/internal/cli/root"
)

// Small files that ask for gigabytes are refused, with file, line and the budget, before anything is allocated.
func TestMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	sdpa := clitest.Write(t, dir, "one.dat-s", "1\n1\n23000\n1\n0 1 1 1 1\n1 1 1 1 1\n")
	wide := clitest.Write(t, dir, "wide.svm", strings.Repeat("1 20000000:1\n", 13))
	entries := clitest.Write(t, dir, "entries.csv", "row,col,value\n0,0,1\n0,1,2\n1,0,3\n1048575,1048575,4\n1,1,5\n2,2,2\n")
	const cbfHead = "VER\n1\nOBJSENSE\nMIN\n"
	long := clitest.Write(t, dir, "long.cbf", cbfHead+"VAR\n200000000 1\nL+ 200000000\n")
	large := clitest.Write(t, dir, "large.cbf", cbfHead+"PSDVAR\n1\n20000\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range []struct {
		args string
		want string
	}{
		{"solve " + sdpa, sdpa + ":3: the size of block 1: 23000 found: a block with 264511500 entries takes about 67.7 GB of memory, but the budget is 4 GB (--memory SIZE or GOMEMLIMIT gives more)"},
		{"solve " + long, long + ":6: VAR: 200000000 found: so many entries takes about 51.2 GB of memory"},
		{"solve " + large, large + ":7: PSDVAR: 20000 found: a matrix with 200010000 entries takes about 80 GB of memory"},
		{"tune elastic-net --data " + wide, wide + ":1: index 20000000: a sparse table of 13 rows, 20000000 features and 13 nonzeros takes about 10.2 GB of memory"},
		{"tune matrix-completion --data " + entries, entries + ":5: a matrix of 1048576 x 1048576 takes about 70.4 TB of memory"},
	} {
		o := conetune(t, append(strings.Fields(c.args), "--memory", "4GB")...)
		require.Equal(t, cli.ExitUsage, o.code, c.args)
		require.Empty(t, o.stdout)
		require.Contains(t, o.stderr, "conetune: "+c.want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
	require.EqualValues(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1), "the flag is for its command line")
}

func TestMemoryFlag(t *testing.T) {
	small := solvedFile("qps", "small.qps")
	conetune(t, "solve", small, "--memory", "1.5GiB").ok(t)
	for _, command := range []string{"solve", "tune", "predict", "bench backends", "bench paper"} {
		require.Contains(t, conetune(t, append(strings.Fields(command), "--help")...).ok(t), "--memory SIZE", command)
	}
}

// Targets whose squares nearly overflow can be fitted.
func TestLargeNumbers(t *testing.T) {
	large := "y,a,b\n" + strings.Repeat("-2e69,1,1\n1e69,2,2\n-2e69,-1,-1\n1e69,0.5,1\n-2e69,3,2\n1e69,1,-1\n", 7)
	m := conetune(t, "tune", "elastic-net", "--data", clitest.Write(t, t.TempDir(), "large.csv", large), "--json").object(t)
	require.Greater(t, m["validation_error"], 1e130)
	require.Less(t, m["validation_error"], 1e140)
}

// A line of blanks other than the space, anywhere, is passed over.
func TestBlankLines(t *testing.T) {
	dir := t.TempDir()
	for _, blank := range []string{"\f", "\v", "\u00a0", "\r", "\ufeff", "\u2003\t"} {
		lines := []string{"NAME t", "ROWS", " N c", " G r", "COLUMNS", " x c 1 r 1", "RHS", " r 3", "ENDATA", ""}
		o := conetune(t, "solve", clitest.Write(t, dir, "t.qps", blank+"\n"+strings.Join(lines, "\n"+blank+"\n")), "--json")
		require.InDelta(t, 3, o.object(t)["objective"], 1e-6, "%q", blank)
	}
}

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

//go:build osqp && cgo && linux

package osqp_test

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMemory sets up, solves and closes again and again; the memory of the
// process must not grow with the rounds.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a sanitiser keeps freed memory")
	}
	rounds := 3000
	if v, err := strconv.Atoi(os.Getenv("MEMORY_ROUNDS")); err == nil {
		rounds = v
	}
	p := randomQP(8)
	round := func() {
		assert.Equal(t, backends.Optimal, solve(t, p, backends.Options{Eps: 1e-4}).Status)
	}
	for range 1000 {
		round()
	}
	before := resident(t)
	for range rounds {
		round()
	}
	grown := resident(t) - before
	t.Logf("%d rounds: %+d KiB after %d KiB", rounds, grown/1024, before/1024)
	assert.Less(t, grown, 8<<20)
}

// resident returns the memory of the process in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// TestSignal has a SIGINT during a solve: it goes to the program, and the solve
// goes on.
func TestSignal(t *testing.T) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	defer signal.Stop(got)
	s, err := open(t).Setup(randomQP(100), backends.Options{Eps: 1e-300, Settings: osqp.Settings{StartEps: 1e-300}, TimeLimit: 200 * time.Millisecond})
	require.NoError(t, err)
	defer s.Close()
	time.AfterFunc(50*time.Millisecond, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) })
	sol, err := s.Solve(context.Background())
	require.NoError(t, err)
	assert.Equal(t, backends.TimeLimit, sol.Status)
	select {
	case <-got:
	case <-time.After(5 * time.Second):
		t.Error("the program did not get the signal")
	}
}

// TestSilence solves in a process of its own, which must print nothing but what
// the test itself says.
func TestSilence(t *testing.T) {
	if os.Getenv("SILENCE") != "" {
		for _, o := range []backends.Options{{}, {MaxIterations: 1}, {TimeLimit: 1}, {Eps: 1e-12}} {
			solve(t, randomQP(8), o)
			solve(t, randomQP(20), o)
		}
		_, err := open(t).Setup(&backends.Problem{P: identity(1, -1), Q: []float64{1}}, backends.Options{})
		_ = err
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSilence$")
	cmd.Env = append(os.Environ(), "SILENCE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "PASS\n", string(out))
}

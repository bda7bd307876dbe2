package backendtest

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// Process tests what a library does with the process: it keeps no memory of the problems, leaves signals to the program
// during a solve of slow, which ends at its time limit, and prints nothing.
func Process(t *testing.T, b backends.ConicBackend, slow func() backends.Solver, problems ...*backends.Problem) {
	if runtime.GOOS != "linux" {
		t.Skip("asks Linux for memory and signals")
	}
	t.Run("Memory", func(t *testing.T) {
		memory(t, func() {
			for _, p := range problems {
				if sol := Solve(t, b, p, backends.Options{Eps: 1e-4}); sol.Status != backends.Optimal {
					t.Error(sol.Status)
				}
			}
		})
	})
	t.Run("Signal", func(t *testing.T) {
		s := slow()
		defer s.Close()
		signalled(t, s)
	})
	t.Run("Silence", func(t *testing.T) {
		silence(t, func() {
			for _, o := range []backends.Options{{}, {MaxIterations: 1}, {TimeLimit: 1}, {Eps: 1e-12}} {
				for _, p := range problems {
					Solve(t, b, p, o)
				}
			}
			_, _ = b.Setup(&backends.Problem{P: matrices.Identity(1, -1), Q: []float64{1}}, backends.Options{})
		})
	})
}

// memory sets up, solves and closes again and again; the memory of the process must not grow with the rounds. Their
// number is taken from the environment variable MEMORY_ROUNDS.
func memory(t *testing.T, round func()) {
	if testing.Short() {
		t.Skip("a sanitiser keeps freed memory")
	}
	rounds := fromEnvironment("MEMORY_ROUNDS", 3000)
	for range 1000 {
		round()
	}
	before := resident(t)
	for range rounds {
		round()
	}
	grown := resident(t) - before
	t.Logf("%d rounds: %+d KiB after %d KiB", rounds, grown/1024, before/1024)
	if grown >= 8<<20 {
		t.Errorf("%d bytes more after %d rounds", grown, rounds)
	}
}

// resident returns the memory of the process in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text := must.Of(os.ReadFile("/proc/self/statm"))(t)
	return must.Of(strconv.Atoi(strings.Fields(string(text))[1]))(t) * os.Getpagesize()
}

// signalled has a SIGINT during a solve that ends at its time limit: it goes to the program, and the solve goes on.
func signalled(t *testing.T, s backends.Solver) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	defer signal.Stop(got)
	self := must.Of(os.FindProcess(os.Getpid()))(t)
	time.AfterFunc(50*time.Millisecond, func() { _ = self.Signal(os.Interrupt) })
	sol := Answer(t, s)
	if sol.Status != backends.TimeLimit {
		t.Errorf("status %v, expected %v", sol.Status, backends.TimeLimit)
	}
	select {
	case <-got:
	case <-time.After(5 * time.Second):
		t.Error("the program did not get the signal")
	}
}

// silence runs the test that calls it in a process of its own, where it solves; that must print nothing but what the
// test itself says.
func silence(t *testing.T, solve func()) {
	if os.Getenv("SILENCE") != "" {
		solve()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "SILENCE=1")
	if out := must.Of(cmd.CombinedOutput())(t); string(out) != "PASS\n" {
		t.Errorf("printed %q", out)
	}
}

package backendtest

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// long returns a problem that needs several iterations, of a size to be
// interrupted, and false if the backend takes none of the shapes at hand.
func (s suite) long() (Case, bool) {
	for _, shape := range s.shapes() {
		if shape.N >= 50 {
			return NewCase(shape, 3), true
		}
	}
	return Case{}, false
}

// eachRecord is a log handler that calls f for every record.
type eachRecord struct{ f func() }

func (eachRecord) Enabled(context.Context, slog.Level) bool    { return true }
func (e eachRecord) Handle(context.Context, slog.Record) error { e.f(); return nil }
func (e eachRecord) WithAttrs([]slog.Attr) slog.Handler        { return e }
func (e eachRecord) WithGroup(string) slog.Handler             { return e }
func (s suite) logging(o backends.Options, f func()) backends.Options {
	o.Logger = slog.New(eachRecord{f})
	return o
}

func (s suite) cancellation(t *testing.T) {
	c, ok := s.long()
	if !ok {
		t.Skip("no linear rows")
	}
	for _, end := range ends {
		t.Run("during, "+end.status.String(), func(t *testing.T) {
			if s.options.NoIterationLog {
				t.Skip("the backend does not log while it runs")
			}
			ctx := stoptest.After(math.MaxInt)
			ctx.Cause = end.cause
			records, after := 0, 0
			solver := s.open(t, c.Problem, s.logging(s.options.backend(), func() {
				if records++; records > 2 {
					after++
				}
				if records == 2 {
					ctx.End()
				}
			}))
			s.wantStatus(t, solver, ctx, end.status)
			if records < 2 || after > 1 {
				t.Errorf("%d records, %d of them after the end, expected one per iteration and at most one after", records, after)
			}
			records = 2 // the next Solve is not ended
			s.check(t, c, Answer(t, solver))
		})
	}
	t.Run("at any look", s.endsAtAnyLook)
}

// ends are the ways in which a context ends.
var ends = []struct {
	cause  error
	status backends.Status
}{{context.Canceled, backends.Cancelled}, {context.DeadlineExceeded, backends.TimeLimit}}

// endsAtAnyLook ends the context where the solver asks for it the first time, the
// second time and so on, in the middle of whatever it is doing, until it does not ask so often.
// Once it knows, it may hardly ask again, and what it leaves behind must not matter to the next Solve.
func (s suite) endsAtAnyLook(t *testing.T) {
	const mostAfter = 10
	for _, c := range s.sample() {
		fresh := s.once(t, c.Problem)
		for _, end := range ends {
			solver := s.open(t, c.Problem, s.options.backend())
			for at := 0; at < 1000; at += 1 + at/4 {
				ctx := stoptest.After(at)
				ctx.Cause = end.cause
				sol := must.Of(solver.Solve(ctx))(t)
				asked := ctx.Looks()
				if asked <= at || sol.Status != end.status {
					s.check(t, c, sol) // it was over before, or there was nothing left to do
				}
				if asked <= at {
					break
				}
				if asked > at+mostAfter {
					t.Errorf("%s: asked %d times after the end, expected at most %d", c.Name, asked-at, mostAfter)
				}
				// After an update the next one does not go on from an optimal point.
				require.NoError(t, solver.Update(backends.Update{Q: c.Problem.Q}), c.Name)
				if again := Answer(t, solver); again.Status != fresh.Status {
					t.Errorf("%s: status %v after a Solve that was ended, expected %v", c.Name, again.Status, fresh.Status)
				}
				require.NoError(t, solver.Update(backends.Update{Q: c.Problem.Q}), c.Name)
			}
		}
	}
}

// CancelDelay cancels solves of a solver that would go on for long, and returns how
// long after it the quickest of them returned. Of several, until one is quick, because a busy machine may
// let any one wait. After each the status has to be Cancelled.
func CancelDelay(t *testing.T, solver backends.Solver) time.Duration {
	t.Helper()
	const after, quick, tries = 50 * time.Millisecond, 100 * time.Millisecond, 100
	least := time.Hour
	for n := 0; n < tries && least >= quick; n++ {
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Time
		timer := time.AfterFunc(after, func() { at = time.Now(); cancel() })
		sol, err := solver.Solve(ctx)
		end := time.Now()
		if timer.Stop() {
			t.Fatal("the solve was over before it could be cancelled")
		}
		<-ctx.Done()
		require.NoError(t, err)
		if sol.Status != backends.Cancelled || sol.Iterations < 0 {
			t.Fatalf("status %v after %d iterations, expected cancelled", sol.Status, sol.Iterations)
		}
		least = min(least, end.Sub(at))
	}
	return least
}

func (s suite) wantStatus(t *testing.T, solver backends.Solver, ctx context.Context, want backends.Status) {
	t.Helper()
	if sol := must.Of(solver.Solve(ctx))(t); sol.Status != want {
		t.Errorf("status %v, expected %v", sol.Status, want)
	}
}

func (s suite) limits(t *testing.T) {
	c, ok := s.long()
	if !ok {
		t.Skip("no linear rows")
	}
	t.Run("iterations", func(t *testing.T) {
		if s.options.SingleRun {
			t.Skip("one iteration may be enough")
		}
		o := s.options.backend()
		o.MaxIterations = 1
		solver := s.open(t, c.Problem, o)
		for range 2 {
			sol := Answer(t, solver)
			if sol.Status != backends.IterationLimit || sol.Iterations > 1 {
				t.Errorf("status %v after %d iterations, expected iteration_limit after 1", sol.Status, sol.Iterations)
			}
		}
	})
	t.Run("enough iterations", func(t *testing.T) {
		needed := s.once(t, c.Problem).Iterations
		o := s.options.backend()
		o.MaxIterations = needed + 1
		s.check(t, c, Answer(t, s.open(t, c.Problem, o)))
	})
	t.Run("one record per iteration", func(t *testing.T) {
		if s.options.NoIterationLog {
			t.Skip("the backend does not log while it runs")
		}
		records := 0
		sol := Answer(t, s.open(t, c.Problem, s.logging(s.options.backend(), func() { records++ })))
		if records < sol.Iterations || records > sol.Iterations+2 {
			t.Errorf("%d records in %d iterations", records, sol.Iterations)
		}
	})
}

// determinism runs everything twice, the second time with more threads and after
// other solves, and compares bits.
func (s suite) determinism(t *testing.T) {
	var again backends.Solution // in the memory of that of another case
	for _, c := range s.sample() {
		t.Run(c.Name, func(t *testing.T) {
			first, second := s.once(t, c.Problem), s.open(t, c.Problem, s.options.backend()).(backends.Filler)
			if err := second.SolveInto(t.Context(), &again); err != nil || !sameAnswer(first, &again) {
				t.Errorf("a second run differs, error %v", err)
			}
			o := s.options.backend()
			o.Threads = 2
			if threads := Answer(t, s.open(t, c.Problem, o)); !sameAnswer(first, threads) {
				t.Error("a run with two threads differs from a run with one")
			}
			solver := s.open(t, c.Problem, s.options.backend())
			Answer(t, solver)
			if again := Answer(t, solver); again.Status != first.Status {
				t.Errorf("the same solver says %v first and %v then", first.Status, again.Status)
			}
		})
	}
}

// concurrency runs many solvers at once on shared problems and compares each
// with the serial run.
func (s suite) concurrency(t *testing.T) {
	cases := s.sample()
	serial := make([]*backends.Solution, len(cases))
	for i, c := range cases {
		serial[i] = s.once(t, c.Problem)
	}
	var group sync.WaitGroup
	for range 4 {
		for i, c := range cases {
			group.Go(func() {
				solver, err := s.backend.Setup(c.Problem, s.options.backend())
				if err != nil {
					t.Errorf("%s: Setup: %v", c.Name, err)
					return
				}
				defer solver.Close()
				if sol, err := solver.Solve(context.Background()); err != nil || !sameAnswer(sol, serial[i]) {
					t.Errorf("%s: the answer differs from that of a serial run; %v", c.Name, err)
				}
			})
		}
	}
	group.Wait()
}

// sample is one random problem of each shape and some with certificates.
func (s suite) sample() []Case {
	var out []Case
	for _, shape := range s.shapes() {
		out = append(out, NewCase(shape, 4))
	}
	for _, c := range s.cases {
		if c.Name == "primal infeasible/nonnegative" || c.Name == "dual infeasible/nonnegative" {
			out = append(out, c)
		}
	}
	return out
}

package convex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/restrict/columns"
	"github.com/conetune/conetune/convex/internal/restrict/singular"
	"github.com/conetune/conetune/convex/internal/solve"
	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/formats/lp"
	"github.com/conetune/conetune/formats/qps"
)

// SolverOptions says how a program is solved.
type SolverOptions struct {
	// Backend solves the conic programs; see [backends.Open].
	Backend backends.ConicBackend
	// Options are the backend's. Eps also bounds the residuals of the point
	// completed from a working set, and TimeLimit holds for all rounds together.
	Options backends.Options
	// WorkingSets solves a small program in the place of the full one where the
	// solution is sparse: entries of a variable v to which Norm1(v) is
	// applied are fixed at zero outside a working set, which grows until the
	// multipliers prove that all entries outside are zero at the optimum of the
	// full program. Nuclear norms of large matrices have working sets of singular
	// vectors instead. It changes nothing for other models.
	WorkingSets bool
}

// Stats sums up what a solver has done since it was made.
type Stats struct {
	// Setups counts conic programs set up, Updates changes of numbers without a
	// set-up, Solves the calls of Solve, Rounds the conic programs solved, and
	// Iterations the backend's iterations.
	Setups, Updates, Solves, Rounds, Iterations int
	// SetupTime is the time of set-ups and updates, here and in the backend, and
	// SolveTime the time of the backend's solves.
	SetupTime, SolveTime time.Duration
}

// Add adds the work of another solver.
func (s *Stats) Add(o Stats) {
	s.Setups += o.Setups
	s.Updates += o.Updates
	s.Solves += o.Solves
	s.Rounds += o.Rounds
	s.Iterations += o.Iterations
	s.SetupTime += o.SetupTime
	s.SolveTime += o.SolveTime
}

// Solver solves a program at the parameters' current values, again and again.
// It is for one goroutine at a time.
type Solver struct {
	program Program // with the model's variables
	session *solve.Session
	closed  bool

	restricted string           // what rounds are
	rounds     *restrict.Rounds // nil: the whole program
}

// Solver prepares to solve the program. Nothing is built before the first Solve. The error is for options out of
// range or without a backend.
func (p *Program) Solver(o SolverOptions) (*Solver, error) { return p.solver(o, true) }

// solver is Solver, which solves small nuclear norms without working sets where direct is set.
func (p *Program) solver(o SolverOptions, direct bool) (*Solver, error) {
	if p == nil || p.p == nil {
		return nil, errors.New(noProgram)
	}
	if o.Backend == nil {
		return nil, errors.New("convex: SolverOptions.Backend is nil; get one from backends.Open")
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	s := &Solver{program: *p, session: solve.New(p.p, o.Backend, o.Options)}
	s.connect(o, direct)
	return s, nil
}

// Problem returns the full conic program at the parameters' current values. It
// belongs to the caller.
func (p *Program) Problem() (*backends.Problem, error) {
	if p == nil || p.p == nil {
		return nil, errors.New(noProgram)
	}
	return p.p.Problem()
}

// of returns the session. It panics if the solver is zero.
func (s *Solver) of() *solve.Session {
	if s.session == nil {
		panic("convex: a Solver is zero; Program.Solver makes one")
	}
	return s.session
}

// Program returns the program that the solver solves.
func (s *Solver) Program() *Program {
	p := s.program
	p.p = s.of().Program
	return &p
}

// Stats returns the sums since the solver was made.
func (s *Solver) Stats() Stats { return Stats(s.of().Stats) }

// Close frees what the solver holds. Further calls do nothing.
func (s *Solver) Close() error {
	s.closed = true
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}

// Solve solves the program at the parameters' current values. What the backend
// found is in the status; the error is for misuse, as a nil context and weights that are not set or negative, and for
// a broken backend.
func (s *Solver) Solve(ctx context.Context) (*Result, error) {
	switch {
	case s.closed || s.session == nil:
		return nil, backends.ErrClosed
	case ctx == nil:
		return nil, errors.New("convex: Solve: the context is nil")
	}
	if err := s.session.Program.CheckWeights(); err != nil {
		return nil, err
	}
	if limit := s.session.Options.TimeLimit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	s.session.Stats.Solves++
	r, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	if r.Status == backends.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.Status = backends.TimeLimit
	}
	return r, nil
}

// The ways of solving a program, of which [Result.Engine] says which one it was.
const (
	// EngineSingularVectors restricts matrices in nuclear norms to pairs of singular vectors. Where the rounds do not
	// settle, the backend has the whole program, from then on.
	EngineSingularVectors = "singular-vectors"
	// EngineColumns restricts variables in 1-norms to some of their entries.
	EngineColumns = "columns"
	// EngineBackend hands the whole program to the backend. It takes every program.
	EngineBackend = "backend"
)

// connect chooses working sets for the program, if it has any. Small nuclear norms need none where direct is set.
func (s *Solver) connect(o SolverOptions, direct bool) {
	se, p := s.session, s.session.Program
	restricted := o.WorkingSets && singular.Takes(p, se.Capabilities) && !(direct && singular.Direct(p, se.Capabilities))
	se.Lift(restricted)
	switch {
	case restricted:
		s.restricted = EngineSingularVectors
		s.rounds = restrict.New(se, singular.New(se))
	case o.WorkingSets && len(p.Sparse) > 0 && !p.Nuclear():
		s.restricted, s.rounds = EngineColumns, restrict.New(se, columns.New(se))
	}
}

// ask solves by working sets, and where there are none or they do not settle, the whole program.
func (s *Solver) ask(ctx context.Context) (*Result, error) {
	st := &s.session.Stats
	before := *st
	for ctx.Err() == nil { // before anything is set up for nothing
		engine, solver := EngineBackend, s.session.Whole
		if s.rounds != nil {
			engine, solver = s.restricted, s.rounds.Solve
		}
		r, err := solver(ctx)
		if err != nil {
			return nil, err
		}
		if r == nil {
			s.log(ctx, "passed on", "engine", engine, "reason", "the rounds do not settle")
			s.rounds = nil
			continue
		}
		r.Rounds, r.Iterations = st.Rounds-before.Rounds, st.Iterations-before.Iterations
		s.log(ctx, "solved", "engine", engine, "status", r.Status, "rounds", r.Rounds, "iterations", r.Iterations)
		return newResult(engine, r, &s.program), nil
	}
	return newResult("", solve.Stopped(s.session.Program), &s.program), nil
}

// log writes a record at level debug.
func (s *Solver) log(ctx context.Context, message string, args ...any) {
	if l := s.session.Options.Logger; l != nil {
		l.DebugContext(ctx, "convex: "+message, args...)
	}
}

// Encode writes the conic program at the parameters' current values, with the constant of its objective, in a format:
// "cbf", or "mps" or "lp" for linear and quadratic programs. A model that is maximised is written as the minimum of the
// negative; nuclear norms are written as semidefinite matrices. Packages formats/cbf, formats/qps and formats/lp read
// the files, as conetune solve does. The error is for another format, what it cannot have, and the writer's.
func (p *Program) Encode(w io.Writer, format string) error {
	if p == nil || p.p == nil {
		return errors.New(noProgram)
	}
	if w == nil {
		return errors.New("convex: Encode: the writer is nil")
	}
	full := p.p
	if full.Nuclear() {
		full = full.Lift(false)
	}
	problem, err := full.Problem()
	if err != nil {
		return err
	}
	var m interface{ Encode(io.Writer) error }
	constant, _ := full.Offset()
	switch format {
	case "cbf":
		m, err = cbf.FromConic(problem, constant)
	case "mps", "lp":
		linear, err := qps.FromConic(problem, constant)
		if err == nil && format == "lp" {
			return lp.Encode(w, linear)
		}
		if m = linear; err != nil {
			return err
		}
	default:
		err = fmt.Errorf("convex: Encode: unknown format %q, expected cbf, mps or lp", format)
	}
	if err != nil {
		return err
	}
	return m.Encode(w)
}

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
	// Backend solves the conic programs, see [backends.Open]; nil is the native one.
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

// Solver solves a program again and again, at values of the parameters that are its own. It is for one goroutine at a
// time; many solvers of one program run side by side.
type Solver struct {
	program Program // with the model's variables
	session *solve.Session
	closed  bool

	restricted string       // the engine of set
	set        restrict.Set // nil: the whole program
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
		var err error
		if o.Backend, err = backends.Open(backends.Default); err != nil {
			return nil, err
		}
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	s := &Solver{program: *p, session: solve.New(p.p, p.values, o.Backend, o.Options)}
	s.connect(o, direct)
	return s, nil
}

// Problem returns the full conic program at the values that the parameters begin with, or those of a solver, see
// [Solver.Program]. It belongs to the caller.
func (p *Program) Problem() (*backends.Problem, error) {
	if p == nil || p.p == nil {
		return nil, errors.New(noProgram)
	}
	return p.p.Problem(p.values)
}

// of returns the session. It panics if the solver is zero.
func (s *Solver) of() *solve.Session {
	if s.session == nil {
		panic("convex: a Solver is zero; Program.Solver makes one")
	}
	return s.session
}

// Program returns the program that the solver solves, whose parameters begin with the values that they have in it.
func (s *Solver) Program() *Program {
	p := s.program
	p.p, p.values = s.of().Program, s.of().State.Values.Copy(nil)
	return &p
}

// Set gives a parameter the values, copied, that it has in the solves to come. It allocates nothing. The error says
// that the length is wrong, that a value is not finite, that the parameter is nil or zero or was not in the model when
// that was compiled, or that the solver is closed; nothing has changed then.
func (s *Solver) Set(p *Parameter, values []float64) error {
	switch {
	case s.closed || s.session == nil:
		return backends.ErrClosed
	case p == nil || p.p == nil:
		return errors.New(noParameter)
	case p.p.ID >= len(s.program.params) || s.program.params[p.p.ID] != p:
		return fmt.Errorf("convex: parameter %s is not in the program solved", p.p.Name)
	}
	if err := p.check(values); err != nil {
		return err
	}
	s.session.State.Set(p.p, values)
	return nil
}

// SetEps changes Options.Eps for the solves to come; 0 is the default. Where no parameter changes in between, the next
// solve goes on from where the last one ended, if the backend can.
func (s *Solver) SetEps(eps float64) error {
	if s.closed || s.session == nil {
		return backends.ErrClosed
	}
	o := s.session.Options
	o.Eps = eps
	if err := o.Validate(); err != nil {
		return err
	}
	s.session.Options, s.session.Eps = o, o.WithDefaults().Eps
	return nil
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

// Solve solves the program at the parameters' values. What the backend found is in the status; the error is for misuse,
// as a nil context and weights that are negative, and for a broken backend.
func (s *Solver) Solve(ctx context.Context) (*Result, error) {
	r := new(Result)
	if err := s.SolveInto(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

// SolveInto is Solve for a result of the caller's, zero or of an earlier solve, which it replaces in its memory. Where
// the native backend has the whole program, it allocates nothing after the first few times, whatever the parameters
// change. After an error the result is of no use.
func (s *Solver) SolveInto(ctx context.Context, r *Result) error {
	switch {
	case s.closed || s.session == nil:
		return backends.ErrClosed
	case ctx == nil:
		return errors.New("convex: Solve: the context is nil")
	case r == nil:
		return errors.New("convex: SolveInto: the result is nil")
	}
	if err := s.session.Program.CheckWeights(s.session.State.Values); err != nil {
		return err
	}
	if limit := s.session.Options.TimeLimit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	s.session.Stats.Solves++
	s.session.Room, r.out = r.out, nil
	if s.session.Room == nil {
		s.session.Room = new(solve.Outcome)
	}
	if err := s.ask(ctx, r); err != nil {
		return err
	}
	if r.Status == backends.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.Status = backends.TimeLimit
	}
	return nil
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
		s.restricted, s.set = EngineSingularVectors, singular.New(se)
	case o.WorkingSets && len(p.Sparse) > 0 && !p.Nuclear():
		s.restricted, s.set = EngineColumns, columns.New(se)
	}
}

// ask solves by working sets, and where there are none or they do not settle, the whole program.
func (s *Solver) ask(ctx context.Context, to *Result) error {
	st := &s.session.Stats
	before := *st
	for ctx.Err() == nil { // before anything is set up for nothing
		engine, r, err := EngineBackend, (*solve.Outcome)(nil), error(nil)
		if s.set != nil {
			engine = s.restricted
			r, err = restrict.Solve(ctx, s.session, s.set)
		} else {
			r, err = s.session.Whole(ctx)
		}
		if err != nil {
			return err
		}
		if r == nil {
			s.log(ctx, "passed on", "engine", engine, "reason", "the rounds do not settle")
			s.set = nil
			continue
		}
		r.Rounds, r.Iterations = st.Rounds-before.Rounds, st.Iterations-before.Iterations
		if s.session.Options.Logger != nil {
			s.log(ctx, "solved", "engine", engine, "status", r.Status, "rounds", r.Rounds, "iterations", r.Iterations)
		}
		to.set(engine, r, &s.program)
		return nil
	}
	to.set("", solve.Stopped(s.session.Program), &s.program)
	return nil
}

// log writes a record at level debug.
func (s *Solver) log(ctx context.Context, message string, args ...any) {
	if l := s.session.Options.Logger; l != nil {
		l.DebugContext(ctx, "convex: "+message, args...)
	}
}

// Encode writes the conic program of [Program.Problem], with the constant of its objective, in a format: "cbf", or
// "mps" or "lp" for linear and quadratic programs. A model that is maximised is written as the minimum of the negative;
// nuclear norms are written as semidefinite matrices. Packages formats/cbf, formats/qps and formats/lp read the files,
// as conetune solve does. The error is for another format, what it cannot have, and the writer's.
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
	problem, err := full.Problem(p.values)
	if err != nil {
		return err
	}
	var m interface{ Encode(io.Writer) error }
	constant, _ := full.Offset(p.values)
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

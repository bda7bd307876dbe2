package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
)

// SolverOptions says how a program is solved.
type SolverOptions struct {
	// Backend solves the conic programs; see [backends.Open].
	Backend backends.ConicBackend
	// Options are the backend's. Eps also bounds the residuals of the point
	// completed from a working set, and TimeLimit holds for all rounds together.
	Options backends.Options
	// WorkingSets solves a small program in the place of the full one where the
	// solution is sparse: entries of a variable v to which Norm1(v.Expr()) is
	// applied are fixed at zero outside a working set, which grows until the
	// multipliers prove that all entries outside are zero at the optimum of the
	// full program. Rows of hinges and inequalities that do not matter are left
	// out likewise, and where the numbers of such a program change a little,
	// constraints that hold with equality are exchanged without the backend, as
	// long as the residuals of the full program are within Options.Eps. Nuclear
	// norms of large matrices have working sets of singular vectors instead. It
	// changes nothing for other models.
	WorkingSets bool
	// Active is a first guess of the entries that are not zero, for the first
	// Solve with WorkingSets. Without it, the guess is made from the gradient at zero.
	Active map[*Variable][]int
	// ColdStart turns warm starts off.
	ColdStart bool
}

// Stats sums up what a solver has done since it was made.
type Stats struct {
	// Setups counts conic programs set up, Updates changes of numbers without a
	// set-up, Solves the calls of Solve, Rounds the conic programs solved, and
	// Iterations the backend's iterations and the exchanges of constraints.
	Setups, Updates, Solves, Rounds, Iterations int
	// SetupTime is the time of set-ups and updates, here and in the backend, and
	// SolveTime the time of the backend's solves.
	SetupTime, SolveTime time.Duration
}

// Solver solves a program at the parameters' current values, again and again.
// It is for one goroutine at a time.
type Solver struct {
	prog         *Program
	options      SolverOptions
	capabilities backends.Capabilities
	small        matrixSize // up to which nuclear norms have no working sets
	eps          float64
	chain        []link
	current      *instance
	stats        Stats
	closed       bool
}

// Solver prepares to solve the program. Nothing is built before the first Solve.
func (p *Program) Solver(o SolverOptions) (*Solver, error) { return p.solver(o, wholeSize) }

// solver is Solver with a bound for nuclear norms that are solved without working sets, see direct.
func (p *Program) solver(o SolverOptions, small matrixSize) (*Solver, error) {
	if o.Backend == nil {
		return nil, errors.New("convex: SolverOptions.Backend is nil; get one from backends.Open")
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	s := &Solver{prog: p, options: o, capabilities: o.Backend.Capabilities(), small: small, eps: o.Options.WithDefaults().Eps}
	if err := s.connect(); err != nil {
		return nil, err
	}
	return s, nil
}

// lift puts semidefinite matrices in the place of nuclear norms, with restricted only of those that are not restricted, where
// the backend has no cone for them.
func (s *Solver) lift(restricted bool) {
	if s.prog.nuclear() && !s.capabilities.Supports(backends.NuclearNormCone) {
		s.prog = s.prog.lift(restricted)
	}
}

// Problem returns the full conic program at the parameters' current values. It
// belongs to the caller.
func (p *Program) Problem() (*backends.Problem, error) {
	if err := p.checkWeights(); err != nil {
		return nil, err
	}
	return newNumbers(p.newLayout(nil).assemble()).problem(), nil
}

// checkWeights checks the parameters that weigh atoms.
func (p *Program) checkWeights() error {
	for _, w := range p.weights {
		if w.version == 0 {
			return fmt.Errorf("convex: parameter %s weighs an atom and has not been set", w.name)
		}
		if i := slices.IndexFunc(w.values, func(v float64) bool { return v < 0 }); i >= 0 {
			return fmt.Errorf("convex: parameter %s weighs an atom and is negative: %v", w.name, w.values[i])
		}
	}
	return nil
}

// Stats returns the sums since the solver was made.
func (s *Solver) Stats() Stats { return s.stats }

// SetEps changes Options.Eps for the solves to come. Where no parameter changes in
// between, the next Solve goes on from where the last one ended, if the backend can.
func (s *Solver) SetEps(eps float64) error {
	o := s.options.Options
	o.Eps = eps
	if err := o.Validate(); err != nil {
		return err
	}
	s.options.Options, s.eps = o, o.WithDefaults().Eps
	return nil
}

// Cold makes the next Solve begin without the point of the one before, for
// parameters that are far from the last ones.
func (s *Solver) Cold() {
	if s.current != nil {
		s.current.last = nil
	}
	for _, l := range s.chain {
		if e, ok := l.engine.(learner); ok {
			e.forget()
		}
	}
}

// Close frees what the solver holds. Further calls do nothing.
func (s *Solver) Close() error {
	s.closed = true
	if s.current == nil {
		return nil
	}
	in := s.current
	s.current = nil
	return in.solver.Close()
}

// Solve solves the program at the parameters' current values. What the backend
// found is in the status; the error is for misuse and for a broken backend.
func (s *Solver) Solve(ctx context.Context) (*Result, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	if err := s.prog.checkWeights(); err != nil {
		return nil, err
	}
	if limit := s.options.Options.TimeLimit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	s.stats.Solves++
	r, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	if r.Status == backends.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.Status = backends.TimeLimit
	}
	return r, nil
}

// stopped is the result of a solve that the context ended before there was anything.
func (s *Solver) stopped() *Result {
	none := math.NaN()
	return &Result{
		Status: backends.Cancelled, Objective: none, DualObjective: none, Residuals: backends.Residuals{Primal: none, Dual: none, Gap: none},
		as: &assembled{layout: &layout{prog: s.prog}},
	}
}

// task is a program for the backend, the full one or a restricted one: with working sets of columns, nil for all entries,
// and a point to start from, given the instance that was solved last.
type task struct {
	prog   *Program
	active [][]int
	start  func(to, from *instance) backends.Point
}

// run solves a task to the accuracy eps.
func (s *Solver) run(ctx context.Context, t task, eps float64) (*backends.Solution, error) {
	if ctx.Err() != nil && s.current != nil {
		return &backends.Solution{Status: backends.Cancelled}, nil
	}
	old := s.current
	changed, err := s.prepare(t.prog, t.active, eps)
	if err != nil {
		return nil, err
	}
	in := s.current
	// Where nothing changed the solver goes on from its own last iterate.
	warm := old != nil && old.last != nil && (changed || old.last.Status != backends.Optimal) && s.warm()
	if warm {
		if err := in.solver.WarmStart(t.start(in, old)); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	sol, err := s.attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if (warm || !changed) && (sol.Status == backends.Inaccurate || sol.Status == backends.NumericalError) {
		if sol, err = s.again(ctx, in, sol); err != nil {
			return nil, err
		}
	}
	in.last = nil
	if hasPoint(sol) {
		in.last = sol
	}
	return sol, nil
}

// warm says that solves begin from points near by.
func (s *Solver) warm() bool { return s.capabilities.WarmStart && !s.options.ColdStart }

// prepare makes the instance of a program with the given working sets of columns, and of the accuracy eps, the current one. It says
// whether anything in it is new.
func (s *Solver) prepare(prog *Program, active [][]int, eps float64) (changed bool, err error) {
	old := s.current
	if old != nil && old.as.prog == prog && old.as.same(active) && (old.eps == eps || old.tightener != nil) {
		if old.eps != eps {
			if err := old.tightener.SetEps(eps); err != nil {
				return false, fmt.Errorf("convex: %w", err)
			}
			old.eps = eps
		}
		return s.update(old)
	}
	begin := time.Now()
	as := prog.newLayout(active).assemble()
	s.stats.SetupTime += time.Since(begin)
	in, err := s.newInstance(as, eps, old)
	if err != nil {
		return false, err
	}
	s.current = in
	if old != nil && old.solver != in.solver {
		if err := old.solver.Close(); err != nil {
			return false, fmt.Errorf("convex: %w", err)
		}
	}
	return true, nil
}

// again runs the backend without a start, which may be what it failed on, and returns the better of the two solutions.
func (s *Solver) again(ctx context.Context, in *instance, sol *backends.Solution) (*backends.Solution, error) {
	cold, err := s.attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if !hasPoint(sol) || cold.Status == backends.Optimal || hasPoint(cold) && cold.Residuals.Max() < sol.Residuals.Max() {
		return cold, nil
	}
	return sol, nil
}

// attempt runs the backend once.
func (s *Solver) attempt(ctx context.Context, in *instance) (*backends.Solution, error) {
	begin := time.Now()
	sol, err := in.solver.Solve(ctx)
	if err != nil {
		return nil, fmt.Errorf("convex: %w", err)
	}
	s.stats.SolveTime += time.Since(begin)
	s.stats.Iterations += sol.Iterations
	return sol, nil
}

// hasPoint says that the solution is a primal-dual point, not a certificate.
func hasPoint(sol *backends.Solution) bool {
	return sol.X != nil && sol.Z != nil && sol.S != nil && sol.Status != backends.PrimalInfeasible && sol.Status != backends.DualInfeasible
}

// same says that the layout has these working sets.
func (l *layout) same(active [][]int) bool {
	for k, have := range l.active {
		var want []int
		if active != nil {
			want = active[k]
		}
		if (have == nil) != (want == nil) || !slices.Equal(have, want) {
			return false
		}
	}
	return true
}

// Program returns the program that the solver solves.
func (s *Solver) Program() *Program { return s.prog }

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
	work         *Program // what is solved in its place
	options      SolverOptions
	capabilities backends.Capabilities
	eps          float64
	current      *instance
	sets         *workingSets // nil when not used
	rows         *rowSets     // nil when not used
	matrices     *matrixSets  // nil when not used
	exchange     *exchanger   // nil when not used
	stats        Stats
	closed       bool
}

// Solver prepares to solve the program. Nothing is built before the first Solve.
func (p *Program) Solver(o SolverOptions) (*Solver, error) {
	return p.solver(o, directOrder, directRows)
}

// solver is Solver with bounds for what is solved without working sets, see direct.
func (p *Program) solver(o SolverOptions, order, rows int) (*Solver, error) {
	if o.Backend == nil {
		return nil, errors.New("convex: SolverOptions.Backend is nil; get one from backends.Open")
	}
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	s := &Solver{prog: p, work: p, options: o, capabilities: o.Backend.Capabilities(), eps: o.Options.WithDefaults().Eps}
	switch {
	case p.nuclear():
		restricted := o.WorkingSets && len(p.matrices) > 0 && !p.direct(s.capabilities, order, rows)
		if !s.capabilities.Supports(backends.NuclearNormCone) {
			s.prog = p.lift(restricted)
			s.work = s.prog
		}
		if restricted {
			s.matrices = newMatrixSets(s.prog)
			s.matrices.second = p.direct(s.capabilities, secondOrder, secondRows)
		}
	case o.WorkingSets && len(p.sparse) > 0:
		s.sets = newWorkingSets(p)
		if err := s.sets.hint(o.Active); err != nil {
			return nil, err
		}
	}
	if o.WorkingSets && !p.nuclear() {
		if len(p.hinges) > 0 {
			s.rows = newRowSets(p)
		}
		if len(p.kinks) > 0 && !o.ColdStart {
			s.exchange = newExchanger(p)
		}
	}
	return s, nil
}

// Problem returns the full conic program at the parameters' current values. It
// belongs to the caller.
func (p *Program) Problem() (*backends.Problem, error) {
	if err := p.checkWeights(); err != nil {
		return nil, err
	}
	return p.newLayout(nil).assemble().problem(), nil
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
	if s.exchange != nil {
		s.exchange.ready = false
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
	r := s.exchangeRows(ctx)
	if r == nil {
		var err error
		switch {
		case ctx.Err() != nil: // before anything is set up for nothing
			r = s.stopped()
		case s.matrices != nil:
			r, err = s.solveMatrices(ctx)
		case s.sets != nil:
			r, err = s.solveSets(ctx)
		case s.rows != nil:
			r, err = s.solveRows(ctx)
		default:
			r, err = s.solveFull(ctx)
		}
		if err != nil {
			return nil, err
		}
		if s.exchange != nil && r.Status == backends.Optimal {
			s.exchange.begin(r.Conic(), r.Iterations)
		}
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

func (s *Solver) solveFull(ctx context.Context) (*Result, error) {
	sol, err := s.run(ctx, nil, nil, s.eps)
	if err != nil {
		return nil, err
	}
	s.stats.Rounds++
	r := s.result(sol)
	r.Rounds, r.Iterations = 1, sol.Iterations
	if hasPoint(sol) {
		r.dual, _ = s.current.stationarity(sol.X, sol.Z)
	}
	return r, nil
}

// run solves the program with the given working sets to the accuracy eps. The
// completion is of the point of the current instance.
func (s *Solver) run(ctx context.Context, active [][]int, done *completion, eps float64) (*backends.Solution, error) {
	if ctx.Err() != nil && s.current != nil {
		return &backends.Solution{Status: backends.Cancelled}, nil
	}
	in, old := s.current, s.current
	changed := true
	var err error
	if in != nil && in.as.prog == s.work && in.as.same(active) && (in.eps == eps || in.tightener != nil) {
		if in.eps != eps {
			if err := in.tightener.SetEps(eps); err != nil {
				return nil, fmt.Errorf("convex: %w", err)
			}
			in.eps = eps
		}
		if changed, err = s.update(in); err != nil {
			return nil, err
		}
	} else {
		begin := time.Now()
		as := s.work.newLayout(active).assemble()
		s.stats.SetupTime += time.Since(begin)
		if in, err = s.newInstance(as, eps, old); err != nil {
			return nil, err
		}
		s.current = in
	}
	// Where nothing changed the solver goes on from its own last iterate.
	warm := old != nil && old.last != nil && (changed || old.last.Status != backends.Optimal) &&
		s.capabilities.WarmStart && !s.options.ColdStart
	if warm {
		start := func() backends.Point { return in.start(old, done) }
		if s.rows != nil {
			start = func() backends.Point { return s.rows.start(in, old) }
		}
		if err := in.solver.WarmStart(start()); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	if old != nil && old.solver != in.solver {
		if err := old.solver.Close(); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	sol, err := s.attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if (warm || !changed) && (sol.Status == backends.Inaccurate || sol.Status == backends.NumericalError) {
		// The start may be what it fails on; without a new one the backend starts over.
		cold, err := s.attempt(ctx, in)
		if err != nil {
			return nil, err
		}
		iterations := sol.Iterations + cold.Iterations
		if !hasPoint(sol) || cold.Status == backends.Optimal || hasPoint(cold) && cold.Residuals.Max() < sol.Residuals.Max() {
			sol = cold
		}
		sol.Iterations = iterations
	}
	in.last = nil
	if hasPoint(sol) {
		in.last = sol
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

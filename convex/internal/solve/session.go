// Package solve has a program in the hands of a backend: what is set up and updated, points to start from, and the
// outcome, which is read by variable, constraint and parameter.
package solve

import (
	"context"
	"fmt"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Session solves a program, or parts of it, by a backend at the parameters' values that it has. It keeps what is set up
// from one solve to the next. It is for one goroutine at a time.
type Session struct {
	Program      *compile.Program // the full one
	State        *compile.State
	backend      backends.ConicBackend
	Options      backends.Options
	Capabilities backends.Capabilities
	Eps          float64
	Current      *Instance
	Stats        Stats
	Room         *Outcome // whose memory the next one takes, or nil
	room         *backends.Solution
	centred      bool // the backend gets programs in x - y, see centred.go
}

// Stats sums up what a session has done.
type Stats struct {
	Setups, Updates, Solves, Rounds, Iterations int
	SetupTime, SolveTime                        time.Duration
}

// New sets nothing up yet.
func New(p *compile.Program, at affine.Values, backend backends.ConicBackend, o backends.Options) *Session {
	return &Session{
		Program: p, State: compile.NewState(p.Params, at), backend: backend, Options: o,
		Capabilities: backend.Capabilities(), Eps: o.WithDefaults().Eps,
	}
}

// Close frees what the backend holds.
func (s *Session) Close() error {
	if s.Current == nil {
		return nil
	}
	in := s.Current
	s.Current = nil
	return in.Solver.Close()
}

// Lift puts semidefinite matrices in the place of nuclear norms, with restricted only of those that are not restricted,
// where the backend has no cone for them.
func (s *Session) Lift(restricted bool) {
	if s.Program.Nuclear() && !s.Capabilities.Supports(backends.NuclearNormCone) {
		s.Program = s.Program.Lift(restricted)
	}
}

// Run solves a program with working sets of columns, nil for all entries, to the accuracy eps. It starts from the last
// point, with the multipliers of rows that this lacks, nil for zeros.
func (s *Session) Run(ctx context.Context, p *compile.Program, active [][]int, eps float64,
	multiplier func(g *compile.Group, r int) float64) (*backends.Solution, error) {
	if ctx.Err() != nil && s.Current != nil {
		return &backends.Solution{Status: backends.Cancelled}, nil
	}
	old := s.Current
	if s.Room != nil {
		s.room = &s.Room.Solution
	}
	changed, err := s.Prepare(p, active, eps)
	if err != nil {
		return nil, err
	}
	in := s.Current
	// Where nothing changed the solver goes on from its own last iterate.
	warm := old != nil && old.pointed && (changed || old.status != backends.Optimal) && s.Capabilities.WarmStart
	if warm {
		pt := in.Assembled.Layout.Carry(old.Assembled.Layout, old.last, multiplier)
		pt.X = shifted(pt.X, -1, in.origin)
		if err := in.Solver.WarmStart(pt); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	sol, err := s.Attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if (warm || !changed) && (sol.Status == backends.Inaccurate || sol.Status == backends.NumericalError) {
		if sol, err = s.again(ctx, in, sol); err != nil {
			return nil, err
		}
	}
	if sol, err = s.uncancelled(ctx, in, sol); err != nil {
		return nil, err
	}
	if sol, err = s.tightened(ctx, in, sol); err != nil {
		return nil, err
	}
	if in.pointed = HasPoint(sol); in.pointed {
		in.last, in.status = in.last.Copy(backends.Point{X: sol.X, S: sol.S, Z: sol.Z}), sol.Status
	}
	return sol, nil
}

// Whole solves the full program.
func (s *Session) Whole(ctx context.Context) (*Outcome, error) {
	sol, err := s.Run(ctx, s.Program, nil, s.Eps, nil)
	if err != nil {
		return nil, err
	}
	s.Stats.Rounds++
	return s.Result(sol), nil
}

// Prepare makes the instance of a program with the given working sets of columns, and of the accuracy eps, the current
// one. It says whether anything in it is new.
func (s *Session) Prepare(prog *compile.Program, active [][]int, eps float64) (changed bool, err error) {
	old := s.Current
	if old != nil && old.Assembled.Program == prog && old.Assembled.Same(active) &&
		(old.eps == eps || old.Tightener != nil) {
		if old.eps != eps {
			if err := old.Tightener.SetEps(eps); err != nil {
				return false, fmt.Errorf("convex: %w", err)
			}
			old.eps = eps
		}
		changed, err := s.update(old)
		if err == nil && s.centred != (old.origin != nil) {
			return true, s.recentre(old, s.centred)
		}
		return changed, err
	}
	begin := time.Now()
	as := prog.NewLayout(active).Assemble()
	s.Stats.SetupTime += time.Since(begin)
	in, err := s.newInstance(as, eps)
	if err != nil {
		return false, err
	}
	s.Current = in
	if old != nil {
		if err := old.Solver.Close(); err != nil {
			return false, fmt.Errorf("convex: %w", err)
		}
	}
	return true, nil
}

// again runs the backend without a start, which may be what it failed on, and returns the better of the two solutions.
func (s *Session) again(ctx context.Context, in *Instance, sol *backends.Solution) (*backends.Solution, error) {
	cold, err := s.Attempt(ctx, in)
	if err != nil {
		return nil, err
	}
	if !HasPoint(sol) || cold.Status == backends.Optimal || HasPoint(cold) && cold.Residuals.Max() < sol.Residuals.Max() {
		return cold, nil
	}
	return sol, nil
}

// Attempt runs the backend once.
func (s *Session) Attempt(ctx context.Context, in *Instance) (*backends.Solution, error) {
	begin := time.Now()
	in.of = nil
	sol, err := s.room, error(nil)
	if f, ok := in.Solver.(backends.Filler); ok && sol != nil {
		s.room = nil
		err = f.SolveInto(ctx, sol)
	} else {
		sol, err = in.Solver.Solve(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("convex: %w", err)
	}
	s.Stats.SolveTime += time.Since(begin)
	s.Stats.Iterations += sol.Iterations
	if HasPoint(sol) {
		sol.X = shifted(sol.X, 1, in.origin)
	}
	return sol, nil
}

// HasPoint says that the solution is a primal-dual point, not a certificate.
func HasPoint(sol *backends.Solution) bool {
	return sol.X != nil && sol.Z != nil && sol.S != nil && sol.Status != backends.PrimalInfeasible &&
		sol.Status != backends.DualInfeasible
}

// Proves checks a completed certificate of infeasibility on the full program.
func (s *Session) Proves(r *Outcome) (bool, error) {
	problem, err := s.Program.Problem(s.State.Values)
	if err != nil {
		return false, err
	}
	residual, err := backends.CheckPrimalInfeasible(problem, r.Conic().Z)
	r.Residuals.Dual = residual
	return err == nil && residual <= s.Options.WithDefaults().EpsInfeasible, nil
}

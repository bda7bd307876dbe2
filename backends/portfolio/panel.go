package portfolio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/crew"
)

// Race returns the backend whose solvers ask all of the backends that take the problem side by side and return the
// first verdict, or the closest answer where none has one. The others are stopped, and waited for. The error is for
// fewer than two backends, and for one that is named twice.
func Race(list ...backends.ConicBackend) (backends.ConicBackend, error) {
	list, names, err := named(list)
	if err != nil {
		return nil, err
	}
	return panel{strings.Join(names, ","), list, 1, race}, nil
}

// CrossCheck returns the backend whose solvers ask all of the backends that take the problem, two at least, side by
// side. The answer is that of the first of them if all have the same verdict and, where that is optimal, objectives
// that are no farther apart than [Tolerance] says. Else its status is inaccurate, and its message tells what each has
// found. The error is as for [Race].
func CrossCheck(list ...backends.ConicBackend) (backends.ConicBackend, error) {
	list, names, err := named(list)
	if err != nil {
		return nil, err
	}
	return panel{strings.Join(names, " and "), list, 2, crossCheck}, nil
}

// Tolerance is how far the objectives of two optimal answers may be apart to agree: what both say about their distance
// from the optimal value, and ten times eps, relative to the objectives where these are above 1.
func Tolerance(a, b *backends.Solution, eps float64) float64 {
	return a.Distance + b.Distance + 10*eps*max(1, math.Abs(a.Objective), math.Abs(b.Objective))
}

// panel asks several backends at once.
type panel struct {
	name  string
	list  []backends.ConicBackend
	least int // so many have to take a problem
	judge func(ctx context.Context, s *panelSolver) (*backends.Solution, error)
}

func (p panel) Name() string                        { return p.name }
func (p panel) Capabilities() backends.Capabilities { return capabilities(p.list, p.least) }

func (p panel) Setup(problem *backends.Problem, o backends.Options) (backends.Solver, error) {
	if err := problem.Validate(); err != nil {
		return nil, err
	}
	o.Settings = nil // they are those of one backend, and the log is that of the first
	s := &panelSolver{judge: p.judge, eps: o.WithDefaults().Eps}
	for _, b := range p.list {
		if b.Capabilities().Unsupported(b.Name(), problem) != nil {
			s.left = append(s.left, b.Name())
			continue
		}
		solver, err := b.Setup(problem, o)
		var room *backends.MemoryError
		if errors.As(err, &room) && p.least == 1 && len(s.left) < len(p.list)-1 {
			s.left = append(s.left, b.Name())
			continue
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.names, s.solvers = append(s.names, b.Name()), append(s.solvers, solver)
		o.Logger = nil
	}
	if len(s.solvers) < p.least {
		err := unsupported(p.name, p.Capabilities(), problem)
		return nil, errors.Join(err, s.Close())
	}
	s.chosen, s.reason = s.names[0], "asked with "+strings.Join(s.names[1:], ", ")
	return s, nil
}

// panelSolver has a solver of each backend that takes the problem.
type panelSolver struct {
	judge          func(ctx context.Context, s *panelSolver) (*backends.Solution, error)
	names, left    []string // who is asked, and who does not take the problem
	solvers        []backends.Solver
	eps            float64
	chosen, reason string

	mu sync.Mutex // held while a method runs; a second caller gets backends.ErrBusy
}

func (s *panelSolver) Chosen() (string, string) { return s.chosen, s.reason }

func (s *panelSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	if !s.mu.TryLock() {
		return nil, backends.ErrBusy
	}
	defer s.mu.Unlock()
	return s.judge(ctx, s)
}

// ask has all solvers at work and calls answered, one call at a time, with what each returns.
func (s *panelSolver) ask(ctx context.Context, answered func(i int, out *backends.Solution)) error {
	var one sync.Mutex
	failures := make([]error, len(s.solvers))
	crew.Each(len(s.solvers), len(s.solvers), func(i int) {
		out, err := s.solvers[i].Solve(ctx)
		if err != nil {
			failures[i] = err
			return
		}
		one.Lock()
		defer one.Unlock()
		answered(i, out)
	})
	return errors.Join(failures...)
}

// race returns the first verdict.
func race(ctx context.Context, s *panelSolver) (*backends.Solution, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var best *backends.Solution
	winner := -1
	err := s.ask(running, func(i int, out *backends.Solution) {
		switch {
		case best != nil && best.Status.Decided():
		case out.Status.Decided():
			best, winner = out, i
			stop()
		case best == nil || out.Residuals.Max() <= best.Residuals.Max() || math.IsNaN(best.Residuals.Max()):
			best, winner = out, i
		}
	})
	if best == nil {
		return nil, err
	}
	s.chosen, s.reason = s.names[winner], "the first of "+strings.Join(s.names, ", ")+s.others()
	if !best.Status.Decided() {
		s.reason = "the closest of " + strings.Join(s.names, ", ") + s.others()
	}
	return best, nil
}

// others says who was not asked.
func (s *panelSolver) others() string {
	if len(s.left) == 0 {
		return ""
	}
	return " (not asked, since they lack its cones or the memory: " + strings.Join(s.left, ", ") + ")"
}

// crossCheck returns the first answer if the others agree with it.
func crossCheck(ctx context.Context, s *panelSolver) (*backends.Solution, error) {
	all := make([]*backends.Solution, len(s.solvers))
	if err := s.ask(ctx, func(i int, out *backends.Solution) { all[i] = out }); err != nil {
		return nil, err
	}
	first, agree := all[0], true
	for _, other := range all {
		agree = agree && other.Status.Decided() && other.Status == first.Status
		if agree && first.Status == backends.Optimal {
			agree = math.Abs(other.Objective-first.Objective) <= Tolerance(first, other, s.eps)
		}
	}
	s.chosen = s.names[0]
	if agree {
		s.reason = strings.Join(s.names, " and ") + " agree" + s.others()
		return first, nil
	}
	s.reason = strings.Join(s.names, " and ") + " do not agree" + s.others()
	if i := ended(all); i >= 0 {
		s.chosen = s.names[i]
		return all[i], nil
	}
	out := *first
	out.Status, out.Message = backends.Inaccurate, s.differences(all)
	if first.Status == backends.PrimalInfeasible || first.Status == backends.DualInfeasible {
		out.X, out.S, out.Z = nil, nil, nil // what they are depends on a verdict that there is none of
		out.Objective, out.DualObjective, out.Radius = math.NaN(), math.NaN(), 0
		out.Residuals = backends.Residuals{Primal: math.NaN(), Dual: math.NaN(), Gap: math.NaN()}
	}
	return &out, nil
}

// ended returns the index of an answer that a limit or a cancelled context has cut short, which says nothing about the
// others, and -1 where there is none.
func ended(all []*backends.Solution) int {
	return slices.IndexFunc(all, func(out *backends.Solution) bool {
		return out.Status == backends.Cancelled || out.Status == backends.TimeLimit || out.Status == backends.IterationLimit
	})
}

// differences tells what each backend has found.
func (s *panelSolver) differences(all []*backends.Solution) string {
	var parts []string
	for i, out := range all {
		part := s.names[i] + ": " + out.Status.String()
		if out.Status == backends.Optimal || out.Status == backends.Inaccurate {
			part += fmt.Sprintf(" with objective %.12g, residuals and gap at most %.1e", out.Objective, out.Residuals.Max())
		}
		parts = append(parts, part)
	}
	return "the backends do not agree: " + strings.Join(parts, "; ")
}

// each calls f with every solver, whatever some return.
func (s *panelSolver) each(f func(backends.Solver) error) error {
	if !s.mu.TryLock() {
		return backends.ErrBusy
	}
	defer s.mu.Unlock()
	var failures []error
	for _, solver := range s.solvers {
		failures = append(failures, f(solver))
	}
	return errors.Join(failures...)
}

func (s *panelSolver) Update(u backends.Update) error {
	return s.each(func(solver backends.Solver) error { return solver.Update(u) })
}

func (s *panelSolver) WarmStart(p backends.Point) error {
	return s.each(func(solver backends.Solver) error { return solver.WarmStart(p) })
}

func (s *panelSolver) SetEps(eps float64) error {
	err := s.each(func(solver backends.Solver) error { return setEps(solver, eps) })
	if err == nil {
		s.eps = eps
	}
	return err
}

func (s *panelSolver) Close() error {
	return s.each(func(solver backends.Solver) error { return solver.Close() })
}

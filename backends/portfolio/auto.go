package portfolio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/conetune/conetune/backends"
)

// Auto returns the backend that asks, of all that are registered, the one that suits the class of the problem: see
// [Choose]. Where it has no room in Options.Memory, or ends without a verdict, the next one is asked, with what is left
// of Options.TimeLimit. Whenever one is set up, observe is called with its name and why; nil means that nobody wants to
// know.
func Auto(observe func(backend, reason string)) backends.ConicBackend { return auto{observe: observe} }

// auto asks the registered backends with these names, in this order, and without names all of them in that of their
// class.
type auto struct {
	names   []string
	observe func(backend, reason string)
}

func (auto) Name() string { return AutoName }

func (a auto) Capabilities() backends.Capabilities {
	var list []backends.ConicBackend
	for _, name := range backends.Names() {
		if b, err := backends.Open(name); err == nil && (a.names == nil || slices.Contains(a.names, name)) {
			list = append(list, b)
		}
	}
	c := capabilities(list, 1)
	c.FirstOrder = false // the interior-point methods are asked first
	return c
}

// choice is a backend for a problem.
type choice struct {
	Backend backends.ConicBackend
	Reason  string // such as "a second-order cone program: interior points"
}

// free is one where the backend needs no room for factors.
func (c choice) free() int {
	if c.Backend.Capabilities().MatrixFree {
		return 1
	}
	return 0
}

// preferred are the backends from the one to ask first to the last. Interior points decide what they have room for; on
// exponential and power cones Clarabel takes half of native's time, on linear and quadratic programs native half to
// three quarters of Clarabel's (docs/benchmarks.md, "Files of conic programs"). HiGHS's simplex method is before them
// where it takes 0.82 of native's time (in the same place). Of the methods of first order pdhg factors nothing.
var preferred = []string{backends.Default, "clarabel", "highs", "pdhg", "osqp", "scs"}

// choose returns the registered backends that take p, the one to ask first at the head; none where no backend takes it.
func (a auto) choose(p *backends.Problem) []choice {
	kind := classOf(p)
	order := a.names
	if order == nil {
		order = kind.order()
	}
	var out, late []choice
	for _, name := range order {
		b, err := backends.Open(name)
		if err != nil || b.Capabilities().Unsupported(name, p) != nil {
			continue
		}
		method := "interior points"
		switch {
		case a.names == nil && bySequence(b, p):
			late = append(late, choice{b, kind.name + ": a sequence of quadratic programs"})
			continue
		case b.Capabilities().FirstOrder:
			method = "a first-order method"
		case kind.vertices && name == simplex:
			method = "the simplex method"
		}
		out = append(out, choice{b, kind.name + ": " + method})
	}
	return append(out, late...)
}

// bySequence says whether a backend takes a cone of p by a sequence of programs, for which all others are asked before.
func bySequence(b backends.ConicBackend, p *backends.Problem) bool {
	kinds := b.Capabilities().BySequence
	return slices.ContainsFunc(p.Cones, func(c backends.Cone) bool { return c.Dim > 0 && slices.Contains(kinds, c.Kind) })
}

// class is what the choice depends on.
type class struct {
	name      string
	nonlinear bool // exponential or power cones
	vertices  bool // a linear program of some size
}

const (
	simplex = "highs"
	// Below so many coefficients the interior points of native are as fast.
	simplexCoefficients = 1000
)

func (c class) order() []string {
	order := slices.Clone(preferred)
	if c.nonlinear {
		order[0], order[1] = order[1], order[0]
	}
	if c.vertices {
		order = append([]string{simplex}, slices.DeleteFunc(order, func(name string) bool { return name == simplex })...)
	}
	for _, name := range backends.Names() { // those of the caller's own
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// classOf names the smallest of the usual classes that has p.
func classOf(p *backends.Problem) class {
	rank, c := 0, class{name: "a linear program"}
	if p.Quadratic() {
		c.name = "a quadratic program"
	}
	for _, cone := range p.Cones {
		if cone.Dim == 0 {
			continue
		}
		r, name, nonlinear := 0, "", false
		switch {
		case cone.Kind.Intervals():
			continue
		case cone.Kind == backends.SecondOrderCone:
			r, name = 1, "a second-order cone program"
		case cone.Kind == backends.PSDCone:
			r, name = 2, "a semidefinite program"
		case cone.Kind == backends.NuclearNormCone:
			r, name = 4, "a nuclear norm program"
		default:
			r, name, nonlinear = 3, "a program with exponential or power cones", true
		}
		if r > rank {
			rank, c.name = r, name
		}
		c.nonlinear = c.nonlinear || nonlinear
	}
	c.vertices = rank == 0 && !p.Quadratic() && p.A != nil && p.A.NNZ() >= simplexCoefficients
	return c
}

func (a auto) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	o.Settings = nil // they are those of one backend
	s := &autoSolver{problem: p, options: o, left: a.choose(p), observe: a.observe}
	if len(s.left) == 0 {
		return nil, unsupported(AutoName, a.Capabilities(), p)
	}
	if err := s.next(""); err != nil {
		return nil, err
	}
	return s, nil
}

// unsupported says what of p the backends with these capabilities in all do not take.
func unsupported(name string, c backends.Capabilities, p *backends.Problem) error {
	if err := c.Unsupported(name, p); err != nil {
		return err
	}
	return &backends.UnsupportedError{Backend: name, Feature: "these cones together with this objective"}
}

// autoSolver asks one solver after the other.
type autoSolver struct {
	mu      sync.Mutex // held while a method runs; a second caller gets backends.ErrBusy
	problem *backends.Problem
	options backends.Options
	left    []choice // to be asked after the current one
	current choice
	solver  backends.Solver
	reason  string
	observe func(backend, reason string) // nil for none
}

// next sets up the first of those left that has room, in the place of the current one. Where none has, the current one
// stays and the error is that of the first.
func (s *autoSolver) next(because string) error {
	var full error
	for len(s.left) > 0 {
		ask := s.left[0]
		s.left = s.left[1:]
		solver, err := ask.Backend.Setup(s.problem, s.options)
		var room *backends.MemoryError
		if errors.As(err, &room) {
			full = cmp.Or(full, err)
			slices.SortStableFunc(s.left, func(a, b choice) int { return b.free() - a.free() })
			continue
		}
		if err != nil {
			return err
		}
		s.reason = ask.Reason + because
		if full != nil {
			s.reason += fmt.Sprintf("; the one before has no room: %v", full)
		}
		if s.observe != nil {
			s.observe(ask.Backend.Name(), s.reason)
		}
		before := s.solver
		s.current, s.solver = ask, solver
		if before != nil {
			return before.Close()
		}
		return nil
	}
	return full
}

func (s *autoSolver) Chosen() (string, string) { return s.current.Backend.Name(), s.reason }

func (s *autoSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	if !s.mu.TryLock() {
		return nil, backends.ErrBusy
	}
	defer s.mu.Unlock()
	if s.options.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.options.TimeLimit)
		defer cancel()
	}
	out, err := s.solve(ctx)
	for err == nil && ctx.Err() == nil && s.undecided(out) && len(s.left) > 0 {
		before := s.current.Backend.Name()
		if err = s.next(fmt.Sprintf("; %s before it ended with the status %s", before, out.Status)); err != nil ||
			s.current.Backend.Name() == before {
			return out, ignoreRoom(err) // what there is stays
		}
		var other *backends.Solution
		if other, err = s.solve(ctx); err != nil {
			return out, err
		}
		other.Iterations += out.Iterations
		if !other.Status.Decided() && !(other.Residuals.Max() <= out.Residuals.Max()) {
			s.reason += fmt.Sprintf("; the answer is that of %s, which is the closer one", before)
			other = out
		}
		out = other
	}
	return out, err
}

// undecided says that another backend may know more than out.
func (s *autoSolver) undecided(out *backends.Solution) bool {
	switch out.Status {
	case backends.Inaccurate, backends.NumericalError:
		return true
	case backends.IterationLimit:
		return s.options.MaxIterations == 0
	}
	return false
}

// solve asks the current solver, and where that finds only now that it has no room, the next one.
func (s *autoSolver) solve(ctx context.Context) (*backends.Solution, error) {
	for {
		out, err := s.solver.Solve(ctx)
		if ignoreRoom(err) != nil || err == nil {
			return out, err
		}
		before := s.solver
		if failed := s.next(fmt.Sprintf("; %s before it has no room: %v", s.current.Backend.Name(), err)); failed != nil ||
			s.solver == before {
			return nil, err
		}
	}
}

// ignoreRoom returns nil for a [*backends.MemoryError].
func ignoreRoom(err error) error {
	var room *backends.MemoryError
	if errors.As(err, &room) {
		return nil
	}
	return err
}

func (s *autoSolver) Update(u backends.Update) error {
	if !s.mu.TryLock() {
		return backends.ErrBusy
	}
	defer s.mu.Unlock()
	if err := s.solver.Update(u); err != nil {
		return err
	}
	if len(s.left) > 0 { // whoever is set up later has to know
		p := s.problem.Updated(u)
		s.problem = &p
	}
	return nil
}

func (s *autoSolver) WarmStart(p backends.Point) error { return s.solver.WarmStart(p) }

func (s *autoSolver) SetEps(eps float64) error {
	if !s.mu.TryLock() {
		return backends.ErrBusy
	}
	defer s.mu.Unlock()
	if err := setEps(s.solver, eps); err != nil {
		return err
	}
	s.options.Eps = eps
	return nil
}

// setEps changes the tolerance of a solver of [backends.Open], all of which can.
func setEps(s backends.Solver, eps float64) error {
	t, ok := s.(backends.Tightener)
	if !ok {
		return errors.New("portfolio: the tolerance of this solver cannot change")
	}
	return t.SetEps(eps)
}

func (s *autoSolver) Close() error { return s.solver.Close() }

package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/james-bowman/sparse"
)

// checked is what [Open] returns: a backend that validates what it is given,
// takes every update, and rechecks every answer on the caller's own data.
type checked struct {
	inner ConicBackend
}

// Checked puts a backend behind the checks that [Open] adds, for backends that
// are not registered. Checked of a checked backend is the backend itself. It panics if b is nil.
func Checked(b ConicBackend) ConicBackend {
	if b == nil {
		panic("backends: Checked: the backend is nil")
	}
	if c, ok := b.(checked); ok {
		return c
	}
	return checked{b}
}

var (
	_ ConicBackend = checked{}
	_ Solver       = (*checkedSolver)(nil)
	_ Tightener    = (*checkedSolver)(nil)
	_ Filler       = (*checkedSolver)(nil)
)

func (c checked) Name() string               { return c.inner.Name() }
func (c checked) Capabilities() Capabilities { return c.inner.Capabilities() }

func (c checked) Setup(p *Problem, o Options) (Solver, error) {
	if err := cmp.Or(p.Validate(), o.Validate()); err != nil {
		return nil, err
	}
	s := &checkedSolver{
		backend: c.inner, capabilities: c.inner.Capabilities(), options: o.WithDefaults(), data: *p,
	}
	if err := s.capabilities.Unsupported(s.backend.Name(), p); err != nil {
		return nil, err
	}
	var convex convexity
	if err := convex.check(p.P); err != nil {
		return nil, err
	}
	if s.quiet = s.ears.quietRows(p); s.quiet != nil {
		s.given, s.unheard = p.A, silence(&s.data, s.quiet)
	}
	s.shift, s.judged = convex.shift, NewJudge(&s.data)
	s.data.Cones = withInfinite(p.Cones)
	s.low, s.high = intervals(s.data.Cones)
	if !s.options.NoPresolve && !s.capabilities.Presolves {
		s.presolve = newPresolve(&s.data, s.low, s.high)
	}
	s.rest.find = s.unitsWithin
	if s.reduction = s.presolve.reduce(&s.data, false, false, nil, nil); s.reduction == nil {
		s.presolve = s.presolve.plainly()
	}
	if err := s.setup(); err != nil {
		return nil, err
	}
	return s, nil
}

// checkedSolver wraps the solver of a backend. The problem that it holds is the
// caller's own until an update replaces a part, which is then a copy of ours.
type checkedSolver struct {
	backend      ConicBackend
	capabilities Capabilities
	options      Options

	mu     sync.Mutex // held while a method runs; a second caller gets ErrBusy
	closed bool

	inner Solver // nil while there is none, and always for n = 0
	stale bool   // the data moved on in a way that inner could not follow
	data  Problem
	// own says which of q and b are our copies that inner does not refer to, so that the next update may overwrite them.
	// One of P or A goes into a spare copy, which inner refers to from then on; lent are those of the set-up.
	own         struct{ q, b bool }
	spare, lent matrixPair
	start       Point // what WarmStart gave, for the next Solve
	started     bool
	setupTime   time.Duration
	ears        ears
	quiet       []int       // equations that may be no more than rounding
	unheard     []int       // those of them whose entries in data are zeros
	given       *sparse.CSC // A with these entries, where there are quiet ones
	judged      *Judge
	convexity   *convexity // kept from the first update of P on
	shift       float64    // see convexity
	low, high   []float64  // see intervals
	presolve    *presolve  // finds what may be left out, nil for nothing
	reduction   *reduction // what is left out before inner sees the problem, nil for nothing
	unused      *reduction // an earlier one
	rest        Judge      // of what is left
	restUnits   units      // its units
	solved      bool       // inner has solved before, and may go on from where it ended
	// the last run said optimal of a point that is not even near: it may have had another problem in mind
	mistaken bool
	simple   bool // the problem is one of lastResort
	// the most settled point that meets the tolerance, but is unfinished, or meets it beyond last places alone
	second    *Solution
	worst     float64 // how unsettled that is
	objective float64 // that of the last such point, NaN for none
	disputed  bool    // two of them have different ones
	uncertain bool    // that of the point that was judged last may be off
	content   bool    // such points are optimal, as nothing else has been found
}

// left is the problem that inner sees.
func (s *checkedSolver) left() *Problem {
	if s.reduction != nil {
		return s.reduction.left
	}
	return &s.data
}

// setup makes the inner solver from the current data, in place of an older one.
func (s *checkedSolver) setup() error {
	if s.inner != nil {
		err := s.inner.Close()
		s.inner = nil
		if err != nil {
			return s.failed(err)
		}
	}
	view := *s.left()
	s.lent = matrixPair{s.data.P, s.data.A}
	if len(view.Q) == 0 {
		return nil
	}
	if !s.capabilities.Quadratic {
		view.P = nil
	}
	view.Cones = slices.DeleteFunc(slices.Clone(view.Cones), func(c Cone) bool { return c.Dim == 0 })
	begin := time.Now()
	options := s.options
	options.judge = s.judgeWithin
	inner, err := s.backend.Setup(&view, options)
	if err != nil {
		return s.failed(err)
	}
	s.inner, s.stale, s.setupTime = inner, false, time.Since(begin)
	if s.reduction != nil {
		s.reduction.lent, s.presolve.lent = true, matrixPair{view.P, view.A}
	}
	s.own = struct{ q, b bool }{} // inner refers to all of data now, or to copies of parts
	s.solved = false
	return nil
}

// judgeWithin returns the judge for the inner solver, whose problem is p.
func (s *checkedSolver) judgeWithin(p *Problem) *Judge {
	if s.reduction == nil {
		return s.judged
	}
	s.rest.Reset(p)
	return &s.rest
}

// unitsWithin are those of what the reduction leaves.
func (s *checkedSolver) unitsWithin(*Problem) *units {
	return s.judged.unitsOf().part(&s.restUnits, s.reduction.rows, s.reduction.cols)
}

// failed adds the name of the backend, except to what says it already or is
// about the caller's data.
func (s *checkedSolver) failed(err error) error {
	var problem *ProblemError
	var unsupported *UnsupportedError
	var memory *MemoryError
	if errors.As(err, &problem) || errors.As(err, &unsupported) || errors.As(err, &memory) {
		return err
	}
	return fmt.Errorf("backends: %s: %w", s.backend.Name(), err)
}

// enter takes the solver for one call; a nil error obliges to s.mu.Unlock.
func (s *checkedSolver) enter() error {
	if !s.mu.TryLock() {
		return ErrBusy
	}
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	return nil
}

func (s *checkedSolver) Close() error {
	if !s.mu.TryLock() {
		return ErrBusy
	}
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	inner := s.inner
	s.closed, s.inner, s.data, s.start, s.judged, s.convexity = true, nil, Problem{}, Point{}, nil, nil
	if inner == nil {
		return nil
	}
	if err := inner.Close(); err != nil {
		return s.failed(err)
	}
	return nil
}

func (s *checkedSolver) WarmStart(p Point) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	n, m := s.data.Dims()
	if err := cmp.Or(fits("Point.X", p.X, n), fits("Point.S", p.S, m), fits("Point.Z", p.Z, m)); err != nil {
		return err
	}
	// The point waits here, because an update may yet replace the inner solver.
	s.start = s.start.Copy(p)
	s.started = true
	return nil
}

func (s *checkedSolver) Update(u Update) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.validUpdate(u); err != nil {
		return err
	}
	if u.P == nil && u.A == nil && u.Q == nil && u.B == nil {
		return nil
	}
	u = s.heard(u)
	if u.P != nil {
		u.P = filled(s.spare.p, s.data.P, u.P)
	}
	if u.A != nil {
		u.A = filled(s.spare.a, s.data.A, u.A)
	}
	next := s.data.updated(u)
	reduction := s.presolve.reduce(&next, u.P != nil, u.A != nil, s.reduction, s.unused)
	s.unused = nil
	if !reduction.same(s.reduction) {
		if s.stale = true; !s.presolve.plain && (reduction == nil || !reduction.contradicts) {
			s.presolve = s.presolve.plainly()
			reduction = s.presolve.reduce(&next, u.P != nil, u.A != nil, s.reduction, nil)
		}
	}
	if s.inner != nil && !s.stale {
		passed := u
		if reduction != nil {
			passed = reduction.update(u)
		}
		if !s.capabilities.Quadratic {
			passed.P = nil
		}
		matrices, vectors := passed.P != nil || passed.A != nil, passed.Q != nil || passed.B != nil
		if matrices && !s.capabilities.UpdateMatrices || vectors && !s.capabilities.UpdateVectors {
			s.stale = true
		} else if matrices || vectors {
			begin := time.Now()
			if err := s.inner.Update(passed); err != nil {
				return s.failed(err)
			}
			s.setupTime = time.Since(begin)
		}
	}
	s.presolve.adopt(reduction, s.reduction)
	s.unused, s.reduction = s.reduction, reduction
	s.judged.reset(&s.data, u.P != nil || u.A != nil)
	if u.P != nil {
		s.shift = s.convexity.shift
	}
	s.spare.renew(&s.data, &next, s.lent)
	s.data.P, s.data.A = next.P, next.A
	if u.Q != nil {
		s.data.Q, s.own.q = replace(s.data.Q, u.Q, s.own.q), true
	}
	if u.B != nil {
		s.data.B, s.own.b = replace(s.data.B, u.B, s.own.b), true
	}
	return nil
}

// SetEps passes the tolerance on. A backend that cannot change it is set up
// again before the next Solve.
func (s *checkedSolver) SetEps(eps float64) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if !(eps > 0) {
		return bad("Options.Eps", "%v is not positive", eps)
	}
	if s.inner != nil && !s.stale {
		if t, ok := s.inner.(Tightener); !ok {
			s.stale = true
		} else if err := t.SetEps(eps); err != nil {
			return s.failed(err)
		}
	}
	s.options.Eps = eps
	return nil
}

// replace returns a slice with the values of to, which is from itself if we own it.
func replace(from, to []float64, own bool) []float64 {
	if !own {
		return slices.Clone(to)
	}
	copy(from, to)
	return from
}

// filled returns a matrix of the pattern of from with copies of the values of to, the spare one of that pattern unless
// that is nil.
func filled(spare, from, to *sparse.CSC) *sparse.CSC {
	if spare == nil {
		f := from.RawMatrix()
		r, c := from.Dims()
		return sparse.NewCSC(r, c, f.Indptr, f.Ind, slices.Clone(to.RawMatrix().Data))
	}
	copy(spare.RawMatrix().Data, to.RawMatrix().Data)
	return spare
}

func (s *checkedSolver) validUpdate(u Update) error {
	n, m := s.data.Dims()
	err := cmp.Or(fits("Update.Q", u.Q, n), fits("Update.B", u.B, m),
		samePattern("Update.P", s.data.P, u.P, n, n), samePattern("Update.A", s.data.A, u.A, m, n))
	if err != nil || u.P == nil {
		return err
	}
	if err := s.capabilities.Unsupported(s.backend.Name(), &Problem{P: u.P}); err != nil {
		return err
	}
	if s.convexity == nil {
		s.convexity = new(convexity)
	}
	return s.convexity.check(u.P)
}

// fits checks that v is nil, or finite and of the length.
func fits(field string, v []float64, length int) error {
	if v != nil && len(v) != length {
		return bad(field, "has length %d, expected %d", len(v), length)
	}
	return finite(field, v)
}

// samePattern checks that to is nil, or finite with the entries where from has them.
func samePattern(field string, from, to *sparse.CSC, rows, cols int) error {
	if to == nil {
		return nil
	}
	if from == nil {
		return bad(field, "is given, but the problem was set up without one")
	}
	if r, c := to.Dims(); r != rows || c != cols {
		return bad(field, "is %d x %d, expected %d x %d", r, c, rows, cols)
	}
	f, t := from.RawMatrix(), to.RawMatrix()
	if !slices.Equal(f.Indptr, t.Indptr) || !slices.Equal(f.Ind, t.Ind) || len(t.Data) != len(f.Data) {
		return bad(field, "has not the sparsity pattern of the problem; store explicit zeros, or set up again")
	}
	return finite(field, t.Data)
}

func (s *checkedSolver) Solve(ctx context.Context) (*Solution, error) {
	out := new(Solution)
	if err := s.SolveInto(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// SolveInto is Solve for a solution of the caller's.
func (s *checkedSolver) SolveInto(ctx context.Context, out *Solution) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	switch {
	case ctx == nil:
		return bad("Context", "is nil")
	case out == nil:
		return bad("Solution", "is nil")
	}
	*out = Solution{X: out.X, S: out.S, Z: out.Z}
	found, err := s.solve(ctx, out)
	if err != nil {
		return err
	}
	if found != out {
		*out = *found
	}
	return nil
}

// solve solves the problem. The memory of a solution is for the answer, if it comes at once.
func (s *checkedSolver) solve(ctx context.Context, room *Solution) (*Solution, error) {
	if ctx.Err() != nil {
		status := EndedBy(ctx)
		out := &Solution{Status: status, Message: "the context ended before the start",
			SetupTime: s.setupTime}
		withoutPoint(out)
		return out, nil
	}
	if out := s.contradiction(); out != nil {
		return out, nil
	}
	begin := time.Now()
	if left := s.left(); len(left.Q) == 0 { // that b is in K has been seen
		out := &Solution{Status: Optimal, X: []float64{}, S: append([]float64{}, left.B...), Z: make([]float64, len(left.B))}
		s.finish(out, begin)
		return out, nil
	}
	if s.inner == nil || s.stale {
		if err := s.setup(); err != nil {
			return nil, err
		}
	}
	out, err := s.attempts(ctx, begin, room)
	if err != nil || out.Status.Decided() || out.Status == Cancelled || out.Status == TimeLimit {
		return out, err
	}
	ctx, cancel := s.within(ctx, begin)
	defer cancel()
	s.second, s.objective, s.disputed = nil, math.NaN(), false
	first := *out
	s.consider(&first)
	if out = s.lastResort(ctx, out); !out.Status.Decided() && s.second != nil && !(s.disputed && s.worst > 1) {
		s.second.Iterations, s.second.SetupTime, s.second.SolveTime = out.Iterations, out.SetupTime, out.SolveTime
		return s.second, nil
	}
	return out, nil
}

// within returns a context that ends when the time limit of a Solve is over.
func (s *checkedSolver) within(ctx context.Context, begin time.Time) (context.Context, context.CancelFunc) {
	if s.options.TimeLimit == 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, begin.Add(s.options.TimeLimit))
}

// attempts runs the inner solver from where it is told to start and, where that leads to no optimal point, from
// nothing.
func (s *checkedSolver) attempts(ctx context.Context, begin time.Time, room *Solution) (*Solution, error) {
	warm := s.started || s.solved
	if s.started {
		start := s.start
		if s.reduction != nil {
			start = s.reduction.contract(start)
		}
		if err := s.inner.WarmStart(start); err != nil {
			return nil, s.failed(err)
		}
		s.started = false
	}
	out, err := s.run(ctx, begin, room)
	if err != nil || !warm || out.Fresh {
		return out, err
	}
	switch out.Status {
	case Optimal, Cancelled, TimeLimit, IterationLimit:
		return out, nil
	}
	// What a start, or the last solve, led to is told only if it stands without them.
	if err := s.inner.WarmStart(Point{}); err != nil {
		return nil, s.failed(err)
	}
	ctx, cancel := s.within(ctx, begin)
	defer cancel()
	cold, err := s.run(ctx, begin, new(Solution))
	if err != nil {
		return nil, err
	}
	cold.Iterations += out.Iterations
	if cold.Status.Decided() {
		return cold, nil
	}
	s.stale = true // nothing of this is worth keeping
	if out.Status.Decided() {
		return out, nil
	}
	return cold, nil
}

// run is one call of the inner solver, and the judge's word on it.
func (s *checkedSolver) run(ctx context.Context, begin time.Time, room *Solution) (*Solution, error) {
	out, err := s.guarded(ctx, room)
	if err != nil {
		return nil, s.failed(err)
	}
	if out == nil {
		return nil, s.failed(errors.New("Solve returned neither a solution nor an error"))
	}
	s.solved = true
	s.finish(out, begin)
	return out, nil
}

// guarded calls the inner solver. One that panics has no answer, and is set up again before the next Solve.
func (s *checkedSolver) guarded(ctx context.Context, room *Solution) (out *Solution, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.stale = true
			out, err = &Solution{Status: NumericalError, Message: fmt.Sprintf("the backend broke down: %v", p)}, nil
		}
	}()
	if f, ok := s.inner.(Filler); ok {
		return room, f.SolveInto(ctx, room)
	}
	return s.inner.Solve(ctx)
}

// finish makes an answer about what was left one about the problem.
func (s *checkedSolver) finish(out *Solution, begin time.Time) {
	if s.reduction != nil {
		s.reduction.expand(&s.data, s.low, s.high, out)
	}
	claimed := out.Status == Optimal
	s.judge(out)
	s.mistaken = claimed && !(max(out.Residuals.Primal, out.Residuals.Dual) <= notEvenNear)
	if claimed && s.reduction != nil { // last digits may be lost in what presolve had left out
		s.polish(out)
	}
	if out.SetupTime == 0 {
		out.SetupTime = s.setupTime
	}
	if out.SolveTime == 0 {
		out.SolveTime = time.Since(begin)
	}
}

// notEvenNear is the residual, primal or dual, above which a point that was said to be optimal is taken for a mistake.
const notEvenNear = 0.1

// polish makes a point that misses the tolerance one that meets it, where the judge finds one near.
func (s *checkedSolver) polish(out *Solution) {
	if out.Status != Inaccurate || out.X == nil {
		return
	}
	pt, ok := s.judged.Polish(Point{X: out.X, S: out.S, Z: out.Z}, s.options.Eps)
	if !ok {
		return
	}
	better := *out
	better.X, better.S, better.Z, better.Status, better.Message = pt.X, pt.S, pt.Z, Optimal,
		"the last digits are of the equations of the rows that are tight"
	if s.judge(&better); better.Status == Optimal {
		*out = better
	}
}

// contradiction returns the verdict of a certificate that trivial has found, and nil if there is none.
func (s *checkedSolver) contradiction() *Solution {
	out := trivial(&s.data, s.judged.check.known.about(&s.data).single())
	if r := s.reduction; out == nil && r != nil && r.contradicts {
		var bounds singleBounds
		bounds.find(r.left)
		if out = trivial(r.left, &bounds); out != nil {
			r.expand(&s.data, s.low, s.high, out)
		}
	}
	if out == nil {
		return nil
	}
	if s.judge(out); !out.Status.Decided() {
		return nil
	}
	out.SetupTime = s.setupTime
	return out
}

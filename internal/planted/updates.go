package planted

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
)

// Updates is the mode that leads one solver through a sequence of programs by Update,
// with SetEps, WarmStart from points good and bad, second and cancelled solves between.
// Each solve counts. A wrong answer is told with the steps that led to it.
const Updates = "update"

// sequence is a solver on its way.
type sequence struct {
	*draw
	now     *Case     // what the solver holds, unscaled
	null    []float64 // z with A'z = 0, if one is known
	flat    []float64 // x with Px = 0 and -Ax in the recession cone, if one is known
	by      *Scaling
	steps   []string
	warm    bool    // a point was given for the next solve
	eps     float64 // as SetEps has set it, 0 if not
	answers []*backends.Solution
}

func (r Run) updates(id ID, t *Tally) {
	for _, b := range r.Backends {
		s := newSequence(id)
		if s.now.supported(b.Capabilities()) {
			s.run(b, r.Options, t)
		}
	}
}

func newSequence(id ID) *sequence {
	s := &sequence{draw: newDraw(id.Seed, 0x75706461)}
	s.now = s.classed(id.Mix, Class(s.IntN(4)))
	for range s.IntN(3) {
		s.degrade(s.now)
	}
	s.now.ID = id
	s.now.Stored = s.chance(2)
	if s.now.P == nil && s.now.Stored && s.chance(2) {
		s.now.P = zeroRows(len(s.now.Q), len(s.now.Q))
	}
	s.null, s.flat = s.now.Farkas, s.now.Ray
	if id.Scale > 0 {
		n, m := s.now.Dims()
		by := s.draw.scaling(n, m, float64(id.Scale))
		s.by = &by
	}
	return s
}

// classed draws a case of the class.
func (d *draw) classed(mix Mix, class Class) *Case {
	switch class {
	case Infeasible:
		return d.infeasible(mix)
	case Unbounded:
		return d.unbounded(mix)
	case Both:
		return d.both(mix)
	default:
		return d.optimal(mix)
	}
}

// seen is the case as the backend sees it.
func (s *sequence) seen() *Case {
	c := s.now.clone()
	if s.by != nil {
		c.Scale(*s.by)
	}
	c.measure()
	return c
}

func (s *sequence) run(b backends.ConicBackend, o backends.Options, t *Tally) {
	c := s.seen()
	solver, err := b.Setup(c.Problem(), o)
	if err != nil {
		t.record(c, b.Name(), c.refused("Setup", err))
		return
	}
	defer solver.Close()
	for range 2 + s.IntN(6) {
		if !s.solve(b, solver, o, t) {
			return
		}
		for range 1 + s.IntN(2)*s.IntN(2) {
			if !s.update(b, solver, t) {
				return
			}
		}
		s.between(solver)
	}
	s.solve(b, solver, o, t)
}

// solve asks for the answer to what the solver holds, and says whether to go on.
func (s *sequence) solve(b backends.ConicBackend, solver backends.Solver, o backends.Options, t *Tally) bool {
	c := s.seen()
	sol, v := c.solve(solver)
	s.steps = append(s.steps, "solve")
	if sol != nil {
		s.answers = append(s.answers, sol)
		if s.warm {
			s.beside(c, b, o, sol, v, &t.Warm)
		}
	}
	s.warm = false
	if sol != nil && !v.Outcome.Wrong() && s.chance(4) && c.Class == Weak && sol.Status == backends.Optimal {
		if other, w := c.answer(b, o); w.Outcome.Wrong() { // afresh
			v = w
		} else {
			v = c.agree(other, sol, 1, v)
		}
	}
	if v.Outcome.Wrong() {
		v.Detail += s.after()
	}
	t.record(c, b.Name(), v)
	return v.Outcome != Panicked && v.Outcome != Failed
}

// beside asks a fresh solver for the answer to what was solved from a given point.
func (s *sequence) beside(c *Case, b backends.ConicBackend, o backends.Options, sol *backends.Solution, v Verdict,
	w *Warm) {
	if s.eps > 0 {
		o.Eps = s.eps
	}
	other, cold := c.answer(b, o)
	if other == nil {
		return
	}
	w.Starts++
	switch decided, coldly := v.Outcome == Right, cold.Outcome == Right; {
	case decided && coldly:
		w.Iterations += sol.Iterations
		w.IterationsCold += other.Iterations
	case coldly:
		w.Lost++
	case decided:
		w.Won++
	}
}

// update changes some of the numbers, and says whether to go on.
func (s *sequence) update(b backends.ConicBackend, solver backends.Solver, t *Tally) bool {
	before, null, flat := s.now, s.null, s.flat
	next, name := s.next()
	if next == nil {
		return true
	}
	if !next.supported(b.Capabilities()) {
		s.null, s.flat = null, flat
		return true
	}
	s.now = next
	c := s.seen()
	p := c.Problem()
	u := backends.Update{Q: p.Q, B: p.B}
	if c.Stored || !sameRows(before.P, next.P) || !sameRows(before.A, next.A) {
		u.P, u.A = p.P, p.A
	}
	if sameRows(before.P, next.P) && s.chance(2) {
		u.P = nil
	}
	if sameRows(before.A, next.A) && s.chance(2) {
		u.A = nil
	}
	if slices.Equal(before.Q, next.Q) && s.chance(2) {
		u.Q = nil
	}
	if slices.Equal(before.B, next.B) && s.chance(2) {
		u.B = nil
	}
	if len(c.B) == 0 {
		u.A = nil
	}
	s.steps = append(s.steps, name)
	v := c.updated(solver, u)
	if next.Class == Nonconvex {
		s.now = before // nothing has changed
	}
	if v.Outcome != Right {
		v.Detail += s.after()
		t.record(c, b.Name(), v)
		return false
	}
	if next.Class == Nonconvex {
		return true
	}
	// The caller may change the arrays afterwards.
	mine := [][]float64{u.Q, u.B}
	for _, a := range []*sparse.CSC{u.P, u.A} {
		if a != nil {
			mine = append(mine, a.RawMatrix().Data)
		}
	}
	for _, v := range mine {
		for i := range v {
			v[i] = math.NaN()
		}
	}
	return true
}

// after tells the steps so far.
func (s *sequence) after() string { return " (after " + strings.Join(s.steps, ", ") + ")" }

// updated judges an update to the case, which is right where it is taken, or refused as it has to be.
func (c *Case) updated(solver backends.Solver, u backends.Update) (v Verdict) {
	defer recovered(&v)
	switch err := solver.Update(u); {
	case err != nil:
		return c.refused("Update", err)
	case c.Class == Nonconvex:
		return Verdict{Outcome: Accepted, Detail: "Update took it"}
	}
	return Verdict{Outcome: Right}
}

// next draws the program after this one, with the same cones and the same places of
// entries, and a word for the change.
func (s *sequence) next() (*Case, string) {
	c := s.now.clone()
	n, m := c.Dims()
	k := s.IntN(12)
	if !c.Stored && k < 5 {
		k += 5
	}
	switch {
	case k < 4: // all numbers
		s.shape = &c.Instance
		fresh := s.classed("", Class(s.IntN(4)))
		s.shape = nil
		if len(fresh.B) != m {
			return nil, ""
		}
		if c.P != nil && fresh.P == nil {
			fresh.P = zeroRows(n, n)
		}
		fresh.Stored, fresh.ID = true, c.ID
		s.null, s.flat = fresh.Farkas, fresh.Ray
		return fresh, "all to " + fresh.Class.String()
	case k < 5:
		if c.P == nil || n == 0 {
			return nil, ""
		}
		i := s.IntN(n)
		c.P[i][i] = -s.amount()
		c.Truth = Truth{Class: Nonconvex}
		return c, "P to nonconvex"
	case k < 7: // q and b to an optimal program
		c.Truth = Truth{X: s.numbers(n)}
		s.pairs(c)
		c.solution(c.X)
		return c, "q and b to optimal"
	case k < 8: // b to a feasible program
		c.Farkas = nil
		s.feasible(c)
		c.reclass()
		return c, "b to " + c.Class.String()
	case k < 9: // q to a bounded program
		slack := c.S
		c.Ray, c.DualX = nil, s.numbers(n)
		s.pairs(c)
		c.S = slack
		c.setQ()
		c.reclass()
		return c, "q to " + c.Class.String()
	case k < 10 && s.null != nil: // b to an infeasible program
		c.X, c.S, c.Farkas = nil, nil, s.null
		s.against(c.B, s.null, largest(s.null), c.beta(s.null), one)
		c.reclass()
		return c, "b to " + c.Class.String()
	case k >= 10 && s.flat != nil: // q to an unbounded program
		c.DualX, c.Z, c.Ray = nil, nil, s.flat
		s.against(c.Q, s.flat, largest(s.flat), 0, one)
		c.reclass()
		return c, "q to " + c.Class.String()
	}
	return nil, ""
}

func one() float64 { return 1 }

// largest is the place of the largest entry.
func largest(v []float64) int {
	return slices.IndexFunc(v, func(x float64) bool { return math.Abs(x) == maxAbs(v) })
}

// reclass sets the class by what is known. A program of which feasible points of both
// kinds are known, but no value, is of the class Weak.
func (c *Case) reclass() {
	switch {
	case c.Farkas != nil && c.Ray != nil:
		c.Class = Both
	case c.Farkas != nil:
		c.Class = Infeasible
	case c.Ray != nil:
		c.Class = Unbounded
	default:
		c.Class = Weak
	}
}

// start gives a point for the next solve.
func (s *sequence) start(solver backends.Solver, p backends.Point) {
	s.warm = solver.WarmStart(p) == nil
}

// between does to the solver what must not change the verdict.
func (s *sequence) between(solver backends.Solver) {
	c := s.seen()
	n, m := c.Dims()
	fill := func(k float64, length int) []float64 {
		v := s.entries(length)
		for i := range v {
			v[i] *= k
		}
		return v
	}
	switch s.IntN(10) {
	case 0, 1:
		s.start(solver, backends.Point{X: fill(1, n), S: fill(1, m), Z: fill(1, m)})
		s.steps = append(s.steps, "warm start from garbage")
	case 2:
		k := []float64{1e9, 1e15, 1e-9, 1e100}[s.IntN(4)]
		s.start(solver, backends.Point{X: fill(k, n), S: fill(k, m), Z: fill(k, m)})
		s.steps = append(s.steps, fmt.Sprintf("warm start from size %g", k))
	case 3, 4:
		if len(s.answers) > 0 {
			a := s.answers[s.IntN(len(s.answers))]
			s.start(solver, backends.Point{X: a.X, S: a.S, Z: a.Z})
			s.steps = append(s.steps, "warm start from an answer, "+a.Status.String())
		}
	case 5:
		p := backends.Point{X: c.X, S: c.S, Z: c.Z}
		if s.chance(2) {
			p.S, p.Z = nil, nil
		}
		s.start(solver, p)
		s.steps = append(s.steps, "warm start from what was planted")
	case 6:
		if tight, ok := solver.(backends.Tightener); ok {
			eps := []float64{1e-6, 1e-7, 1e-8, 1e-9}[s.IntN(4)]
			if tight.SetEps(eps) == nil {
				s.eps = eps
			}
			s.steps = append(s.steps, fmt.Sprintf("eps %g", eps))
		}
	case 7:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = solver.Solve(ctx)
		s.warm = false
		s.steps = append(s.steps, "cancelled solve")
	}
}

func sameRows(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

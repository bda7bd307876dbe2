package planted

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
)

// sequence is a solver on its way through programs.
type sequence struct {
	*draw
	id      ID
	now     *Case     // what the solver holds, unscaled
	tame    *Case     // the last one whose answer is known
	null    []float64 // z with A'z = 0, if one is known
	flat    []float64 // x with Px = 0 and -Ax in the recession cone, if one is known
	by      Scaling
	steps   []string
	warm    bool    // the next solve begins at a given point, or after wild numbers
	eps     float64 // as SetEps has set it, 0 if not
	answers []*backends.Solution
}

func (r Run) sequences(id ID, d *draw, t *Tally) {
	begin := d.at
	for _, b := range r.Backends {
		d.at = begin // the same for all
		if s := newSequence(d, id); s.now.supported(b) {
			s.run(b, r.Options, t)
		}
	}
}

func newSequence(d *draw, id ID) *sequence {
	s := &sequence{draw: d, id: id}
	s.now = s.classed(id, Class(s.IntN(4)))
	for range s.IntN(3) {
		s.rewrite(s.now)
	}
	c := s.now
	c.ID, c.Stored = id, s.chance(2)
	if c.P == nil && c.Stored && s.chance(2) {
		c.P = zeroRows(len(c.Q), len(c.Q))
	}
	s.null, s.flat = c.Farkas, c.Ray
	n, m := c.Dims()
	s.by = s.draw.scaling(n, m, float64(id.Scale))
	if id.Mode == Hostile && s.chance(2) {
		s.now = s.wild(c)
		for k := range s.now.Cones {
			s.wildCone(&s.now.Cones[k])
		}
	}
	s.tame = s.now
	return s
}

// seen is the case as the backend sees it.
func (s *sequence) seen() *Case {
	c := s.now.clone()
	c.Scale(s.by)
	c.Measure()
	return c
}

func (s *sequence) run(b backends.ConicBackend, o backends.Options, t *Tally) {
	if s.id.Mode == Hostile {
		o.MaxIterations = 1 + s.IntN([]int{300, 300, 300, 300, 300, 300, 300, 5000}[s.IntN(8)])
		switch s.IntN(8) {
		case 0: // which may let any point pass
			o.Eps, s.now = []float64{1e-300, 1e-16, 1e300, 1}[s.IntN(4)], s.wild(s.now)
			s.tame = s.now
		case 1:
			o.TimeLimit = time.Nanosecond
		}
	}
	c := s.seen()
	o.NoPresolve = o.NoPresolve || c.Whole
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
	s.did("solve")
	if sol != nil {
		s.answers = append(s.answers, sol)
		if (s.chance(4) || s.warm) && !c.Wild {
			s.beside(c, b, o, sol, v, &t.Warm)
		}
	}
	s.warm = c.Wild
	s.record(c, b, v, t)
	return v.Outcome != Panicked && v.Outcome != Failed
}

func (s *sequence) did(format string, args ...any) {
	s.steps = append(s.steps, fmt.Sprintf(format, args...))
}

func (s *sequence) record(c *Case, b backends.ConicBackend, v Verdict, t *Tally) {
	if v.Outcome.Wrong() {
		v.Detail += " (after " + strings.Join(s.steps, ", ") + ")"
	}
	t.record(c, b.Name(), v)
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
	case decided && coldly && s.warm:
		w.Iterations += sol.Iterations
		w.IterationsCold += other.Iterations
	case coldly && !decided:
		w.Lost++
	case decided && !coldly:
		w.Won++
	}
}

// update changes some of the numbers, and says whether to go on.
func (s *sequence) update(b backends.ConicBackend, solver backends.Solver, t *Tally) bool {
	before, null, flat := s.now, s.null, s.flat
	next, name := s.next()
	if next == nil || !next.supported(b) {
		s.null, s.flat = null, flat
		return true
	}
	s.now = next
	c := s.seen()
	p := c.Problem()
	u := backends.Update{P: p.P, Q: p.Q, A: p.A, B: p.B}
	// What has not changed is given now and then.
	if sameRows(before.P, next.P) && s.chance(2) {
		u.P = nil
	}
	if sameRows(before.A, next.A) && s.chance(2) || len(c.B) == 0 {
		u.A = nil
	}
	if slices.Equal(before.Q, next.Q) && s.chance(2) {
		u.Q = nil
	}
	if slices.Equal(before.B, next.B) && s.chance(2) {
		u.B = nil
	}
	s.did("%s", name)
	v := c.updated(solver, u)
	switch {
	case v.Outcome.Wrong():
		s.record(c, b, v, t)
		return false
	case next.Class == Nonconvex || v.Outcome == Undecided: // it was refused, and nothing has changed
		s.now, s.null, s.flat = before, null, flat
		return true
	case !next.Wild:
		s.tame = next
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
	c := s.tame.clone()
	n, m := c.Dims()
	if c.Wild || s.chance(map[bool]int{false: 16, true: 2}[s.id.Mode == Hostile]) {
		return s.wild(c), "wild numbers"
	}
	k := s.IntN(12)
	if !c.Stored && k < 5 {
		k += 5
	}
	switch {
	case k < 4: // all numbers
		s.shape = &c.Instance
		fresh := s.classed(s.id, Class(s.IntN(4)))
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
		if c.P == nil {
			return nil, ""
		}
		i := s.IntN(n)
		c.P[i][i] = -s.amount()
		c.Truth = Truth{Class: Nonconvex}
		return c, "P to nonconvex"
	case k < 7: // q and b to an optimal program
		c.Truth = Truth{}
		s.pairs(c)
		c.solution(s.numbers(n))
		return c, "q and b to optimal"
	case k < 8: // b to a feasible program
		z := c.Z
		c.Farkas, c.X = nil, s.numbers(n)
		s.pairs(c)
		c.Z = z
		c.setB()
	case k < 9: // q to a bounded program
		slack := c.S
		c.Ray, c.DualX = nil, s.numbers(n)
		s.pairs(c)
		c.S = slack
		c.setQ()
	case k < 10 && s.null != nil: // b to an infeasible program
		c.X, c.S, c.Farkas = nil, nil, s.null
		s.against(c.B, s.null, largest(s.null), c.beta(s.null))
	case k >= 10 && s.flat != nil: // q to an unbounded program
		c.DualX, c.Z, c.Ray = nil, nil, s.flat
		s.against(c.Q, s.flat, largest(s.flat), 0)
	default:
		return nil, ""
	}
	c.reclass()
	return c, "q or b to " + c.Class.String()
}

// largest is the place of the largest entry.
func largest(v []float64) int {
	return slices.IndexFunc(v, func(x float64) bool { return math.Abs(x) == maxAbs(v) })
}

// extremes are sizes at which squares, sums or quotients leave the numbers, or at which solvers see an infinity.
var extremes = []float64{
	math.MaxFloat64, 1e300, 1e200, 1e154, 1e100, 1e31, 1e30, 1e20, 1e15, 1e10, 1e8,
	1e-8, 1e-10, 1e-15, 1e-20, 1e-30, 1e-100, 1e-154, 1e-200, 1e-300, 2.3e-308, math.SmallestNonzeroFloat64,
}

func (d *draw) extreme() float64 { return d.sign() * extremes[d.IntN(len(extremes))] }

// spoil replaces a share of the numbers that are not zero by those of extreme size.
func (d *draw) spoil(share float64, v []float64) {
	for i, x := range v {
		if x != 0 && d.Float64() < share {
			v[i] = d.extreme()
		}
	}
}

// wild spoils numbers of a program. P is then often no longer convex.
func (s *sequence) wild(c *Case) *Case {
	c = c.clone()
	c.Truth = Truth{Class: Weak, Wild: true}
	share := []float64{0.05, 0.3, 1}[s.IntN(3)]
	s.spoil(share, c.Q)
	s.spoil(share, c.B)
	if s.chance(2) {
		return c
	}
	for _, row := range c.A {
		s.spoil(share, row)
	}
	by, whole := math.Abs(s.extreme()), s.chance(2)
	for i, row := range c.P {
		if !whole {
			s.spoil(share, row[i:]) // the upper triangle counts
		}
		for j := i; whole && j < len(row); j++ { // as convex as it was, unless it leaves the numbers
			row[j] = max(-math.MaxFloat64, min(by*row[j], math.MaxFloat64))
		}
	}
	return c
}

// wildCone spoils the bounds of a box and the exponents of a power cone.
func (s *sequence) wildCone(c *backends.Cone) {
	for i, l := range c.Lower {
		v := []float64{l, c.Upper[i]}
		s.spoil(0.3, v)
		c.Lower[i], c.Upper[i] = min(v[0], v[1]), max(v[0], v[1])
	}
	tiny := []float64{1e-9, 1e-300, math.SmallestNonzeroFloat64}[s.IntN(3)]
	if s.chance(2) {
		return
	}
	if c.Alpha != 0 {
		c.Alpha = []float64{tiny, 1 - 1e-9}[s.IntN(2)]
	}
	if w := c.Weights; len(w) > 1 {
		c.Weights = slices.Clone(w)
		c.Weights[0], c.Weights[1] = tiny, w[0]+w[1]-tiny
	}
}

// start gives a point for the next solve.
func (s *sequence) start(solver backends.Solver, from string, p backends.Point) {
	s.warm = solver.WarmStart(p) == nil
	s.did("warm start from %s", from)
}

// between does to the solver what must not change the verdict.
func (s *sequence) between(solver backends.Solver) {
	c := s.seen()
	n, m := c.Dims()
	switch s.IntN(10) {
	case 0, 1, 2:
		k := []float64{1, 1, 1, 1, 1e9, 1e15, 1e-9, 1e100}[s.IntN(8)]
		p := backends.Point{X: s.entries(n), S: s.entries(m), Z: s.entries(m)}
		for _, v := range [][]float64{p.X, p.S, p.Z} {
			scaleBy(v, k)
		}
		s.start(solver, fmt.Sprintf("size %g", k), p)
	case 3, 4:
		if len(s.answers) > 0 {
			a := s.answers[s.IntN(len(s.answers))]
			s.start(solver, "an answer, "+a.Status.String(), backends.Point{X: a.X, S: a.S, Z: a.Z})
		}
	case 5:
		p := backends.Point{X: c.X, S: c.S, Z: c.Z}
		if s.chance(2) {
			p.S, p.Z = nil, nil
		}
		s.start(solver, "what was planted", p)
	case 6:
		if tight, ok := solver.(backends.Tightener); ok {
			eps := []float64{1e-6, 1e-7, 1e-8, 1e-9}[s.IntN(4)]
			if tight.SetEps(eps) == nil {
				s.eps = eps
			}
			s.did("eps %g", eps)
		}
	case 7:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = solver.Solve(ctx)
		s.warm = false
		s.did("cancelled solve")
	}
}

func sameRows(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

// Package rows has working sets of rows of hinges and inequalities.
//
// Of a sum of hinges max(0, a_i) few rows are at the kink a_i = 0 in a solution: on either side of it a hinge is linear, and its
// epigraph u_i >= 0, u_i >= a_i is not needed. Nor is an inequality that is slack. The restricted program has
//
//	u_i = 0    where a_i < 0 is expected,
//	u_i = a_i  where a_i > 0 is expected,
//	no row     where slack is expected,
//
// each without a variable or rows of its own: the sum of the a_i of the second kind is one row of numbers. It is a relaxation.
// Its solution is completed to the full program by u_i = max(0, a_i), by multipliers that are 0 for slack rows, and by those of
// u_i >= 0 and u_i >= a_i that add up to the weight h_i of u_i in the Lagrangian: (h_i, 0) where u_i was 0, and (0, h_i) where it
// was a_i. Then the dual equations of the full program hold as those of the restricted one do, and all that is wrong with the
// point is primal: where a_i has another sign than expected, u_i is larger than its stand-in by |a_i|, which is missing in the
// rows and in the objective where u_i stands, and a row that is left out may not hold. These numbers are the test.
package rows

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/solve"
)

const (
	// spareRows is the share of the rows at the kink, and sparest the number, that a working set of rows has on top:
	// those nearest to the kink.
	spareRows, sparest = 0.5, 8
	// rowStep is the step in which working sets of rows grow: programs of one size share their analysis.
	rowStep = 8
	// wasteful is how many times more rows than wanted a set may have before it is made smaller.
	wasteful = 2
	// nearly times the tolerance is what a restricted program that ends above it may miss before the full one is tried.
	nearly = 10
	// growingRounds is the number of rounds in one Solve after which rows are only added.
	growingRounds = 6
)

// Sets is what a solver knows about the rows of a program with hinges.
type Sets struct {
	rowsState
	s       *solve.Session
	rows    int              // in all sets together when none is left out
	reduced *compile.Program // nil: the full program
	stale   bool             // the sets have changed since reduced was made
}

// rowsState is the state of the rows at the last point, of which results keep a copy to complete theirs.
type rowsState struct {
	p      *compile.Program
	hinges []hingeSet
	slack  []rowSet
	places []rowPlace
}

// rowPlace is a row in which hinges stand, and by how much its left side is larger at the completed point.
type rowPlace struct {
	group, row int
	more       float64
}

// rowSet is the working set of the rows of a hinge or of a group of inequalities, and their state at the last point.
type rowSet struct {
	kept  []int     // in increasing order
	value []float64 // the argument of the hinge, the slack of the inequalities
	dual  []float64 // multipliers, of u - a >= 0 for a hinge, completed for rows that are not kept
}

// hingeSet is that of a hinge.
type hingeSet struct {
	rowSet
	linear []bool    // for rows that are not kept: u_i = a_i, otherwise u_i = 0
	weight []float64 // h
}

func New(s *solve.Session) *Sets {
	w := &Sets{s: s, rowsState: rowsState{p: s.Program, hinges: make([]hingeSet, len(s.Program.Hinges)), slack: make([]rowSet, len(s.Program.Slack))}}
	w.Fill()
	return w
}

// Fill makes the full program the next one.
func (w *Sets) Fill() bool {
	w.rows = 0
	whole := func(n int) []int {
		w.rows += n
		all := affine.Consecutive(0, n)
		return all
	}
	for k, h := range w.p.Hinges {
		w.hinges[k].kept = whole(h.U.N)
	}
	for k, g := range w.p.Slack {
		w.slack[k].kept = whole(g.Expr.N)
	}
	w.stale = true
	return true
}

// active is the number of rows in the sets.
func (w *Sets) active() int {
	sum := 0
	for k := range w.hinges {
		sum += len(w.hinges[k].kept)
	}
	for k := range w.slack {
		sum += len(w.slack[k].kept)
	}
	return sum
}

// program returns the program for the current sets.
func (w *Sets) program() *compile.Program {
	if w.stale {
		w.stale, w.reduced = false, nil
		if w.active() < w.rows {
			w.reduced = reduce(w.p, w.hinges, w.slack)
		}
	}
	if w.reduced == nil {
		return w.p
	}
	return w.reduced
}

// missing is by how much the completed point fails where the restricted one does not: objective is what its objective
// value is larger by, rows the largest violation of a row.
//
// Where u_i costs nothing, because the row in which it stands is slack, it may be larger than max(0, a_i) in the
// restricted solution; then the completed point has more slack in that row, and less to pay.
type missing struct{ objective, rows float64 }

func (m missing) within(eps float64) bool { return math.Abs(m.objective) <= eps && m.rows <= eps }

// complete computes the state at a point of the current instance, and what it misses.
func (w *Sets) complete(as *compile.Assembled, x, z []float64) missing {
	value := func(a affine.Expr) []float64 {
		return a.Eval(func(v *affine.Variable) []float64 { return x[as.Start[v.ID] : as.Start[v.ID]+v.N] })
	}
	var m missing
	w.places = nil
	for k, h := range w.p.Hinges {
		s := &w.hinges[k]
		s.value = value(h.A)
		m.objective += w.weigh(s, h, as, x, z)
		s.dual = s.spread(s.linear, s.weight, z[as.First[h.Slope.Index]:])
	}
	for k, g := range w.p.Slack {
		s := &w.slack[k]
		s.value = value(g.Expr)
		s.dual = s.spread(nil, s.value, z[as.First[g.Index]:])
		for i, kept := range mask(s.kept, len(s.value)) {
			if !kept {
				m.rows = math.Max(m.rows, -s.value[i])
			}
		}
	}
	for _, pl := range w.places {
		m.rows = math.Max(m.rows, pl.more)
	}
	return m
}

// weigh computes the weights of a hinge whose values are known, and what is missing in the rows where it stands. It returns what is in
// the objective.
func (w *Sets) weigh(s *hingeSet, h *compile.Hinge, as *compile.Assembled, x, z []float64) (more float64) {
	s.weight = make([]float64, h.U.N)
	standin := s.spread(s.linear, s.value, x[as.Start[h.U.ID]:])
	for _, use := range h.Uses {
		factor, here := 1.0, 0.0
		if use.Group >= 0 {
			factor = math.Max(0, z[as.Row(use.Group, use.Row)])
		}
		for i, v := range use.Weight {
			s.weight[i] += factor * v
			here += v * (math.Max(0, s.value[i]) - standin[i])
		}
		switch {
		case w.reduced == nil:
		case use.Group < 0:
			more += here
		default:
			w.place(use.Group, use.Row, here)
		}
	}
	return more
}

// spread returns a number for each row: those of own, in their order, for the ones that are kept, and for the others those of values where
// they are linear, and zero.
func (s *rowSet) spread(linear []bool, values, own []float64) []float64 {
	out := make([]float64, len(values))
	for i, on := range linear {
		if on {
			out[i] = values[i]
		}
	}
	for j, i := range s.kept {
		out[i] = own[j]
	}
	return out
}

// place adds to the left side of a row.
func (w *Sets) place(group, row int, more float64) {
	for k := range w.places {
		if pl := &w.places[k]; pl.group == group && pl.row == row {
			pl.more += more
			return
		}
	}
	w.places = append(w.places, rowPlace{group, row, more})
}

// choose picks the sets for the next program: the rows that hold in this one, and those that are nearest to it. After a
// point that missed something, with wrong, all rows that were misjudged come in, and with grow none goes out.
func (w *Sets) choose(eps float64, wrong, grow bool) {
	held := math.Max(restrict.Nonzero, eps) // the share of the largest possible multiplier from which on a row holds something
	for k := range w.hinges {
		s := &w.hinges[k]
		kept := mask(s.kept, len(s.value))
		must := func(i int) bool {
			if !kept[i] {
				return wrong && (s.value[i] > 0) != s.linear[i]
			}
			// At the kink both multipliers are there.
			return grow || math.Min(s.dual[i], s.weight[i]-s.dual[i]) > held*s.weight[i]
		}
		distance, linear := make([]float64, len(s.value)), make([]bool, len(s.value))
		for i, a := range s.value {
			distance[i], linear[i] = math.Abs(a), a > 0
		}
		s.kept, s.linear = pick(distance, must, len(s.kept), wrong), linear
	}
	for k := range w.slack {
		s := &w.slack[k]
		kept := mask(s.kept, len(s.value))
		top := max(0, slices.Max(s.dual))
		must := func(i int) bool {
			if !kept[i] {
				return wrong && s.value[i] < 0
			}
			return grow || s.dual[i] > held*top
		}
		s.kept = pick(s.value, must, len(s.kept), wrong)
	}
	w.stale = true
}

// mask marks the entries of a list of indices below n.
func mask(list []int, n int) []bool {
	out := make([]bool, n)
	for _, i := range list {
		out[i] = true
	}
	return out
}

// pick returns a set of rows, in increasing order: those that must be in it, and with them the nearest; ties go to
// the smaller index. The size stays what it was where it is enough, so that the pattern does.
func pick(distance []float64, must func(i int) bool, size int, wrong bool) []int {
	n := len(distance)
	order := make([]int, n)
	key, needed := make([]float64, n), 0
	for i := range order {
		order[i], key[i] = i, distance[i]
		if must(i) {
			key[i] = math.Inf(-1)
			needed++
		}
	}
	want := needed + sparest + int(spareRows*float64(needed))
	want = min(n, (want+rowStep-1)/rowStep*rowStep)
	if want > size && needed+sparest/2 > size || !wrong && size > wasteful*want {
		size = want
	}
	if float64(size) > restrict.FullShare*float64(n) {
		size = n
	}
	if size < n {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key[i], key[j]) })
		order = order[:size]
		slices.Sort(order)
	}
	return order
}

func (w *Sets) Begin() (eps float64) {
	in := w.s.Current
	return restrict.LooseStart(w.s, in != nil && in.Tightener != nil && w.program() != w.p)
}

func (w *Sets) Solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	return w.s.Run(ctx, w.program(), nil, eps, w.start)
}

func (w *Sets) Price(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	limit, partial := restrict.Ended(sol), w.reduced != nil
	switch {
	case !solve.HasPoint(sol) && (limit || !partial):
		return w.result(sol), 0, nil
	case !solve.HasPoint(sol):
		return nil, restrict.StepFill, nil
	case partial && !limit && sol.Status != backends.Optimal && !(sol.Residuals.Max() <= nearly*w.s.Eps):
		return nil, restrict.StepFill, nil // the restricted program may be the harder one
	}
	m := w.complete(w.s.Current.Assembled, sol.X, sol.Z)
	good := m.within(at.Eps / 2 * max(1, math.Abs(sol.Objective)))
	switch {
	case !limit && !good:
		return nil, restrict.StepExtend, nil
	case !limit && at.Eps != w.s.Eps:
		at.Eps = w.s.Eps
		return nil, restrict.StepRepeat, nil
	}
	r := w.result(sol)
	w.missed(r, m)
	restrict.Verify(r, w.s.Eps)
	w.choose(w.s.Eps, false, false)
	return r, 0, nil
}

// Extend lets in the rows that were misjudged.
func (w *Sets) Extend(at *restrict.Round) { w.choose(at.Eps, true, at.Number > growingRounds) }

func (w *Sets) result(sol *backends.Solution) *solve.Outcome {
	r := w.s.Result(sol)
	r.Active = w.active()
	return r
}

// missed makes the values and residuals those of the completed point.
func (w *Sets) missed(r *solve.Outcome, m missing) {
	if w.reduced != nil {
		r.Extend = w.snapshot().complete
	}
	r.Objective += m.objective
	r.Distance += 2 * math.Abs(m.objective)
	for _, pl := range w.places {
		r.Distance += 2 * math.Max(0, pl.more*r.Z[r.Assembled.Row(pl.group, pl.row)])
	}
	r.Residuals.Primal = math.Max(r.Residuals.Primal, m.rows)
	r.Residuals.Gap = backends.RelativeGap(r.Objective, r.DualObjective)
}

// start is a point for a warm start: what does not depend on the sets as it was, and what does from the completed point.
func (w *Sets) start(to, from *compile.Layout, last backends.Point) backends.Point {
	pt := to.Carry(from, last, nil)
	w.fillIn(pt, to, w.reduced != nil)
	return pt
}

// fillIn sets what depends on the sets in a point of a layout, of the restricted program or of the full one.
func (st *rowsState) fillIn(pt backends.Point, l *compile.Layout, restricted bool) {
	row := func(kept []int, j int) int {
		if restricted {
			return kept[j]
		}
		return j
	}
	for k, h := range st.p.Hinges {
		s := &st.hinges[k]
		u, zero, slope := l.Start[h.U.ID], l.First[h.Zero.Index], l.First[h.Slope.Index]
		for j := range l.Program.Vars[h.U.ID].N {
			i := row(s.kept, j)
			a := s.value[i]
			pt.X[u+j] = math.Max(0, a)
			pt.S[zero+j], pt.S[slope+j] = math.Max(0, a), math.Max(0, -a)
			pt.Z[slope+j], pt.Z[zero+j] = s.dual[i], math.Max(0, s.weight[i]-s.dual[i])
		}
	}
	for k, g := range st.p.Slack {
		s, first := &st.slack[k], l.First[g.Index]
		for j := range l.Program.Groups[g.Index].Expr.N {
			i := row(s.kept, j)
			pt.S[first+j], pt.Z[first+j] = math.Max(0, s.value[i]), s.dual[i]
		}
	}
}

// snapshot is the state, which the next solve does not change.
func (w *Sets) snapshot() *rowsState {
	st := w.rowsState
	st.hinges, st.slack = slices.Clone(st.hinges), slices.Clone(st.slack)
	return &st
}

// complete extends a point of the restricted program to the full one.
func (st *rowsState) complete(as *compile.Assembled, from backends.Point) backends.Point {
	full := st.p.NewLayout(nil)
	pt := full.Carry(as.Layout, from, nil)
	for _, pl := range st.places {
		pt.S[full.First[pl.group]+pl.row] += math.Max(0, -pl.more)
	}
	st.fillIn(pt, full, false)
	return pt
}

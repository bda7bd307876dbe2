package convex

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
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

// rowSets is what a solver knows about the rows of a program with hinges.
type rowSets struct {
	rowsState
	s       *Solver
	rows    int      // in all sets together when none is left out
	reduced *Program // nil: the full program
	stale   bool     // the sets have changed since reduced was made
}

// rowsState is the state of the rows at the last point, of which results keep a copy to complete theirs.
type rowsState struct {
	p      *Program
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

func newRowSets(s *Solver) *rowSets {
	w := &rowSets{s: s, rowsState: rowsState{p: s.prog, hinges: make([]hingeSet, len(s.prog.hinges)), slack: make([]rowSet, len(s.prog.slack))}}
	w.fill()
	return w
}

// fill makes the full program the next one.
func (w *rowSets) fill() bool {
	w.rows = 0
	whole := func(n int) []int {
		w.rows += n
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	for k, h := range w.p.hinges {
		w.hinges[k].kept = whole(h.u.n)
	}
	for k, g := range w.p.slack {
		w.slack[k].kept = whole(g.expr.n)
	}
	w.stale = true
	return true
}

// active is the number of rows in the sets.
func (w *rowSets) active() int {
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
func (w *rowSets) program() *Program {
	if w.stale {
		w.stale, w.reduced = false, nil
		if w.active() < w.rows {
			w.reduced = w.p.restrict(w.hinges, w.slack)
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
func (w *rowSets) complete(as *assembled, x, z []float64) missing {
	pt := Point{}
	value := func(a Affine) []float64 {
		for i := range a.vars {
			v := a.vars[i].v
			if _, ok := pt[v]; !ok {
				pt[v] = x[as.start[v.id] : as.start[v.id]+v.n]
			}
		}
		return a.Eval(pt)
	}
	var m missing
	w.places = nil
	for k, h := range w.p.hinges {
		s := &w.hinges[k]
		s.value = value(h.a)
		m.objective += w.weigh(s, h, as, x, z)
		s.dual = s.spread(s.linear, s.weight, z[as.first[h.slope.index]:])
	}
	for k, g := range w.p.slack {
		s := &w.slack[k]
		s.value = value(g.expr)
		s.dual = s.spread(nil, s.value, z[as.first[g.index]:])
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
func (w *rowSets) weigh(s *hingeSet, h *hinge, as *assembled, x, z []float64) (more float64) {
	s.weight = make([]float64, h.u.n)
	standin := s.spread(s.linear, s.value, x[as.start[h.u.id]:])
	for _, use := range h.uses {
		factor, here := 1.0, 0.0
		if use.group >= 0 {
			factor = math.Max(0, z[as.row(use.group, use.row)])
		}
		for i, v := range use.weight {
			s.weight[i] += factor * v
			here += v * (math.Max(0, s.value[i]) - standin[i])
		}
		switch {
		case w.reduced == nil:
		case use.group < 0:
			more += here
		default:
			w.place(use.group, use.row, here)
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
func (w *rowSets) place(group, row int, more float64) {
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
func (w *rowSets) choose(eps float64, wrong, grow bool) {
	held := math.Max(nonzero, eps) // the share of the largest possible multiplier from which on a row holds something
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
	if float64(size) > fullShare*float64(n) {
		size = n
	}
	if size < n {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key[i], key[j]) })
		order = order[:size]
		slices.Sort(order)
	}
	return order
}

func (w *rowSets) begin() (eps float64) {
	in := w.s.current
	return w.s.looseStart(in != nil && in.tightener != nil && w.program() != w.p)
}

func (w *rowSets) solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	return w.s.run(ctx, task{w.program(), nil, w.start}, eps)
}

func (w *rowSets) price(sol *backends.Solution, at *round) (*Result, step, error) {
	limit, partial := ended(sol), w.reduced != nil
	switch {
	case !hasPoint(sol) && (limit || !partial):
		return w.result(sol), 0, nil
	case !hasPoint(sol):
		return nil, stepFill, nil
	case partial && !limit && sol.Status != backends.Optimal && !(sol.Residuals.Max() <= nearly*w.s.eps):
		return nil, stepFill, nil // the restricted program may be the harder one
	}
	m := w.complete(w.s.current.as, sol.X, sol.Z)
	good := m.within(at.eps / 2 * max(1, math.Abs(sol.Objective)))
	switch {
	case !limit && !good:
		return nil, stepExtend, nil
	case !limit && at.eps != w.s.eps:
		at.eps = w.s.eps
		return nil, stepRepeat, nil
	}
	r := w.result(sol)
	r.dual, _ = w.s.current.stationarity(sol.X, sol.Z)
	r.missed(w, m)
	r.verify(w.s.eps)
	w.choose(w.s.eps, false, false)
	return r, 0, nil
}

// extend lets in the rows that were misjudged.
func (w *rowSets) extend(at *round) { w.choose(at.eps, true, at.number > growingRounds) }

func (w *rowSets) result(sol *backends.Solution) *Result {
	r := w.s.result(sol)
	r.Active = w.active()
	return r
}

// missed makes the values and residuals those of the completed point.
func (r *Result) missed(w *rowSets, m missing) {
	r.rows = w.snapshot()
	r.Objective += m.objective
	r.Residuals.Primal = math.Max(r.Residuals.Primal, m.rows)
	r.Residuals.Gap = backends.RelativeGap(r.Objective-r.offset, r.DualObjective-r.offset)
}

// start is a point of the program of an instance, for a warm start: what does not depend on the sets as it was, and what does
// from the completed point.
func (w *rowSets) start(to, from *instance) backends.Point {
	sol := from.last
	pt := carried(to.as.layout, from.as.layout, backends.Point{X: sol.X, S: sol.S, Z: sol.Z})
	w.fillIn(pt, to.as.layout, w.reduced != nil)
	return pt
}

// carried is the part of a point that variables and groups of the same size have in another layout of the program.
func carried(to, from *layout, pt backends.Point) backends.Point {
	out := backends.Point{X: make([]float64, to.n), S: make([]float64, to.m), Z: make([]float64, to.m)}
	for i, v := range to.prog.vars {
		if from.prog.vars[i].n == v.n {
			copy(out.X[to.start[i]:to.start[i]+v.n], pt.X[from.start[i]:])
		}
	}
	for i, g := range to.prog.groups {
		if n := g.expr.n; from.prog.groups[i].expr.n == n {
			copy(out.S[to.first[i]:to.first[i]+n], pt.S[from.first[i]:])
			copy(out.Z[to.first[i]:to.first[i]+n], pt.Z[from.first[i]:])
		}
	}
	return out
}

// fillIn sets what depends on the sets in a point of a layout, of the restricted program or of the full one.
func (st *rowsState) fillIn(pt backends.Point, l *layout, restricted bool) {
	row := func(kept []int, j int) int {
		if restricted {
			return kept[j]
		}
		return j
	}
	for k, h := range st.p.hinges {
		s := &st.hinges[k]
		u, zero, slope := l.start[h.u.id], l.first[h.zero.index], l.first[h.slope.index]
		for j := range l.prog.vars[h.u.id].n {
			i := row(s.kept, j)
			a := s.value[i]
			pt.X[u+j] = math.Max(0, a)
			pt.S[zero+j], pt.S[slope+j] = math.Max(0, a), math.Max(0, -a)
			pt.Z[slope+j], pt.Z[zero+j] = s.dual[i], math.Max(0, s.weight[i]-s.dual[i])
		}
	}
	for k, g := range st.p.slack {
		s, first := &st.slack[k], l.first[g.index]
		for j := range l.prog.groups[g.index].expr.n {
			i := row(s.kept, j)
			pt.S[first+j], pt.Z[first+j] = math.Max(0, s.value[i]), s.dual[i]
		}
	}
}

func (w *rowSets) snapshot() *rowsState {
	if w.reduced == nil {
		return nil
	}
	st := w.rowsState
	st.hinges, st.slack = slices.Clone(st.hinges), slices.Clone(st.slack)
	return &st
}

// complete extends a point of the restricted program to the full one.
func (st *rowsState) complete(as *assembled, from backends.Point) backends.Point {
	full := st.p.newLayout(nil)
	pt := carried(full, as.layout, from)
	for _, pl := range st.places {
		pt.S[full.first[pl.group]+pl.row] += math.Max(0, -pl.more)
	}
	st.fillIn(pt, full, false)
	return pt
}

package convex

import (
	"fmt"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
)

// instance is an assembled program in the hands of a backend's solver.
type instance struct {
	as         *assembled
	solver     backends.Solver
	tightener  backends.Tightener // the solver, or nil if its accuracy is fixed
	eps        float64
	a, b, q, p live
	last       *backends.Solution // of the last Solve that gave a point, for warm starts
}

// live holds the numbers of a part of the program. A solver refers to those that it was set up with, which
// therefore stay as they are, but copies those of an update.
type live struct {
	val  []float64
	lent bool // to the solver, by its set-up
	deps []*Parameter
	seen []int // versions of deps in val
}

func newLive(n int, deps []*Parameter) live {
	l := live{val: make([]float64, n), deps: deps, seen: make([]int, len(deps))}
	l.note()
	return l
}

// own returns the numbers for changes in place.
func (l *live) own() []float64 {
	if l.lent {
		l.val, l.lent = slices.Clone(l.val), false
	}
	return l.val
}

// note records the versions of the parameters and says whether any is new.
func (l *live) note() bool {
	changed := false
	for k, p := range l.deps {
		if l.seen[k] != p.version {
			l.seen[k], changed = p.version, true
		}
	}
	return changed
}

// newNumbers makes an instance without a solver.
func newNumbers(as *assembled) *instance {
	in := &instance{as: as, a: newLive(len(as.ind), as.a.deps), b: newLive(as.m, as.b.deps),
		q: newLive(as.n, as.q.deps), p: newLive(len(as.pind), as.weights)}
	as.a.value(in.a.val)
	as.b.value(in.b.val)
	as.valueQ(in.q.val)
	as.valueP(in.p.val)
	return in
}

// refresh computes the numbers of parameters that have changed, and returns these parts.
func (in *instance) refresh() (u backends.Update) {
	as := in.as
	if in.a.note() {
		as.a.change(in.a.own())
		u.A = as.matrixA(in.a.val)
	}
	if in.b.note() {
		as.b.change(in.b.own())
		u.B = in.b.val
	}
	if in.q.note() {
		as.valueQ(in.q.own())
		u.Q = in.q.val
	}
	if in.p.note() && len(as.pind) > 0 {
		as.valueP(in.p.own())
		u.P = as.matrixP(in.p.val)
	}
	return u
}

// newInstance sets a solver of accuracy eps up for an assembled program, or takes over
// that of an old instance of the same pattern.
func (s *Solver) newInstance(as *assembled, eps float64, old *instance) (*instance, error) {
	begin := time.Now()
	in := newNumbers(as)
	in.eps = eps
	problem := in.problem()
	if old != nil && old.tightener != nil && s.capabilities.UpdateMatrices && s.capabilities.UpdateVectors && as.samePattern(old.as) {
		in.solver, in.tightener = old.solver, old.tightener
		if err := in.solver.Update(backends.Update{P: problem.P, Q: problem.Q, A: problem.A, B: problem.B}); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
		if old.eps != eps {
			if err := in.tightener.SetEps(eps); err != nil {
				return nil, fmt.Errorf("convex: %w", err)
			}
		}
		s.stats.Updates++
		s.stats.SetupTime += time.Since(begin)
		return in, nil
	}
	o := s.options.Options
	o.Eps = eps
	var err error
	if in.solver, err = s.options.Backend.Setup(problem, o); err != nil {
		return nil, fmt.Errorf("convex: %w", err)
	}
	in.tightener, _ = in.solver.(backends.Tightener)
	in.a.lent, in.b.lent, in.q.lent, in.p.lent = true, true, true, true
	s.stats.Setups++
	s.stats.SetupTime += time.Since(begin)
	return in, nil
}

// problem is the conic program at its current numbers, which it shares.
func (in *instance) problem() *backends.Problem {
	as := in.as
	out := &backends.Problem{Q: in.q.val, A: as.matrixA(in.a.val), B: in.b.val, Cones: as.cones}
	if len(as.pind) > 0 {
		out.P = as.matrixP(in.p.val)
	}
	return out
}

// stationarity returns Px + q + A'z, and what the residual of that is divided by.
func (in *instance) stationarity(x, z []float64) (r []float64, scale float64) {
	return backends.Stationarity(in.problem(), x, z)
}

// samePattern says that two programs differ in their numbers only.
func (as *assembled) samePattern(old *assembled) bool {
	return as.n == old.n && as.m == old.m && slices.Equal(as.ptr, old.ptr) && slices.Equal(as.ind, old.ind) &&
		slices.Equal(as.pptr, old.pptr) && slices.Equal(as.pind, old.pind) &&
		slices.EqualFunc(as.cones, old.cones, func(a, b backends.Cone) bool { return a.Kind == b.Kind && a.Dim == b.Dim && a.Rows == b.Rows })
}

// update gives the solver the numbers of parameters that have changed, and says
// whether there were any.
func (s *Solver) update(in *instance) (changed bool, err error) {
	begin := time.Now()
	u := in.refresh()
	if u.A == nil && u.B == nil && u.Q == nil && u.P == nil {
		return false, nil
	}
	if err := in.solver.Update(u); err != nil {
		return false, fmt.Errorf("convex: %w", err)
	}
	matrices, vectors := u.A != nil || u.P != nil, u.B != nil || u.Q != nil
	if matrices && !s.capabilities.UpdateMatrices || vectors && !s.capabilities.UpdateVectors {
		s.stats.Setups++ // the backend starts over
	} else {
		s.stats.Updates++
	}
	s.stats.SetupTime += time.Since(begin)
	return true, nil
}

// start maps a point of one layout on another, for a warm start. Entries of new
// columns are zero, and new rows get the multipliers of the completed point.
func (in *instance) start(from *instance, done *completion) backends.Point {
	sol, to := from.last, in.as
	if from == in {
		return backends.Point{X: sol.X, S: sol.S, Z: sol.Z}
	}
	pt := backends.Point{X: make([]float64, to.n), S: make([]float64, to.m), Z: make([]float64, to.m)}
	for _, v := range to.prog.vars {
		active, _ := to.set(v)
		oldActive, oldInv := from.as.set(v)
		x, old := pt.X[to.start[v.id]:], sol.X[from.as.start[v.id]:]
		for k := range to.width(v) {
			j := k
			if active != nil {
				j = active[k]
			}
			if oldActive != nil {
				j = oldInv[j]
			}
			if j >= 0 {
				x[k] = old[j]
			}
		}
	}
	for i, g := range to.prog.groups {
		for r := range g.expr.n {
			row, old := to.row(i, r), from.as.row(i, r)
			switch {
			case row < 0:
			case old >= 0:
				pt.S[row], pt.Z[row] = sol.S[old], sol.Z[old]
			case done != nil:
				pt.Z[row] = done.multiplier(g, r)
			}
		}
	}
	return pt
}

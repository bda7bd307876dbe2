// Package columns has working sets of entries of variables in 1-norms.
//
// Entries of a variable outside its set are fixed at zero. Their columns, the rows of their norm, and rows of other
// cones that are empty then are not even built: with p features of which a few matter, the cost of an iteration is that
// of the few. The multipliers of the small program price the others: with g_j the derivative in v_j of the Lagrangian
// and h_j the multiplier of the norm, zero is optimal for v_j in the full program if |g_j| <= h_j. Violators enter, and
// the program is solved again. This is the method of column generation; the criterion is that of the strong rules'
// check in Tibshirani et al., Strong rules for discarding predictors in lasso-type problems (JRSS B 74, 2012), section
// 7, for any convex model.
package columns

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/solve"
)

const (
	// rowShare is the size of the first guess as a share of the rows of data: a solution with a 1-norm has seldom more
	// nonzeros than that.
	rowShare = 0.8
	// room is how many entries a set has at least beside those that are not zero, and half as many as these.
	room = 32
	// droppingRounds is the number of rounds that drop what is zero; later ones do not, so that the rounds end.
	droppingRounds = 5
	// looseEps is the accuracy that is enough to see what is missing, if the program can be solved on from there once
	// nothing is.
	looseEps = 1e-3
	// nonzero is the share of the largest entry from which on one is not zero, and fullShare that of the entries above
	// which a set is all of them: a restricted program saves little there.
	nonzero, fullShare = 1e-7, 0.6
)

// Sets is what a solver knows about the sparse variables.
type Sets struct {
	s       *solve.Session
	p       *compile.Program
	scratch []float64
	active  [][]int // for the next round, nil before the first; a set of nil: all entries

	// done completes the last point that was priced.
	done *completion
	x    []float64
	// dual is Px + q + A'z at x, scale what it is measured by, and tolerance what the completion may miss.
	dual             []float64
	scale, tolerance float64
	eps              float64 // of the program restricted
}

// New begins without sets.
func New(s *solve.Session) *Sets {
	p := s.Program
	w := &Sets{s: s, p: p}
	rows := 0
	for _, g := range p.Groups {
		rows = max(rows, g.Expr.N)
	}
	w.scratch = make([]float64, rows)
	return w
}

// Begin begins with the sets of the last solve, or guesses the first ones.
func (w *Sets) Begin() {
	if w.active == nil {
		w.guess()
	}
	w.done = nil
	if w.eps = w.s.Eps; w.s.Current == nil || w.s.Current.Tightener != nil {
		w.eps = max(w.eps, looseEps)
	}
}

// Solve solves the restricted program, and completes its point.
func (w *Sets) Solve(ctx context.Context) (*backends.Solution, error) {
	for {
		var multiplier func(g *compile.Group, r int) float64
		if w.done != nil {
			multiplier = w.done.multiplier
		}
		sol, err := w.s.Run(ctx, w.p, w.active, w.eps, multiplier)
		if w.x, w.dual = nil, nil; err != nil || !solve.HasPoint(sol) {
			return sol, err
		}
		in := w.s.Current
		w.x, w.done = sol.X, w.complete(in.Assembled, sol.X, sol.Z)
		w.dual, w.scale = backends.Stationarity(in.Problem(), sol.X, sol.Z)
		w.scale = max(w.scale, w.done.q)
		w.tolerance = w.eps / 2 * w.scale
		if restrict.Ended(sol) || w.eps == w.s.Eps || !(w.done.worst <= w.tolerance) {
			return sol, nil
		}
		w.eps = w.s.Eps
	}
}

func (w *Sets) Price(sol *backends.Solution, _ int) (*solve.Outcome, bool, error) {
	switch {
	case restrict.Ended(sol), w.x == nil && w.all():
		return w.result(sol), false, nil
	case w.x == nil:
		return nil, false, nil
	case !(w.done.worst <= w.tolerance):
		return nil, true, nil
	}
	r := w.result(sol)
	w.shrink()
	return r, false, nil
}

// result makes a result of a solution, with what completes its point.
func (w *Sets) result(sol *backends.Solution) *solve.Outcome {
	r := w.s.Result(sol)
	r.Active = 0
	for _, v := range w.p.Vars[:w.p.Users] {
		if w.p.SparseOf[v.ID] >= 0 {
			r.Active += r.Layout.Width(v)
		}
	}
	if done := w.done; w.dual != nil {
		r.Multiplier, r.Excess = done.multiplier, func(sparse int) []float64 { return done.excess[sparse] }
		r.Stationarity = w.dual
		r.Residuals.Dual = max(r.Residuals.Dual, done.worst/w.scale)
		if r.Status == backends.Optimal && !(r.Residuals.Max() <= w.s.Eps) {
			r.Status = backends.Inaccurate
		}
	}
	return r
}

// Fill has all entries: what a restricted program contradicts, others may help.
func (w *Sets) Fill() bool {
	clear(w.active)
	w.done = nil
	return true
}

// all says that no variable is restricted.
func (w *Sets) all() bool {
	return !slices.ContainsFunc(w.active, func(list []int) bool { return list != nil })
}

// Extend makes room for the entries that violate. Within a solve sets become no smaller.
func (w *Sets) Extend(round int) {
	for k, sv := range w.p.Sparse {
		active, inv := w.s.Current.Assembled.Set(sv.V)
		if inv == nil || floats.Norm(w.done.excess[k], math.Inf(1)) <= w.tolerance {
			continue
		}
		list := active
		if round <= droppingRounds {
			list = w.nonzero(k)
		}
		w.choose(k, list, max(w.size(len(list)), len(active)))
	}
}

// shrink prepares the next solve: the sets stay, so that the program set up can be used again, unless they are more
// than twice what this one would take.
func (w *Sets) shrink() {
	for k, sv := range w.p.Sparse {
		list := w.nonzero(k)
		if most := w.size(len(list)); w.s.Current.Assembled.Width(sv.V) > 2*most {
			w.choose(k, list, most)
		}
	}
}

// size is that of a set with so many entries that are not zero: for first-order methods, to which each round is a solve
// from its beginning, twice that, so that they have few rounds.
func (w *Sets) size(nonzero int) int {
	n := nonzero + max(room, nonzero/2)
	if w.s.Capabilities.FirstOrder {
		n *= 2
	}
	return n
}

// nonzero are the entries of a variable that are not zero at the last point.
func (w *Sets) nonzero(k int) (list []int) {
	as, v := w.s.Current.Assembled, w.p.Sparse[k].V
	least := max(nonzero, w.eps) * floats.Norm(w.x[as.Start[v.ID]:][:as.Width(v)], math.Inf(1))
	for column, j := range as.Entries(v) {
		if math.Abs(w.x[column]) > least {
			list = append(list, j)
		}
	}
	return list
}

// choose makes a working set of these entries and, of the others, those with the largest shares of their thresholds,
// first those that violate, so many in all. Where that is most of the entries, it is all.
func (w *Sets) choose(k int, list []int, most int) {
	share := make([]float64, w.p.Sparse[k].V.N)
	for j := range share {
		share[j] = math.Abs(w.done.g[k][j]) / math.Max(w.done.threshold(k, j), w.tolerance)
	}
	w.active[k] = largest(share, list, most)
}

// largest are the entries of a list and those of the largest scores, so many in all, or nil where that is most of the
// entries.
func largest(score []float64, list []int, most int) []int {
	n := len(score)
	if float64(most) > fullShare*float64(n) {
		return nil
	}
	rest := make([]int, 0, n)
	for j := range n {
		if _, there := slices.BinarySearch(list, j); !there {
			rest = append(rest, j)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	list = append(slices.Clone(list), rest[:most-len(list)]...)
	slices.Sort(list)
	return list
}

// guess makes the first sets, from the gradients at zero of what depends on the variables: of groups half the squared
// distance of the expression from zero, the arguments of the squares, and the linear part of the objective.
func (w *Sets) guess() {
	at, linear := w.s.State.Values, w.p.Objective
	linear.C = []float64{1}
	var list []*affine.Expr
	for _, g := range w.p.Groups {
		if !g.Own {
			list = append(list, &g.Expr)
		}
	}
	groups := len(list)
	list = append(list, &linear)
	for i := range w.p.Squares {
		list = append(list, &w.p.Squares[i].Arg)
	}
	for _, sv := range w.p.Sparse {
		score, part, rows := make([]float64, sv.V.N), make([]float64, sv.V.N), 0
		for k, e := range list {
			for i := range e.Vars {
				t := &e.Vars[i]
				switch {
				case t.V != sv.V, k < groups && t.Mat == nil && !t.Sum:
					continue
				case k < groups:
					rows += t.Height()
				}
				clear(part)
				t.Adjoint(part, 1, e.Constant(at), at)
				if top := floats.Norm(part, math.Inf(1)); top > 0 {
					for j, v := range part {
						score[j] += math.Abs(v) / top
					}
				}
			}
		}
		w.active = append(w.active, largest(score, nil, w.size(int(rowShare*float64(rows)))))
	}
}

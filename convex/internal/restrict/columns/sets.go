// Package columns has working sets of entries of variables in 1-norms.
//
// Entries of a variable outside its set are fixed at zero. Their columns, the rows of their norm, and rows of other cones that
// are empty then are not even built: with p features of which a few matter, the cost of an iteration is that of the few. The
// multipliers of the small program price the others: with g_j the derivative in v_j of the Lagrangian and h_j the multiplier of
// the norm, zero is optimal for v_j in the full program if |g_j| <= h_j. Violators enter, and the program is solved again. This
// is the method of column generation; the criterion is that of the strong rules' check in Tibshirani et al., Strong rules for
// discarding predictors in lasso-type problems (JRSS B 74, 2012), section 7, for any convex model.
package columns

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/solve"
)

const (
	// rowShare is the size of the first guess as a share of the rows of data: a
	// solution with a 1-norm has seldom more nonzeros than that.
	rowShare = 0.8
	// smallest is the least size of the first guess, and slackSize what a set may
	// have on top of its needs before it is made smaller.
	smallest, slackSize = 20, 50
	// near is the share of its threshold from which on an entry counts as about to enter.
	near = 0.9
	// idle is the share of its threshold below which a zero entry is dropped, and droppingRounds the number of rounds that drop.
	idle           = 0.8
	droppingRounds = 5
	// sizeStep is the step in which sets grow.
	sizeStep = 16
)

// Sets is what a solver knows about the sparse variables.
type Sets struct {
	s       *solve.Session
	p       *compile.Program
	places  [][]place
	scratch []float64
	active  [][]int // for the next round; nil: all entries
	started bool

	// done completes the last point, or certificate, that was priced: x is nil for a certificate.
	done *completion
	x    []float64
	// dual is Px + q + A'z at x, scale what it is measured by, and tolerance what the completion may miss.
	dual             []float64
	scale, tolerance float64
}

// New begins with the caller's guess.
func New(s *solve.Session, guess map[*affine.Variable][]int) (*Sets, error) {
	p := s.Program
	w := &Sets{s: s, p: p, places: places(p), active: make([][]int, len(p.Sparse))}
	rows := 0
	for _, g := range p.Groups {
		rows = max(rows, g.Expr.N)
	}
	w.scratch = make([]float64, rows)
	return w, w.hint(guess)
}

// hint takes the caller's guess.
func (w *Sets) hint(guess map[*affine.Variable][]int) error {
	for k, sv := range w.p.Sparse {
		list, ok := guess[sv.V]
		if !ok {
			continue
		}
		list = slices.Clone(list)
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) > 0 && (list[0] < 0 || list[len(list)-1] >= sv.V.N) {
			return fmt.Errorf("convex: SolverOptions.Active: entry %d or %d of %s, which has length %d", list[0], list[len(list)-1], sv.V.Name, sv.V.N)
		}
		w.put(k, list)
	}
	return nil
}

// put sets the working set of a variable, all entries if it is too large.
func (w *Sets) put(k int, list []int) {
	if n := w.p.Sparse[k].V.N; float64(len(list)) > restrict.FullShare*float64(n) {
		w.active[k] = nil
		return
	}
	if list == nil {
		list = []int{}
	}
	w.active[k] = list
}

// guess makes the first working sets, from the gradients at zero of what depends
// on the variables, and gives those that the caller hinted at some room.
func (w *Sets) guess() {
	for k, sv := range w.p.Sparse {
		score, part := make([]float64, sv.V.N), make([]float64, sv.V.N)
		add := func() {
			largest := maxAbs(part)
			for j, v := range part {
				if largest > 0 {
					score[j] += math.Abs(v) / largest
				}
				part[j] = 0
			}
		}
		rows := 0
		for _, at := range w.places[k] {
			g := w.p.Groups[at.group]
			t := &g.Expr.Vars[at.term]
			if at.use >= 0 || t.Mat == nil {
				continue
			}
			rows += t.Height()
			// The gradient of half the squared distance of the expression from zero.
			t.Adjoint(part, 1, g.Expr.Constant())
			add()
		}
		for i := range w.p.Squares {
			arg := &w.p.Squares[i].Arg
			for t := range arg.Vars {
				if arg.Vars[t].V == sv.V {
					arg.Vars[t].Adjoint(part, 1, arg.Constant())
					add()
				}
			}
		}
		for t := range w.p.Objective.Vars {
			if w.p.Objective.Vars[t].V == sv.V {
				w.p.Objective.Vars[t].Adjoint(part, 1, []float64{1})
				add()
			}
		}
		list := w.active[k]
		size := max(smallest, int(rowShare*float64(rows)))
		if w.s.Capabilities.FirstOrder {
			size = max(size, min(2*size, int(restrict.FullShare*float64(sv.V.N))/sizeStep*sizeStep))
		}
		if list != nil {
			size = len(list) + len(list)/2
		}
		size = (size + sizeStep - 1) / sizeStep * sizeStep
		w.put(k, w.pad(list, size, sv.V.N, func(j int) float64 { return score[j] }))
	}
}

// largestEntries returns the indices of the size largest positive scores, in increasing order; ties go to the smaller index.
func largestEntries(score []float64, size int) []int {
	var list []int
	for j, v := range score {
		if v > 0 {
			list = append(list, j)
		}
	}
	sort.SliceStable(list, func(a, b int) bool { return score[list[a]] > score[list[b]] })
	list = list[:min(size, len(list))]
	slices.Sort(list)
	return list
}

// Begin guesses the first sets.
func (w *Sets) Begin() (eps float64) {
	if !w.started {
		w.guess()
		w.started = true
	}
	w.done = nil
	return restrict.LooseStart(w.s, w.s.Current == nil || w.s.Current.Tightener != nil)
}

func (w *Sets) Solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	var multiplier func(g *compile.Group, r int) float64
	if w.done != nil {
		multiplier = w.done.multiplier
	}
	start := func(to, from *compile.Layout, last backends.Point) backends.Point {
		return to.Carry(from, last, multiplier)
	}
	return w.s.Run(ctx, w.p, w.active, eps, start)
}

func (w *Sets) Price(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	in := w.s.Current
	w.x, w.dual = nil, nil
	if solve.HasPoint(sol) {
		w.x, w.done = sol.X, w.Complete(in.Assembled, sol.X, sol.Z)
		w.dual, w.scale = in.Stationarity(sol.X, sol.Z)
		w.scale = max(w.scale, w.done.q)
		w.tolerance = at.Eps / 2 * w.scale
	}
	switch {
	case restrict.Ended(sol), w.x == nil && w.all():
		return w.result(sol), 0, nil
	case w.x == nil && sol.Status == backends.PrimalInfeasible:
		return w.refute(sol)
	case w.x == nil:
		return nil, restrict.StepFill, nil
	case !(w.done.worst <= w.tolerance):
		return nil, restrict.StepExtend, nil
	case at.Eps > w.s.Eps:
		at.Eps = w.s.Eps
		return nil, restrict.StepRepeat, nil
	}
	r := w.result(sol)
	w.shrink(in.Assembled)
	return r, 0, nil
}

// refute completes a certificate of infeasibility. The entries that it says nothing about may help.
func (w *Sets) refute(sol *backends.Solution) (*solve.Outcome, restrict.Step, error) {
	in := w.s.Current
	w.done = w.Complete(in.Assembled, nil, sol.Z)
	w.tolerance = w.s.Options.WithDefaults().EpsInfeasible / 2 * in.CertificateScale(sol.Z)
	if !(w.done.worst <= w.tolerance) {
		return nil, restrict.StepExtend, nil
	}
	r := w.result(sol)
	w.done.complete(r)
	if proved, err := w.s.Proves(r); proved || err != nil {
		return r, 0, err
	}
	return nil, restrict.StepFill, nil
}

// result makes a result of a solution, with what completes its point.
func (w *Sets) result(sol *backends.Solution) *solve.Outcome {
	r := w.s.Result(sol)
	r.Active = 0
	for _, v := range w.p.Vars[:w.p.Users] {
		if w.p.SparseOf[v.ID] >= 0 {
			r.Active += r.Assembled.Width(v)
		}
	}
	if w.dual != nil {
		w.done.complete(r)
		r.Stationarity = w.dual
		r.Residuals.Dual = max(r.Residuals.Dual, w.done.worst/w.scale)
		restrict.Verify(r, w.s.Eps)
	}
	return r
}

func (w *Sets) Fill() bool {
	clear(w.active)
	w.done = nil
	return true
}

// all says that no variable is restricted.
func (w *Sets) all() bool {
	for _, list := range w.active {
		if list != nil {
			return false
		}
	}
	return true
}

// Extend adds the entries with the largest excess over the tolerance and, where there is room, those near their threshold. The
// room is about half of what is not zero now: few of many violators stay once the worst are in. When most entries violate after a
// certificate of infeasibility (x = nil), the full program is next.
func (w *Sets) Extend(at *restrict.Round) {
	as, x, done, tolerance := w.s.Current.Assembled, w.x, w.done, w.tolerance
	for k, sv := range w.p.Sparse {
		active, inv := as.Set(sv.V)
		if inv == nil {
			continue
		}
		score := make([]float64, sv.V.N)
		violators := 0
		for j, pos := range inv {
			if pos >= 0 {
				continue
			}
			over, threshold := math.Abs(done.excess[k][j]), done.threshold(k, j)
			switch {
			case !(over <= tolerance):
				score[j] = 1 + over
				if math.IsNaN(over) {
					score[j] = math.Inf(1)
				}
				violators++
			case threshold > tolerance && math.Abs(done.g[k][j]) >= near*threshold:
				score[j] = math.Abs(done.g[k][j]) / threshold / 2
			}
		}
		if violators == 0 {
			continue
		}
		if x == nil && 2*violators > sv.V.N {
			w.active[k] = nil
			continue
		}
		room := len(active)
		if x != nil {
			room = countNonzero(x[as.Start[sv.V.ID]:][:len(active)], max(restrict.Nonzero, at.Eps))
		}
		list := append(largestEntries(score, smallest+room/2), kept(sv, as, active, x, done, k, at)...)
		slices.Sort(list)
		list = w.pad(list, len(active), sv.V.N, func(j int) float64 { return math.Abs(done.g[k][j]) / done.threshold(k, j) })
		w.put(k, list)
	}
}

// pad fills a working set up with the entries of the largest scores. Programs of one size have one pattern where the data are
// dense, and then the analysis of the last one is used again: so the size stays what it was if the set fits, and otherwise grows
// in steps, for first-order methods to twice the size and never less: each round is a solve from its beginning, and of these they
// are to have few.
func (w *Sets) pad(list []int, size, n int, score func(j int) float64) []int {
	switch {
	case w.s.Capabilities.FirstOrder:
		if len(list) > size {
			size = max(2*size, (len(list)+sizeStep-1)/sizeStep*sizeStep)
		}
	case len(list) > size || len(list) > 0 && len(list)+2*sizeStep < size:
		size = (len(list) + sizeStep - 1) / sizeStep * sizeStep
	}
	missing := min(size, n) - len(list)
	if missing <= 0 {
		return list
	}
	rest, at := make([]float64, n), 0
	for j := range rest {
		if at < len(list) && list[at] == j {
			at++
			continue
		}
		if v := score(j); v > 0 { // not NaN
			rest[j] = v
		}
	}
	list = append(list, largestEntries(rest, missing)...)
	slices.Sort(list)
	return list
}

// kept is what of a working set goes on to the next round: the first rounds drop entries that are zero and far from their
// threshold, since the program is set up anew anyway; later ones drop nothing, so that the rounds end.
func kept(sv *compile.SparseVariable, as *compile.Assembled, active []int, x []float64, done *completion, k int, at *restrict.Round) []int {
	if x == nil || at.Number > droppingRounds {
		return active
	}
	own := x[as.Start[sv.V.ID]:][:len(active)]
	largest := maxAbs(own)
	var list []int
	for pos, j := range active {
		if math.Abs(own[pos]) > max(restrict.Nonzero, at.Eps)*largest || math.Abs(done.g[k][j]) >= idle*done.threshold(k, j) {
			list = append(list, j)
		}
	}
	return list
}

func maxAbs(v []float64) float64 { return floats.Norm(v, math.Inf(1)) }

// countNonzero counts entries above the given share of the largest one.
func countNonzero(x []float64, share float64) int {
	largest, count := maxAbs(x), 0
	for _, v := range x {
		if math.Abs(v) > share*largest {
			count++
		}
	}
	return count
}

// shrink prepares the next Solve: the sets stay, so that the program set up can be used again, unless they are more than twice,
// or with a first-order method three times, what was needed. Then they are what was needed, and a quarter more of those nearest to their threshold.
func (w *Sets) shrink(as *compile.Assembled) {
	most := 2
	if w.s.Capabilities.FirstOrder {
		most = 3
	}
	for k, sv := range w.p.Sparse {
		active, inv := as.Set(sv.V)
		x := w.x[as.Start[sv.V.ID]:][:as.Width(sv.V)]
		largest := maxAbs(x)
		needed := 0
		score := make([]float64, sv.V.N)
		for j := range score {
			pos := j
			if inv != nil {
				pos = inv[j]
			}
			if threshold := w.done.threshold(k, j); threshold > w.tolerance {
				score[j] = math.Abs(w.done.g[k][j]) / threshold
			}
			if pos >= 0 && math.Abs(x[pos]) > restrict.Nonzero*largest {
				score[j] = 2
			}
			if pos >= 0 && score[j] >= near {
				needed++
			}
		}
		size := sv.V.N
		if active != nil {
			size = len(active)
		}
		if size > most*needed+slackSize {
			w.put(k, largestEntries(score, smallest+needed+needed/4))
		}
	}
}

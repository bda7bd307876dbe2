package convex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

const (
	// fullShare is the share of a variable's entries above which it is solved in
	// full: a restricted program saves little there.
	fullShare = 0.6
	// rowShare is the size of the first guess as a share of the rows of data: a
	// solution with a 1-norm has seldom more nonzeros than that.
	rowShare = 0.8
	// smallest is the least size of the first guess, and slackSize what a set may
	// have on top of its needs before it is made smaller.
	smallest, slackSize = 20, 50
	// near is the share of its threshold from which on an entry counts as
	// about to enter.
	near = 0.9
	// idle is the share of its threshold below which a zero entry is dropped, and
	// droppingRounds the number of rounds that drop.
	idle           = 0.8
	droppingRounds = 5
	// sizeStep is the step in which sets grow.
	sizeStep = 16
	// nonzero is the share of the largest entry from which on one is not zero.
	nonzero = 1e-7
)

// columnSets is what a solver knows about the sparse variables.
type columnSets struct {
	s       *Solver
	p       *Program
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

func newColumnSets(s *Solver) *columnSets {
	p := s.prog
	w := &columnSets{s: s, p: p, places: p.places(), active: make([][]int, len(p.sparse))}
	rows := 0
	for _, g := range p.groups {
		rows = max(rows, g.expr.n)
	}
	w.scratch = make([]float64, rows)
	return w
}

// hint takes the caller's guess.
func (w *columnSets) hint(guess map[*Variable][]int) error {
	for k, sv := range w.p.sparse {
		list, ok := guess[sv.v]
		if !ok {
			continue
		}
		list = slices.Clone(list)
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) > 0 && (list[0] < 0 || list[len(list)-1] >= sv.v.n) {
			return fmt.Errorf("convex: SolverOptions.Active: entry %d or %d of %s, which has length %d", list[0], list[len(list)-1], sv.v.name, sv.v.n)
		}
		w.put(k, list)
	}
	return nil
}

// put sets the working set of a variable, all entries if it is too large.
func (w *columnSets) put(k int, list []int) {
	if n := w.p.sparse[k].v.n; float64(len(list)) > fullShare*float64(n) {
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
func (w *columnSets) guess() {
	for k, sv := range w.p.sparse {
		score, part := make([]float64, sv.v.n), make([]float64, sv.v.n)
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
			g := w.p.groups[at.group]
			t := &g.expr.vars[at.term]
			if at.use >= 0 || t.mat == nil {
				continue
			}
			rows += t.height()
			// The gradient of half the squared distance of the expression from zero.
			t.adjoint(part, 1, g.expr.constant())
			add()
		}
		for i := range w.p.squares {
			arg := &w.p.squares[i].arg
			for t := range arg.vars {
				if arg.vars[t].v == sv.v {
					arg.vars[t].adjoint(part, 1, arg.constant())
					add()
				}
			}
		}
		for t := range w.p.objective.vars {
			if w.p.objective.vars[t].v == sv.v {
				w.p.objective.vars[t].adjoint(part, 1, []float64{1})
				add()
			}
		}
		list := w.active[k]
		size := max(smallest, int(rowShare*float64(rows)))
		if list != nil {
			size = len(list) + len(list)/2
		}
		size = (size + sizeStep - 1) / sizeStep * sizeStep
		w.put(k, pad(list, size, sv.v.n, func(j int) float64 { return score[j] }))
	}
}

// largestEntries returns the indices of the size largest positive scores, in
// increasing order; ties go to the smaller index.
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

// begin guesses the first sets.
func (w *columnSets) begin() (eps float64) {
	if !w.started {
		w.guess()
		w.started = true
	}
	w.done = nil
	return w.s.looseStart(w.s.current == nil || w.s.current.tightener != nil)
}

func (w *columnSets) solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	start := func(to, from *instance) backends.Point { return to.start(from, w.done) }
	return w.s.run(ctx, task{w.p, w.active, start}, eps)
}

func (w *columnSets) price(sol *backends.Solution, at *round) (*Result, step, error) {
	in := w.s.current
	w.x, w.dual = nil, nil
	if hasPoint(sol) {
		w.x, w.done = sol.X, w.complete(in.as, sol.X, sol.Z)
		w.dual, w.scale = in.stationarity(sol.X, sol.Z)
		w.scale = max(w.scale, w.done.q)
		w.tolerance = at.eps / 2 * w.scale
	}
	switch {
	case ended(sol), w.x == nil && w.all():
		return w.result(sol), 0, nil
	case w.x == nil && sol.Status == backends.PrimalInfeasible:
		return w.refute(sol)
	case w.x == nil:
		return nil, stepFill, nil
	case !(w.done.worst <= w.tolerance):
		return nil, stepExtend, nil
	case at.eps > w.s.eps:
		at.eps = w.s.eps
		return nil, stepRepeat, nil
	}
	r := w.result(sol)
	w.shrink(in.as)
	return r, 0, nil
}

// refute completes a certificate of infeasibility. The entries that it says nothing about may help.
func (w *columnSets) refute(sol *backends.Solution) (*Result, step, error) {
	in := w.s.current
	w.done = w.complete(in.as, nil, sol.Z)
	w.tolerance = w.s.options.Options.WithDefaults().EpsInfeasible / 2 * in.certificateScale(sol.Z)
	if !(w.done.worst <= w.tolerance) {
		return nil, stepExtend, nil
	}
	r := w.result(sol)
	r.done = w.done
	if proved, err := w.s.proves(r); proved || err != nil {
		return r, 0, err
	}
	return nil, stepFill, nil
}

// result makes a result of a solution, with what completes its point.
func (w *columnSets) result(sol *backends.Solution) *Result {
	r := w.s.result(sol)
	r.Active = 0
	for _, v := range w.p.vars[:w.p.users] {
		if w.p.sparseOf[v.id] >= 0 {
			r.Active += r.as.width(v)
		}
	}
	if w.dual != nil {
		r.completed(w.done, w.dual, w.scale)
		r.verify(w.s.eps)
	}
	return r
}

func (w *columnSets) fill() bool {
	clear(w.active)
	w.done = nil
	return true
}

// all says that no variable is restricted.
func (w *columnSets) all() bool {
	for _, list := range w.active {
		if list != nil {
			return false
		}
	}
	return true
}

// certificateScale is the largest sum of absolute terms of an entry of A'z, by
// which an error of A'z is measured.
func (in *instance) certificateScale(z []float64) float64 {
	as, a, scale := in.as, in.a.val, 0.0
	for j := range as.n {
		sum := 0.0
		for k := as.ptr[j]; k < as.ptr[j+1]; k++ {
			sum += math.Abs(a[k] * z[as.ind[k]])
		}
		scale = max(scale, sum)
	}
	return scale
}

// proves checks a completed certificate of infeasibility on the full program.
func (s *Solver) proves(r *Result) (bool, error) {
	problem, err := s.prog.Problem()
	if err != nil {
		return false, err
	}
	residual, err := backends.CheckPrimalInfeasible(problem, r.Conic().Z)
	r.Residuals.Dual = residual
	return err == nil && residual <= s.options.Options.WithDefaults().EpsInfeasible, nil
}

// extend adds the entries with the largest excess over the tolerance and, where
// there is room, those near their threshold. The room is about half of what is
// not zero now: few of many violators stay once the worst are in. When most
// entries violate after a certificate of infeasibility (x = nil), the full
// program is next.
func (w *columnSets) extend(at *round) {
	as, x, done, tolerance := w.s.current.as, w.x, w.done, w.tolerance
	for k, sv := range w.p.sparse {
		active, inv := as.set(sv.v)
		if inv == nil {
			continue
		}
		score := make([]float64, sv.v.n)
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
		if x == nil && 2*violators > sv.v.n {
			w.active[k] = nil
			continue
		}
		room := len(active)
		if x != nil {
			room = countNonzero(x[as.start[sv.v.id]:][:len(active)], max(nonzero, at.eps))
		}
		list := append(largestEntries(score, smallest+room/2), kept(sv, as, active, x, done, k, at)...)
		slices.Sort(list)
		list = pad(list, len(active), sv.v.n, func(j int) float64 { return math.Abs(done.g[k][j]) / done.threshold(k, j) })
		w.put(k, list)
	}
}

// pad fills a working set up with the entries of the largest scores. Programs of
// one size have one pattern where the data are dense, and then the analysis of
// the last one is used again: so the size stays what it was if the set fits, and
// otherwise grows in steps.
func pad(list []int, size, n int, score func(j int) float64) []int {
	if len(list) > size || len(list) > 0 && len(list)+2*sizeStep < size {
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

// kept is what of a working set goes on to the next round: the first rounds drop
// entries that are zero and far from their threshold, since the program is set
// up anew anyway; later ones drop nothing, so that the rounds end.
func kept(sv *sparseVariable, as *assembled, active []int, x []float64, done *completion, k int, at *round) []int {
	if x == nil || at.number > droppingRounds {
		return active
	}
	own := x[as.start[sv.v.id]:][:len(active)]
	largest := maxAbs(own)
	var list []int
	for pos, j := range active {
		if math.Abs(own[pos]) > max(nonzero, at.eps)*largest || math.Abs(done.g[k][j]) >= idle*done.threshold(k, j) {
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

// shrink prepares the next Solve: the sets stay, so that the program set up can
// be used again, unless they are more than twice what was needed. Then they are
// what was needed, and a quarter more of those nearest to their threshold.
func (w *columnSets) shrink(as *assembled) {
	for k, sv := range w.p.sparse {
		active, inv := as.set(sv.v)
		x := w.x[as.start[sv.v.id]:][:as.width(sv.v)]
		largest := maxAbs(x)
		needed := 0
		score := make([]float64, sv.v.n)
		for j := range score {
			pos := j
			if inv != nil {
				pos = inv[j]
			}
			if threshold := w.done.threshold(k, j); threshold > w.tolerance {
				score[j] = math.Abs(w.done.g[k][j]) / threshold
			}
			if pos >= 0 && math.Abs(x[pos]) > nonzero*largest {
				score[j] = 2
			}
			if pos >= 0 && score[j] >= near {
				needed++
			}
		}
		size := sv.v.n
		if active != nil {
			size = len(active)
		}
		if size > 2*needed+slackSize {
			w.put(k, largestEntries(score, smallest+needed+needed/4))
		}
	}
}

package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

// Working sets of singular vectors.
//
// A variable X to which a nuclear norm is applied moves in the span of a few pairs of singular vectors
// (see pairs). A round solves the program restricted to them and completes the point: the
// gradient G of the rest of the Lagrangian in X prices all matrices at once, as X is optimal if
//
//	|G|_2 <= g,   u_a'G v_a = -g for the pairs of X,
//
// with g the multiplier of the norm. Unlike entries of a vector, pairs have to turn, too. They turn by a Newton step on
// the manifold of matrices of their rank (see tangent), in which the other variables respond
// (see response), and the leading pairs of what is left of G come along. If the step does not lower the objective, it
// was too long: it is repeated with more damping. Near the solution the steps are
// full ones, and the rounds few.
//
// Where the solution is not unique, or the rank hard to tell, turning does not settle. After some
// rounds, C then is a whole semidefinite matrix instead of a diagonal.

const (
	// looseMatrixEps is the accuracy of the first round. It has to tell multipliers of
	// nuclear norms, often a hundredth, from the gradient.
	looseMatrixEps = 1e-5
	// A round is solved to ahead times what the last one missed outside of its pairs: the next one misses the
	// square of that, as a share, and a point is as good as the root of its gap. The
	// bound from below is within times the accuracy asked for.
	ahead, within = 1e-5, 0.005
	// The same for solvers that need more than manyIterations for a round, to which digits are dear.
	aheadSlow, withinSlow = 1e-2, 0.5
	manyIterations        = 120
	// firstDamping, leastDamping and mostDamping are those of the Newton steps; moreDamping and lessDamping are the
	// factors after a step that was too long and after another.
	firstDamping, leastDamping, mostDamping = 0.03, 1e-6, 1e4
	moreDamping, lessDamping, leastLess     = 16, 1e4, 8
	// weightless is the number of pairs that are kept where the norm has no weight: what it does
	// to the objective is less than the share slight of it.
	weightless, slight = 24, 1e-6
	// diagonalRounds is the number of rounds with a diagonal C, and maxRounds that of all. A whole C has a coefficient for each
	// of its entries in each row of the program that reads the matrix; there are faceEntries of them at most, which is 32 MB.
	diagonalRounds, maxRounds = 9, 40
	faceEntries               = 4e6
)

// matrixSets is what a solver knows about the matrix variables.
type matrixSets struct {
	s       *Solver
	p       *Program
	full    *layout
	pairs   []*pairs
	curves  []*curvature
	started bool
	slow    bool     // the backend takes many iterations
	second  bool     // the full program is small enough to be solved where rounds do not settle
	small   *Program // restricted to the pairs, nil where these have moved
	layout  *layout  // of small
	// found is the completed point of the round, nil where there is none, inner the residual of the restricted program.
	found *fullPoint
	inner float64
	// best is the point of least residuals in this solve, bestSolution what it comes from.
	best         *fullPoint
	bestSolution *backends.Solution
	// base is the point around which the pairs turn, moves how, and damping how much that is held back.
	base    *fullPoint
	moves   []move
	damping float64
	first   float64 // the damping with which a solve begins
	// rejected says that a step of this solve was too long.
	rejected bool
	// cautious leaves small singular values out of Newton steps, where steps were too long before.
	cautious bool
	last     *fullPoint // the last point, for warm starts
}

func newMatrixSets(s *Solver, second bool) *matrixSets {
	p := s.prog
	w := &matrixSets{s: s, p: p, full: p.newLayout(nil), second: second, first: firstDamping}
	for _, mv := range p.matrices {
		w.pairs = append(w.pairs, &pairs{mv: mv})
		w.curves = append(w.curves, newCurvature(p, mv))
	}
	return w
}

// least is the accuracy of the last rounds.
func (w *matrixSets) least(eps float64) float64 {
	if w.slow {
		return eps * withinSlow
	}
	return eps * within
}

// next is the accuracy of a round after one of accuracy eps that missed some.
func (w *matrixSets) next(eps, missed, target float64) float64 {
	if w.slow {
		return max(w.least(target), min(eps, missed*aheadSlow))
	}
	return max(w.least(target), min(eps, missed*ahead))
}

// begin guesses the first pairs.
func (w *matrixSets) begin() (eps float64) {
	switch {
	case !w.started:
		w.guess()
		w.started = true
	case w.rejected:
		w.first = min(firstDamping, 4*w.first)
	default:
		w.first = max(leastDamping, w.first/4)
	}
	for _, q := range w.pairs {
		q.face = false
	}
	w.centre()
	w.small, w.base, w.damping, w.rejected = nil, nil, w.first, false
	w.best, w.bestSolution = nil, nil
	return w.firstEps()
}

func (w *matrixSets) firstEps() float64 { return max(w.least(w.s.eps), looseMatrixEps) }

func (w *matrixSets) price(sol *backends.Solution, at *round) (*Result, step, error) {
	w.slow = w.slow || sol.Iterations > manyIterations
	w.found, w.inner = nil, sol.Residuals.Max()
	if hasPoint(sol) {
		w.found = w.complete(sol)
		w.last = w.found
		if w.best == nil || w.found.residuals.Max() < w.best.residuals.Max() {
			w.best, w.bestSolution = w.found, sol
		}
	}
	switch {
	case ended(sol):
		return w.finish(sol, sol.Status), 0, nil
	case w.found != nil && w.found.residuals.Max() <= w.s.eps:
		w.shrink(w.found)
		return w.finish(sol, backends.Optimal), 0, nil
	case w.found != nil:
		return w.judge(sol, at)
	case sol.Status == backends.PrimalInfeasible:
		return w.refute(sol, at)
	case w.second:
		return nil, stepFill, nil
	}
	return w.finish(sol, sol.Status), 0, nil
}

// judge says what is next after a point that misses the tolerance: the same program where it was not accurate enough to tell.
func (w *matrixSets) judge(sol *backends.Solution, at *round) (*Result, step, error) {
	missed, last, target := w.missed(w.found), at.eps <= w.least(w.s.eps), w.s.eps
	switch {
	case missed <= target/2 && !last:
		at.eps = w.least(target)
		return nil, stepRepeat, nil
	case missed <= 3*w.inner && !last:
		at.eps = w.next(min(at.eps, w.inner*ahead), w.inner, target)
		return nil, stepRepeat, nil
	case at.number >= hardRounds && w.second:
		return nil, stepFill, nil
	case at.number >= maxRounds:
		return w.finish(sol, backends.Inaccurate), 0, nil
	}
	return nil, stepExtend, nil
}

// refute lets pairs enter along which a certificate of infeasibility does not hold. Where there are none, it is checked on the
// full program.
func (w *matrixSets) refute(sol *backends.Solution, at *round) (*Result, step, error) {
	proof := w.expand(sol, false)
	if w.oppose(proof, w.s.options.Options.WithDefaults().EpsInfeasible) {
		at.eps = w.firstEps()
		return nil, stepExtend, nil
	}
	r := w.result(nil, sol)
	r.Status, r.z = backends.PrimalInfeasible, proof.z
	if proved, err := w.s.proves(r); proved || err != nil {
		return r, 0, err
	}
	return nil, stepFill, nil
}

// finish makes a result of the best point, with the status of the last solution.
func (w *matrixSets) finish(last *backends.Solution, status backends.Status) *Result {
	r := w.result(w.best, cmp.Or(w.bestSolution, last))
	r.Status = status
	return r
}

// extend turns the pairs and lets others enter, or takes a step that was too long again, more damped. After a certificate
// they have entered already.
func (w *matrixSets) extend(at *round) {
	w.small = nil
	f := w.found
	if f == nil {
		return
	}
	if w.tooLong(f, w.inner) {
		w.rejected, w.cautious = true, true
		w.damping *= moreDamping
		w.again()
		w.turn(true)
	} else {
		missed := w.missed(f)
		at.eps = w.next(at.eps, missed, w.s.eps)
		w.lower(missed)
		w.base = f
		w.aim(f, w.inner)
		w.turn(false)
	}
	for _, q := range w.pairs {
		q.face = at.number >= diagonalRounds && w.s.capabilities.Supports(backends.PSDCone) && w.facing(q)
	}
}

// fill leaves the full program to the backend, from now on: where as many pairs as there can be have no feasible point, as
// with many constraints on the entries, because diagonals C are not all matrices; and where the rounds do not settle.
func (w *matrixSets) fill() bool {
	w.s.lift(false)
	return false
}

// facing says that the rows in which the matrix stands are not too long with a whole C.
func (w *matrixSets) facing(q *pairs) bool {
	k := slices.Index(w.pairs, q)
	return q.size()*(q.size()+1)/2*len(w.curves[k].entries) <= faceEntries
}

// tooLong says that the last step has not lowered the objective by more than it can be told.
func (w *matrixSets) tooLong(f *fullPoint, inner float64) bool {
	return w.base != nil && f.objective > w.base.objective+10*inner*max(1, math.Abs(f.objective)) && w.damping < mostDamping
}

// lower lowers the damping after a good step, the more the better it was.
func (w *matrixSets) lower(missed float64) {
	less := float64(leastLess)
	if w.base != nil {
		less = min(lessDamping, max(leastLess, w.missed(w.base)/missed))
	}
	w.damping = max(leastDamping, w.damping/less)
}

// solve goes on with the program of the last round where the pairs have not moved.
func (w *matrixSets) solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	s := w.s
	if w.small == nil {
		begin := time.Now()
		w.small = w.p.restrictTo(w.pairs)
		s.stats.SetupTime += time.Since(begin)
	}
	changed, err := s.prepare(w.small, nil, eps)
	if err != nil {
		return nil, err
	}
	in := s.current
	w.layout = in.as.layout
	warm := changed && w.last != nil && s.warm()
	if warm {
		if err := in.solver.WarmStart(w.start(w.last)); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	sol, err := s.attempt(ctx, in)
	if err != nil || !warm || sol.Status != backends.NumericalError {
		return sol, err
	}
	return s.attempt(ctx, in) // the start may be what it failed on
}

// missed is the part of the dual residual that is due to the restriction.
func (w *matrixSets) missed(f *fullPoint) float64 {
	worst := 0.0
	for _, part := range f.parts {
		worst = max(worst, part.missed)
	}
	return worst / f.scale
}

// shrink prepares the next solve: the pairs stay, so that the program set up can be used again. Only where
// the norm has no weight, which spreads an interior point over all pairs, those of which X has the
// largest parts are kept.
func (w *matrixSets) shrink(f *fullPoint) {
	for k, s := range w.pairs {
		part := &f.parts[k]
		if s.size() <= weightless || part.g*floats.Sum(part.t.s) > slight*max(1, math.Abs(f.objective)) {
			continue
		}
		order := make([]int, len(part.t.s))
		for a := range order {
			order[a] = a
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(part.t.s[b], part.t.s[a]) })
		s.u, s.v, s.face = nil, nil, false
		for _, a := range order[:weightless] {
			s.u, s.v = widen(s.u, mat.Col(nil, a, part.t.u)), widen(s.v, mat.Col(nil, a, part.t.v))
		}
	}
}

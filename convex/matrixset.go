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
	p       *Program
	full    *layout
	pairs   []*pairs
	curves  []*curvature
	started bool
	slow    bool     // the backend takes many iterations
	second  bool     // the full program is small enough to be solved where rounds do not settle
	small   *Program // of the current instance
	layout  *layout  // of small
	// base is the point around which the pairs turn, moves how, and damping how much that is held back.
	base    *fullPoint
	moves   []move
	damping float64
	first   float64 // the damping with which a solve begins
	// cautious leaves small singular values out of Newton steps, where steps were too long before.
	cautious bool
	last     *fullPoint // the last point, for warm starts
}

func newMatrixSets(p *Program) *matrixSets {
	w := &matrixSets{p: p, full: p.newLayout(nil), first: firstDamping}
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

// solveMatrices solves restricted programs until the completed point is optimal for the full one.
func (s *Solver) solveMatrices(ctx context.Context) (*Result, error) {
	w := s.matrices
	if !w.started {
		w.guess()
		w.started = true
	}
	for _, q := range w.pairs {
		q.face = false
	}
	w.centre()
	w.base, w.damping = nil, w.first
	rejected := false
	eps := max(w.least(s.eps), looseMatrixEps)
	iterations, rounds := 0, 1
	defer func() {
		s.stats.Rounds += rounds
		if rejected {
			w.first = min(firstDamping, 4*w.first)
		} else {
			w.first = max(leastDamping, w.first/4)
		}
	}()
	same := false // the pairs are those of the current instance
	var best *fullPoint
	var bestSolution *backends.Solution
	for {
		sol, err := s.runRestricted(ctx, eps, same)
		if err != nil {
			return nil, err
		}
		iterations += sol.Iterations
		w.slow = w.slow || sol.Iterations > manyIterations
		var f *fullPoint
		if hasPoint(sol) {
			f = w.complete(sol)
			w.last = f
			if best == nil || f.residuals.Max() < best.residuals.Max() {
				best, bestSolution = f, sol
			}
		}
		finish := func(status backends.Status) *Result {
			r := w.result(best, cmp.Or(bestSolution, sol))
			r.Status, r.Rounds, r.Iterations = status, rounds, iterations
			return r
		}
		full := func() (*Result, error) {
			r, err := s.giveUp(ctx)
			if err == nil {
				r.Rounds, r.Iterations = r.Rounds+rounds, r.Iterations+iterations
			}
			return r, err
		}
		switch {
		case sol.Status == backends.Cancelled || sol.Status == backends.TimeLimit || sol.Status == backends.IterationLimit:
			return finish(sol.Status), nil
		case f != nil && f.residuals.Max() <= s.eps:
			w.shrink(f)
			return finish(backends.Optimal), nil
		case f != nil:
			missed, inner := w.missed(f), sol.Residuals.Max()
			last := eps <= w.least(s.eps)
			switch {
			case missed <= s.eps/2 && !last:
				eps, same = w.least(s.eps), true
				continue
			case missed <= 3*inner && !last:
				eps, same = w.next(min(eps, inner*ahead), inner, s.eps), true
				continue
			case rounds >= hardRounds && w.second:
				return full()
			case rounds >= maxRounds:
				return finish(backends.Inaccurate), nil
			}
			if w.tooLong(f, inner) {
				rejected, w.cautious = true, true
				w.damping *= moreDamping
				w.again()
				w.turn(true)
			} else {
				eps = w.next(eps, missed, s.eps)
				w.lower(missed)
				w.base = f
				w.aim(f, inner)
				w.turn(false)
			}
			for _, q := range w.pairs {
				q.face = rounds >= diagonalRounds && s.capabilities.Supports(backends.PSDCone) && w.facing(q)
			}
		case sol.Status == backends.PrimalInfeasible:
			proof := w.expand(sol, false)
			if !w.oppose(proof, s.options.Options.WithDefaults().EpsInfeasible) {
				r, err := s.infeasible(w.result(proof, sol))
				if err != nil {
					return nil, err
				}
				if r.Status != backends.PrimalInfeasible {
					return full()
				}
				r.Rounds, r.Iterations = rounds, iterations
				return r, nil
			}
			eps = max(w.least(s.eps), looseMatrixEps)
		case w.second:
			return full()
		default:
			return finish(sol.Status), nil
		}
		same = false
		rounds++
	}
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

// infeasible checks a completed certificate of infeasibility on the full program.
func (s *Solver) infeasible(r *Result) (*Result, error) {
	r.x, r.s, r.dual = nil, nil, nil
	r.Status = backends.PrimalInfeasible
	proved, err := s.proves(r)
	if err != nil {
		return nil, err
	}
	if !proved {
		r.Status = backends.NumericalError
		r.Message = "the certificate of infeasibility of the restricted program does not hold for the full one"
	}
	return r, nil
}

// giveUp solves the full program, from now on: where as many pairs as there can be have no feasible point, as
// with many constraints on the entries, because diagonals C are not all matrices; and where the rounds do not settle.
func (s *Solver) giveUp(ctx context.Context) (*Result, error) {
	if s.matrices = nil; !s.capabilities.Supports(backends.NuclearNormCone) {
		s.prog = s.prog.lift(false)
		s.work = s.prog
	}
	s.current.last = nil
	return s.solveFull(ctx)
}

// runRestricted solves the restricted program to the accuracy eps; same says that it is the one of the last round.
func (s *Solver) runRestricted(ctx context.Context, eps float64, same bool) (*backends.Solution, error) {
	w, old := s.matrices, s.current
	if same && old != nil && old.tightener != nil {
		if err := old.tightener.SetEps(eps); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
		old.eps = eps
		return s.attempt(ctx, old)
	}
	begin := time.Now()
	w.small = w.p.restrictTo(w.pairs)
	w.layout = w.small.newLayout(nil)
	as := w.layout.assemble()
	s.stats.SetupTime += time.Since(begin)
	in, err := s.newInstance(as, eps, old)
	if err != nil {
		return nil, err
	}
	if old != nil && old.solver != in.solver {
		if err := old.solver.Close(); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	s.current = in
	warm := w.last != nil && s.capabilities.WarmStart && !s.options.ColdStart
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

// Package singular has working sets of singular vectors of matrices in nuclear norms.
//
// A variable that stands, as a whole m x n matrix X, in a NuclearNorm has a solution of low rank. Small ones are solved as one
// semidefinite program all the same, see direct.go. Here neither the m n entries nor a semidefinite matrix are ever in a conic program. A round has five steps:
//
//  1. Restrict: X = sum_a c_a u_a v_a' with orthonormal u_a, v_a and c_a >= 0, so that |X|_* = sum_a c_a is linear. The
//     unknowns are c and the other variables of the model; the solver sees an ordinary program of their number (pairs.go, restriction.go).
//  2. Complete: the multipliers of the small program give the gradient G in X of the rest of the Lagrangian, and
//     with the multiplier g of the norm, X is optimal for the full program if |G|_2 <= g and u_a'G v_a = -g
//     wherever c_a > 0. That one spectral norm prices all matrices at once. The completed point, with multipliers scaled
//     so that they are feasible, is measured against the full program; within the tolerance it is the result
//     (point.go, measure.go).
//  3. Turn: near the solution the pairs of X only have to turn. They do by a step of Newton's method on the manifold of
//     matrices of that rank, whose Hessian is that of the quadratic terms of the model plus the curvature of the norm
//     (tangent.go, curvature.go), and in which the other variables and the active constraints take part (response.go).
//     Its system is solved by conjugate gradients on vectors of (m + n) rank entries.
//  4. Enter: singular vectors of G above, or about to exceed, g become new pairs (spectral.go, move.go).
//  5. Hold back: if the objective has not decreased, the step was too long; it is repeated with more damping.
//
// The method is a conic relative of those of
// Dudik, Harchaoui, Malick (Lifted coordinate descent for learning with trace-norm regularization, AISTATS 2012), which lets pairs
// enter, and of Mishra, Meyer, Bach, Sepulchre (Low-rank optimization with trace norm penalty, SIAM J. Optim. 23,
// 2013), which moves them on the manifold. The rounds converge quadratically once the rank is found; where the solution is
// not unique they may not settle, and after some rounds C becomes a whole semidefinite matrix of the size of the rank.
package singular

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/solve"
)

const (
	// looseMatrixEps is the accuracy of the first round. It has to tell multipliers of
	// nuclear norms, often a hundredth, from the gradient.
	looseMatrixEps = 1e-5
	// A round is solved to ahead times what the last one missed outside of its pairs: the next one misses the square of that, as
	// a share, and a point is as good as the root of its gap. The bound from below is within times the accuracy asked for.
	ahead, within = 1e-5, 0.005
	// The same for solvers that need more than manyIterations for a round, to which digits are dear.
	aheadSlow, withinSlow = 1e-2, 0.5
	manyIterations        = 120
	// firstDamping, leastDamping and mostDamping are those of the Newton steps; moreDamping and lessDamping are the
	// factors after a step that was too long and after another.
	firstDamping, leastDamping, mostDamping = 0.03, 1e-6, 1e4
	moreDamping, lessDamping, leastLess     = 16, 1e4, 8
	// diagonalRounds is the number of rounds with a diagonal C, and maxRounds that of all. A whole C has a coefficient for each
	// of its entries in each row of the program that reads the matrix; there are faceEntries of them at most, which is 32 MB.
	diagonalRounds, maxRounds = 9, 40
	faceEntries               = 4e6
)

// Sets is what a solver knows about the matrix variables.
type Sets struct {
	s       *solve.Session
	p       *compile.Program
	full    *compile.Layout
	pairs   []*pairs
	curves  []*curvature
	started bool
	slow    bool             // the backend takes many iterations
	second  bool             // the full program is small enough to be solved where rounds do not settle
	small   *compile.Program // restricted to the pairs, nil where these have moved
	layout  *compile.Layout  // of small
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
	last     *fullPoint // the last point, for warm starts
}

func New(s *solve.Session, second bool) *Sets {
	p := s.Program
	w := &Sets{s: s, p: p, full: p.NewLayout(nil), second: second, first: firstDamping}
	for _, mv := range p.Matrices {
		w.pairs = append(w.pairs, &pairs{mv: mv})
		w.curves = append(w.curves, newCurvature(p, mv))
	}
	return w
}

// least is the accuracy of the last rounds.
func (w *Sets) least(eps float64) float64 {
	if w.slow {
		return eps * withinSlow
	}
	return eps * within
}

// next is the accuracy of a round after one of accuracy eps that missed some.
func (w *Sets) next(eps, missed, target float64) float64 {
	if w.slow {
		return max(w.least(target), min(eps, missed*aheadSlow))
	}
	return max(w.least(target), min(eps, missed*ahead))
}

// Begin guesses the first pairs.
func (w *Sets) Begin() (eps float64) {
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

func (w *Sets) firstEps() float64 { return max(w.least(w.s.Eps), looseMatrixEps) }

func (w *Sets) Price(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	w.slow = w.slow || sol.Iterations > manyIterations
	w.found, w.inner = nil, sol.Residuals.Max()
	if solve.HasPoint(sol) {
		w.found = w.complete(sol)
		w.last = w.found
		if w.best == nil || w.found.residuals.Max() < w.best.residuals.Max() {
			w.best, w.bestSolution = w.found, sol
		}
	}
	switch {
	case restrict.Ended(sol):
		return w.finish(sol, sol.Status), 0, nil
	case w.found != nil && w.found.residuals.Max() <= w.s.Eps:
		return w.finish(sol, backends.Optimal), 0, nil
	case w.found != nil:
		return w.judge(sol, at)
	case sol.Status == backends.PrimalInfeasible:
		return w.refute(sol, at)
	case w.second:
		return nil, restrict.StepFill, nil
	}
	return w.finish(sol, sol.Status), 0, nil
}

// judge says what is next after a point that misses the tolerance: the same program where it was not accurate enough to tell.
func (w *Sets) judge(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	missed, last, target := w.missed(w.found), at.Eps <= w.least(w.s.Eps), w.s.Eps
	switch {
	case missed <= target/2 && !last:
		at.Eps = w.least(target)
		return nil, restrict.StepRepeat, nil
	case missed <= 3*w.inner && !last:
		at.Eps = w.next(min(at.Eps, w.inner*ahead), w.inner, target)
		return nil, restrict.StepRepeat, nil
	case at.Number >= hardRounds && w.second:
		return nil, restrict.StepFill, nil
	case at.Number >= maxRounds:
		return w.finish(sol, backends.Inaccurate), 0, nil
	}
	return nil, restrict.StepExtend, nil
}

// refute lets pairs enter along which a certificate of infeasibility does not hold. Where there are none, it is checked on the
// full program.
func (w *Sets) refute(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	proof := w.expand(sol, false)
	if w.oppose(proof, w.s.Options.WithDefaults().EpsInfeasible) {
		at.Eps = w.firstEps()
		return nil, restrict.StepExtend, nil
	}
	r := w.result(nil, sol)
	r.Status, r.Z = backends.PrimalInfeasible, proof.z
	if proved, err := w.s.Proves(r); proved || err != nil {
		return r, 0, err
	}
	return nil, restrict.StepFill, nil
}

// finish makes a result of the best point, with the status of the last solution.
func (w *Sets) finish(last *backends.Solution, status backends.Status) *solve.Outcome {
	r := w.result(w.best, cmp.Or(w.bestSolution, last))
	r.Status = status
	return r
}

// Extend turns the pairs and lets others enter, or takes a step that was too long again, more damped. After a certificate
// they have entered already.
func (w *Sets) Extend(at *restrict.Round) {
	w.small = nil
	f := w.found
	if f == nil {
		return
	}
	if w.tooLong(f, w.inner) {
		w.rejected = true
		w.damping *= moreDamping
		w.again()
		w.turn(true)
	} else {
		missed := w.missed(f)
		at.Eps = w.next(at.Eps, missed, w.s.Eps)
		w.lower(missed)
		w.base = f
		w.aim(f, w.inner)
		w.turn(false)
	}
	for _, q := range w.pairs {
		q.face = at.Number >= diagonalRounds && w.s.Capabilities.Supports(backends.PSDCone) && w.facing(q)
	}
}

// Fill leaves the full program to the backend, from now on: where as many pairs as there can be have no feasible point, as
// with many constraints on the entries, because diagonals C are not all matrices; and where the rounds do not settle.
func (w *Sets) Fill() bool {
	w.s.Lift(false)
	return false
}

// facing says that the rows in which the matrix stands are not too long with a whole C.
func (w *Sets) facing(q *pairs) bool {
	k := slices.Index(w.pairs, q)
	return q.size()*(q.size()+1)/2*len(w.curves[k].entries) <= faceEntries
}

// tooLong says that the last step has not lowered the objective by more than it can be told.
func (w *Sets) tooLong(f *fullPoint, inner float64) bool {
	return w.base != nil && f.objective > w.base.objective+10*inner*max(1, math.Abs(f.objective)) && w.damping < mostDamping
}

// lower lowers the damping after a good step, the more the better it was.
func (w *Sets) lower(missed float64) {
	less := float64(leastLess)
	if w.base != nil {
		less = min(lessDamping, max(leastLess, w.missed(w.base)/missed))
	}
	w.damping = max(leastDamping, w.damping/less)
}

// Solve goes on with the program of the last round where the pairs have not moved.
func (w *Sets) Solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	s := w.s
	if w.small == nil {
		begin := time.Now()
		w.small = restrictTo(w.p, w.pairs)
		s.Stats.SetupTime += time.Since(begin)
	}
	changed, err := s.Prepare(w.small, nil, eps)
	if err != nil {
		return nil, err
	}
	in := s.Current
	w.layout = in.Assembled.Layout
	warm := changed && w.last != nil && s.Warm()
	if warm {
		if err := in.Solver.WarmStart(w.start(w.last)); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	sol, err := s.Attempt(ctx, in)
	if err != nil || !warm || sol.Status != backends.NumericalError {
		return sol, err
	}
	return s.Attempt(ctx, in) // the start may be what it failed on
}

// missed is the part of the dual residual that is due to the restriction.
func (w *Sets) missed(f *fullPoint) float64 {
	worst := 0.0
	for _, part := range f.parts {
		worst = max(worst, part.missed)
	}
	return worst / f.scale
}

// Package singular has working sets of singular vectors of matrices in nuclear norms.
//
// A variable that stands, as a whole m x n matrix X, in a NuclearNorm has a solution of low rank. Small ones are solved
// as one semidefinite program all the same, see [Direct]. Here neither the m n entries nor a semidefinite matrix are
// ever in a conic program. A round has three steps:
//
//  1. Restrict: X = sum_a c_a u_a v_a' with orthonormal u_a, v_a and c_a >= 0, so that |X|_* = sum_a c_a is linear. The
//     unknowns are c and the other variables of the model; the solver sees an ordinary program of their number
//     (pairs.go, restriction.go).
//  2. Complete: the multipliers of the small program give the gradient G in X of the rest of the Lagrangian, and with
//     the multiplier g of the norm, X is optimal for the full program if |G|_2 <= g and u_a'G v_a = -g wherever
//     c_a > 0. That one spectral norm prices all matrices at once. The completed point, with multipliers scaled so that
//     they are feasible, is measured against the full program; within the tolerance it is the result (point.go,
//     measure.go).
//  3. Extend: with the other variables and all multipliers as they are, the Lagrangian in X alone is minimised by
//     proximal steps, and the singular pairs of its minimum are the next ones (model.go).
//
// The method is a conic relative of that of Dudik, Harchaoui, Malick (Lifted coordinate descent for learning with
// trace-norm regularization, AISTATS 2012), which lets pairs of the gradient enter.
package singular

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/solve"
)

const (
	// looseMatrixEps is the accuracy of the first round. It has to tell multipliers of
	// nuclear norms, often a hundredth, from the gradient.
	looseMatrixEps = 1e-5
	// A round is solved to ahead times what the last one missed outside of its pairs. As a point is as good as the root
	// of its gap, the least accuracy is within times the one asked for, and for first-order methods, to which digits are
	// dear, withinFirstOrder times it.
	ahead, within, withinFirstOrder = 1e-2, 0.005, 0.5
	// gain is the share to which the excess has to fall for a round after the tolerance is met.
	gain = 0.1
	// maxRounds is the number of rounds after which the backend has the whole program, or where that is large the best
	// point is what there is.
	maxRounds = 60
)

// Sets is what a solver knows about the matrix variables.
type Sets struct {
	s       *solve.Session
	p       *compile.Program
	full    *compile.Layout
	pairs   []*pairs
	models  []*model
	started bool
	small   *compile.Program // restricted to the pairs, nil where these have moved
	layout  *compile.Layout  // of small
	// found is the completed point of the round, nil where there is none, inner the residual of the restricted program.
	found *fullPoint
	inner float64
	least float64 // the least excess in this solve
	// best is the point of least residuals in this solve, bestSolution what it comes from.
	best         *fullPoint
	bestSolution *backends.Solution
	last         *fullPoint // the last point, for warm starts
}

func New(s *solve.Session) *Sets {
	p := s.Program
	w := &Sets{s: s, p: p, full: p.NewLayout(nil)}
	for _, mv := range p.Matrices {
		w.pairs = append(w.pairs, &pairs{mv: mv})
		w.models = append(w.models, newModel(p, mv))
	}
	return w
}

// finest is the accuracy of the last rounds.
func (w *Sets) finest() float64 {
	if w.s.Capabilities.FirstOrder {
		return w.s.Eps * withinFirstOrder
	}
	return w.s.Eps * within
}

// next is the accuracy of a round after one of accuracy eps that missed some.
func (w *Sets) next(eps, missed float64) float64 { return max(w.finest(), min(eps, missed*ahead)) }

// Begin guesses the first pairs.
func (w *Sets) Begin() (eps float64) {
	if !w.started {
		w.guess()
		w.started = true
	}
	for _, m := range w.models {
		m.last, m.step = nil, nil
	}
	w.small, w.best, w.bestSolution, w.least = nil, nil, nil, math.Inf(1)
	return w.firstEps()
}

func (w *Sets) firstEps() float64 { return max(w.finest(), looseMatrixEps) }

func (w *Sets) Price(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	w.found, w.inner = nil, sol.Residuals.Max()
	gains := false // whether another round is worth it
	if solve.HasPoint(sol) {
		w.found = w.complete(sol)
		w.last = w.found
		excess := w.excess(w.found)
		gains = excess > w.s.Eps && excess < gain*w.least
		w.least = math.Min(w.least, excess)
		if w.best == nil || w.found.residuals.Max() < w.best.residuals.Max() {
			w.best, w.bestSolution = w.found, sol
		}
	}
	switch {
	case restrict.Ended(sol):
		return w.finish(sol, sol.Status), 0, nil
	case w.found != nil && w.found.residuals.Max() <= w.s.Eps && gains:
		return nil, restrict.StepExtend, nil
	case w.found != nil && w.found.residuals.Max() <= w.s.Eps:
		return w.finish(sol, backends.Optimal), 0, nil
	case w.found != nil:
		return w.judge(sol, at)
	case sol.Status == backends.PrimalInfeasible:
		return w.refute(sol, at)
	}
	return nil, restrict.StepFill, nil
}

// judge says what is next after a point that misses the tolerance: the same program where it was not accurate enough to
// tell.
func (w *Sets) judge(sol *backends.Solution, at *restrict.Round) (*solve.Outcome, restrict.Step, error) {
	missed, last := w.missed(w.found), at.Eps <= w.finest()
	switch {
	case missed <= w.s.Eps/2 && !last:
		at.Eps = w.finest()
		return nil, restrict.StepRepeat, nil
	case missed <= 3*w.inner && !last:
		at.Eps = w.next(min(at.Eps, w.inner*ahead), w.inner)
		return nil, restrict.StepRepeat, nil
	case at.Number >= maxRounds && Direct(w.p, w.s.Capabilities):
		return nil, restrict.StepFill, nil
	case at.Number >= maxRounds:
		return w.finish(sol, backends.Inaccurate), 0, nil
	}
	return nil, restrict.StepExtend, nil
}

// refute lets pairs enter along which a certificate of infeasibility does not hold. Where there are none, it is checked
// on the full program.
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

// Extend takes the pairs of the least models. After a certificate new ones have entered already.
func (w *Sets) Extend(at *restrict.Round) {
	w.small = nil
	f := w.found
	if f == nil {
		return
	}
	at.Eps = w.next(at.Eps, w.missed(f))
	weights := make([]float64, len(w.p.Curves))
	for i, c := range w.p.Curves {
		var z []float64
		if c.Cone != nil {
			z = f.rows(f.z, c.Cone)
		}
		weights[i] = c.Weight(w.s.State.Values, z)
	}
	for k, s := range w.pairs {
		part := &f.parts[k]
		t := w.models[k].minimise(f.of(f.x, s.mv.V), part.gradient, part.g, weights)
		s.u, s.v = nil, nil
		s.join(t, false)
	}
}

// Fill leaves the full program to the backend, from now on: where as many pairs as there can be have no feasible point,
// as with many constraints on the entries, because sums of these are not all matrices; and where the rounds do not
// settle.
func (w *Sets) Fill() bool {
	w.s.Lift(false)
	return false
}

// Solve goes on with the program of the last round where the pairs have not moved.
func (w *Sets) Solve(ctx context.Context, eps float64) (*backends.Solution, error) {
	s := w.s
	if w.small == nil {
		begin := time.Now()
		w.small = restrictTo(w.p, s.State.Values, w.pairs)
		s.Stats.SetupTime += time.Since(begin)
	}
	changed, err := s.Prepare(w.small, nil, eps)
	if err != nil {
		return nil, err
	}
	in := s.Current
	w.layout = in.Assembled.Layout
	warm := changed && w.last != nil && s.Capabilities.WarmStart
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
		worst = math.Max(worst, part.missed)
	}
	return worst / f.scale
}

// excess is what that part may be worth, relative to the value: its product with X.
func (w *Sets) excess(f *fullPoint) float64 {
	sum := 0.0
	for _, part := range f.parts {
		sum += part.over * part.g * floats.Sum(part.t.s)
	}
	return sum / math.Max(1, math.Abs(f.objective))
}

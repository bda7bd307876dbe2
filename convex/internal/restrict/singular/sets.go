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
//     they are feasible, is measured against the full program; within the tolerance it is the result (point.go).
//  3. Extend: with the other variables and all multipliers as they are, the Lagrangian in X alone is minimised by
//     proximal steps, and the singular pairs of its minimum are the next ones (model.go).
//
// The method is a conic relative of that of Dudik, Harchaoui, Malick (Lifted coordinate descent for learning with
// trace-norm regularization, AISTATS 2012), which lets pairs of the gradient enter.
package singular

import (
	"cmp"
	"context"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/restrict"
	"github.com/conetune/conetune/convex/internal/solve"
)

const (
	// Rounds are solved to within times the accuracy asked for, as a point is as good as the root of its gap, and by
	// first-order methods, to which digits are dear, to withinFirstOrder times it.
	within, withinFirstOrder = 0.005, 0.5
	// gain is the share to which the excess has to fall for a round after the tolerance is met.
	gain = 0.1
	// maxRounds is the number of rounds after which the backend has the whole program, or where that is large the best
	// point is what there is.
	maxRounds = 60
)

// Sets is what a solver knows about the matrix variables.
type Sets struct {
	s *solve.Session
	p *compile.Program
	// numbers are those of the full program.
	numbers *compile.Numbers
	pairs   []*pairs
	models  []*model
	small   *compile.Program // restricted to the pairs, nil where these have moved
	layout  *compile.Layout  // of small
	// found is the completed point of the round, nil where there is none.
	found *fullPoint
	// best is the point of least residuals in this solve, bestSolution what it comes from.
	best         *fullPoint
	excess       float64 // what the part of the last point outside of the pairs may be worth, relative to the value
	bestSolution *backends.Solution
}

func New(s *solve.Session) *Sets {
	p := s.Program
	w := &Sets{s: s, p: p, numbers: compile.NewNumbers(p.NewLayout(nil).Assemble(), s.State)}
	for _, mv := range p.Matrices {
		w.pairs = append(w.pairs, &pairs{mv: mv})
		w.models = append(w.models, newModel(p, mv))
	}
	return w
}

// Begin begins with the pairs of the last solve, at first without any.
func (w *Sets) Begin() {
	for _, m := range w.models {
		m.last, m.step = nil, nil
	}
	w.numbers.Refresh()
	w.small, w.best, w.bestSolution, w.excess = nil, nil, nil, math.Inf(1)
}

func (w *Sets) Price(sol *backends.Solution, round int) (*solve.Outcome, bool, error) {
	w.found = nil
	if solve.HasPoint(sol) {
		w.found = w.complete(sol)
		if w.best == nil || w.found.residuals.Max() < w.best.residuals.Max() {
			w.best, w.bestSolution = w.found, sol
		}
	}
	switch {
	case restrict.Ended(sol):
		return w.finish(sol, sol.Status), false, nil
	case w.found == nil && sol.Status == backends.PrimalInfeasible:
		return w.refute(sol)
	case w.found == nil:
		return nil, false, nil
	case w.found.residuals.Max() <= w.s.Eps && !w.gains():
		return w.finish(sol, backends.Optimal), false, nil
	case round >= maxRounds && Direct(w.p, w.s.Capabilities):
		return nil, false, nil
	case round >= maxRounds:
		return w.finish(sol, backends.Inaccurate), false, nil
	}
	return nil, true, nil
}

// refute lets pairs enter along which a certificate of infeasibility does not hold. Where there are none, it is checked
// on the full program.
func (w *Sets) refute(sol *backends.Solution) (*solve.Outcome, bool, error) {
	full := w.numbers.Problem()
	proof := w.expand(sol, &backends.Problem{Q: make([]float64, len(full.Q)), A: full.A, B: full.B, Cones: full.Cones})
	if w.oppose(proof, w.s.Options.WithDefaults().EpsInfeasible) {
		return nil, true, nil
	}
	r := w.result(nil, sol)
	r.Status, r.Z = backends.PrimalInfeasible, proof.z
	if proved, err := w.s.Proves(r); proved || err != nil {
		return r, false, err
	}
	return nil, false, nil
}

// finish makes a result of the best point, with the status of the last solution.
func (w *Sets) finish(last *backends.Solution, status backends.Status) *solve.Outcome {
	r := w.result(w.best, cmp.Or(w.bestSolution, last))
	r.Status = status
	return r
}

// Extend takes the pairs of the least models. After a certificate new ones have entered already.
func (w *Sets) Extend(int) {
	w.small = nil
	f := w.found
	if f == nil {
		return
	}
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
func (w *Sets) Solve(ctx context.Context) (*backends.Solution, error) {
	s := w.s
	if w.small == nil {
		begin := time.Now()
		w.small = restrictTo(w.p, s.State.Values, w.pairs)
		s.Stats.SetupTime += time.Since(begin)
	}
	eps := s.Eps * within
	if s.Capabilities.FirstOrder {
		eps = s.Eps * withinFirstOrder
	}
	if _, err := s.Prepare(w.small, nil, eps); err != nil {
		return nil, err
	}
	w.layout = s.Current.Assembled.Layout
	return s.Attempt(ctx, s.Current)
}

// gains says whether another round is worth it: the excess is larger than the tolerance, and falls.
func (w *Sets) gains() bool {
	sum, before := 0.0, w.excess
	for _, part := range w.found.parts {
		sum += part.over * part.g * floats.Sum(part.t.s)
	}
	w.excess = sum / max(1, math.Abs(w.found.objective))
	return w.excess > w.s.Eps && w.excess < gain*before
}

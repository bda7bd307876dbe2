package augmented

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
)

const (
	// mostSteps bounds the Newton steps of a solve.
	mostSteps = 500
	// sigma grows where the distance from the cones has not shrunk to a share of shrink: by what makes it aim with the
	// distance shrinking to c/(c + sigma) of what it was, and at least by growth and at most by mostGrowth. largest is its
	// bound beside the first. A distance of less than hiddenShare of the tolerance is no reason to grow.
	growth, mostGrowth, shrink, aim, largest = 5, 25, 0.2, 0.1, 1e8
	hiddenShare                              = 1e-3
	// leastWeight and mostWeight bound the weight of the step in x beside the size of the objective, and firstWeight is
	// the first. Interior point methods, whose factors miss their tolerance on the nearly singular programs of less, have
	// leastInterior, and leastHidden where residuals count beside single columns; a program that any method has missed
	// gives more, up to slow.
	leastWeight, firstWeight, mostWeight = 1e-9, 1e-2, 1e4
	leastInterior, leastHidden, slow     = 1e-3, 1e-6, 1e-2
	// A short step multiplies the weight by mostHeavier at most, and mostShort in a row make the quadratic programs finer.
	mostHeavier, mostShort = 1000, 8
	// inexact is the share of the distance from the cones, both relative, to which F is minimized before the multipliers
	// change, or mostRounds its steps.
	inexact, mostRounds = 0.3, 30
	// innerShare of Options.Eps is the tolerance of the last quadratic programs, dualShare of the gradient of F that of
	// those before, and coarsest the largest. It is finer by a factor after a step that has not brought the gradient of F
	// below stalled times what it was, down to finest times the first, or finestEps where that is less. After mostStale
	// changes of the multipliers at the finest without a better point there is none to come, and after as many steps where
	// residuals are small but not beside single columns.
	innerShare, dualShare, coarsest = 0.1, 0.01, 1e-4
	finer, stalled, finest          = 0.1, 0.5, 1e-3
	finestEps, mostStale            = 1e-10, 8
	// mostInner bounds the iterations of a first-order method for one of the quadratic programs, and mostInterior those of
	// another: what it has by then is a direction, too.
	mostInner, mostInterior = 4000, 60
	// armijo is the share of the decrease that the slope promises with which a step is content, and shortest the least
	// step.
	armijo, shortest = 1e-4, 1e-10
	// farStep is a step, beside x, that may show that the objective has no bound, as every fifth one may.
	farStep = 100
)

// run is what one Solve knows.
type run struct {
	*solver
	*adapter.Run
	size, sigma, weight float64 // size is that of the objective
	at                  *point
	z                   []float64 // multipliers of the cones
	lines               []float64 // and of the intervals
	inside              bool      // the intervals hold at x
	before              float64   // the distance from the cones when the multipliers last changed
	rounds              int       // steps since then
	fine                float64   // the share of the tolerance that stalled steps have left
	steep               float64   // the gradient of F, relative, before the step
	hidden              bool      // the residuals are small, but not beside single rows or columns
	stale               int       // see tired
	short               int       // short steps in a row
}

// begin starts from where the last Solve ended, or from what WarmStart gave.
func (s *solver) begin(of *adapter.Run) *run {
	r := &run{
		solver: s, Run: of, size: objective(s.Data), z: make([]float64, len(s.form.rows)),
		lines:  make([]float64, len(s.form.linear)),
		before: math.Inf(1), steep: math.Inf(1), fine: 1,
	}
	if s.Far(s.start) {
		s.start = backends.Point{}
	}
	p := s.Scale.Scale(s.start)
	x := make([]float64, s.form.n)
	copy(x, p.X)
	if p.Z != nil {
		for k, i := range s.form.rows {
			r.z[k] = p.Z[i]
		}
		for k, i := range s.form.linear {
			r.lines[k] = p.Z[i]
		}
	}
	r.sigma, r.weight = s.sigma*r.size, s.weight*r.size
	r.at = s.form.look(s.Data, x, r.z, r.sigma)
	return r
}

// objective is the largest entry of P and q, or 1 where all are zero.
func objective(p *backends.Problem) float64 {
	most := 0.0
	for _, v := range slices.Concat(p.Q, adapter.Values(p.P)) {
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		return 1
	}
	return most
}

// step is one of Newton's, and what follows from it. It returns the solution where there is one.
func (r *run) step(ctx context.Context) (*backends.Solution, error) {
	if err := r.setInnerEps(r.tolerance()); err != nil {
		return nil, err
	}
	r.form.model(r.Data, r.at, r.sigma, r.weight)
	answer, err := r.solveQP(ctx)
	var refused *backends.ProblemError
	if errors.As(err, &refused) { // numbers that are ours and not the caller's
		return &backends.Solution{Status: backends.NumericalError, Message: "a quadratic program of the sequence: " +
			err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	r.Iterations += max(1, answer.Iterations)
	switch {
	case answer.Status == backends.PrimalInfeasible && len(answer.Z) > 0:
		return r.infeasible(answer.Z[:len(r.lines)], make([]float64, len(r.z))), nil
	case len(answer.X) == 0 || floats.HasNaN(answer.X):
		r.weight = min(mostWeight*r.size, 100*r.weight)
		r.Free()
		return nil, nil
	}
	next := answer.X[:r.form.n]
	copy(r.lines, answer.Z)
	if r.rounds%5 == 4 || floats.Distance(next, r.at.x, math.Inf(1)) > farStep*math.Max(1,
		floats.Norm(r.at.x, math.Inf(1))) {
		way := floats.SubTo(make([]float64, len(next)), next, r.at.x) // along which the objective may have no bound
		if proof := r.proof(backends.DualInfeasible, way); proof != nil {
			return proof, nil
		}
	}
	r.rounds++
	if share := r.search(next); share < 1 {
		r.weight = min(mostWeight*r.size, r.weight*math.Min(mostHeavier, 1/math.Sqrt(share)))
		if r.short++; r.short >= mostShort { // the model of F is not good enough for a step
			r.short, r.fine = 0, r.fine*finer
			if r.tired() {
				return r.At(backends.Inaccurate), nil
			}
		}
		return nil, nil
	}
	r.short = 0
	r.rest(answer.Status == backends.Optimal)
	if r.excess() <= 1 {
		return r.At(backends.Optimal), nil
	}
	if r.hidden && r.tired() {
		return r.At(backends.Inaccurate), nil
	}
	return r.follow(), nil
}

// solveQP solves the quadratic program of the step.
func (r *run) solveQP(ctx context.Context) (*backends.Solution, error) {
	qp := &r.form.qp
	if r.qp == nil {
		o := backends.Options{Eps: r.innerEps, EpsInfeasible: r.Options.EpsInfeasible, Threads: r.Options.Threads,
			Memory: r.Options.Memory, Settings: r.Options.Settings}
		most := mostInterior
		if r.inner.Capabilities().FirstOrder {
			most = mostInner
		}
		if o.MaxIterations = r.Options.MaxIterations; o.MaxIterations == 0 || o.MaxIterations > most {
			o.MaxIterations = most
		}
		solver, err := r.inner.Setup(qp, o)
		if err != nil {
			return nil, err
		}
		r.solver.qp = solver
	} else if err := r.qp.Update(backends.Update{P: qp.P, Q: qp.Q, A: qp.A, B: qp.B}); err != nil {
		return nil, err
	}
	if err := r.qp.WarmStart(r.form.here(r.at, r.lines)); err != nil {
		return nil, err
	}
	return r.qp.Solve(ctx)
}

// search goes from x towards next as far as F falls, and returns the share of the way. A first x outside of the
// intervals is left in any case.
func (r *run) search(next []float64) float64 {
	at := r.at
	gradient, _ := backends.Stationarity(r.Data, at.x, r.form.spread(make([]float64, len(r.lines)), at.z))
	slope := 0.0
	for j, g := range gradient {
		slope += g * (next[j] - at.x[j])
	}
	// F is known up to the tolerance of the quadratic program, and at points that miss the intervals it may be too small.
	known := innerShare*r.Options.Eps*math.Max(1, math.Abs(at.value)) + r.gained(at.x)
	for share := 1.0; ; share /= 2 {
		x := slices.Clone(at.x)
		floats.AddScaled(x, share, next)
		floats.AddScaled(x, -share, at.x)
		if share == 1 {
			copy(x, next)
		}
		found := r.form.look(r.Data, x, r.z, r.sigma)
		if !r.inside || found.value <= at.value+armijo*share*math.Min(0, slope)+known || share < shortest {
			r.at, r.inside = found, true
			return share
		}
	}
}

// gained is what x may gain by missing the intervals: the sizes of their multipliers times the distances from them.
func (r *run) gained(x []float64) float64 {
	slack, sum := r.Data.Slack(x), 0.0
	for k, v := range r.form.inLines(r.Data, x) {
		sum += math.Abs(r.lines[k] * (slack[r.form.linear[k]] - v))
	}
	return sum
}

// excess is how far the point misses the tolerance. It keeps the best point.
func (r *run) excess() float64 {
	x, slack, z := slices.Clone(r.at.x), r.form.spread(r.form.inLines(r.Data, r.at.x), r.at.in),
		r.form.spread(r.lines, r.at.z)
	e, best := r.Keep(x, slack, z)
	r.hidden = math.IsInf(e, 1)
	if best {
		r.stale = 0
	}
	return e
}

// follow changes the multipliers where F is near its least value. It returns a certificate where they prove that there
// is no point in the cones.
func (r *run) follow() *backends.Solution {
	dual, primal := r.missed()
	before := r.steep
	r.steep = dual
	if dual > math.Max(inexact*primal, innerShare*r.Options.Eps) && r.rounds < mostRounds {
		if dual > stalled*before {
			r.fine *= finer
		}
		return nil
	}
	if primal > shrink*r.before {
		if proof := r.infeasible(r.lines, r.at.z); proof != nil {
			return proof
		}
		if primal > innerShare*r.Options.Eps || r.hidden && primal > hiddenShare*r.Options.Eps {
			r.sigma = min(largest*r.size, grown(primal/r.before)*r.sigma)
		}
	}
	copy(r.z, r.at.z)
	r.before, r.rounds, r.steep = primal, 0, math.Inf(1)
	r.at = r.form.look(r.Data, r.at.x, r.z, r.sigma)
	if math.Max(dual, primal) <= innerShare*r.Options.Eps { // it is the intervals that the point misses
		r.fine *= finer
	}
	if !r.hidden && r.tired() {
		return r.At(backends.Inaccurate)
	}
	return nil
}

// missed are the gradient of F and the distance from the cones, both relative.
func (r *run) missed() (dual, primal float64) {
	gradient, scale := backends.Stationarity(r.Data, r.at.x, r.form.spread(r.lines, r.at.z))
	return floats.Norm(gradient, math.Inf(1)) / math.Max(1, scale),
		r.at.gap / math.Max(1, floats.Norm(r.at.s, math.Inf(1)))
}

// tired says that the finest quadratic programs have not found a better point for long. The best one is then what there
// is.
func (r *run) tired() bool {
	if r.innerEps > r.finest() {
		return false
	}
	r.stale++
	return r.stale > mostStale
}

// finest is the smallest tolerance of the quadratic programs.
func (r *run) finest() float64 { return min(finest*innerShare*r.Options.Eps, finestEps) }

// grown is the factor of sigma where the distance from the cones has shrunk to a share of what it was.
func grown(share float64) float64 {
	if !(share < 1) {
		return mostGrowth
	}
	return min(mostGrowth, max(growth, share/(1-share)*(1-aim)/aim))
}

// tolerance is that of the next quadratic program: a share of how far F is from its least value, or of what the
// multipliers wait for, and no less than what the caller's tolerance needs.
func (r *run) tolerance() float64 {
	dual, primal := r.missed()
	least := innerShare * r.Options.Eps
	eps := min(coarsest, max(least, dualShare*dual, innerShare*inexact*primal))
	return max(r.finest(), r.fine*eps)
}

// rest changes the weight of the step after a whole one.
func (r *run) rest(solved bool) {
	least := leastInterior
	if r.inner.Capabilities().FirstOrder {
		least = leastWeight
	} else if r.hidden {
		least = leastHidden
	}
	if solved {
		r.weight = max(least*r.size, r.weight/10)
	} else {
		r.weight = max(r.weight, min(slow*r.size, 100*r.weight))
	}
}

// setInnerEps changes the tolerance of the quadratic programs.
func (r *run) setInnerEps(eps float64) error {
	if eps == r.innerEps || r.qp == nil {
		r.innerEps = eps
		return nil
	}
	r.innerEps = eps
	if t, ok := r.qp.(backends.Tightener); ok {
		return t.SetEps(r.innerEps)
	}
	r.Free()
	return nil
}

// infeasible returns a certificate where multipliers prove that there is no point.
func (r *run) infeasible(lines, cones []float64) *backends.Solution {
	return r.proof(backends.PrimalInfeasible, r.form.spread(lines, cones))
}

// proof is a certificate that holds, or nil.
func (r *run) proof(claim backends.Status, v []float64) *backends.Solution {
	if out, excess := r.Certificate(claim, v); excess <= 1 {
		return out
	}
	return nil
}

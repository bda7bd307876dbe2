package native

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
)

// accuracy says when the refinement of a solve ends: when the residuals of the columns and of the equations, what the
// step leaves of the dual and of the primal residual, are at most left times their right-hand sides, or columns and
// equations, and that of the rows of the cones is at most rows times the largest entry of the whole. They differ by
// many orders of magnitude near the end: slacks that stay large stand in the rows, residuals that are almost gone in
// the columns and equations.
type accuracy struct{ left, rows, columns, equations float64 }

// refined is as far as refinement goes.
var refined = accuracy{left: refineTarget, rows: refineTarget}

// limits are the largest residuals in the columns, in the equations and in the other rows.
type limits struct{ columns, equations, rows float64 }

const (
	refineSteps  = 10
	refineFactor = 2 // refinement ends when the residual falls by less
	refineTarget = 1e-12
	// What is left in the rows of the cones spoils no residual of the iterate, as ds comes from the second equation, but
	// only its complementarity. So it may be this part of the error of the iterate, as a point or a proof, up to a bound.
	refineShare = 1e-4
	refineStart = 1e-8
	// The predictor only chooses sigma and the correction.
	predictorLeft = 1
	predictorRows = 1e-6
	// The starting point is moved into the cones in any case.
	startLeft = 1e-6
	// A step may leave this part of the residuals, or what is this part of
	// the tolerance or of the error of the iterate.
	residualLeft  = 0.1
	toleranceLeft = 0.05
	errorLeft     = 0.01
	// The part of the right-hand side that a residual may be in any case: rounding.
	roundingFloor = 4e-16
	// Where refinement ends with a residual above these multiples of what is
	// asked for, it goes on in another way, see improve.
	improveLeft = 3
	improveRows = 100
)

// refine solves K sol = rhs with the regularised factors and iterative refinement, until the residuals are within the
// limits, or as small as they get, and with improve where they are beyond.
func (k *kkt) refine(limit limits) error {
	copy(k.sol, k.rhs)
	k.factor.Solve(k.sol)
	stays, passes := k.residual(limit)
	last := max(stays, passes)
	for range refineSteps {
		if k.f.stop.Reached(4 * k.size) {
			return errStopped
		}
		if !(last > 1) { // also for NaN
			break
		}
		k.factor.Solve(k.res)
		copy(k.best, k.sol)
		for i, v := range k.res {
			k.sol[i] += v
		}
		stays, passes = k.residual(limit)
		now := max(stays, passes)
		if !(now < last) {
			copy(k.sol, k.best)
			stays, passes = k.residual(limit)
			break
		}
		ratio := last / now
		last = now
		if ratio < refineFactor {
			break
		}
	}
	if !finite.All(last) {
		return errUnsolved
	}
	if k.f.stop.Reached(0) {
		return errStopped
	}
	if stays > improveLeft || passes > improveRows {
		copy(k.best, k.sol)
		k.improve(limit)
		if stays, passes = k.residual(limit); max(stays, passes) < last {
			last = max(stays, passes)
		} else {
			copy(k.sol, k.best)
		}
	}
	k.left = last
	return nil
}

// residual writes rhs - K sol into res and returns its largest entries, as multiples of what is allowed: of the columns
// and equations, which stay in the iterate, and of the other rows.
func (k *kkt) residual(limit limits) (stays, passes float64) {
	copy(k.res, k.rhs)
	res, sol := k.res, k.sol
	k.mat.subMulOff(res, sol)
	for j, at := range k.diag {
		res[j] -= k.mat.val[at] * sol[j]
	}
	columns, equations, rows := k.parts(k.res)
	return max(maxAbs(columns)/limit.columns, maxAbs(equations)/limit.equations), maxAbs(rows) / limit.rows
}

// parts cuts a vector of the unknowns of K into those of the columns, of the equations and of the other rows.
func (k *kkt) parts(v []float64) (columns, equations, rows []float64) {
	c := len(k.baseX)
	e := c + k.f.zero
	return v[:c], v[c:e], v[e:]
}

// newKKT analyses the Newton systems of f. With keep, no column is eliminated.
func newKKT(f *form, cones []placed, keep bool) (*kkt, error) {
	f.memory.taken -= f.kkt // of those that these replace
	before := f.memory.taken
	defer func() { f.kkt = f.memory.taken - before }()
	k := &kkt{f: f, cones: cones, xpos: make([]int32, f.n), pos: make([]int32, f.m)}
	for _, c := range cones {
		if d, ok := c.cone.(*nonnegative); ok {
			k.h = d.h
		}
	}
	if !keep {
		k.findSingles()
	}
	if k.chooseForms(keep); f.stop.Reached(4 * (f.n + f.m)) {
		return nil, errStopped
	}
	count, columns, err := k.number()
	pattern := func() error { return k.pattern(count, columns) }
	for _, part := range []func() error{k.makeMembers, pattern, k.place, k.analyse} {
		if err == nil {
			err = part()
		}
	}
	return k, err
}

const (
	// settleSteps is how many directions settle takes at most, and no more once one leaves over worthwhileSettling of the
	// residuals.
	settleSteps        = 3
	worthwhileSettling = 0.5
)

// settle takes what is left of the residuals out of an optimal point: by further directions with the factors at hand,
// along which complementarity stays as it is to first order. In the embedding the residuals fall no faster than mu, and
// x may be outside of constraints that bind at zero by more than inside of them. Residuals that stay contradict each
// other, or belong to a solution far away. The iterate is as before. What the judge says of the point is returned.
func (r *runner) settle(sol *backends.Solution) (unsettled float64) {
	e, eps := r.embedding, r.options.Eps
	left := r.judge.Unsettled(sol.X, sol.S, sol.Z, eps)
	if unsettled = left; left <= 1 || r.iterations == 0 || r.rooted() || len(r.direct.faced) > 0 {
		return unsettled
	}
	e.save()
	e.dtau, e.dkap = 0, 0
	for range settleSteps {
		clear(e.d)
		if e.newton(1, 1, accuracy{left: residualLeft, rows: refineStart}) != nil {
			break
		}
		e.slacks(1)
		primal, dual := e.longest()
		for _, a := range [2]*float64{&primal, &dual} {
			if *a < 1 {
				*a *= stepFraction
			}
		}
		axpy(primal, e.dx, e.x)
		axpy(primal, e.ds, e.s)
		axpy(dual, e.dz, e.z)
		e.residuals()
		better := e.f.expand(e.x, e.s, e.z, e.tau)
		if !r.judge.Optimal(better.X, better.S, better.Z, eps) {
			break
		}
		now := r.judge.Unsettled(better.X, better.S, better.Z, eps)
		if now < left {
			sol.X, sol.S, sol.Z, better.X, better.S, better.Z = better.X, better.S, better.Z, sol.X, sol.S, sol.Z
			unsettled = now
		}
		if now <= 1 || !(now < worthwhileSettling*left) {
			break
		}
		left = now
	}
	e.restore()
	e.residuals()
	return unsettled
}

package native

import "math"

// accuracy says when the refinement of a solve ends: when the residual of the
// equations of the columns, what the step leaves of the dual residual, is at most
// columns times their right-hand side, and that of the rows at most rows times
// the largest entry of the whole. The two differ by many orders of magnitude near
// the end: slacks that stay large stand in the rows, residuals that are almost
// gone in the columns.
type accuracy struct{ columns, rows float64 }

const (
	refineSteps  = 10
	refineFactor = 2 // refinement ends when the residual falls by less
	refineTarget = 1e-12
	// What is left in the rows spoils no residual of the iterate, as ds comes from the second equation,
	// but only its complementarity. So it may be this part of the error of the iterate, as a point or a proof, up to a bound.
	refineShare = 1e-4
	refineStart = 1e-8
	// The predictor only chooses sigma and the correction.
	predictorColumns = 1
	predictorRows    = 1e-6
	// A step may leave this part of the dual residual, or what is this part of
	// the tolerance.
	residualLeft  = 0.1
	toleranceLeft = 0.05
	// The part of the right-hand side that a residual may be in any case: rounding.
	roundingFloor = 4e-16
	// Where refinement ends with a residual above these multiples of what is
	// asked for, it goes on in another way, see improve.
	improveColumns = 3
	improveRows    = 100
)

// refine solves K sol = rhs with the regularised factors and iterative
// refinement, until the residual is at most limitX in the equations of the columns
// and limitZ in the others, or as small as it gets. size is that of rhs.
func (k *kkt) refine(limitX, limitZ, size float64) error {
	copy(k.sol, k.rhs)
	k.factor.Solve(k.sol)
	x, z := k.residual(limitX, limitZ)
	last := max(x, z)
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
		x, z = k.residual(limitX, limitZ)
		now := max(x, z)
		if !(now < last) {
			copy(k.sol, k.best)
			x, z = k.residual(limitX, limitZ)
			break
		}
		ratio := last / now
		last = now
		if ratio < refineFactor {
			break
		}
	}
	k.left = max(x*limitX, z*limitZ) / size
	if math.IsNaN(last) || math.IsInf(last, 0) {
		return errUnsolved
	}
	if k.f.stop.Reached(0) {
		return errStopped
	}
	if x > improveColumns || z > improveRows {
		copy(k.best, k.sol)
		k.improve(limitX, limitZ)
		if x, z = k.residual(limitX, limitZ); max(x, z) < last {
			k.left = max(x*limitX, z*limitZ) / size
		} else {
			copy(k.sol, k.best)
		}
	}
	return nil
}

// residual writes rhs - K sol into res and returns the largest entries in the
// equations of the columns and in the others, as multiples of what is allowed.
func (k *kkt) residual(limitX, limitZ float64) (x, z float64) {
	copy(k.res, k.rhs)
	res, sol := k.res, k.sol
	k.mat.subMulOff(res, sol)
	for j, at := range k.diag {
		res[j] -= k.mat.val[at] * sol[j]
	}
	columns := len(k.baseX)
	return maxAbs(res[:columns]) / limitX, maxAbs(res[columns:]) / limitZ
}

// maxAbs returns the largest absolute entry of v, NaN if there is one.
func maxAbs(v []float64) float64 {
	// Without its sign a number is ordered as its bits are, and NaN comes last. Four independent maxima.
	const sign = 1 << 63
	var a, b, c, d uint64
	for ; len(v) >= 4; v = v[4:] {
		a = max(a, math.Float64bits(v[0])&^sign)
		b = max(b, math.Float64bits(v[1])&^sign)
		c = max(c, math.Float64bits(v[2])&^sign)
		d = max(d, math.Float64bits(v[3])&^sign)
	}
	for _, x := range v {
		a = max(a, math.Float64bits(x)&^sign)
	}
	return math.Float64frombits(max(a, b, c, d))
}

func finite(v []float64) bool {
	sum := 0.0
	for _, x := range v {
		sum += x * 0 // 0, or NaN for NaN and infinities
	}
	return sum == 0
}

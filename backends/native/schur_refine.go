package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/finite"
)

// refineMatrices improves a solution by its residuals in the columns and rows that
// semidefinite cones are eliminated onto. The sums A'H^-1 A and B~ H B~', whose
// rounding solveReduced cannot see, are left out of these: they are measured on the
// z and x that were recovered. Their error would otherwise stay as infeasibility.
//
// The factors of K precondition the method of generalised conjugate residuals
// (Eisenstat, Elman and Schultz 1983), which Toh, Todd and Tutuncu do with another Krylov
// method: near the end of a degenerate problem the factors are too far from
// the sums for plain refinement.
func (k *kkt) refineMatrices(x, z, rx, rz []float64, to accuracy) error {
	if !k.eliminates {
		return nil
	}
	o := &k.outer
	limit := to.rows * (1 + max(maxAbs(rx), maxAbs(rz)))
	last := k.outerResidual(x, z, rx, rz)
	if !(last > limit) {
		return finiteOr(last)
	}
	copy(o.x, x)
	copy(o.z, z)
	for i := range o.d {
		if k.f.stop.Reached(2 * (k.f.n + k.f.m)) {
			return errStopped
		}
		o.used = max(o.used, i+1)
		d := &o.d[i]
		copy(o.wx, o.rx)
		copy(o.wz, o.rz)
		if k.solveReduced(d.x, d.z, o.wx, o.wz, to) != nil {
			break
		}
		k.outerProduct(d.imageX, d.imageZ, d.x, d.z)
		for e := range o.d[:i] {
			if k.f.stop.Reached(4 * (k.f.n + k.f.m)) {
				return errStopped
			}
			p := &o.d[e]
			b := dot(d.imageX, p.imageX) + dot(d.imageZ, p.imageZ)
			d.add(-b, p)
		}
		norm := math.Sqrt(dot(d.imageX, d.imageX) + dot(d.imageZ, d.imageZ))
		if !(norm > 0) || math.IsInf(norm, 1) {
			break
		}
		d.scale(1 / norm)
		a := dot(d.imageX, o.rx) + dot(d.imageZ, o.rz)
		axpy(a, d.x, x)
		axpy(a, d.z, z)
		axpy(-a, d.imageX, o.rx)
		axpy(-a, d.imageZ, o.rz)
		if max(maxAbs(o.rx), maxAbs(o.rz)) <= limit {
			break
		}
	}
	if now := k.outerResidual(x, z, rx, rz); !(now < last) {
		copy(x, o.x)
		copy(z, o.z)
	}
	return finiteOr(last)
}

// finiteOr returns an error for the residual of no solution.
func finiteOr(residual float64) error {
	if !finite.All(residual) {
		return errUnsolved
	}
	return nil
}

// outer is the work space of refineMatrices.
type outer struct {
	columns, rows        []int32 // those with residuals
	rx, rz, wx, wz, x, z []float64
	d                    []outerDirection
	used                 int // the largest number of directions used, set to 0 by whoever asks
}

// outerDirection is a direction with its product with the matrix.
type outerDirection struct{ x, z, imageX, imageZ []float64 }

func (d *outerDirection) add(a float64, o *outerDirection) {
	axpy(a, o.x, d.x)
	axpy(a, o.z, d.z)
	axpy(a, o.imageX, d.imageX)
	axpy(a, o.imageZ, d.imageZ)
}

func (d *outerDirection) scale(a float64) {
	for _, v := range [4][]float64{d.x, d.z, d.imageX, d.imageZ} {
		scaleBy(v, a)
	}
}

func newOuter(f *form, matrices []*matrixPart) outer {
	n, m := f.n, f.m
	vector := func(size int) []float64 { return make([]float64, size) }
	o := outer{rx: vector(n), wx: vector(n), x: vector(n), rz: vector(m), wz: vector(m), z: vector(m)}
	for _, p := range matrices {
		for i := range p.g.members {
			j := p.g.members[i].item
			switch {
			case p.c.form == eliminateRows:
				o.columns = append(o.columns, j)
			case p.c.form == eliminateColumns && int(j) < f.zero+f.nonneg:
				o.rows = append(o.rows, j) // other cones have an H whose products are less exact than K
			}
		}
	}
	slices.Sort(o.columns)
	slices.Sort(o.rows)
	o.columns, o.rows = slices.Compact(o.columns), slices.Compact(o.rows)
	for range outerSteps {
		o.d = append(o.d, outerDirection{vector(n), vector(m), vector(n), vector(m)})
	}
	return o
}

// outerSteps is the number of directions of refineMatrices.
const outerSteps = 15

// outerProduct writes P x + A'z and A x - H z into px and pz, in the columns and rows
// that cones are eliminated onto; the others are zero.
func (k *kkt) outerProduct(px, pz, x, z []float64) {
	f, o := k.f, &k.outer
	f.mulP(o.wx, x)
	f.a.addMulT(o.wx, z)
	f.mulA(o.wz, x)
	clear(px)
	clear(pz)
	for _, j := range o.columns {
		px[j] = o.wx[j]
	}
	for _, r := range o.rows {
		pz[r] = o.wz[r]
		if i := int(r) - f.zero; i >= 0 {
			pz[r] -= k.h[i] * z[r]
		}
	}
}

// outerResidual writes the residuals of refineMatrices into k.outer and returns the largest.
func (k *kkt) outerResidual(x, z, rx, rz []float64) float64 {
	o := &k.outer
	k.outerProduct(o.rx, o.rz, x, z)
	for _, j := range o.columns {
		o.rx[j] = rx[j] - o.rx[j]
	}
	for _, r := range o.rows {
		o.rz[r] = rz[r] - o.rz[r]
	}
	return max(maxAbs(o.rx), maxAbs(o.rz))
}

// krylovSteps is the number of directions that krylov may use: each costs a
// solve, a product and the memory of two vectors.
const krylovSteps = 12

// krylov holds the directions of flexible GMRES.
type krylov struct {
	v, z []float64 // krylovSteps+1 and krylovSteps vectors, one after the other
	h    [krylovSteps + 1][krylovSteps]float64
	g    [krylovSteps + 1]float64
	// rotations that make h triangular
	cos, sin [krylovSteps]float64
}

// improve corrects sol by flexible GMRES (Saad 1993), with the factors as the
// preconditioner and the residuals measured by their limits. Where pivots were
// replaced or the regularisation is not small beside what is there, the
// correction of iterative refinement is wrong by a factor in a few directions, and
// refinement slows down or diverges; minimising the residual over what it spans
// does not (Arioli, Duff, Gratton and Pralet 2007). res holds the residual of sol.
func (k *kkt) improve(limit limits) {
	n := k.size
	if k.krylov == nil && (k.second || !k.takeKrylov()) {
		k.wanting = true
		return // then without
	}
	q := k.krylov
	inverse := limits{1 / limit.columns, 1 / limit.equations, 1 / limit.rows}
	k.weigh(q.dir(q.v, 0, n), k.res, inverse)
	beta := norm2(q.v[:n])
	scaleBy(q.v[:n], 1/beta)
	clear(q.g[:])
	q.g[0] = beta
	steps := 0
	for j := range krylovSteps {
		if k.f.stop.Reached(4 * n) {
			return
		}
		z, w := q.dir(q.z, j, n), q.dir(q.v, j+1, n)
		k.weigh(z, q.dir(q.v, j, n), limit)
		k.factor.Solve(z)
		k.mul(w, z)
		k.weigh(w, w, inverse)
		for i := range j + 1 {
			if k.f.stop.Reached(4 * n) {
				return
			}
			q.h[i][j] = dot(w, q.dir(q.v, i, n))
			axpy(-q.h[i][j], q.dir(q.v, i, n), w)
		}
		norm := norm2(w)
		if !q.rotate(j, norm) {
			break
		}
		steps = j + 1
		if math.Abs(q.g[j+1]) <= 0.5 || norm == 0 {
			break
		}
		scaleBy(w, 1/norm)
	}
	for j := steps - 1; j >= 0; j-- {
		sum := q.g[j]
		for i := j + 1; i < steps; i++ {
			sum -= q.h[j][i] * q.g[i]
		}
		q.g[j] = sum / q.h[j][j]
		axpy(q.g[j], q.dir(q.z, j, n), k.sol)
	}
}

// takeKrylov makes the directions of improve, if there is memory for them.
func (k *kkt) takeKrylov() bool {
	n := k.size
	if k.f.memory.take("the directions of the refinement", 8*(2*krylovSteps+1)*int64(n)) != nil {
		return false
	}
	k.krylov = &krylov{v: make([]float64, (krylovSteps+1)*n), z: make([]float64, krylovSteps*n)}
	return true
}

// dir returns direction j of length n.
func (*krylov) dir(all []float64, j, n int) []float64 { return all[j*n : (j+1)*n] }

// rotate makes column j of h triangular, whose entry below the diagonal is norm; false if it vanishes, or is not
// finite.
func (q *krylov) rotate(j int, norm float64) bool {
	for i := range j { // the rotations so far
		a, b := q.h[i][j], q.h[i+1][j]
		q.h[i][j], q.h[i+1][j] = q.cos[i]*a+q.sin[i]*b, q.cos[i]*b-q.sin[i]*a
	}
	r := math.Hypot(q.h[j][j], norm)
	if !(r > 0) || math.IsInf(r, 1) {
		return false
	}
	q.cos[j], q.sin[j] = q.h[j][j]/r, norm/r
	q.h[j][j] = r
	q.g[j], q.g[j+1] = q.cos[j]*q.g[j], -q.sin[j]*q.g[j]
	return true
}

// weigh writes in, times the factor of each part, into out.
func (k *kkt) weigh(out, in []float64, by limits) {
	scale := func(out, in []float64, by float64) {
		for i, v := range in {
			out[i] = v * by
		}
	}
	columns, equations, rows := k.parts(in)
	outColumns, outEquations, outRows := k.parts(out)
	scale(outColumns, columns, by.columns)
	scale(outEquations, equations, by.equations)
	scale(outRows, rows, by.rows)
}

// mul writes K x into out.
func (k *kkt) mul(out, x []float64) {
	for j, at := range k.diag {
		out[j] = -k.mat.val[at] * x[j]
	}
	k.mat.subMulOff(out, x)
	scaleBy(out, -1)
}

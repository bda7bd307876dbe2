package native

import "math"

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
	if k.krylov == nil {
		if k.f.memory.take("the directions of the refinement", 8*(2*krylovSteps+1)*int64(n)) != nil {
			return // then without
		}
		k.krylov = &krylov{v: make([]float64, (krylovSteps+1)*n), z: make([]float64, krylovSteps*n)}
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
	for i, v := range out {
		out[i] = -v
	}
}

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
func (k *kkt) improve(limitX, limitZ float64) {
	n := k.size
	if k.krylov == nil {
		if k.f.memory.take("the directions of the refinement", 8*(2*krylovSteps+1)*int64(n)) != nil {
			return // then without
		}
		k.krylov = &krylov{v: make([]float64, (krylovSteps+1)*n), z: make([]float64, krylovSteps*n)}
	}
	q := k.krylov
	v := func(j int) []float64 { return q.v[j*n : (j+1)*n] }
	z := func(j int) []float64 { return q.z[j*n : (j+1)*n] }
	columns := len(k.baseX)
	weigh := func(out, in []float64, x, z float64) {
		for i := range columns {
			out[i] = in[i] * x
		}
		for i := columns; i < n; i++ {
			out[i] = in[i] * z
		}
	}
	weigh(v(0), k.res, 1/limitX, 1/limitZ)
	beta := norm2(v(0))
	scale(v(0), 1/beta)
	clear(q.g[:])
	q.g[0] = beta
	steps := 0
	for j := range krylovSteps {
		if k.f.stop.Reached(4 * n) {
			return
		}
		weigh(z(j), v(j), limitX, limitZ)
		k.factor.Solve(z(j))
		w := v(j + 1)
		k.mul(w, z(j))
		weigh(w, w, 1/limitX, 1/limitZ)
		for i := range j + 1 {
			if k.f.stop.Reached(4 * n) {
				return
			}
			q.h[i][j] = dot(w, v(i))
			axpy(-q.h[i][j], v(i), w)
		}
		norm := norm2(w)
		for i := range j { // the rotations so far
			a, b := q.h[i][j], q.h[i+1][j]
			q.h[i][j], q.h[i+1][j] = q.cos[i]*a+q.sin[i]*b, q.cos[i]*b-q.sin[i]*a
		}
		r := math.Hypot(q.h[j][j], norm)
		if !(r > 0) || math.IsInf(r, 1) {
			break
		}
		q.cos[j], q.sin[j] = q.h[j][j]/r, norm/r
		q.h[j][j] = r
		q.g[j], q.g[j+1] = q.cos[j]*q.g[j], -q.sin[j]*q.g[j]
		steps = j + 1
		if math.Abs(q.g[j+1]) <= 0.5 || norm == 0 {
			break
		}
		scale(w, 1/norm)
	}
	for j := steps - 1; j >= 0; j-- {
		sum := q.g[j]
		for i := j + 1; i < steps; i++ {
			sum -= q.h[j][i] * q.g[i]
		}
		q.g[j] = sum / q.h[j][j]
		axpy(q.g[j], z(j), k.sol)
	}
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

func scale(v []float64, a float64) {
	for i := range v {
		v[i] *= a
	}
}

package native

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

func dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func axpy(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// mulP writes Px into out, P given by its upper triangle.
func (f *form) mulP(out, x []float64) {
	clear(out)
	if len(f.p.val) == 0 {
		return
	}
	work := 2 * (f.n + len(f.p.val))
	short := f.stop.Short(work)
	if short && f.stop.Reached(work) {
		return
	}
	for j := range f.n {
		if !short && f.stop.Reached(2+2*int(f.p.ptr[j+1]-f.p.ptr[j])) {
			return
		}
		xj, sum := x[j], 0.0
		for k := f.p.ptr[j]; k < f.p.ptr[j+1]; k++ {
			i, v := f.p.ind[k], f.p.val[k]
			sum += v * x[i]
			if int(i) != j {
				out[i] += v * xj
			}
		}
		out[j] += sum
	}
}

// mulA writes Ax into out.
func (f *form) mulA(out, x []float64) {
	clear(out)
	f.a.addMul(out, x)
}

// mulAt writes A'z into out.
func (f *form) mulAt(out, z []float64) {
	clear(out)
	f.a.addMulT(out, z)
}

// Those of package dense.
func maxAbs(v []float64) float64      { return dense.MaxAbs(v) }
func norm1(v []float64) float64       { return dense.Norm1(v) }
func scaleBy(v []float64, by float64) { dense.Scale(v, by) }

// progress measures the iterate on the caller's scale.
type progress struct {
	primal, dual, gap float64 // as in backends.Residuals, the gap at least s'z
	objective, bound  float64
	// columns and equations are the largest residuals of the scaled problem there that can make an error of one, in the
	// dual or primal residual, and in the gap.
	columns, equations float64

	worst            float64 // of primal, dual and gap
	noPoint, noBound float64 // how near the iterate is to a certificate, see proofs
}

// measure computes the residuals of (x, s, z)/tau without the scaling, and how near the iterate is to a certificate.
//
// They are those of [backends.Recheck] but for rounding, and for boxes, whose bounds are rows of their own here. The
// judge needs products of the caller's matrices with the caller's point for them; here the products of the iteration
// serve, at the price of a few passes over vectors. An answer goes through the judge before it counts, see accepted.
func (it *iterate) measure() progress {
	f, sc, tau := it.f, &it.f.scaling, it.tau
	rp, nb, nax, ns := f.unscaledNorms(sc.e, it.rz, f.b, it.ax, it.s)
	rd, nq, npx, naz := f.unscaledNorms(sc.d, it.rx, f.q, it.px, it.atz)
	if f.stop.Reached(4 * (f.m + f.n)) {
		return progress{}
	}
	c := sc.c
	primalSize, dualSize := tau*max(1, nb, nax/tau, ns/tau), tau*c*max(1, nq/c, npx/(tau*c), naz/(tau*c))
	p := progress{
		primal:    rp / primalSize,
		dual:      rd / dualSize,
		objective: (it.xpx/(2*tau*tau) + it.qx/tau) / c,
		bound:     (-it.xpx/(2*tau*tau) - it.bz/tau) / c,
	}
	// p - d = s'z + x'rd - z'rp: where x or z is large, residuals within their
	// tolerance can hide a complementarity that is not.
	product := dot(it.s, it.z) / (tau * tau * c)
	gap := max(math.Abs(p.objective-p.bound), product)
	if f.stop.Reached(2 * f.m) {
		return progress{}
	}
	size := max(1, min(math.Abs(p.objective), math.Abs(p.bound)))
	p.gap = gap / size
	p.columns = min(dualSize*sc.leastD, size*tau*tau*c/norm1(it.x))
	p.equations = min(primalSize*sc.leastE, size*tau*tau*c/norm1(it.z[:f.zero]))
	if p.worst = max(p.primal, p.dual, p.gap); math.IsNaN(p.worst) {
		p.worst = math.Inf(1)
	}
	p.noPoint, p.noBound = it.proofs()
	return p
}

// unscaledNorms returns the largest entries of vectors over rows or columns, each divided by its factor.
func (f *form) unscaledNorms(factors, v1, v2, v3, v4 []float64) (n1, n2, n3, n4 float64) {
	for i, e := range factors {
		inv := 1 / e
		if f.stop.Reached(vectorWork) {
			break
		}
		n1 = max(n1, math.Abs(v1[i])*inv)
		n2 = max(n2, math.Abs(v2[i])*inv)
		n3 = max(n3, math.Abs(v3[i])*inv)
		n4 = max(n4, math.Abs(v4[i])*inv)
	}
	return n1, n2, n3, n4
}

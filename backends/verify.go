package backends

import (
	"errors"
	"fmt"
	"math"
)

// Recheck measures a primal-dual point on the problem as it is given, without
// any scaling, and returns the primal and the dual objective. It panics unless
// x, s and z have lengths n, m and m. An entry that is not finite makes the
// residuals NaN or infinite.
func Recheck(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	return new(checker).recheck(p, x, s, z)
}

// CheckPrimalInfeasible measures how well z proves that no x satisfies the
// constraints. For every feasible x and s,
//
//	0 <= s'z - beta(z) = (b'z - beta(z)) - (A'z)'x,
//
// which no x satisfies if b'z - beta(z) < 0, A'z = 0 and z is in K*. The error
// says that the first fails. Otherwise, with z scaled to b'z - beta(z) = -1, the
// residual is the larger of
//
//	|A'z| / max(T, min(1, 1/B))      T = max_j sum_i |a_ij z_i|
//	dist(z, K*) / |z|
//
// where B is the mean of |b| (and of the bounds of a box) with weights |z|. The
// first measures the error of A'z by the size of its own terms; the floor 1/B
// is the size of z, and matters where the rows of A that z picks are zero.
// It panics unless z has length m.
func CheckPrimalInfeasible(p *Problem, z []float64) (residual float64, err error) {
	return new(checker).primalInfeasible(p, z)
}

// CheckDualInfeasible measures how well x proves that the objective falls
// without bound from every feasible point: q'x < 0, Px = 0, and -Ax is in the
// recession cone of K. The error says that the first fails. Otherwise, with x
// scaled to q'x = -1, the residual is the larger of
//
//	|Px| / max(T_P, min(1, 1/Q))                T_P = max_i sum_j |p_ij x_j|
//	dist(-Ax, rec K) / max(T_A, min(1, 1/Q))    T_A = max_i sum_j |a_ij x_j|
//
// where Q is the mean of |q| with weights |x|. It panics unless x has length n.
func CheckDualInfeasible(p *Problem, x []float64) (residual float64, err error) {
	return new(checker).dualInfeasible(p, x)
}

// lostInRounding is the part of the sum of absolute terms below which the sign
// of a scalar product is not trusted: some thousands of units of rounding.
const lostInRounding = 1e-12

// checker holds the vectors of a check, so that repeated ones allocate nothing.
type checker struct {
	ax, px, atz []float64 // of lengths m, n, n
}

func (c *checker) recheck(p *Problem, x, s, z []float64) (r Residuals, primal, dual float64) {
	n, m := p.Dims()
	mustHave(len(x) == n && len(s) == m && len(z) == m)
	c.products(p, x, z)

	var rp, rpScale float64
	for i, b := range p.B {
		rp = max(rp, math.Abs(c.ax[i]+s[i]-b))
		rpScale = max(rpScale, math.Abs(b), math.Abs(c.ax[i]), math.Abs(s[i]))
	}
	var rd, rdScale, xPx, qx float64
	for j, q := range p.Q {
		rd = max(rd, math.Abs(c.px[j]+q+c.atz[j]))
		rdScale = max(rdScale, math.Abs(q), math.Abs(c.px[j]), math.Abs(c.atz[j]))
		xPx += x[j] * c.px[j]
		qx += q * x[j]
	}
	bz := 0.0
	for i, b := range p.B {
		bz += b * z[i]
	}
	beta := 0.0
	row := 0
	for _, k := range p.Cones {
		sk, zk := s[row:row+k.Dim], z[row:row+k.Dim]
		rp = max(rp, k.Distance(sk))
		rd = max(rd, k.DualDistance(zk))
		if k.Kind == BoxCone {
			b, _ := k.boxTerms(zk)
			beta += b
		}
		row += k.Dim
	}
	primal = xPx/2 + qx
	dual = -xPx/2 - bz + beta
	r.Primal = rp / max(1, rpScale)
	r.Dual = rd / max(1, rdScale)
	r.Gap = math.Abs(primal-dual) / max(1, min(math.Abs(primal), math.Abs(dual)))
	return r, primal, dual
}

func (c *checker) reset(p *Problem) {
	n, m := p.Dims()
	c.ax, c.px, c.atz = zeros(c.ax, m), zeros(c.px, n), zeros(c.atz, n)
}

func (c *checker) primalInfeasible(p *Problem, z []float64) (float64, error) {
	n, m := p.Dims()
	mustHave(len(z) == m)
	value, size, dist := 0.0, 0.0, 0.0 // b'z - beta(z), the sum of its absolute terms, dist(z, K*)
	for i, b := range p.B {
		value += b * z[i]
		size += math.Abs(b * z[i])
	}
	row := 0
	for _, k := range p.Cones {
		zk := z[row : row+k.Dim]
		dist = max(dist, k.DualDistance(zk))
		if k.Kind == BoxCone {
			beta, terms := k.boxTerms(zk)
			value -= beta
			size += terms
		}
		row += k.Dim
	}
	if err := fallsBelowZero("b'z - beta(z)", value, size); err != nil {
		return 0, err
	}
	sum, biggest := 0.0, 0.0
	for _, v := range z {
		sum += math.Abs(v)
		biggest = max(biggest, math.Abs(v))
	}
	var aty, terms float64
	if p.A != nil {
		a := p.A.RawMatrix()
		for j := range n {
			dot, abs := 0.0, 0.0
			for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
				v := a.Data[k] * z[a.Ind[k]]
				dot += v
				abs += math.Abs(v)
			}
			aty, terms = max(aty, math.Abs(dot)), max(terms, abs)
		}
	}
	// With z / -value in place of z: T = terms / -value, and 1/B = sum / size.
	floor := min(1, sum/size) * -value
	return max(aty/max(terms, floor), dist/biggest), nil
}

func (c *checker) dualInfeasible(p *Problem, x []float64) (float64, error) {
	n, m := p.Dims()
	mustHave(len(x) == n)
	var value, size, sum float64 // q'x, the sum of its absolute terms, |x|_1
	for j, q := range p.Q {
		value += q * x[j]
		size += math.Abs(q * x[j])
		sum += math.Abs(x[j])
	}
	if err := fallsBelowZero("q'x", value, size); err != nil {
		return 0, err
	}
	floor := min(1, sum/size) * -value

	c.reset(p)
	abs := zeros(c.atz, n) // the sums of absolute terms of Px
	pTerms := 0.0
	if p.P != nil {
		a := p.P.RawMatrix()
		for j, xj := range x {
			for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
				i, v := a.Ind[k], a.Data[k]
				c.px[i] += v * xj
				abs[i] += math.Abs(v * xj)
				if i != j {
					c.px[j] += v * x[i]
					abs[j] += math.Abs(v * x[i])
				}
			}
		}
		pTerms = maxAbs(abs)
	}
	direction := c.ax // -Ax
	abs = make([]float64, m)
	if p.A != nil {
		a := p.A.RawMatrix()
		for j, xj := range x {
			for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
				v := a.Data[k] * xj
				direction[a.Ind[k]] -= v
				abs[a.Ind[k]] += math.Abs(v)
			}
		}
	}
	dist, row := 0.0, 0
	for _, k := range p.Cones {
		dist = max(dist, k.recessionDistance(direction[row:row+k.Dim]))
		row += k.Dim
	}
	return max(maxAbs(c.px)/max(pTerms, floor), dist/max(maxAbs(abs), floor)), nil
}

var errNotFinite = errors.New("backends: certificate is not finite")

// fallsBelowZero says whether a scalar product is negative beyond the rounding
// of its terms.
func fallsBelowZero(name string, value, size float64) error {
	switch {
	case !(size <= math.MaxFloat64):
		return errNotFinite
	case !(value < 0):
		return fmt.Errorf("backends: certificate has %s = %g, which is not negative", name, value)
	case -value <= lostInRounding*size:
		return fmt.Errorf("backends: certificate has %s = %g, which is within the rounding of terms of size %g", name, value, size)
	}
	return nil
}

func mustHave(shapesFit bool) {
	if !shapesFit {
		panic("backends: a vector does not have the length that the problem asks for")
	}
}

// zeros returns v with n zeros, reusing its memory if it is large enough.
func zeros(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	v = v[:n]
	clear(v)
	return v
}

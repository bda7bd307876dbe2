package native

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// nonsymmetric is an exponential or a generalized power cone K, or the dual of one, without the scaling of Nesterov and
// Todd: a solve starts at its centre, and keeps near its central path. It has a scaling H that maps z to s and z~ to s~
// (Tuncel 2001; Dahl and Andersen 2021). With the barrier F* of K* of degree nu and F its conjugate,
//
//	s~ = -grad F*(z),  z~ = -grad F(s),  mu = s'z/nu,  mu~ = s~'z~/nu,  mu mu~ >= 1,
//	H = ss'/s'z + dd'/d'e + G G',  d = s - mu s~,  e = z - mu z~,
//
// where GG' is what the BFGS update of M = mu Hess F*(z) leaves of it beside s and s~: with M = LL', the columns of G
// are those of LQ after the first two, Q being orthogonal with the span of L'z and L'z~ in its first two.
type nonsymmetric struct {
	b                    barrier
	centre               []float64 // e with e = -grad F*(e)
	s, z, gradient       []float64 // the pair of the scaling, and the gradient of F* at z
	factor, root         []float64 // by rows: L of the Hessian of F* at z, then LQ; a root of H
	at, u, first, second []float64 // work space
	walk                 struct{ d, step, s, z []float64 }
	seen                 sight
	within               dense.Within
}

// sight is a pair with what central and scale ask of it.
type sight struct {
	s, z, gradient, shadow []float64 // shadow is z~
	inside                 bool
}

// barrier describes K by the barrier F* of K*.
type barrier interface {
	// degree is nu.
	degree() int
	// centre returns the e with e = -grad F*(e).
	centre() []float64
	// insideS and insideZ say whether a point is inside K or K*.
	insideS(s []float64) bool
	insideZ(z []float64) bool
	// gradientAt writes that of F* at z into g, and keeps what the derivatives there share; false if z is not inside.
	gradientAt(g, z []float64) bool
	// shadow writes z~; false if s is not inside K.
	shadow(out, s []float64) bool
	// factor writes L by rows, LL' the Hessian at the last z, of terms in which nothing cancels near the boundary, and
	// L'z. That z stays the one of third until the next factor.
	factor(l, along []float64)
	// third writes F*”'(z)[Hess^-1 ds, dz]. It may overwrite ds.
	third(out, ds, dz []float64)
}

var _ cone = (*nonsymmetric)(nil)

// nonsymmetrics returns the maker of the cones of a barrier.
func nonsymmetrics(of func(c backends.Cone) barrier) func(backends.Cone, *matrixWork) cone {
	return func(c backends.Cone, work *matrixWork) cone { return newNonsymmetric(of(c), c.Dim, work.within) }
}

func newNonsymmetric(b barrier, n int, within dense.Within) *nonsymmetric {
	c := &nonsymmetric{b: b, centre: b.centre(), within: within}
	allocate(n, &c.s, &c.z, &c.gradient, &c.at, &c.u, &c.first, &c.second, &c.walk.d, &c.walk.step, &c.walk.s,
		&c.walk.z, &c.seen.s, &c.seen.z, &c.seen.gradient, &c.seen.shadow)
	slab := make([]float64, n*n+(n+1)*n)
	c.factor, c.root = slab[:n*n:n*n], slab[n*n:]
	return c
}

// pathVectors bounds how many vectors such a cone has, those of its barrier among them.
const pathVectors = 30

// bytesOfPath is what such a cone takes.
func bytesOfPath(c backends.Cone) (own, shared int64) {
	n := int64(c.Dim)
	return 8 * (2*n*n + pathVectors*n), 0
}

// look computes what central and scale ask of a pair, or takes it from the last look: scale comes to the pair that
// central saw last.
func (c *nonsymmetric) look(s, z []float64) *sight {
	p := &c.seen
	if !slices.Equal(p.s, s) || !slices.Equal(p.z, z) {
		copy(p.s, s)
		copy(p.z, z)
		p.inside = c.b.gradientAt(p.gradient, z) && c.b.shadow(p.shadow, s)
	}
	return p
}

func (c *nonsymmetric) degree() int { return c.b.degree() }

func (c *nonsymmetric) addUnit(v []float64, a float64) { axpy(a, c.centre, v) }

// shift returns the smallest a for which v + a e is in both K and K*, rounded up.
func (c *nonsymmetric) shift(v []float64) float64 {
	return shiftInside(dense.MaxAbs(v), func(a float64) bool {
		copy(c.at, v)
		axpy(a, c.centre, c.at)
		return c.b.insideS(c.at) && c.b.insideZ(c.at)
	})
}

func (c *nonsymmetric) scale(s, z []float64) bool {
	p := c.look(s, z)
	if !p.inside {
		return false
	}
	copy(c.s, s)
	copy(c.z, z)
	nu := float64(c.degree())
	mu := dot(s, z) / nu
	if apart := -mu*dot(p.gradient, p.shadow)/nu - 1; apart > centralEnough {
		copy(c.gradient, p.gradient)
		c.b.factor(c.factor, c.first)
		c.update(mu, nu, apart)
	} else {
		c.onPath(z, mu)
	}
	return true
}

// Below centralEnough s and s~, or z and z~, are parallel to within rounding.
const centralEnough = 1e-8

// onPath makes H = mu Hess F*(z), which it is on the central path.
func (c *nonsymmetric) onPath(z []float64, mu float64) {
	if p := &c.seen; slices.Equal(p.z, z) { // where the barrier is
		copy(c.gradient, p.gradient)
	} else {
		p.z[0] = math.NaN() // no longer
		c.b.gradientAt(c.gradient, z)
	}
	c.b.factor(c.factor, c.first)
	c.square(mu)
}

// smooth follows the central path of the pairs with this difference: from near it, where multiples of e lead at last,
// by primal-dual steps, for which mu may be far below the distances from the boundary.
func (c *nonsymmetric) smooth(s, z []float64, mu float64) {
	nu, w := float64(c.degree()), &c.walk
	own := dot(s, z) / nu
	for a := math.Sqrt(max(mu, math.Abs(own))); !c.central(s, z, own) && a <= math.MaxFloat64; a *= 2 {
		c.addUnit(s, a)
		c.addUnit(z, a)
		own = dot(s, z) / nu
	}
	last := math.Inf(1)
	for range newtonSteps {
		if !c.scale(s, z) {
			return
		}
		target := max(mu, smoothingFactor*own)
		clear(w.step)
		c.combined(w.d, s, z, w.step, w.step, target)
		copy(w.step, w.d)
		if !c.solvePlus(w.step) { // ds = dz: (H + I) dz = -d
			return
		}
		size := dot(w.d, w.step) / target
		scaleBy(w.step, -1)
		a := 1.0
		for ; a >= smoothingStep; a *= backtrack {
			copy(w.s, s)
			copy(w.z, z)
			axpy(a, w.step, w.s)
			axpy(a, w.step, w.z)
			if own = dot(w.s, w.z) / nu; c.central(w.s, w.z, own) {
				copy(s, w.s)
				copy(z, w.z)
				break
			}
			if a == 1 { // it may be outside
				a = min(1, c.step(s, z, w.step, w.step, 1)*stepFraction/backtrack)
			}
		}
		if a < smoothingStep || target == mu && (size <= smoothingEnd*smoothingEnd || converged(size, last)) {
			break
		}
		last = size
	}
	c.onPath(z, mu)
}

const (
	// A step of smoothing lowers mu by smoothingFactor at most, which leaves the pair near the path. Where it is cut below
	// smoothingStep nevertheless, mu is rounding. The last one is below smoothingEnd, of which the square is left.
	smoothingFactor = 0.1
	smoothingStep   = 0.01
	smoothingEnd    = 1e-3
)

// converged says, by the squared decrements of a step and of the last one, that Newton's method ends: from a decrement
// of 1/4 on a step leaves less than half of it, (l/(1 - l))^2 of l, but for rounding, which is as large as the point.
func converged(decrement, last float64) bool {
	return !(decrement > newtonEnd*newtonEnd) || last < 1.0/16 && decrement > last/4
}

// shiftInside returns the smallest a with in(a), rounded up, for a point with entries of the given size.
func shiftInside(size float64, in func(a float64) bool) float64 {
	if !(size <= math.MaxFloat64) {
		return math.NaN()
	}
	lo, hi := -2*size, size+1e-300
	for !in(hi) {
		lo = hi
		hi *= 2
		if math.IsInf(hi, 1) {
			return hi
		}
	}
	for range shiftSteps {
		if mid := (lo + hi) / 2; in(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// shiftSteps bisections leave 1e-9 of the size of the point.
const shiftSteps = 30

// stepInside returns an a <= limit with in(a), at most boundaryError short of the largest; 0 if that is too short.
func stepInside(limit float64, in func(a float64) bool) float64 {
	if in(limit) {
		return limit
	}
	lo, hi := limit, limit
	for !in(lo) {
		hi = lo
		if lo /= 2; !(lo >= minStep && lo < hi) { // also where the limit is not a number
			return 0
		}
	}
	for hi-lo > boundaryError*hi {
		if mid := (lo + hi) / 2; in(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

const boundaryError = 1e-3

func (c *nonsymmetric) solvePlus(v []float64) bool {
	n, h := len(v), c.factor
	for i := range n {
		if c.within.Stop.Reached(n * (n - i)) {
			return false
		}
		for j := i; j < n; j++ {
			h[i*n+j] = dot(c.root[i*n:i*n+n], c.root[j*n:j*n+n])
		}
		h[i*n+i]++
	}
	if !(gonum.Implementation{}).Dpotrf(blas.Upper, n, h, n) || c.within.Stop.Reached(n*n*n) {
		return false
	}
	(gonum.Implementation{}).Dpotrs(blas.Upper, n, 1, h, n, v, 1)
	return true
}

// square writes the root of H = mu LL'.
func (c *nonsymmetric) square(mu float64) {
	root := math.Sqrt(mu)
	for i, v := range c.factor {
		c.root[i] = root * v
	}
	c.within.Stop.Reached(len(c.factor))
}

// update writes H for a pair away from the central path, with LQ in the place of L, whose L'z is there: Q is a product
// of two reflections.
func (c *nonsymmetric) update(mu, nu, apart float64) {
	n := len(c.z)
	c.direction(c.second, c.seen.shadow)
	first, second := c.first, c.second[1:]
	byFirst, _ := reflection(first)
	axpy(byFirst*dot(first, c.second), first, c.second)
	bySecond, _ := reflection(second)
	for i := range n {
		row := c.factor[i*n : i*n+n]
		axpy(byFirst*dot(row, first), first, row)
		axpy(bySecond*dot(row[1:], second), second, row[1:])
	}
	c.square(mu)
	along, across := math.Sqrt(1/(nu*mu)), math.Sqrt(1/(nu*mu*apart))
	for i, s := range c.s {
		row := c.root[i*n:]
		row[0], row[1] = along*s, across*(s+mu*c.gradient[i])
	}
}

// reflection overwrites x with the v of the reflection y + by v'y v that takes it to a multiple of the first axis,
// which is the second result (Householder 1958).
func reflection(x []float64) (by, on float64) {
	norm := norm2(x)
	if !(norm > 0) {
		return 0, 0
	}
	on = -math.Copysign(norm, x[0])
	x[0] -= on
	return 1 / (on * x[0]), on
}

// direction writes L'v into out.
func (c *nonsymmetric) direction(out, v []float64) {
	n := len(v)
	clear(out)
	for i, x := range v {
		axpy(x, c.factor[i*n:i*n+n], out)
	}
}

func (c *nonsymmetric) mulH(out, v []float64) {
	n := len(v)
	along := c.root[n*n:]
	clear(along)
	for i, x := range v {
		axpy(x, c.root[i*n:][:n], along)
	}
	for i := range out {
		out[i] = dot(c.root[i*n:][:n], along)
	}
}

func (c *nonsymmetric) affine(d, s []float64) { copy(d, s) }

// combined writes d = s + target grad F*(z) - 1/2 F*”'(z)[Hess^-1 ds, dz] (Dahl and Andersen 2021).
func (c *nonsymmetric) combined(d, s, _, ds, dz []float64, target float64) {
	copy(d, s)
	axpy(target, c.gradient, d)
	if dense.MaxAbs(dz) > 0 {
		copy(c.u, ds)
		c.b.third(c.first, c.u, dz)
		axpy(-0.5, c.first, d)
	}
}

// step returns a step that stays inside, at most boundaryError short of the longest.
func (c *nonsymmetric) step(s, z, ds, dz []float64, limit float64) float64 {
	at := c.at
	return stepInside(limit, func(a float64) bool {
		for i, v := range s {
			at[i] = v + a*ds[i]
		}
		if !c.b.insideS(at) {
			return false
		}
		for i, v := range z {
			at[i] = v + a*dz[i]
		}
		return c.b.insideZ(at)
	})
}

// central says whether the point is in the neighbourhood nu (mu mu~ - 1) <= spread of the central path, with the mu of
// the whole problem. A bound of mu mu~ alone would let a few of many entries go far away.
func (c *nonsymmetric) central(s, z []float64, mu float64) bool {
	p := c.look(s, z)
	return p.inside && -mu*dot(p.shadow, p.gradient)-float64(c.degree()) <= spread
}

// With a spread from 30 to 100 random problems with 3 to 200 weights take the fewest iterations.
const spread = 100

func (c *nonsymmetric) block() block { return basisBlock }

// basis makes root triangular by reflections, of which each row keeps what its own size allows. u is its inverse.
func (c *nonsymmetric) basis(order []int32, u, values []float64) (shift float64) {
	n := len(order)
	for k, i := range order {
		row, own := c.root[int(i)*n:][:n], u[k*n:][:k+1]
		x := row[k:]
		by, on := reflection(x)
		for _, o := range order[k+1:] {
			y := c.root[int(o)*n:][k:n]
			axpy(by*dot(x, y), x, y)
		}
		clear(x)
		x[0] = on
		clear(own)
		for j := range k {
			axpy(-row[j]/x[0], u[j*n:][:j+1], own)
		}
		own[k] = 1 / x[0]
		values[k] = 1
		if c.within.Stop.Reached(n * n) {
			break
		}
	}
	return curvedRegularisation
}

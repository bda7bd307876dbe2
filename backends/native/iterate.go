package native

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// iterate is what the strategies share: a point of the scaled problem with its residuals in the equations
//
//	Px + A'z + q tau = 0,   Ax + s - b tau = 0,   q'x + b'z + x'Px/tau + kappa = 0,
//
// a direction from it, and the best point so far. tau > 0 gives the solution (x, s, z)/tau, tau = 0 a certificate.
type iterate struct {
	f            *form
	k            *kkt
	cones        []placed
	nonsymmetric []placed // those that are
	degree       float64

	x, s, z    []float64
	tau, kappa float64

	px, atz, ax []float64 // Px, A'z, Ax
	rx, rz      []float64 // residuals of the first two equations
	rt          float64   // residual of the third
	mu          float64

	qx, bz, xpx float64 // q'x, b'z, x'Px

	dx, ds, dz []float64
	dtau, dkap float64
	d          []float64 // complementarity term of the cones
	rhsX, rhsZ []float64

	best  best
	saved backends.Point // (x, s, z) while others are tried
	claims
}

// save keeps the point (x, s, z) for restore.
func (it *iterate) save() { it.saved = it.saved.Copy(backends.Point{X: it.x, S: it.s, Z: it.z}) }

func (it *iterate) restore() {
	copy(it.x, it.saved.X)
	copy(it.s, it.saved.S)
	copy(it.z, it.saved.Z)
}

// best is the best point so far.
type best struct {
	x, s, z    []float64
	tau, error float64
	isPoint    bool // and not on its way to a certificate
}

func newIterate(f *form) (*iterate, error) {
	n, m := f.n, f.m
	it := &iterate{f: f}
	if err := f.memory.take("the vectors of the iterate and the matrices of the cones", it.bytes()); err != nil {
		return nil, err
	}
	if it.makeCones(); f.stop.Reached(0) {
		return nil, errStopped
	}
	for _, c := range it.cones {
		it.degree += float64(c.degree())
	}
	allocate(n, &it.x, &it.px, &it.atz, &it.rx, &it.dx, &it.rhsX, &it.best.x)
	allocate(m, &it.s, &it.z, &it.ax, &it.rz, &it.ds, &it.dz, &it.d, &it.rhsZ, &it.best.s, &it.best.z)
	var err error
	it.k, err = newKKT(f, it.cones, false)
	return it, err
}

// bytes is what newRunner allocates, the Newton systems apart.
func (it *iterate) bytes() int64 {
	f := it.f
	return 8*(8*int64(f.n)+13*int64(f.m)) + 16*int64(f.nonneg) + bytesOf(f.blocks)
}

// placed is a cone with its rows.
type placed struct {
	cone
	from, to int
}

// of returns the rows of the cone in v.
func (p placed) of(v []float64) []float64 { return v[p.from:p.to] }

// makeCones makes the cones, in the order of their rows.
func (it *iterate) makeCones() {
	f, at := it.f, it.f.zero
	add := func(c cone, dim int) {
		it.cones = append(it.cones, placed{c, at, at + dim})
		if _, ok := c.(*nonsymmetric); ok {
			it.nonsymmetric = append(it.nonsymmetric, placed{c, at, at + dim})
		}
		at += dim
	}
	if f.nonneg > 0 {
		add(newNonnegative(f.nonneg), f.nonneg)
	}
	work := workOf(f.blocks, f.within())
	for _, c := range f.blocks {
		if f.stop.Reached(100 + c.Dim) {
			return
		}
		add(kindOf(c.Kind).maker(c, work), c.Dim)
	}
}

// each yields the cones, until the stop is reached.
func (it *iterate) each(yield func(c placed) bool) {
	for _, c := range it.cones {
		if it.f.stop.Reached(4*(c.to-c.from)) || !yield(c) {
			return
		}
	}
}

// keep takes the iterate as the best point if its error is the least.
func (it *iterate) keep(worst float64) {
	b := &it.best
	if worst < b.error {
		b.error, b.tau, b.isPoint = worst, it.tau, it.tau >= pointness*it.kappa
		copy(b.x, it.x)
		copy(b.s, it.s)
		copy(b.z, it.z)
	}
}

// rescale computes the scalings of the cones.
func (it *iterate) rescale() error {
	ok := true
	for c := range it.each {
		ok = c.scale(c.of(it.s), c.of(it.z)) && ok
	}
	switch {
	case it.f.stop.Reached(0):
		return errStopped
	case !ok:
		return errOutside
	}
	return nil
}

// residuals evaluates the three equations and the complementarity.
func (it *iterate) residuals() {
	f := it.f
	f.mulP(it.px, it.x)
	f.mulA(it.ax, it.x)
	f.mulAt(it.atz, it.z)
	if f.stop.Reached(6 * (f.n + f.m)) {
		return
	}
	it.qx, it.xpx, it.bz = dot(f.q, it.x), dot(it.px, it.x), dot(f.b, it.z)
	for j := range it.rx {
		it.rx[j] = it.px[j] + it.atz[j] + f.q[j]*it.tau
	}
	for i := range it.rz {
		it.rz[i] = it.ax[i] + it.s[i] - f.b[i]*it.tau
	}
	it.rt = it.qx + it.bz + it.xpx/it.tau + it.kappa
	it.mu = (dot(it.s, it.z) + it.tau*it.kappa) / (it.degree + 1)
}

// newton solves the Newton systems for dtau = 0, the right-hand sides being -wx and -wz times the residuals, with the
// complementarity term in d.
func (it *iterate) newton(wx, wz float64, to accuracy) error {
	f := it.f
	for j, v := range it.rx {
		it.rhsX[j] = -wx * v
	}
	for i, v := range it.rz {
		it.rhsZ[i] = it.d[i] - wz*v
	}
	it.k.withoutTerm(it.rhsX, it.rhsZ, it.rz, it.d, wz)
	f.stop.Reached(f.n + f.m)
	if err := it.k.solve(it.dx, it.dz, it.rhsX, it.rhsZ, to); err != nil {
		return err
	}
	it.k.withTerm(it.dz, it.d)
	return nil
}

// slacks computes ds from the second equation, ds = -wz rz - A dx + b dtau, and not as
// -d - H dz: for points near the boundary of a second-order cone H dz is
// the difference of large numbers. The error then is along the largest
// eigenvector of H, where it hardly moves s away from the boundary.
func (it *iterate) slacks(wz float64) {
	f := it.f
	clear(it.ds)
	f.a.addMul(it.ds, it.dx)
	for i := range it.ds {
		it.ds[i] = f.b[i]*it.dtau - wz*it.rz[i] - it.ds[i]
	}
	clear(it.ds[:f.zero])
}

// affineSlacks is slacks of the pure Newton direction: where all rows are of equations and the orthant, -s - H dz, in
// which nothing cancels.
func (it *iterate) affineSlacks() {
	f := it.f
	if len(f.blocks) > 0 || f.nonneg == 0 {
		it.slacks(1)
		return
	}
	clear(it.ds[:f.zero])
	ds, s, dz := it.ds[f.zero:], it.s[f.zero:], it.dz[f.zero:]
	for i, h := range it.cones[0].cone.(*nonnegative).h {
		ds[i] = -s[i] - h*dz[i]
	}
}

// affineTerm writes the complementarity term of the pure Newton direction.
func (it *iterate) affineTerm() {
	for _, c := range it.cones {
		c.affine(c.of(it.d), c.of(it.s))
	}
}

// combinedTerm writes the complementarity term for mu = target, with the second-order correction of the direction at
// hand if wanted.
func (it *iterate) combinedTerm(target float64, second bool) {
	if !second {
		clear(it.ds)
		clear(it.dz)
	}
	for c := range it.each {
		c.combined(c.of(it.d), c.of(it.s), c.of(it.z), c.of(it.ds), c.of(it.dz), target)
	}
}

// longestApart returns the largest steps at most limit for s and for z. It clears the complementarity term.
func (it *iterate) longestApart(limit float64) (primal, dual float64) {
	primal, dual = limit, limit
	clear(it.d)
	for c := range it.each {
		s, z, zero := c.of(it.s), c.of(it.z), c.of(it.d)
		primal = c.step(s, z, c.of(it.ds), zero, primal)
		dual = c.step(s, z, zero, c.of(it.dz), dual)
	}
	return primal, dual
}

const (
	// A step shorter than shortStep is tried again without the correction. That
	// is safe and slow: several short steps with it often lead out of where one is.
	shortStep = 0.01
	// A step shorter than minStep means that the method is stuck.
	minStep = 1e-6
)

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
	if f.stop.Reached(vectorWork * len(factors)) {
		return 0, 0, 0, 0
	}
	// The bits of positive numbers are in their order, NaN last.
	size := func(v, by float64) uint64 { return math.Float64bits(math.Abs(v) * by) }
	var b1, b2, b3, b4 uint64
	v1, v2, v3, v4 = v1[:len(factors)], v2[:len(factors)], v3[:len(factors)], v4[:len(factors)]
	for i, e := range factors {
		inv := 1 / e
		b1, b2 = max(b1, size(v1[i], inv)), max(b2, size(v2[i], inv))
		b3, b4 = max(b3, size(v3[i], inv)), max(b4, size(v4[i], inv))
	}
	return math.Float64frombits(b1), math.Float64frombits(b2), math.Float64frombits(b3), math.Float64frombits(b4)
}

package native

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// iterate is the state of the interior-point method on the homogeneous
// embedding with a quadratic objective (Goulart and Chen 2024):
//
//	Px + A'z + q tau                    = 0
//	Ax + s - b tau                      = 0
//	q'x + b'z + x'Px/tau + kappa        = 0,   s, z in K, K*, tau, kappa >= 0.
//
// tau > 0 gives the solution (x, s, z)/tau, tau = 0 a certificate.
type iterate struct {
	f      *form
	k      *kkt
	cones  []cone
	starts []int
	degree float64

	x, s, z    []float64
	tau, kappa float64

	px, atz, ax []float64 // Px, A'z, Ax
	rx, rz      []float64 // residuals of the first two equations
	rt          float64   // residual of the third
	mu          float64

	qx, bz, xpx float64 // q'x, b'z, x'Px

	x2, z2         []float64 // solution for the constant right-hand side (-q, b), less (x, z)/tau
	exact          bool      // the Newton systems are solved well enough for the identities of constantPart
	target         accuracy  // of the Newton systems
	curve          float64   // derivative of the third equation along it, see constantPart
	constant       bool      // x2, z2 have been computed in this run
	dx, ds, dz     []float64
	dtau, dkap     float64
	d              []float64 // complementarity term of the cones
	rhsX, rhsZ     []float64
	nonsymmetric   []pathRows // the cones that are
	trialS, trialZ []float64  // points of these
	direct         bool       // without the embedding, see direct.go
	differences    bool       // x2 and z2 are differences from (x, z)/tau where no cone is eliminated, see whole
	zeros          []float64  // for direct
	root           *root      // made when it is first needed
	rooted         bool       // the Newton systems are solved by root

	// the best point so far
	bestX, bestS, bestZ []float64
	bestTau, bestError  float64
	bestIsPoint         bool // and not on its way to a certificate

	judge                *backends.Judge // of the caller's numbers
	proof                []float64       // a certificate that holds, on the caller's scale
	nearPrimal, nearDual float64         // the least residuals of the vectors around which one was looked for
}

func newIterate(f *form) (*iterate, error) {
	n, m := f.n, f.m
	it := &iterate{differences: true, f: f}
	if err := f.memory.take("the vectors of the iterate and the matrices of the cones", it.bytes()); err != nil {
		return nil, err
	}
	if it.makeCones(); f.stop.Reached(0) {
		return nil, errStopped
	}
	for _, c := range it.cones {
		it.degree += float64(c.degree())
	}
	store := make([]float64, 8*n+11*m)
	take := func(size int) []float64 {
		v := store[:size:size]
		store = store[size:]
		return v
	}
	for _, v := range []*[]float64{&it.x, &it.px, &it.atz, &it.rx, &it.x2, &it.dx, &it.rhsX, &it.bestX} {
		*v = take(n)
	}
	for _, v := range []*[]float64{&it.s, &it.z, &it.ax, &it.rz, &it.z2, &it.ds, &it.dz, &it.d, &it.rhsZ, &it.bestS, &it.bestZ} {
		*v = take(m)
	}
	var err error
	if it.k, err = newKKT(f, it.cones, it.starts, false); err != nil {
		return nil, err
	}
	if it.canDirect() {
		it.zeros = make([]float64, m)
	}
	return it, nil
}

// bytes is what newIterate allocates, the Newton systems apart.
func (it *iterate) bytes() int64 {
	f := it.f
	return 8*(8*int64(f.n)+13*int64(f.m)) + 16*int64(f.nonneg) + bytesOf(f.blocks)
}

// makeCones makes the cones, in the order of their rows.
func (it *iterate) makeCones() {
	f, at := it.f, it.f.zero
	add := func(c cone, dim int) {
		if p, ok := c.(pathCone); ok {
			it.nonsymmetric = append(it.nonsymmetric, pathRows{p, at, at + dim})
			if dim > len(it.trialS) {
				it.trialS, it.trialZ = make([]float64, dim), make([]float64, dim)
			}
		}
		it.cones, it.starts = append(it.cones, c), append(it.starts, at)
		at += dim
	}
	if f.nonneg > 0 {
		add(newNonnegative(f.nonneg), f.nonneg)
	}
	maker := makers(f.blocks, dense.Within{Stop: f.stop})
	for _, c := range f.blocks {
		if f.stop.Reached(100 + c.Dim) {
			return
		}
		add(maker[c.Kind](c), c.Dim)
	}
	it.starts = append(it.starts, at)
}

// of returns the rows of cone i in v.
func (it *iterate) of(i int, v []float64) []float64 { return v[it.starts[i]:it.starts[i+1]] }

// minusQ puts -q into the right-hand side of the columns.
func (it *iterate) minusQ() {
	for j, v := range it.f.q {
		it.rhsX[j] = -v
	}
}

// start puts the iterate at the solution of the problem with the cones left
// out, moved inside them (as in Vandenberghe 2010).
func (it *iterate) start() bool {
	f := it.f
	clear(it.s)
	clear(it.z)
	for i, c := range it.cones {
		c.unit(it.of(i, it.s), it.of(i, it.z))
	}
	if len(it.nonsymmetric) > 0 {
		return it.startCentred()
	}
	it.rescale() // at s = z = e, H = I
	it.k.refactor()
	it.minusQ()
	if len(f.p.val) > 0 {
		// min 1/2 x'Px + q'x + 1/2 |s|^2: z = -s
		if !it.k.solve(it.x, it.z, it.rhsX, f.b, accuracy{refineTarget, refineTarget}) {
			return false
		}
		for i := f.zero; i < f.m; i++ {
			it.s[i] = -it.z[i]
		}
	} else {
		// the least-norm s and the least-norm z
		clear(it.rhsX)
		if !it.k.solve(it.x, it.d, it.rhsX, f.b, accuracy{refineTarget, refineTarget}) {
			return false
		}
		for i := f.zero; i < f.m; i++ {
			it.s[i] = -it.d[i]
		}
		it.minusQ()
		clear(it.rhsZ)
		if !it.k.solve(it.dx, it.z, it.rhsX, it.rhsZ, accuracy{refineTarget, refineTarget}) {
			return false
		}
	}
	clear(it.d) // equations have no complementarity term
	for i, c := range it.cones {
		inside(c, it.of(i, it.s))
		inside(c, it.of(i, it.z))
	}
	it.tau, it.kappa = 1, 1
	return true
}

// inside moves v into the cone, away from its boundary.
func inside(c cone, v []float64) {
	if a := c.shift(v); a > -1 {
		c.addUnit(v, 1+a) // a margin of one, as large as the scaled data
	}
}

func (it *iterate) rescale() bool {
	ok := true
	for i, c := range it.cones {
		if it.f.stop.Reached(4 * (it.starts[i+1] - it.starts[i])) {
			return false
		}
		ok = c.scale(it.of(i, it.s), it.of(i, it.z)) && ok
	}
	return ok
}

// residuals evaluates the three equations and the complementarity.
func (it *iterate) residuals() {
	f := it.f
	f.mulP(it.px, it.x)
	f.mulA(it.ax, it.x)
	f.mulAt(it.atz, it.z)
	if f.stop.Reached(2 * (f.n + f.m)) {
		return
	}
	it.qx, it.xpx, it.bz = dot(f.q, it.x), dot(it.px, it.x), dot(f.b, it.z)
	if f.stop.Reached(2 * (f.n + f.m)) {
		return
	}
	for j := range it.rx {
		it.rx[j] = it.px[j] + it.atz[j] + f.q[j]*it.tau
	}
	if f.stop.Reached(2 * (f.n + f.m)) {
		return
	}
	for i := range it.rz {
		it.rz[i] = it.ax[i] + it.s[i] - f.b[i]*it.tau
	}
	it.rt = it.qx + it.bz + it.xpx/it.tau + it.kappa
	it.mu = (dot(it.s, it.z) + it.tau*it.kappa) / (it.degree + 1)
}

// direction solves the Newton system whose right-hand sides are weight times
// the residuals, the complementarity term in it.d for the cones, and dkt for
// kappa tau, refined to target. The constant part x2, z2 must be there.
func (it *iterate) direction(weight, dkt float64, target accuracy) bool {
	f := it.f
	for j, v := range it.rx {
		it.rhsX[j] = -weight * v
	}
	for i, v := range it.rz {
		it.rhsZ[i] = it.d[i] - weight*v
	}
	it.withoutTerm(weight)
	if f.stop.Reached(f.n+f.m) || !it.k.solve(it.dx, it.dz, it.rhsX, it.rhsZ, target) {
		return false
	}
	it.withTerm()
	// With xi = x/tau and (dx, dz) = (x1, z1) + dtau (xi + x2, z/tau + z2), the third equation is
	//   q'dx + b'dz + 2 xi'P dx - xi'P xi dtau + dkappa = -weight rt,
	//   kappa dtau + tau dkappa = -dkt.
	tau := it.tau
	if f.stop.Reached(2 * f.m) {
		return false
	}
	above := -weight*it.rt + dkt/tau - it.slope(weight)
	it.dtau = above / it.curve
	if math.IsNaN(it.dtau) || math.IsInf(it.dtau, 0) {
		return false
	}
	it.dkap = -(dkt + it.kappa*it.dtau) / tau
	axpy(it.dtau, it.x2, it.dx)
	axpy(it.dtau, it.z2, it.dz)
	if f.stop.Reached(f.n + f.m) {
		return false
	}
	if !it.whole() {
		axpy(it.dtau/tau, it.x, it.dx)
		axpy(it.dtau/tau, it.z, it.dz)
	}
	// ds from the second equation, ds = -weight rz - A dx + b dtau, and not as
	// -d - H dz: for points near the boundary of a second-order cone H dz is
	// the difference of large numbers. The error then is along the largest
	// eigenvector of H, where it hardly moves s away from the boundary.
	if f.stop.Reached(4 * (f.n + f.m)) {
		return false
	}
	clear(it.ds)
	f.a.addMul(it.ds, it.dx)
	for i := range it.ds {
		it.ds[i] = f.b[i]*it.dtau - weight*it.rz[i] - it.ds[i]
	}
	clear(it.ds[:f.zero])
	return true
}

// constantPart solves K (xi + x2, zeta + z2) = (-q, b), xi = x/tau, zeta = z/tau.
// What (xi, zeta) leaves of the right-hand side is small near the end, where
// the solution itself has to be known to many more digits than K allows: with
// H z = s,
//
//	K (x2, z2) = (-rx, 2s - rz) / tau.
//
// The factor of dtau in the third equation is, for an exact solution, a sum of
// terms of one sign:
//
//	q'(xi + x2) + b'(zeta + z2) + 2 xi'P x2 + xi'P xi - kappa/tau
//	  = -(zeta + z2)'H(zeta + z2) - x2'P x2 - kappa/tau.
//
// Of the two the one farther from zero is taken: the left side may even have the
// wrong sign by rounding, and the right side leaves out what grows without bound
// where the equations contradict each other.
//
// With semidefinite cones that are eliminated the whole solution is computed, and the first sum taken: their H has too
// few digits near the boundary for the second. So it is with exponential and power cones, unless that gets stuck.
func (it *iterate) constantPart() bool {
	f, inv := it.f, 1/it.tau
	if it.whole() {
		return it.plainConstantPart()
	}
	for j, v := range it.rx {
		it.rhsX[j] = -v * inv
	}
	for i, v := range it.rz {
		it.rhsZ[i] = (2*it.s[i] - v) * inv
	}
	if f.stop.Reached(f.n+f.m) || !it.k.solve(it.x2, it.z2, it.rhsX, it.rhsZ, it.target) {
		return false
	}
	it.constant = true
	if f.stop.Reached(2 * f.m) {
		return false
	}
	f.mulP(it.dx, it.x2)
	squares := it.scaledNorm(inv) + dot(it.dx, it.x2) + it.kappa*inv
	// q'xi + b'zeta + xi'P xi = (rt - kappa)/tau
	sum := (it.rt-2*it.kappa)*inv + dot(f.q, it.x2) + dot(f.b, it.z2) + 2*inv*dot(it.px, it.x2)
	it.curve = min(sum, -squares)
	it.exact = sum > -2*squares
	return true
}

// whole says that x2 and z2 hold the whole constant part, xi and zeta included.
func (it *iterate) whole() bool { return it.k.eliminates || !it.differences }

// plainConstantPart solves K (x2, z2) = (-q, b).
func (it *iterate) plainConstantPart() bool {
	f, inv := it.f, 1/it.tau
	for j, v := range f.q {
		it.rhsX[j] = -v
	}
	if f.stop.Reached(f.n) || !it.k.solve(it.x2, it.z2, it.rhsX, f.b, it.target) {
		return false
	}
	it.constant, it.exact = true, false
	it.curve = dot(f.q, it.x2) + dot(f.b, it.z2) + 2*inv*dot(it.px, it.x2) - it.xpx*inv*inv - it.kappa*inv
	return true
}

// slope returns q'dx + b'dz + 2 xi'P dx for the solution (dx, dz) of the system
// with the right-hand side (rhsX, rhsZ) = (-weight rx, rhsZ). The products with q
// and b cancel against each other; with the equations of the iterate and the
// symmetry of K the sum is
//
//	-weight (xi + x2)'rx + (z2 - zeta)'rhsZ - 2 s'dz/tau + 2 rx'dx/tau,
//
// whose terms all go to zero.
func (it *iterate) slope(weight float64) float64 {
	f, inv := it.f, 1/it.tau
	if !it.exact {
		return dot(f.q, it.dx) + dot(f.b, it.dz) + 2*inv*dot(it.px, it.dx)
	}
	return -weight*(inv*dot(it.x, it.rx)+dot(it.x2, it.rx)) +
		dot(it.z2, it.rhsZ) - inv*dot(it.z, it.rhsZ) -
		2*inv*dot(it.s, it.dz) + 2*inv*dot(it.rx, it.dx)
}

// scaledNorm returns |W(z2 + z inv)|^2, W^2 = H. It uses dz and ds as work space.
func (it *iterate) scaledNorm(inv float64) float64 {
	for i, v := range it.z2 {
		it.dz[i] = v + inv*it.z[i]
	}
	if it.f.stop.Reached(2 * it.f.m) {
		return 0
	}
	sum := 0.0
	for i, c := range it.cones {
		dz, h := it.of(i, it.dz), it.of(i, it.ds)
		c.mulH(h, dz)
		sum += dot(dz, h)
	}
	return sum
}

// longest returns the largest step at most 1 that stays in the cones.
func (it *iterate) longest() float64 {
	a := 1.0
	if it.dtau < 0 {
		a = min(a, -it.tau/it.dtau)
	}
	if it.dkap < 0 {
		a = min(a, -it.kappa/it.dkap)
	}
	for i, c := range it.cones {
		if it.f.stop.Reached(4 * (it.starts[i+1] - it.starts[i])) {
			return 0
		}
		a = c.step(it.of(i, it.s), it.of(i, it.z), it.of(i, it.ds), it.of(i, it.dz), a)
	}
	return a
}

// factor factors the matrix of the current scaling and solves for the constant
// part, with more regularisation if that fails.
func (it *iterate) factor() bool {
	it.k.relax()
	it.k.refactor()
	ok := it.constantPart()
	for range maxRaises {
		if it.f.stop.Reached(0) || ok && (it.whole() || it.k.left <= lostSolve) {
			break
		}
		it.k.raise()
		ok = it.constantPart()
	}
	return ok
}

// advance makes one predictor-corrector step (Mehrotra 1992). It returns the
// length of the step, 0 when no direction could be computed.
func (it *iterate) advance() float64 {
	f := it.f
	if !it.rescale() {
		return 0
	}
	if !it.factor() {
		return 0
	}
	for i, c := range it.cones {
		c.affine(it.of(i, it.d), it.of(i, it.s))
	}
	if f.stop.Reached(f.m) || !it.direction(1, it.kappa*it.tau, accuracy{predictorColumns, predictorRows}) {
		return 0
	}
	a := it.longest()
	sigma := (1 - a) * (1 - a) * (1 - a)
	step := it.correct(sigma, true)
	if step < shortStep {
		// Far from the central path the second-order correction misleads:
		// go back towards it.
		step = it.correct(max(sigma, 0.5), false)
	}
	if f.stop.Reached(0) { // the direction is unfinished
		return 0
	}
	axpy(step, it.dx, it.x)
	axpy(step, it.ds[f.zero:], it.s[f.zero:])
	axpy(step, it.dz, it.z)
	it.tau += step * it.dtau
	it.kappa += step * it.dkap
	it.normalise()
	for i, c := range it.cones {
		if c, ok := c.(edgeCone); ok {
			c.pullIn(it.of(i, it.s))
			c.pullIn(it.of(i, it.z))
		}
	}
	return step
}

// normalise multiplies the iterate by the number that makes the larger of tau
// and kappa one. The embedding is homogeneous, so that this changes nothing but
// the rounding: without it all entries may shrink by many orders of magnitude, and
// the accuracy of the Newton systems is that of numbers near one.
func (it *iterate) normalise() {
	f := 1 / max(it.tau, it.kappa)
	if !(f > 0) || math.IsInf(f, 1) {
		return
	}
	for _, v := range [3][]float64{it.x, it.s, it.z} {
		for i := range v {
			v[i] *= f
		}
	}
	it.tau *= f
	it.kappa *= f
}

// correct computes the direction to sigma times the current mu, with the
// second-order correction of the direction in dz if wanted, and returns the
// step to take along it, 0 if there is none.
func (it *iterate) correct(sigma float64, second bool) float64 {
	target := sigma * it.mu
	kt := it.kappa*it.tau - target
	if second {
		kt += it.dkap * it.dtau
	} else {
		clear(it.ds)
		clear(it.dz)
	}
	for i, c := range it.cones {
		if it.f.stop.Reached(4 * (it.starts[i+1] - it.starts[i])) {
			return 0
		}
		c.combined(it.of(i, it.d), it.of(i, it.s), it.of(i, it.z), it.of(i, it.ds), it.of(i, it.dz), target)
	}
	if !it.direction(1-sigma, kt, it.target) {
		return 0
	}
	return it.central(min(1, stepFraction*it.longest()))
}

const (
	stepFraction = 0.99
	// A step shorter than shortStep is tried again without the correction. That
	// is safe and slow: several short steps with it often lead out of where one is.
	shortStep = 0.01
	// A solve that leaves more than lostSolve times the right-hand side, which no
	// contradiction among the equations does, is lost; the matrix is factored
	// anew with more regularisation, at most maxRaises times.
	lostSolve = 10
	maxRaises = 3
	// A step shorter than minStep means that the method is stuck.
	minStep = 1e-6
)

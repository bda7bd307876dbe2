package native

import (
	"math"
	"slices"
)

// embedding is the method on the homogeneous embedding with a quadratic objective (Goulart and Chen 2024): tau and
// kappa are unknowns, so that infeasible and unbounded problems end with a certificate. It takes all cones.
type embedding struct {
	*iterate
	x2, z2         []float64 // solution for the constant right-hand side (-q, b), less (x, z)/tau unless whole
	curve          float64   // derivative of the third equation along it, see constantPart
	constant       bool      // x2, z2 have been computed in this run
	exact          bool      // the Newton systems are solved well enough for the identities of constantPart
	differences    bool      // x2 and z2 are differences from (x, z)/tau where no cone is eliminated, see whole
	target         accuracy  // of the Newton systems
	apart          bool      // steps of x and s and of z may differ
	primal, dual   float64   // steps of x and s, and of z
	trialS, trialZ []float64 // points of nonsymmetric cones
	beside         beside
}

func newEmbedding(it *iterate) *embedding {
	e := &embedding{iterate: it, x2: make([]float64, it.f.n), z2: make([]float64, it.f.m)}
	e.apart = len(it.f.p.ind)+len(it.f.blocks) == 0
	dim := 0
	for _, p := range it.nonsymmetric {
		dim = max(dim, p.to-p.from)
	}
	e.trialS, e.trialZ = make([]float64, dim), make([]float64, dim)
	return e
}

func (e *embedding) String() string {
	if e.whole() {
		return "embedding, constant part whole"
	}
	return "embedding"
}

// minusQ puts -q into the right-hand side of the columns.
func (e *embedding) minusQ() {
	for j, v := range e.f.q {
		e.rhsX[j] = -v
	}
}

// start puts the iterate at the solution of the problem with the cones left
// out, moved inside them (as in Vandenberghe 2010). With differences, x2 and z2 are computed as such.
func (e *embedding) start(differences bool) error {
	e.differences, e.constant = differences, false
	clear(e.s)
	clear(e.z)
	for _, c := range e.cones {
		unit(c.cone, c.of(e.s), c.of(e.z))
	}
	if len(e.nonsymmetric) > 0 {
		// The centre of all cones with x = 0: s and z cannot be moved inside one by one, as the pair would be far from the
		// central path.
		clear(e.x)
	} else if err := e.startLeastSquares(); err != nil {
		return err
	}
	clear(e.d) // equations have no complementarity term
	e.tau, e.kappa = 1, 1
	return nil
}

// startLeastSquares is start without nonsymmetric cones, from s = z = e.
func (e *embedding) startLeastSquares() error {
	f, to := e.f, refined
	if len(e.cones) > 0 { // else it is the solution
		to = accuracy{left: startLeft, rows: startLeft}
	}
	_ = e.rescale() // H = I
	e.k.refactor()
	e.minusQ()
	negative := e.z // -s
	if len(f.p.val) > 0 {
		// min 1/2 x'Px + q'x + 1/2 |s|^2: z = -s
		if err := e.k.solve(e.x, e.z, e.rhsX, f.b, to); err != nil {
			return errNoStart
		}
	} else {
		// the least-norm s and the least-norm z
		negative = e.d
		clear(e.rhsX)
		if err := e.k.solve(e.x, e.d, e.rhsX, f.b, to); err != nil {
			return errNoStart
		}
		e.minusQ()
		clear(e.rhsZ)
		if err := e.k.solve(e.dx, e.z, e.rhsX, e.rhsZ, to); err != nil {
			return errNoStart
		}
	}
	for i := f.zero; i < f.m; i++ {
		e.s[i] = -negative[i]
	}
	for _, c := range e.cones {
		inside(c.cone, c.of(e.s))
		inside(c.cone, c.of(e.z))
	}
	return nil
}

// inside moves v into the cone, away from its boundary.
func inside(c cone, v []float64) {
	if a := c.shift(v); a > -1 {
		c.addUnit(v, 1+a) // a margin of one, as large as the scaled data
	}
}

func (e *embedding) aim(p progress, eps float64) error {
	if err := e.factor(p, eps); err != nil {
		return err
	}
	if err := e.affine(); err != nil {
		return err
	}
	return e.combined()
}

// factor factors the matrix of the current scaling and solves for the constant part, with more regularisation if that
// fails.
func (e *embedding) factor(p progress, eps float64) error {
	e.target = refined
	if !e.k.whole() {
		now, share := min(p.worst, p.noPoint, p.noBound), 1.0
		if e.whole() {
			share = wholeLeft
		}
		left := share * max(toleranceLeft*eps, errorLeft*min(1, now))
		e.target = accuracy{
			left: share * residualLeft, rows: min(max(refineTarget, refineShare*now), refineStart),
			columns: left * p.columns, equations: left * p.equations,
		}
	}
	e.k.relax()
	e.k.refactor()
	err := e.constantAndAffine()
	for range maxRaises {
		if e.f.stop.Reached(0) || err == nil && (e.whole() || !e.k.lost()) {
			break
		}
		e.k.raise()
		err, e.beside.ready = e.constantPart(), false
	}
	return err
}

// wholeLeft is the part of what a solve may leave where the constant part is whole.
const wholeLeft = 0.1

// maxRaises is how often the matrix is factored anew with more regularisation, at most, when a solve is lost.
const maxRaises = 3

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
func (e *embedding) constantPart() error {
	f, inv := e.f, 1/e.tau
	if e.whole() {
		return e.plainConstantPart()
	}
	for j, v := range e.rx {
		e.rhsX[j] = -v * inv
	}
	for i, v := range e.rz {
		e.rhsZ[i] = (2*e.s[i] - v) * inv
	}
	f.stop.Reached(f.n + f.m)
	if err := e.k.solve(e.x2, e.z2, e.rhsX, e.rhsZ, e.target); err != nil {
		return err
	}
	e.constant = true
	f.stop.Reached(2 * f.m)
	f.mulP(e.dx, e.x2)
	squares := e.scaledNorm(inv) + dot(e.dx, e.x2) + e.kappa*inv
	// q'xi + b'zeta + xi'P xi = (rt - kappa)/tau
	sum := (e.rt-2*e.kappa)*inv + dot(f.q, e.x2) + dot(f.b, e.z2) + 2*inv*dot(e.px, e.x2)
	e.curve = min(sum, -squares)
	e.exact = sum > -2*squares
	return nil
}

// whole says that x2 and z2 hold the whole constant part, xi and zeta included.
func (e *embedding) whole() bool { return e.k.whole() || !e.differences }

// plainConstantPart solves K (x2, z2) = (-q, b).
func (e *embedding) plainConstantPart() error {
	f, inv := e.f, 1/e.tau
	e.minusQ()
	f.stop.Reached(f.n)
	to := e.target
	if !e.k.whole() { // what the difference from the iterate, whose right-hand sides are small, might leave
		left := to.left * inv
		to.columns, to.equations = max(to.columns, left*maxAbs(e.rx)), max(to.equations, left*maxAbs(e.rz[:f.zero]))
		to.left = 0
	}
	if err := e.k.solve(e.x2, e.z2, e.rhsX, f.b, to); err != nil {
		return err
	}
	e.constant, e.exact = true, false
	e.curve = dot(f.q, e.x2) + dot(f.b, e.z2) + 2*inv*dot(e.px, e.x2) - e.xpx*inv*inv - e.kappa*inv
	return nil
}

// affine computes the direction to mu = 0 (Mehrotra 1992).
func (e *embedding) affine() error {
	ready, err := e.beside.take(e.iterate)
	if ready && err == nil {
		err = e.along(1, e.kappa*e.tau)
	} else if !ready {
		e.affineTerm()
		e.f.stop.Reached(e.f.m)
		err = e.direction(1, e.kappa*e.tau, e.target)
	}
	if err == nil {
		e.affineSlacks()
	}
	return err
}

// combined computes the direction to the mu that the affine one makes likely, with the second-order correction, and the
// step along e.
func (e *embedding) combined() error {
	primal, dual := e.longest()
	rest := 1 - max(primal, dual)
	sigma := rest * rest * rest
	err := e.correct(sigma, true)
	if err != nil || min(e.primal, e.dual) < shortStep {
		// Far from the central path the second-order correction misleads: go back towards e.
		err = e.correct(max(sigma, 0.5), false)
	}
	return err
}

// correct computes the direction to sigma times the current mu, with the second-order correction of the direction in dz
// if wanted, and the step to take along e.
func (e *embedding) correct(sigma float64, second bool) error {
	e.primal, e.dual = 0, 0
	target := sigma * e.mu
	kt := e.kappa*e.tau - target
	if second {
		kt += e.dkap * e.dtau
	}
	e.combinedTerm(target, second)
	if err := e.direction(1-sigma, kt, e.target); err != nil {
		return err
	}
	e.slacks(1 - sigma)
	primal, dual := e.longest()
	fraction := max(stepFraction, 1-max(boundaryShare*sigma, nearBoundary))
	e.primal, e.dual = min(1, fraction*primal), min(1, fraction*dual)
	if len(e.nonsymmetric) > 0 {
		e.primal = e.central(e.primal)
		e.dual = e.primal
	}
	if e.primal == 0 || e.dual == 0 {
		return errOffPath
	}
	return nil
}

// A step goes stepFraction of the way to the boundary, or 1 - boundaryShare sigma, up to 1 - nearBoundary, where that
// is farther: where the path is straight the last iterations gain more than a factor of 100 each.
const (
	stepFraction  = 0.99
	boundaryShare = 10
	nearBoundary  = 1e-6
)

// direction solves the Newton system whose right-hand sides are weight times
// the residuals, the complementarity term in d for the cones, and dkt for
// kappa tau, refined to target, and leaves ds to slacks. The constant part x2, z2 must be there.
func (e *embedding) direction(weight, dkt float64, target accuracy) error {
	if err := e.newton(weight, weight, target); err != nil {
		return err
	}
	return e.along(weight, dkt)
}

// along adds the constant part to the solution of the Newton system, and computes what follows from that.
func (e *embedding) along(weight, dkt float64) error {
	// With xi = x/tau and (dx, dz) = (x1, z1) + dtau (xi + x2, z/tau + z2), the third equation is
	//   q'dx + b'dz + 2 xi'P dx - xi'P xi dtau + dkappa = -weight rt,
	//   kappa dtau + tau dkappa = -dkt.
	tau := e.tau
	above := -weight*e.rt + dkt/tau - e.slope(weight)
	e.dtau = above / e.curve
	if math.IsNaN(e.dtau) || math.IsInf(e.dtau, 0) {
		return errUnsolved
	}
	e.dkap = -(dkt + e.kappa*e.dtau) / tau
	axpy(e.dtau, e.x2, e.dx)
	axpy(e.dtau, e.z2, e.dz)
	if !e.whole() {
		axpy(e.dtau/tau, e.x, e.dx)
		axpy(e.dtau/tau, e.z, e.dz)
	}
	e.f.stop.Reached(7 * (e.f.n + e.f.m))
	return nil
}

// slope returns q'dx + b'dz + 2 xi'P dx for the solution (dx, dz) of the system
// with the right-hand side (rhsX, rhsZ) = (-weight rx, rhsZ). The products with q
// and b cancel against each other; with the equations of the iterate and the
// symmetry of K the sum is
//
//	-weight (xi + x2)'rx + (z2 - zeta)'rhsZ - 2 s'dz/tau + 2 rx'dx/tau,
//
// whose terms all go to zero.
func (e *embedding) slope(weight float64) float64 {
	f, inv := e.f, 1/e.tau
	if !e.exact {
		return dot(f.q, e.dx) + dot(f.b, e.dz) + 2*inv*dot(e.px, e.dx)
	}
	return -weight*(inv*dot(e.x, e.rx)+dot(e.x2, e.rx)) +
		dot(e.z2, e.rhsZ) - inv*dot(e.z, e.rhsZ) -
		2*inv*dot(e.s, e.dz) + 2*inv*dot(e.rx, e.dx)
}

// scaledNorm returns |W(z2 + z inv)|^2, W^2 = H. It uses dz and ds as work space.
func (e *embedding) scaledNorm(inv float64) float64 {
	for i, v := range e.z2 {
		e.dz[i] = v + inv*e.z[i]
	}
	if e.f.stop.Reached(2 * e.f.m) {
		return 0
	}
	sum := 0.0
	for _, c := range e.cones {
		dz, h := c.of(e.dz), c.of(e.ds)
		c.mulH(h, dz)
		sum += dot(dz, h)
	}
	return sum
}

// longest returns the largest steps at most 1 that stay in the cones, of x and s and of z. They may differ where the
// residuals of a side depend on that side and tau alone (Xu, Hung and Ye 1996), as without P.
func (e *embedding) longest() (primal, dual float64) {
	a := 1.0
	if e.dtau < 0 {
		a = min(a, -e.tau/e.dtau)
	}
	if e.dkap < 0 {
		a = min(a, -e.kappa/e.dkap)
	}
	if e.apart {
		return e.longestApart(a)
	}
	for c := range e.each {
		a = c.step(c.of(e.s), c.of(e.z), c.of(e.ds), c.of(e.dz), a)
	}
	return a, a
}

// central shortens the step a until the nonsymmetric cones are near the
// central path, and returns 0 if that does not happen.
func (e *embedding) central(a float64) float64 {
	sz := dot(e.s, e.z) + e.tau*e.kappa
	cross := dot(e.s, e.dz) + dot(e.ds, e.z) + e.tau*e.dkap + e.dtau*e.kappa
	square := dot(e.ds, e.dz) + e.dtau*e.dkap
	outside := func(p placed) bool {
		s, z := e.trialS[:p.to-p.from], e.trialZ[:p.to-p.from]
		by := unitOf(e.tau+a*e.dtau, e.kappa+a*e.dkap)
		for k := range s { // as move does
			r := p.from + k
			s[k], z[k] = (e.s[r]+a*e.ds[r])*by, (e.z[r]+a*e.dz[r])*by
		}
		mu := (sz + a*cross + a*a*square) / (e.degree + 1)
		return !p.cone.(*nonsymmetric).central(s, z, mu*by*by)
	}
	for a >= minStep && !e.f.stop.Reached(200*len(e.nonsymmetric)) {
		if !slices.ContainsFunc(e.nonsymmetric, outside) {
			return a
		}
		a *= backtrack
	}
	return 0
}

const backtrack = 0.8

// move takes the steps, and returns the longer one. Those of two lengths have a tau each: the side with the larger one
// is scaled down to the other.
func (e *embedding) move() float64 {
	axpy(e.primal, e.dx, e.x)
	axpy(e.primal, e.ds[e.f.zero:], e.s[e.f.zero:])
	axpy(e.dual, e.dz, e.z)
	tauX, tauZ := e.tau+e.primal*e.dtau, e.tau+e.dual*e.dtau
	e.tau = min(tauX, tauZ)
	e.kappa += min(e.primal, e.dual) * e.dkap
	if tauX > tauZ {
		scaleBy(e.x, tauZ/tauX)
		scaleBy(e.s, tauZ/tauX)
	} else if tauZ > tauX {
		scaleBy(e.z, tauX/tauZ)
	}
	e.normalise()
	for _, c := range e.cones {
		if q, ok := c.cone.(*secondOrder); ok {
			q.pullIn(c.of(e.s))
			q.pullIn(c.of(e.z))
		}
	}
	return max(e.primal, e.dual)
}

// normalise multiplies the iterate by the number that makes the larger of tau
// and kappa one. The embedding is homogeneous, so that this changes nothing but
// the rounding: without it all entries may shrink by many orders of magnitude, and
// the accuracy of the Newton systems is that of numbers near one.
func (e *embedding) normalise() {
	by := unitOf(e.tau, e.kappa)
	for _, v := range [3][]float64{e.x, e.s, e.z} {
		scaleBy(v, by)
	}
	e.tau *= by
	e.kappa *= by
}

// unitOf returns the number that makes the larger of tau and kappa one, and 1 where there is none.
func unitOf(tau, kappa float64) float64 {
	by := 1 / max(tau, kappa)
	if !(by > 0) || math.IsInf(by, 1) {
		return 1
	}
	return by
}

// standing: what is left of the residuals says nothing, as they fall with mu. A stall counts late in the run.
func (e *embedding) standing() (left float64, late bool) { return math.Inf(1), e.mu < stallMu }

// relief says that there is no other way to compute the directions.
func (e *embedding) relief() bool { return false }

package native

import "math"

// direct is the method without the embedding, for linear programs with semidefinite
// cones: tau stays 1, the residuals are reduced by full Newton steps, and x, s on
// one side and z on the other move by steps of their own, as in CSDP (Borchers
// 1999) and SDPT3 (Toh, Todd and Tutuncu 1999).
//
// In the embedding the residuals fall no faster than mu. Where one side has no interior, as with <ee', X> = 0, the
// smallest eigenvalue of its matrix falls with its residual, and the path there is long and badly conditioned. The
// direct method reaches feasibility while the systems are still well conditioned. It has no certificate of its own:
// what stalls here goes to the embedding.
type direct struct {
	*iterate
	root         *root // made when it is first needed
	rooted       bool  // the directions come from it, and not from the Newton systems
	faced        []faced
	left         bool    // the last run was in a face, where no other goes on
	first        remains // at the start, taken down by standing
	primal, dual float64 // the longest steps, then those to take
}

func (d *direct) String() string {
	if d.rooted {
		return "direct, least squares"
	}
	return "direct, Schur complement"
}

// fits says whether the problem is one for the direct method.
func (d *direct) fits() bool {
	return len(d.k.matrices) > 0 && len(d.nonsymmetric) == 0 && len(d.f.p.ind) == 0
}

// begin forgets the directions of the iterate.
func (d *direct) begin() {
	d.first, d.rooted = remains{}, false
	d.tau, d.kappa, d.dtau, d.dkap = 1, 0, 0, 0
}

// start takes multiples of the unit as large as the data suggest (Toh, Todd and Tutuncu 1999).
func (d *direct) start() error {
	f := d.f
	clear(d.x)
	clear(d.d)
	clear(d.s)
	clear(d.z)
	d.begin()
	norms := make([]float64, f.n) // of the columns in the rows of a cone
	for _, c := range d.cones {
		clear(norms)
		for j := range f.n {
			if f.stop.Reached(vectorWork + int(f.a.ptr[j+1]-f.a.ptr[j])) {
				return errStopped
			}
			for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
				if r := int(f.a.ind[e]); r >= c.from && r < c.to {
					norms[j] += f.a.val[e] * f.a.val[e]
				}
			}
		}
		root := math.Sqrt(float64(c.degree()))
		s, z := max(startMin, root), max(startMin, root)
		for j, v := range norms {
			if v > 0 {
				v = math.Sqrt(v)
				s = max(s, v)
				z = max(z, root*(1+math.Abs(f.q[j]))/(1+v))
			}
		}
		s = max(s, norm2(c.of(f.b)))
		unit(c.cone, c.of(d.s), c.of(d.z))
		scaleBy(c.of(d.s), startInside*s)
		scaleBy(c.of(d.z), z)
	}
	return nil
}

// startAtBest takes the best point so far, with root if that can be.
func (d *direct) startAtBest() error {
	b := &d.best
	copy(d.x, b.x)
	copy(d.s, b.s)
	copy(d.z, b.z)
	for _, v := range [3][]float64{d.x, d.s, d.z} {
		scaleBy(v, 1/b.tau)
	}
	d.begin()
	if !d.takeRoot() && d.f.stop.Reached(0) {
		return errStopped
	}
	return nil
}

// relief goes over to root, if that is possible and not done. With links its basis costs more than it gains.
func (d *direct) relief() bool { return !d.rooted && len(d.f.links) == 0 && d.takeRoot() }

// takeRoot goes over to root, if the problem is one for it: all rows are inequalities or of
// semidefinite cones, and B is not too large.
func (d *direct) takeRoot() bool {
	if len(d.faced) > 0 {
		return false
	}
	if d.root == nil {
		q := newRoot(d.iterate)
		if d.f.stop.Reached(0) {
			return false
		}
		d.root = q
	}
	if !d.root.fits() {
		return false
	}
	d.root.take()
	d.rooted = true
	return true
}

func (d *direct) aim(p progress, eps float64) error {
	f := d.f
	if d.primal, d.dual = 0, 0; d.rooted {
		d.root.factor()
	} else {
		d.k.refactor()
		d.k.outer.used = 0
	}
	if err := d.direction(1, 1, 0, false); err != nil {
		return err
	}
	primal, dual := d.longestApart(1)
	// sigma = (mu after the predictor / mu)^e (Toh, Todd and Tutuncu 1999)
	now := dot(d.s[f.zero:], d.z[f.zero:])
	next := now + primal*dot(d.ds, d.z) + dual*dot(d.s, d.dz) + primal*dual*dot(d.ds, d.dz)
	mu := now / d.degree
	shorter := min(primal, dual)
	exponent := 1.0
	if mu > smallMu {
		exponent = max(1, 3*shorter*shorter)
	}
	sigma := min(1, math.Pow(max(0, next/now), exponent))
	wx, wz := d.weights(p, sigma, now/f.scaling.c, settled*eps)
	err := d.correct(wx, wz, sigma*mu, true)
	if min(d.primal, d.dual) < shortStep && shorter > 2*shortStep {
		// the second-order term is wrong by more than it helps
		err = d.correct(wx, wz, max(sigma, shortStep)*mu, false)
	}
	fraction := 0.9 + 0.09*shorter
	d.primal, d.dual = min(1, fraction*d.primal), min(1, fraction*d.dual)
	if err == nil && (max(d.primal, d.dual) < shortStep || !d.rooted && d.k.outer.used > outerStruggle) {
		err = errStruggling
	}
	return err
}

// weights chooses the parts of the residuals to remove, product being the gap s'z and enough the residual that need not
// fall. A residual that is small beside the gap, in the objective too, need not fall faster than the gap, and one that
// meets the tolerance need not fall: that would only push a matrix without interior to its boundary.
func (d *direct) weights(p progress, sigma, product, enough float64) (wx, wz float64) {
	wx, wz = 1, 1
	objective := enough * max(1, math.Abs(p.objective))
	// what the residuals can hide of the objective, at most, in the caller's units
	hiddenX, hiddenZ := dotAbs(d.rx, d.x)/d.f.scaling.c, dotAbs(d.rz, d.z)/d.f.scaling.c
	if p.dual <= p.gap && hiddenX <= product {
		wx = 1 - sigma
	}
	if p.primal <= p.gap && hiddenZ <= product {
		wz = 1 - sigma
	}
	switch {
	case p.dual <= enough && hiddenX <= objective:
		wx = 0
	case p.primal <= enough && hiddenZ <= objective:
		wz = 0
	}
	return wx, wz
}

// correct computes the direction to mu = target, with the second-order term of the
// direction at hand if wanted, and the longest steps along d.
func (d *direct) correct(wx, wz, target float64, second bool) error {
	d.primal, d.dual = 0, 0
	if err := d.direction(wx, wz, target, second); err != nil {
		return err
	}
	d.primal, d.dual = d.longestApart(1)
	return nil
}

// move takes the steps, and returns the longer one.
func (d *direct) move() float64 {
	axpy(d.primal, d.dx, d.x)
	axpy(d.primal, d.ds[d.f.zero:], d.s[d.f.zero:])
	axpy(d.dual, d.dz, d.z)
	return max(d.primal, d.dual)
}

// remains is the size of what the direct method reduces.
type remains struct{ rx, rz, mu float64 }

// standing returns the largest part that is left of the residuals and of mu at the start. A stall always counts.
func (d *direct) standing() (left float64, late bool) {
	now := remains{maxAbs(d.rx), maxAbs(d.rz), d.mu}
	if d.first.mu == 0 {
		d.first = now
	}
	part := func(now, first float64) float64 {
		if first == 0 {
			return 0
		}
		return now / first
	}
	return max(part(now.rx, d.first.rx), part(now.rz, d.first.rz), part(now.mu, d.first.mu)), true
}

// direction computes the direction to mu = target, 0 for the affine one, with or without the second-order term of the
// direction at hand, the right-hand sides being -wx and -wz times the residuals.
func (d *direct) direction(wx, wz, target float64, second bool) error {
	if d.rooted {
		return d.root.direction(wx, wz, target, second)
	}
	to := refined
	if target == 0 {
		to = accuracy{left: predictorLeft, rows: predictorRows}
		d.affineTerm()
	} else {
		d.combinedTerm(target, second)
	}
	if err := d.newton(wx, wz, to); err != nil {
		return err
	}
	d.slacks(wz)
	return nil
}

const (
	// The smallest multiple of the unit at the start.
	startMin = 10
	// s starts so many times further inside: 26 of the smaller files of SDPLIB take 482 iterations, not 507.
	startInside = 10
	// A residual below this part of the tolerance is not reduced further.
	settled = 0.1
	// A solve that needs more than outerStruggle directions of refineMatrices is the sign to take root.
	outerStruggle = 6
	// The mu below which sigma is the plain quotient.
	smallMu = 1e-6
)

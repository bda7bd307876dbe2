package native

import "math"

// progress measures the iterate on the caller's scale.
type progress struct {
	primal, dual, gap float64 // as in backends.Residuals
	objective, bound  float64
	// doubt bounds what the residuals can hide of the objective, sum |rd_j x_j| +
	// sum |rp_i z_i|, relative to it.
	doubt float64
	// hidden is what the residuals add to the gap beyond s'z, relative as the gap.
	hidden float64

	worst            float64 // of primal, dual and gap
	noPoint, noBound float64 // how near the iterate is to a certificate, see proofs
}

// measure computes the residuals of (x, s, z)/tau without the scaling, and how near the iterate is to a certificate.
func (it *iterate) measure() progress {
	f, sc, tau := it.f, &it.f.scaling, it.tau
	var rp, nb, nax, ns, rd, nq, npx, naz float64
	for i, e := range sc.e {
		inv := 1 / e
		if f.stop.Reached(vectorWork) {
			return progress{}
		}
		rp = max(rp, math.Abs(it.rz[i])*inv)
		nb = max(nb, math.Abs(f.b[i])*inv)
		nax = max(nax, math.Abs(it.ax[i])*inv)
		ns = max(ns, math.Abs(it.s[i])*inv)
	}
	if f.stop.Reached(4 * f.m) {
		return progress{}
	}
	for j, d := range sc.d {
		inv := 1 / d
		rd = max(rd, math.Abs(it.rx[j])*inv)
		nq = max(nq, math.Abs(f.q[j])*inv)
		npx = max(npx, math.Abs(it.px[j])*inv)
		naz = max(naz, math.Abs(it.atz[j])*inv)
	}
	if f.stop.Reached(4 * f.n) {
		return progress{}
	}
	c := sc.c
	p := progress{
		primal:    rp / tau / max(1, nb, nax/tau, ns/tau),
		dual:      rd / (tau * c) / max(1, nq/c, npx/(tau*c), naz/(tau*c)),
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
	doubt := 0.0
	for j, v := range it.rx {
		doubt += math.Abs(v * it.x[j])
	}
	for i, v := range it.rz {
		doubt += math.Abs(v * it.z[i])
	}
	p.doubt = doubt / (tau * tau * c) / max(1, math.Abs(p.objective))
	size := max(1, min(math.Abs(p.objective), math.Abs(p.bound)))
	p.gap = gap / size
	p.hidden = max(0, math.Abs(p.objective-p.bound)-product) / size
	if p.worst = max(p.primal, p.dual, p.gap); math.IsNaN(p.worst) {
		p.worst = math.Inf(1)
	}
	p.noPoint, p.noBound = it.proofs()
	return p
}

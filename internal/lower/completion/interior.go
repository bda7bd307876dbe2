package completion

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// interior is a primal-dual interior-point method for the dual of a [Problem], whose unknowns are as many as the known
// entries. With t = N w_0, t_g = N w_g and R = R(u) the m x n matrix with u at the known entries (m <= n, or else their
// transpose), it is
//
//	minimize over u   |u|^2 / 2 - y'u   subject to   C(u) = t I - R R'/t >= 0,   |X_g'u| <= t_g,
//
// and 1'u = 0 with an intercept. The multipliers Z >= 0 of C and those of the cones, see [cones], give the point of the
// primal problem,
//
//	G = 2 Z R / t,   b_g = -beta_g,   |G|_* <= tr Z + tr(Z R R') / t^2,
//
// since u - y + A*(G) + X b + b0 = 0, with A* taking the known entries, is where the Lagrangian is stationary. The
// bound of |G|_* holds for every Z and is tight where Z C = 0, so that no singular values are needed anywhere.
//
// In the constrained form t and t_g are unknowns, too, and the objective has r_0 t + sum_g r_g t_g as well; C is
// concave in u and t together.
//
// The method follows the central path, Z C = mu I and its like for the cones, by Mehrotra's predictor and corrector
// with the direction of Helmberg, Rendl, Vanderbei and Wolkowicz, Kojima and others, and Monteiro (SIAM J. Optim. 6,
// 1996): dZ is taken from sym(dZ + Z + Z dC C^-1) = sigma mu C^-1. What is left is a system in du of the order N, see
// system.go. It takes some ten iterations whatever the rank of G and the weights.
type interior struct {
	c    *Problem
	e    *entries
	end  stop.Stop
	tau  float64   // t
	taus []float64 // t_g
	// In the constrained form the bounds of |G|_* and of |b_g|, r_0 first; nil in the
	// penalty form.
	radii []float64

	// The iterate, with the multipliers of the cones in them, and mu, the mean of the products of slacks and multipliers.
	u, multiplier []float64 // multiplier is Z
	cones         *cones
	mu            float64
	steps         int
	// At u: C = L D L', and X'u.
	chol *factor.Definite
	q    []float64
	interiorSystem

	predictor, corrector interiorStep
	// A point on the way, with room for its slacks.
	trial struct {
		tau        float64
		taus, u, q []float64
		chol, plus *factor.Definite
	}
	outer, products []float64 // m x m, m x n
	second          struct {
		t                float64
		u, f, multiplier []float64
	}
}

// interiorStep is a change of u, t, t_g and the multipliers, and q = X'du.
type interiorStep struct {
	tau                    float64
	taus, u, multiplier, q []float64
	rho, beta              []float64 // of the cones
}

func (d *interiorStep) scale(a float64) {
	d.tau *= a
	for _, v := range [][]float64{d.taus, d.u, d.multiplier, d.q, d.rho, d.beta} {
		floats.Scale(a, v)
	}
}

const (
	// interiorMost bounds the known entries, and interiorOrder the dimensions, for which [interior] is used: the work of
	// an iteration is N^3 / 3 + N^2 p and about 20 m^3, and its matrix has N^2 numbers. Factors take as long at 500
	// entries, and a half to a tenth of the time at 700 to 1500.
	interiorMost, interiorOrder = 600, 120
	// interiorSteps bounds the iterations; in the constrained form withinSteps, as bounds that hold nothing back, with t
	// and t_g going to 0, are not for this method.
	interiorSteps, withinSteps = 60, 30
	// interiorInside is the share of the way to the boundary of the constraints that a step keeps to.
	interiorInside = 0.9995
)

// interiorLadder are the lengths of steps that are tried, and 0 for none.
var interiorLadder = [...]float64{.999, .99, .97, .94, .9, .8, .7, .6, .5, .4, .3, .2, .1, .05, .02, .01, .001, 0}

// interiorData is what all runs of a completion share.
type interiorData struct {
	*entries
	transposed bool
	features   []float64 // N x p, centred with an intercept, group by group
	order      []int     // the feature of each of its columns
	start      []int     // the first column of each group, and p
}

func newInteriorData(c *Problem) *interiorData {
	N, p := c.groups.X.Dims()
	d := &interiorData{features: make([]float64, N*p), transposed: c.m > c.n}
	if d.transposed {
		d.entries = newEntries(c.n, c.m, c.col, c.row)
	} else {
		d.entries = newEntries(c.m, c.n, c.row, c.col)
	}
	for _, group := range c.groups.Members {
		d.start = append(d.start, len(d.order))
		for _, j := range group {
			to := d.features[len(d.order)*N : (len(d.order)+1)*N]
			d.order = append(d.order, j)
			if c.groups.Norm2[j] == 0 {
				continue
			}
			c.groups.X.Axpy(1, j, to)
			if c.groups.Mean != nil {
				floats.AddConst(-c.groups.Mean[j], to)
			}
		}
	}
	d.start = append(d.start, len(d.order))
	return d
}

// newInterior has the weights of the penalty form, or else, with any, the bounds of the constrained form.
func newInterior(c *Problem, weights, radii []float64) *interior {
	N, p := c.groups.X.Dims()
	e, k := c.interior.entries, len(weights)-1
	m, n := e.m, e.n
	vec := func(n int) []float64 { return make([]float64, n) }
	step := func() interiorStep { return interiorStep{0, vec(k), vec(N), vec(m * m), vec(p), vec(k), vec(p)} }
	s := &interior{
		c: c, e: e, tau: float64(N) * weights[0], taus: vec(k),
		u: vec(N), multiplier: vec(m * m), cones: newCones(k, p), chol: factor.NewDefinite(m), q: vec(p),
		interiorSystem: newInteriorSystem(N, m, n, p),
		predictor:      step(), corrector: step(),
		outer: vec(m * m), products: vec(m * n),
	}
	floats.AddScaled(s.taus, float64(N), weights[1:])
	s.trial.u, s.trial.q, s.trial.taus = vec(N), vec(p), vec(k)
	s.trial.chol, s.trial.plus = factor.NewDefinite(m), factor.NewDefinite(m)
	s.second.u, s.second.f, s.second.multiplier = vec(N), vec(N), vec(m*m)
	s.radii, s.rhs = radii, vec(N+len(radii))
	if c.groups.Intercept {
		s.ones = vec(N + len(radii))
	}
	return s
}

// group is the part of a vector of coefficients in group g, column a column of the features.
func (s *interior) group(v []float64, g int) []float64 {
	return v[s.c.interior.start[g]:s.c.interior.start[g+1]]
}

func (s *interior) column(j int) []float64 {
	N := len(s.u)
	return s.c.interior.features[j*N : (j+1)*N]
}

// slack computes C, factored, and X'u; it says whether (u, t, t_g) is strictly feasible.
func (s *interior) slack(u []float64, tau float64, taus []float64, f *factor.Definite, q []float64) bool {
	for j := range q {
		q[j] = dense.Dot(s.column(j), u)
	}
	for g, t := range taus {
		if !(t > floats.Norm(s.group(q, g), 2)) {
			return false
		}
	}
	s.setSlack(f.L, u, tau)
	return f.Decompose(1e-15 * tau)
}

// setSlack computes C(u, t).
func (s *interior) setSlack(to, u []float64, tau float64) {
	clear(to)
	s.e.outer(to, -1/tau, u, u)
	for i := range s.e.m {
		to[i+i*s.e.m] += tau
	}
}

// look updates what depends on the iterate.
func (s *interior) look() bool { return s.slack(s.u, s.tau, s.taus, s.chol, s.q) }

// leastStart is the least share of y that is tried: no less is feasible where some of it is NaN.
const leastStart = 1e-300

// begin takes u along y, well inside of the constraints, and multipliers on the central path. It says whether y itself
// is not feasible, as otherwise G and b are zero.
func (s *interior) begin() bool {
	y := s.c.groups.Y
	copy(s.u, y)
	share := 1.0
	for share > leastStart && !s.look() {
		share *= 0.7
		for i, v := range y {
			s.u[i] = share * v
		}
	}
	if share == 1 {
		return false
	}
	floats.Scale(0.7, s.u)
	s.look()
	s.centre()
	return true
}

// centre takes the multipliers of the central path for a mu of the order of the gap at zero, |y|^2 / 2.
func (s *interior) centre() {
	y := s.c.groups.Y
	s.mu = floats.Dot(y, y) / (4 * s.degree())
	s.chol.Inverse(s.inverse, s.square, s.square2)
	clear(s.multiplier)
	floats.AddScaled(s.multiplier, s.mu, s.inverse)
	for g, t := range s.taus {
		q := s.group(s.q, g)
		a := s.mu / determinant(t, q)
		s.cones.rho[g] = a * t
		for j, v := range q {
			s.group(s.cones.beta, g)[j] = -a * v
		}
	}
}

// degree is the number of products whose mean is mu.
func (s *interior) degree() float64 { return float64(s.e.m + len(s.taus)) }

// run iterates until the gap, in the unit of N times the objective, is below a target, and returns it.
func (s *interior) run(ctx context.Context, target float64) float64 {
	s.end.Begin(ctx, 0)
	most := interiorSteps
	if s.radii != nil {
		most = withinSteps
	}
	for step := 0; ; step++ {
		s.derive()
		gap := s.gap()
		if gap <= target || step == most || s.end.Look() || !s.form() || s.end.Look() {
			return gap
		}
		s.direct(&s.predictor, 0, nil)
		a := s.length(&s.predictor, 1)
		sigma := math.Min(1, math.Max(0, s.meanAfter(&s.predictor, a)/s.mu))
		s.predictor.scale(a) // at its full length the terms of second order may be much larger than what the step needs
		s.direct(&s.corrector, sigma*sigma, &s.predictor)
		if a = s.length(&s.corrector, interiorInside); a == 0 {
			return gap
		}
		floats.AddScaled(s.u, a, s.corrector.u)
		s.tau += a * s.corrector.tau
		floats.AddScaled(s.taus, a, s.corrector.taus)
		floats.AddScaled(s.cones.rho, a, s.corrector.rho)
		floats.AddScaled(s.cones.beta, a, s.corrector.beta)
		dense.Axpy(a, s.corrector.multiplier, s.multiplier)
		s.steps++
		s.look()
		s.mu = s.meanAfter(&s.corrector, 0)
	}
}

// length is the longest step of the ladder that stays, lengthened by 1 / inside, within the constraints; 0 if there is
// none. As the constraints are convex, all that are shorter than one that stays do so, too, and the ladder is halved.
func (s *interior) length(d *interiorStep, inside float64) float64 {
	if s.allows(d, interiorLadder[0]/inside) {
		return interiorLadder[0]
	}
	shorter := interiorLadder[1:]
	return shorter[sort.Search(len(shorter)-1, func(i int) bool { return s.allows(d, shorter[i]/inside) })]
}

// allows says whether the point at a step is strictly feasible.
func (s *interior) allows(d *interiorStep, a float64) bool {
	for g := range d.rho {
		if !s.allowsCone(g, d, a) {
			return false
		}
	}
	t := &s.trial
	copy(t.plus.L, s.multiplier)
	dense.Axpy(a, d.multiplier, t.plus.L)
	return t.plus.Decompose(0) && s.try(d, a) && s.slack(t.u, t.tau, t.taus, t.chol, t.q)
}

// try sets the trial point to that at a step. It says whether its t and t_g are positive.
func (s *interior) try(d *interiorStep, a float64) bool {
	t := &s.trial
	copy(t.u, s.u)
	dense.Axpy(a, d.u, t.u)
	t.tau = s.tau + a*d.tau
	positive := t.tau > 0
	for g, v := range d.taus {
		t.taus[g] = s.taus[g] + a*v
		positive = positive && t.taus[g] > 0
	}
	return positive
}

// meanAfter is mu after a step: (tr(Z C) + sum_g t_g rho_g + q_g'beta_g) over their number.
func (s *interior) meanAfter(d *interiorStep, a float64) float64 {
	t := &s.trial
	s.try(d, a)
	s.setSlack(s.outer, t.u, t.tau)
	sum := dense.Dot(s.outer, s.multiplier) + a*dense.Dot(s.outer, d.multiplier)
	copy(t.q, s.q)
	floats.AddScaled(t.q, a, d.q)
	for g, tau := range t.taus {
		sum += tau * (s.cones.rho[g] + a*d.rho[g])
		for j, v := range s.group(t.q, g) {
			sum += v * (s.group(s.cones.beta, g)[j] + a*s.group(d.beta, g)[j])
		}
	}
	return sum / s.degree()
}

// gap is the primal objective at G and b less the dual one at u, both times N:
//
//	|r|^2 / 2 + t (tr Z + tr(Z R R') / t^2) + sum_g t_g |b_g| - (y'u - |u|^2 / 2),   r = y - A*(G) - X b - b0.
//
// In the constrained form G and b are shortened to the bounds, and r_0 t + sum_g r_g t_g stands for the penalties.
func (s *interior) gap() float64 {
	y, r := s.c.groups.Y, s.trial.u
	copy(r, y)
	penalty := 0.0
	size := s.nuclear()
	shorter := s.shorten(0, size)
	s.e.gather(r, -2*shorter, s.gamma)
	penalty += s.tau * s.bound(0, size)
	for g, t := range s.taus {
		beta := s.group(s.cones.beta, g)
		size := floats.Norm(beta, 2)
		penalty += t * s.bound(1+g, size)
		shorter := s.shorten(1+g, size)
		for j, v := range beta {
			dense.Axpy(shorter*v, s.column(s.c.interior.start[g]+j), r)
		}
	}
	if s.ones != nil {
		floats.AddConst(-floats.Sum(r)/float64(len(r)), r)
	}
	return floats.Dot(r, r)/2 + penalty - floats.Dot(y, s.u) + floats.Dot(s.u, s.u)/2
}

// nuclear is the bound of |G|_*, tr Z + tr(Z R R') / t^2.
func (s *interior) nuclear() float64 {
	sum := 0.0
	for i := range s.e.m {
		sum += s.multiplier[i+i*s.e.m]
	}
	for j := range s.e.n {
		sum += s.beta[j+j*s.e.n]
	}
	return sum
}

// shorten is what a norm has to be multiplied with to be within its bound, bound the norm itself in the penalty form
// and else its bound.
func (s *interior) shorten(k int, size float64) float64 {
	if s.radii == nil || size <= s.radii[k] {
		return 1
	}
	return s.radii[k] / size
}

func (s *interior) bound(k int, size float64) float64 {
	if s.radii == nil {
		return size
	}
	return s.radii[k]
}

package completion

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
)

// interiorSystem is the linear system of a step of [interior]. Stationarity and complementarity,
//
//	du + A*(2 (dZ R + Z dR) / t) - X dbeta + db0 = y - u - A*(G) - X b,
//	dZ = T - Z + sym(Z E C^-1),   E = -dC = (dR R' + R dR') / t,   dbeta_g = h_g - V_g X_g'du, see [cones],
//
// with T = sigma mu C^-1, leave
//
//	M du + db0 = y - u - A*(2 T R / t) + sum_g X_g (beta_g + h_g).
//
// The corrector adds the terms of second order at the predictor's step to T, h_g and the right-hand side.
// The element of M for the entries (i, j) and (k, l) is
//
//	1 if they are the same,  + Z_ik alpha_jl + C^-1_ik beta_jl + gamma_il kappa_kj + kappa_il gamma_kj,
//	alpha = 2 I / t + R'C^-1 R / t^2,   beta = R'Z R / t^2,   gamma = Z R / t,   kappa = C^-1 R / t,
//
// and X_g V_g X_g' for each group.
type interiorSystem struct {
	inverse         []float64 // C^-1
	kappa, kappaT   []float64 // and its transpose
	gamma, gammaT   []float64
	alpha, beta     []float64
	weighted        []float64        // N x p: the features times what stands between X_g and X_g'
	along           []float64        // X_g w_1 of a cone
	matrix          *factor.Definite // nil before the first step
	ones            []float64        // M^-1 1; nil without an intercept
	square, square2 []float64        // m x m
	rhs             []float64        // of the system
	growth          []float64        // T of border
}

func newInteriorSystem(N, m, n, p int) interiorSystem {
	vec := func(n int) []float64 { return make([]float64, n) }
	return interiorSystem{
		inverse: vec(m * m), growth: vec(m * m), kappa: vec(m * n), kappaT: vec(m * n), gamma: vec(m * n), gammaT: vec(m * n),
		alpha: vec(n * n), beta: vec(n * n), weighted: vec(N * p), along: vec(N),
		square: vec(m * m), square2: vec(m * m),
	}
}

// derive computes what M consists of.
func (s *interior) derive() {
	s.chol.Inverse(s.inverse, s.square, s.square2)
	s.multiply()
}

// multiply computes the products of C^-1 and Z with R.
func (s *interior) multiply() {
	m, n := s.e.m, s.e.n
	s.e.right(s.kappa, 1/s.tau, s.inverse, m, s.u)
	s.e.right(s.gamma, 1/s.tau, s.multiplier, m, s.u)
	transpose(s.kappaT, s.kappa, m, n)
	transpose(s.gammaT, s.gamma, m, n)
	s.e.right(s.alpha, 1/s.tau, s.kappaT, n, s.u)
	s.e.right(s.beta, 1/s.tau, s.gammaT, n, s.u)
	for j := range n {
		s.alpha[j+j*n] += 2 / s.tau
	}
}

// form factors M, in the constrained form with its borders. It says whether that is positive definite, as it is but for
// rounding.
func (s *interior) form() bool {
	size := len(s.u) + len(s.radii)
	if s.matrix == nil {
		s.matrix = factor.NewDefinite(size)
		s.matrix.End = &s.end
	}
	s.scaleCones()
	for g := range s.taus {
		s.weighCone(g)
	}
	s.fill(s.matrix.L, size)
	if s.radii != nil {
		s.border(s.matrix.L, size)
	}
	if !s.matrix.Decompose(0) {
		return false
	}
	if s.ones != nil {
		clear(s.ones)
		for i := range s.u {
			s.ones[i] = 1
		}
		s.matrix.Solve(s.ones)
	}
	return true
}

// fill writes the lower triangle of M, with the weighted features as they are, to a matrix of ld rows.
func (s *interior) fill(h []float64, ld int) {
	N, m, n, p := len(s.u), s.e.m, s.e.n, len(s.q)
	for a, i := range s.e.row {
		if s.end.Reached(4 * (N - a)) {
			return
		}
		j := s.e.col[a]
		z, inverse := s.multiplier[i*m:(i+1)*m], s.inverse[i*m:(i+1)*m]
		alpha, beta := s.alpha[j*n:(j+1)*n], s.beta[j*n:(j+1)*n]
		kappa, gamma := s.kappa[j*m:(j+1)*m], s.gamma[j*m:(j+1)*m]
		kappaT, gammaT := s.kappaT[i*n:(i+1)*n], s.gammaT[i*n:(i+1)*n]
		out, cols := h[a*ld+a:a*ld+N], s.e.col[a:]
		for b, k := range s.e.row[a:] {
			l := cols[b]
			out[b] = z[k]*alpha[l] + inverse[k]*beta[l] + (gammaT[l]*kappa[k] + kappaT[l]*gamma[k])
		}
		out[0]++
	}
	if p > 0 {
		dense.SyrkNT(N, p, s.c.interior.features, N, s.weighted, N, h, ld)
	}
}

// border writes the rows of t and t_g, below those of u, in the constrained form: where the Lagrangian is stationary in
// t,
//
//	r_0 = <Z, T>,   T = I + R R'/t^2,
//
// so that with dC = dt T - E its row is a'du + d dt = <sigma mu C^-1, T> - r_0, with
//
//	a = -2/t A*((S + Z / t) R),   d = <S, T> + 2 <Z, R R'> / t^3,   S = sym(Z T C^-1),
//
// and a dt stands in the rows of u. Those of t_g are in cones.go.
func (s *interior) border(h []float64, ld int) {
	N, m := len(s.u), s.e.m
	for k := N; k < ld; k++ {
		clear(h[k*ld+k : (k+1)*ld])
	}
	clear(s.growth)
	s.e.outer(s.growth, 1/(s.tau*s.tau), s.u, s.u)
	for i := range m {
		s.growth[i+i*m]++
	}
	s.sandwich(s.square2, s.growth)
	h[N+N*ld] = dense.Dot(s.square2, s.growth)
	for j := range s.e.n {
		h[N+N*ld] += 2 / s.tau * s.beta[j+j*s.e.n]
	}
	dense.Axpy(1/s.tau, s.multiplier, s.square2)
	a := make([]float64, N)
	s.pull(a, -2/s.tau, s.square2, s.u)
	for k, v := range a {
		h[N+k*ld] = v
	}
	for g := range s.taus {
		at := N + 1 + g
		h[at+at*ld] = s.borderCone(g, a)
		for k, v := range a {
			h[at+k*ld] = v
		}
	}
}

// solve sets v to the solution of M x + b0 1 = v, 1'x = 0 with an intercept, and of M x = v without.
func (s *interior) solve(v []float64) {
	s.matrix.Solve(v)
	if s.ones != nil {
		N := len(s.u)
		floats.AddScaled(v, -floats.Sum(v[:N])/floats.Sum(s.ones[:N]), s.ones)
	}
}

// sandwich sets to to sym(Z A C^-1) for a symmetric A.
func (s *interior) sandwich(to, a []float64) {
	m := s.e.m
	clear(s.square)
	dense.GemmNT(m, m, m, s.multiplier, m, a, m, s.square, m) // -Z A
	clear(to)
	dense.GemmNT(m, m, m, s.square, m, s.inverse, m, to, m)
	symmetrise(to, m)
}

// pull adds a A*(B R(v)) to out, for B of m x m.
func (s *interior) pull(out []float64, a float64, b, v []float64) {
	s.e.right(s.products, a, b, s.e.m, v)
	s.e.gather(out, 1, s.products)
}

// change sets outer to -dC = (dR R' + R dR') / t - dt (I + R R' / t^2).
func (s *interior) change(d *interiorStep) {
	clear(s.outer)
	s.e.outer(s.outer, 1/s.tau, d.u, s.u)
	s.e.outer(s.outer, 1/s.tau, s.u, d.u)
	if d.tau != 0 {
		dense.Axpy(-d.tau, s.growth, s.outer)
	}
}

// direct computes the step to sigma mu, with the terms of second order at a predictor, if there is one.
func (s *interior) direct(d *interiorStep, sigma float64, first *interiorStep) {
	N := len(s.u)
	du := s.rhs[:N]
	for i, y := range s.c.groups.Y {
		du[i] = y - s.u[i]
	}
	if first != nil {
		s.correct(first)
		floats.Add(du, s.second.u)
	}
	for i, v := range s.inverse {
		d.multiplier[i] = sigma * s.mu * v
	}
	if first != nil {
		floats.Add(d.multiplier, s.second.multiplier)
	}
	s.pull(du, -2/s.tau, d.multiplier, s.u)
	if s.radii != nil {
		s.rhs[N] = dense.Dot(d.multiplier, s.growth) - s.radii[0]
		if first != nil {
			s.rhs[N] += s.second.t
		}
	}
	for g := range s.taus {
		size := s.aimCone(g, sigma*s.mu, du, first != nil)
		if s.radii != nil {
			s.rhs[N+1+g] = size - s.radii[1+g]
		}
	}
	s.solve(s.rhs)
	copy(d.u, du)
	if s.radii != nil {
		d.tau = s.rhs[N]
		copy(d.taus, s.rhs[N+1:])
	}
	s.change(d)
	s.sandwich(s.square2, s.outer)
	floats.Add(d.multiplier, s.square2)
	floats.Sub(d.multiplier, s.multiplier)
	for j := range d.q {
		d.q[j] = dense.Dot(s.column(j), d.u)
	}
	for g := range s.taus {
		s.moveCone(g, d)
	}
}

// correct computes the terms of second order at a step. With F = dR - dt R / t they are
//
//	-sym((dZ dC + Z d2C) C^-1),   d2C = -F F' / t,
//
// in Z, those of [cones], and on the right-hand side of the rows of u and, in the constrained form, of t
//
//	-2/t A*((dZ - dt Z / t) F),   <dZ - dt Z / t, F R' + R F'> / t^2 + <Z, F F'> / t^2.
func (s *interior) correct(d *interiorStep) {
	m, to := s.e.m, s.second.multiplier
	s.change(d)
	clear(s.square)
	dense.GemmNT(m, m, m, d.multiplier, m, s.outer, m, s.square, m)
	f := s.second.f
	copy(f, d.u)
	dense.Axpy(-d.tau/s.tau, s.u, f)
	clear(s.outer)
	s.e.outer(s.outer, 1/s.tau, f, f)
	dense.GemmNT(m, m, m, s.multiplier, m, s.outer, m, s.square, m)
	clear(to)
	dense.GemmNT(m, m, m, s.square, m, s.inverse, m, to, m)
	symmetrise(to, m)

	copy(s.square2, d.multiplier)
	dense.Axpy(-d.tau/s.tau, s.multiplier, s.square2)
	clear(s.second.u)
	s.pull(s.second.u, -2/s.tau, s.square2, f)
	if s.radii != nil {
		s.second.t = dense.Dot(s.multiplier, s.outer) / s.tau
		clear(s.outer)
		s.e.outer(s.outer, 2/(s.tau*s.tau), f, s.u)
		s.second.t += dense.Dot(s.square2, s.outer)
	}
	for g := range s.taus {
		s.correctCone(g, d)
	}
}

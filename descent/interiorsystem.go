package descent

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// interiorSystem is the linear system of a step of [interior]. Stationarity and complementarity,
//
//	du + A*(2 (dZ R + Z dR) / t) + sum_g X_g (2/t_g) (dz_g q_g + z_g X_g'du) + db0 = y - u - A*(G) - X b,
//	dZ = T - Z + sym(Z E C^-1),   dz_g = T_g - z_g + z_g (2 q_g'X_g'du / t_g) / c_g,   E = -dC = (dR R' + R dR') / t,
//
// with q = X'u, T = sigma mu C^-1 and T_g = sigma mu / c_g, leave
//
//	M du + db0 = y - u - A*(2 T R / t) - sum_g X_g q_g 2 T_g / t_g.
//
// The corrector adds the terms of second order at the predictor's step to T, T_g and the right-hand side.
// The element of M for the entries (i, j) and (k, l) is
//
//	1 if they are the same,  + Z_ik alpha_jl + C^-1_ik beta_jl + gamma_il kappa_kj + kappa_il gamma_kj,
//	alpha = 2 I / t + R'C^-1 R / t^2,   beta = R'Z R / t^2,   gamma = Z R / t,   kappa = C^-1 R / t,
//
// and X_g (2 z_g / t_g I + 4 z_g / (c_g t_g^2) q_g q_g') X_g' for each group.
type interiorSystem struct {
	inverse         []float64 // C^-1
	kappa, kappaT   []float64 // and its transpose
	gamma, gammaT   []float64
	alpha, beta     []float64
	weighted        []float64  // N x p: the features times what stands between X_g and X_g'
	along           []float64  // X_g q_g
	matrix          *triangles // nil before the first step
	ones            []float64  // M^-1 1; nil without an intercept
	square, square2 []float64  // m x m
}

func newInteriorSystem(N, m, n, p int, intercept bool) interiorSystem {
	vec := func(n int) []float64 { return make([]float64, n) }
	s := interiorSystem{
		inverse: vec(m * m), kappa: vec(m * n), kappaT: vec(m * n), gamma: vec(m * n), gammaT: vec(m * n),
		alpha: vec(n * n), beta: vec(n * n), weighted: vec(N * p), along: vec(N),
		square: vec(m * m), square2: vec(m * m),
	}
	if intercept {
		s.ones = vec(N)
	}
	return s
}

// derive computes what M consists of.
func (s *interior) derive() {
	s.chol.inverse(s.inverse, s.square, s.square2)
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

// form factors M. It says whether that is positive definite, as it is but for rounding.
func (s *interior) form() bool {
	if s.matrix == nil {
		s.matrix = newTriangles(len(s.u))
	}
	s.fill(s.matrix.l, len(s.u))
	if !s.matrix.factor(0) {
		return false
	}
	if s.ones != nil {
		for i := range s.ones {
			s.ones[i] = 1
		}
		s.matrix.solve(s.ones)
	}
	return true
}

// fill writes the lower triangle of M to a matrix of ld rows.
func (s *interior) fill(h []float64, ld int) {
	N, m, n, p := len(s.u), s.e.m, s.e.n, len(s.q)
	row, col := s.e.row, s.e.col
	for a, i := range row {
		j := col[a]
		z, c, kj, gj := s.multiplier[i*m:(i+1)*m], s.inverse[i*m:(i+1)*m], s.kappa[j*m:(j+1)*m], s.gamma[j*m:(j+1)*m]
		aj, bj, ki, gi := s.alpha[j*n:(j+1)*n], s.beta[j*n:(j+1)*n], s.kappaT[i*n:(i+1)*n], s.gammaT[i*n:(i+1)*n]
		out := h[a*ld : a*ld+N]
		for b := a; b < N; b++ {
			k, l := row[b], col[b]
			out[b] = z[k]*aj[l] + c[k]*bj[l] + gi[l]*kj[k] + ki[l]*gj[k]
		}
		out[a]++
	}
	for g, t := range s.taus {
		q, from := s.group(s.q, g), s.c.interior.start[g]
		clear(s.along)
		for j, v := range q {
			dense.Axpy(v, s.column(from+j), s.along)
		}
		a, b := 2*s.z[g]/t, 4*s.z[g]/(s.cg[g]*t*t)
		for j, v := range q {
			x, to := s.column(from+j), s.weighted[(from+j)*N:(from+j+1)*N]
			for k, w := range s.along {
				to[k] = -a*x[k] - b*v*w
			}
		}
	}
	if p > 0 {
		dense.SyrkNT(N, p, s.c.interior.features, N, s.weighted, N, h, ld)
	}
}

// solve sets v to the solution of M x + b0 1 = v, 1'x = 0 with an intercept, and of M x = v without.
func (s *interior) solve(v []float64) {
	s.matrix.solve(v)
	if s.ones != nil {
		floats.AddScaled(v, -floats.Sum(v)/floats.Sum(s.ones), s.ones)
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

// change sets outer to E = (dR R' + R dR') / t.
func (s *interior) change(u []float64) {
	clear(s.outer)
	s.e.outer(s.outer, 1/s.tau, u, s.u)
	s.e.outer(s.outer, 1/s.tau, s.u, u)
}

// direct computes the step to sigma mu, with the terms of second order at a predictor, if there is one.
func (s *interior) direct(d *interiorStep, sigma float64, first *interiorStep) {
	for i, y := range s.c.groups.y {
		d.u[i] = y - s.u[i]
	}
	if first != nil {
		s.correct(first)
		s.pull(d.u, -2/s.tau, first.multiplier, first.u)
	}
	for i, v := range s.inverse {
		d.multiplier[i] = sigma * s.mu * v
	}
	if first != nil {
		floats.Add(d.multiplier, s.second.multiplier)
	}
	s.pull(d.u, -2/s.tau, d.multiplier, s.u)
	for g, t := range s.taus {
		d.z[g] = sigma * s.mu / s.cg[g]
		if first != nil {
			d.z[g] += s.second.z[g]
		}
		for j, v := range s.group(s.q, g) {
			at := s.c.interior.start[g] + j
			v *= d.z[g]
			if first != nil {
				v += first.z[g] * first.q[at]
			}
			dense.Axpy(-2/t*v, s.column(at), d.u)
		}
	}
	s.solve(d.u)
	s.change(d.u)
	s.sandwich(s.square2, s.outer)
	floats.Add(d.multiplier, s.square2)
	floats.Sub(d.multiplier, s.multiplier)
	for j := range d.q {
		d.q[j] = dense.Dot(s.column(j), d.u)
	}
	for g, t := range s.taus {
		d.z[g] += s.z[g] * (2*floats.Dot(s.group(s.q, g), s.group(d.q, g))/(t*s.cg[g]) - 1)
	}
}

// correct computes the terms of second order of Z C and z_g c_g at a step,
//
//	-sym((dZ dC + Z d2C) C^-1),   -(dz_g dc_g + z_g d2c_g) / c_g,   d2C = -dR dR' / t,   d2c_g = -|X_g'du|^2 / t_g.
func (s *interior) correct(d *interiorStep) {
	m, to := s.e.m, s.second.multiplier
	s.change(d.u)
	clear(s.square)
	dense.GemmNT(m, m, m, d.multiplier, m, s.outer, m, s.square, m)
	clear(s.outer)
	s.e.outer(s.outer, 1/s.tau, d.u, d.u)
	dense.GemmNT(m, m, m, s.multiplier, m, s.outer, m, s.square, m) // -(dZ E + Z dR dR'/t)
	clear(to)
	dense.GemmNT(m, m, m, s.square, m, s.inverse, m, to, m)
	symmetrise(to, m)
	for g, t := range s.taus {
		q, dq := s.group(s.q, g), s.group(d.q, g)
		s.second.z[g] = (2*d.z[g]*floats.Dot(q, dq) + s.z[g]*floats.Dot(dq, dq)) / (t * s.cg[g])
	}
}

package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// cones are the second-order cones s_g = (t_g, q_g) of [interior], q_g = X_g'u, with multipliers (rho_g, beta_g) in the
// same cones, for which stationarity is u - y + A*(G) - X beta + b0 = 0: b_g = -beta_g, and in the constrained form
// rho_g = r_g. The scaling is that of Nesterov and Todd, with W such that W z = W^-1 s = lambda, and
//
//	lambda o (W dz + W^-1 ds) = sigma mu e - lambda o lambda - (W^-1 ds) o (W dz),   x o y = (x'y, x_0 y_1 + y_0 x_1),
//
// in which the last term is the predictor's. With h = lambda \ (right-hand side) it is dz = W^-1 h - W^-2 ds.
type cones struct {
	rho, beta    []float64
	eta, w0      []float64 // W = eta [w_0 w_1'; w_1 I + w_1 w_1' / (1 + w_0)]
	w1           []float64
	l0, l1       []float64 // lambda
	d0, d1       []float64 // W^-1 h
	extra0       []float64 // (W^-1 ds) o (W dz)
	extra1       []float64
	part0, part1 []float64
}

func newCones(k, p int) *cones {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &cones{vec(k), vec(p), vec(k), vec(k), vec(p), vec(k), vec(p), vec(k), vec(p), vec(k), vec(p), vec(k), vec(p)}
}

// determinant is x_0^2 - |x_1|^2.
func determinant(x0 float64, x1 []float64) float64 {
	size := floats.Norm(x1, 2)
	return (x0 - size) * (x0 + size)
}

// scaleCones computes W and lambda.
func (s *interior) scaleCones() {
	c := s.cones
	for g, t := range s.taus {
		q, beta, w1, l1 := s.group(s.q, g), s.group(c.beta, g), s.group(c.w1, g), s.group(c.l1, g)
		ds, dz := math.Sqrt(determinant(t, q)), math.Sqrt(determinant(c.rho[g], beta))
		inner := t * c.rho[g]
		for j, v := range q {
			inner += v * beta[j]
		}
		scale := 2 * math.Sqrt((1+inner/(ds*dz))/2)
		c.w0[g] = (t/ds + c.rho[g]/dz) / scale
		for j, v := range q {
			w1[j] = (v/ds - beta[j]/dz) / scale
		}
		c.eta[g] = math.Sqrt(ds / dz)
		c.l0[g] = s.multiplyCone(g, c.rho[g], beta, l1)
	}
}

// multiplyCone sets to to the vector part of W x, and returns the first one.
func (s *interior) multiplyCone(g int, x0 float64, x1, to []float64) float64 {
	c, w1 := s.cones, s.group(s.cones.w1, g)
	along := floats.Dot(w1, x1)
	for j, w := range w1 {
		to[j] = c.eta[g] * (x0*w + x1[j] + along/(1+c.w0[g])*w)
	}
	return c.eta[g] * (c.w0[g]*x0 + along)
}

// divideCone is that of W^-1 x.
func (s *interior) divideCone(g int, x0 float64, x1, to []float64) float64 {
	c, w1 := s.cones, s.group(s.cones.w1, g)
	along := floats.Dot(w1, x1)
	for j, w := range w1 {
		to[j] = (x1[j] - x0*w + along/(1+c.w0[g])*w) / c.eta[g]
	}
	return (c.w0[g]*x0 - along) / c.eta[g]
}

// weighCone sets the weighted features to -X_g V, for V of W^-2 = [d a'; a V] = (2 (w_0, -w_1) (w_0, -w_1)' - J) /
// eta^2.
func (s *interior) weighCone(g int) {
	c, from, N := s.cones, s.c.interior.start[g], len(s.u)
	w1, a := s.group(c.w1, g), 1/(c.eta[g]*c.eta[g])
	clear(s.along)
	for j, v := range w1 {
		dense.Axpy(v, s.column(from+j), s.along)
	}
	for j, v := range w1 {
		x, to := s.column(from+j), s.weighted[(from+j)*N:(from+j+1)*N]
		for k, w := range s.along {
			to[k] = -a * (x[k] + 2*v*w)
		}
	}
}

// borderCone returns d of W^-2 and sets to to X_g a.
func (s *interior) borderCone(g int, to []float64) float64 {
	c, a := s.cones, 1/(s.cones.eta[g]*s.cones.eta[g])
	clear(to)
	for j, v := range s.group(c.w1, g) {
		dense.Axpy(-2*a*c.w0[g]*v, s.column(s.c.interior.start[g]+j), to)
	}
	return a * (2*c.w0[g]*c.w0[g] - 1)
}

// aimCone computes W^-1 h, and adds X_g (beta_g + its vector part) to the right-hand side of u. It returns that of t_g
// but for r_g, rho_g + its first part.
func (s *interior) aimCone(g int, target float64, du []float64, second bool) float64 {
	c := s.cones
	l1, d1, h := s.group(c.l1, g), s.group(c.d1, g), s.group(c.part1, g)
	l0 := c.l0[g]
	right := target - l0*l0 - floats.Dot(l1, l1)
	for j, v := range l1 {
		h[j] = -2 * l0 * v
	}
	if second {
		right -= c.extra0[g]
		floats.Sub(h, s.group(c.extra1, g))
	}
	h0 := (l0*right - floats.Dot(l1, h)) / determinant(l0, l1)
	for j, v := range l1 {
		h[j] = (h[j] - h0*v) / l0
	}
	c.d0[g] = s.divideCone(g, h0, h, d1)
	for j, v := range s.group(c.beta, g) {
		dense.Axpy(v+d1[j], s.column(s.c.interior.start[g]+j), du)
	}
	return c.rho[g] + c.d0[g]
}

// moveCone sets the change of the multipliers, dz = W^-1 h - W^-2 ds.
func (s *interior) moveCone(g int, d *interiorStep) {
	c, part := s.cones, s.group(s.cones.part1, g)
	dq, to := s.group(d.q, g), s.group(d.beta, g)
	first := s.divideCone(g, d.taus[g], dq, part)
	d.rho[g] = c.d0[g] - s.divideCone(g, first, part, to)
	for j, v := range s.group(c.d1, g) {
		to[j] = v - to[j]
	}
}

// correctCone computes (W^-1 ds) o (W dz).
func (s *interior) correctCone(g int, d *interiorStep) {
	c := s.cones
	a, to := s.group(c.part1, g), s.group(c.extra1, g)
	b := make([]float64, len(a))
	a0 := s.divideCone(g, d.taus[g], s.group(d.q, g), a)
	b0 := s.multiplyCone(g, d.rho[g], s.group(d.beta, g), b)
	c.extra0[g] = a0*b0 + floats.Dot(a, b)
	for j := range to {
		to[j] = a0*b[j] + b0*a[j]
	}
}

// allowsCone says whether a step leaves the multipliers inside.
func (s *interior) allowsCone(g int, d *interiorStep, a float64) bool {
	part := s.group(s.cones.part1, g)
	copy(part, s.group(s.cones.beta, g))
	floats.AddScaled(part, a, s.group(d.beta, g))
	return s.cones.rho[g]+a*d.rho[g] > floats.Norm(part, 2)
}

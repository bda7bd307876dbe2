package descent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// Derivative returns the derivatives of <v, X b + G + b0>, over the rows of x and the places row, col of any
// entries, in the weights, at a solution for them: in w_0 and in each w_g.
//
// Where the interior-point method is used, its central path is differentiated near its end, by one direct solve; else the
// smooth objective on the matrices of G's rank, with a linear system that is solved to tol.
func (c *Completion) Derivative(w CompletionWeights, s *CompletionSolution, v []float64, x *Design, row, col []int, tol float64) (nuclear float64, groups []float64, err error) {
	if n, p := x.Dims(); n != len(v) || p != c.groups.x.p || len(row) != n || len(col) != n {
		return 0, nil, fmt.Errorf("descent: %d numbers, %d and %d indices for a design of %d x %d, expected as many as its rows, and %d columns", len(v), len(row), len(col), n, p, c.groups.x.p)
	}
	norm, _, err := c.groups.weights(GroupWeights{Norm: w.Norm})
	if err != nil {
		return 0, nil, err
	}
	if s.Left == nil && len(s.Support) == 0 {
		return 0, make([]float64, len(norm)), nil
	}
	if c.interior != nil {
		p := newInterior(c, w.Nuclear, norm)
		if nuclear, groups, ok := p.limitDerivative(s, v, x, row, col); ok {
			return nuclear, groups, nil
		}
	}
	f, err := c.Surface(w, s)
	if err != nil {
		return 0, nil, err
	}
	q := f.Zero()
	f.Pull(q, 1, v, x, row, col)
	if c.groups.intercept { // b0 is the mean of what the rest leaves of the targets
		f.PullMean(q, -floats.Sum(v))
	}
	t := f.Solve(q, tol, 20*(len(q.A)+len(q.B)+len(q.S)))
	nuclear, groups = f.WeightDerivatives(t)
	for k := range groups {
		groups[k] = -groups[k]
	}
	return -nuclear, groups, nil
}

// limitShare is a value of mu degree / (|y|^2 / 2), at which the path is differentiated. The error that comes of rounding is
// of the order of 1e-16 / limitShare, that of mu itself of the order of limitShare, and of its square after extrapolation from two values.
const limitShare = 1e-8

// limitDerivative extrapolates the derivative at two points of the path to its end.
func (s *interior) limitDerivative(at *CompletionSolution, v []float64, x *Design, row, col []int) (nuclear float64, groups []float64, ok bool) {
	y := s.c.groups.y
	mu := limitShare * floats.Dot(y, y) / (2 * s.degree())
	for _, part := range []struct{ mu, weight float64 }{{mu, 2}, {2 * mu, -1}} {
		if !s.limit(at, part.mu) || !s.form() {
			return 0, nil, false
		}
		d, dg := s.derivative(v, x, row, col)
		if groups == nil {
			groups = make([]float64, len(dg))
		}
		nuclear += part.weight * d
		floats.AddScaled(groups, part.weight, dg)
	}
	return nuclear, groups, true
}

// limit goes to a point near the end of the central path, made from a solution: u is its residual, and with Z = L L' on the
// range of L, where C vanishes, and C on the complement, where Z does,
//
//	C^-1 = L L'/mu + pinv(Q C Q),   Z = L L' + mu pinv(Q C Q),   Q = I - L (L'L)^-1 L',
//
// so that Z C = mu I to rounding, which sym(Z dC C^-1) needs where it goes from one of the spaces to the other. The same
// is z_g c_g = mu with z_g from the coefficients of the groups in use, and c_g of the others. It says whether there is such a point.
func (s *interior) limit(at *CompletionSolution, mu float64) bool {
	m := s.e.m
	s.mu = mu
	copy(s.u, at.Residual)
	s.slack(s.u, s.chol, s.q, s.cg)
	for g, t := range s.taus {
		size := 0.0
		for j := range s.group(s.q, g) {
			size = math.Hypot(size, at.B[s.c.interior.order[s.c.interior.start[g]+j]])
		}
		q := floats.Norm(s.group(s.q, g), 2)
		if s.z[g] = size * t / (2 * q); size > 0 {
			s.cg[g] = s.mu / s.z[g]
			continue
		}
		if s.cg[g] = t - q*q/t; !(s.cg[g] > 0) {
			return false
		}
		s.z[g] = s.mu / s.cg[g]
	}
	left := at.Left
	if s.c.interior.transposed {
		left = at.Right
	}
	clear(s.multiplier)
	s.setSlack(s.outer, s.u)
	if left != nil {
		_, rank := left.Dims()
		raw := left.RawMatrix()
		l := make([]float64, m*rank) // by columns
		for i := range m {
			for k, v := range raw.Data[i*raw.Stride : i*raw.Stride+rank] {
				l[i+k*m] = v / math.Sqrt2
			}
		}
		minus := make([]float64, m*rank)
		floats.AddScaled(minus, -1, l)
		dense.GemmNT(m, m, rank, minus, m, l, m, s.multiplier, m)
		p, ok := projector(l, m, rank)
		if !ok {
			return false
		}
		// Q C Q + t P, whose inverse has P/t where C vanishes.
		for i := range p {
			p[i] = -p[i]
		}
		q := make([]float64, m*m)
		floats.Add(q, p)
		for i := range m {
			q[i+i*m]++
		}
		minusQ := make([]float64, m*m)
		floats.AddScaled(minusQ, -1, q)
		clear(s.square)
		dense.GemmNT(m, m, m, minusQ, m, s.outer, m, s.square, m)
		clear(s.outer)
		dense.GemmNT(m, m, m, s.square, m, minusQ, m, s.outer, m)
		floats.AddScaled(s.outer, -s.tau, p)
		copy(s.chol.l, s.outer)
		if !s.chol.factor(1e-15 * s.tau) {
			return false
		}
		s.chol.inverse(s.inverse, s.square, s.square2)
		floats.AddScaled(s.inverse, 1/s.tau, p)
	} else {
		copy(s.chol.l, s.outer)
		if !s.chol.factor(1e-15 * s.tau) {
			return false
		}
		s.chol.inverse(s.inverse, s.square, s.square2)
	}
	for i, v := range s.inverse {
		z := s.multiplier[i]
		s.inverse[i], s.multiplier[i] = v+z/s.mu, z+s.mu*v
	}
	s.multiply()
	return true
}

// projector returns L (L'L)^-1 L' for L of m x rank.
func projector(l []float64, m, rank int) ([]float64, bool) {
	qr := mat.QR{}
	a := mat.NewDense(rank, m, l).T() // columns of L are rows of the storage
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	p := make([]float64, m*m)
	var out mat.Dense
	u := q.Slice(0, m, 0, rank)
	out.Mul(u, u.T())
	for i := range m {
		for j := range m {
			p[i+j*m] = out.At(i, j)
		}
	}
	return p, true
}

// derivative is that of [Completion.Derivative]. Along the central path with mu held, for a change dt of t,
//
//	dG = 2 (Z dR + sym(Z E C^-1) R) / t + dt G_t,   G_t = -2 (Z R / t + sym(Z (I + R R'/t^2) C^-1) R) / t,
//
// where stationarity gives M du + db0 = -A*(G_t) dt, and for a change of t_g
//
//	db_g = (2 z_g / t_g I + 4 z_g / (c_g t_g^2) q_g q_g') X_g'du + dt_g b_t,   b_t = -(2 z_g / t_g^2 + 2 z_g (1 + |q_g|^2/t_g^2) / (t_g c_g)) q_g
//
// with M du + db0 = -X_g b_t dt_g. Both maps of du are symmetric: with V the matrix that has v at the other entries, s = X_other'v
// and x the solution of M x + x0 = h, 1'x = 1'v, where h is the map at V in the place of dR and s in that of X'du,
//
//	d/dt = <V - R(x), G_t>,   d/dt_g = (s_g - X_g'x)'b_t.
func (s *interior) derivative(v []float64, x *Design, row, col []int) (nuclear float64, groups []float64) {
	d, m, N := s.c.interior, s.e.m, float64(len(s.u))
	if d.transposed {
		row, col = col, row
	}
	other := newEntries(m, s.e.n, row, col)
	pulled := make([]float64, len(d.order))
	for at, j := range d.order {
		if s.c.groups.norm2[j] == 0 {
			continue
		}
		pulled[at] = x.dot(j, v)
		if s.c.groups.mean != nil {
			pulled[at] -= s.c.groups.mean[j] * floats.Sum(v)
		}
	}
	// E at V: outer products of V with R.
	full := make([]float64, m*s.e.n)
	at := func(k int) int { return row[k] + col[k]*m }
	for k, a := range v {
		full[at(k)] += a
	}
	cross := make([]float64, m*m) // V R' / t
	for k, a := range s.u {
		dense.Axpy(a/s.tau, full[s.e.col[k]*m:(s.e.col[k]+1)*m], cross[s.e.row[k]*m:(s.e.row[k]+1)*m])
	}
	clear(s.outer)
	for j := range m {
		for i := range m {
			s.outer[i+j*m] = cross[i+j*m] + cross[j+i*m]
		}
	}
	h := make([]float64, len(s.u))
	s.sandwich(s.square2, s.outer)
	s.pull(h, 2/s.tau, s.square2, s.u)
	other.right(s.products, 2/s.tau, s.multiplier, m, v)
	s.e.gather(h, 1, s.products)
	for g, t := range s.taus {
		q, from := s.group(s.q, g), d.start[g]
		inner := 4 * s.z[g] / (s.cg[g] * t * t) * floats.Dot(q, s.group(pulled, g))
		for j, w := range q {
			dense.Axpy(2*s.z[g]/t*pulled[from+j]+inner*w, s.column(from+j), h)
		}
	}
	s.solve(h, floats.Sum(v))
	// Z R / t + sym(Z (I + R R'/t^2) C^-1) R
	clear(s.outer)
	s.e.outer(s.outer, 1/(s.tau*s.tau), s.u, s.u)
	for i := range m {
		s.outer[i+i*m]++
	}
	s.sandwich(s.square2, s.outer)
	s.e.right(s.products, 1, s.square2, m, s.u)
	floats.Add(s.products, s.gamma)
	sum := 0.0
	for k, a := range v {
		sum += a * s.products[at(k)]
	}
	for k, a := range h {
		sum -= a * s.products[s.e.row[k]+s.e.col[k]*m]
	}
	nuclear = -2 / s.tau * sum * N
	groups = make([]float64, len(s.taus))
	for g, t := range s.taus {
		q, from := s.group(s.q, g), d.start[g]
		sum := 0.0
		for j, w := range q {
			sum += w * (pulled[from+j] - dense.Dot(s.column(from+j), h))
		}
		size := floats.Dot(q, q) / (t * t)
		groups[g] = -2 * s.z[g] / t * (1/t + (1+size)/s.cg[g]) * sum * N
	}
	return nuclear, groups
}

package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/lower/design"
)

// limit is the system of [interior] where the central path ends, at the residual u of a solution with the multiplier
// Z = L L'. C vanishes on the range of L, and stays zero there when the weights change; with W the change of Z there
// and K the inverse of C on the complement of the range (zero on the range),
//
//	dZ = L W L' + Z E K + K E Z,   L'E L = dt L'(I + R R'/t^2) L,
//
// and for the groups in use  2/t_g q_g'X_g'du = dt_g (1 + |q_g|^2 / t_g^2). These are the rows of B' in the system
//
//	M du + B w = -A*(G_t) dt - X_g b_t dt_g,   B'du = the above,
//	G_t = -2 (Z R / t + (Z T K + K T Z) R) / t,   T = I + R R'/t^2,
//
// with M as in [interiorSystem] for 2 K in the place of C^-1 and V_g = 2 z_g / t_g I, b_t = -2 z_g q_g / t_g^2, and w
// of W, the dz_g, and db0. In the place of the zero block stands minus the gap of the solution, as near the end of the
// path: what the solution leaves open, such as which of two directions of nearly no difference is in use, moves little.
type limit struct {
	*interior
	l, rl    []float64 // L, m x rank, and R'L, n x rank, both by rows
	rank     int
	used     []int            // groups
	z        []float64        // z_g
	bordered *factor.Definite // the system
	at, end  int              // where B's columns for the groups begin and end; an intercept's comes after
}

// limitShare is the least gap relative to |y|^2 / 2, and limitMost the largest, that counts in the system.
const limitShare, limitMost = 1e-14, 1e-8

// newLimit makes the system, and factors it. It is nil where rounding leaves no such point.
func newLimit(s *interior, at *Solution) *limit {
	f := &limit{interior: s}
	if !f.multipliers(at) {
		return nil
	}
	N, y := len(s.u), s.c.groups.Y
	f.at = N + f.rank*(f.rank+1)/2
	f.end = f.at + len(f.used)
	size := f.end
	if s.c.groups.Intercept {
		size++
	}
	f.bordered = factor.NewDefinite(size)
	h := f.bordered.L
	s.fill(h, size)
	b := make([]float64, size-N)
	for k := range N {
		f.elements(b, s.e.row[k], s.e.col[k], 1)
		f.groupElements(b, func(j int) float64 { return s.column(j)[k] })
		if f.end < size {
			b[f.end-N] = 1
		}
		copy(h[k*size+N:(k+1)*size], b)
		clear(b)
	}
	share := math.Min(limitMost, math.Max(limitShare, at.Gap/s.c.groups.Scale))
	for k := N; k < size; k++ {
		f.bordered.Sign[k] = -1
		if k < f.end {
			h[k+k*size] = -share * floats.Dot(y, y) / 2
		}
	}
	f.bordered.DecomposeSigned(limitShare)
	return f
}

// multipliers sets u, q, Z and 2 K, and z_g with the weighted features.
func (f *limit) multipliers(at *Solution) bool {
	s := f.interior
	copy(s.u, at.Residual)
	for j := range s.q {
		s.q[j] = dense.Dot(s.column(j), s.u)
	}
	f.groupMultipliers(at.B)
	left := at.Left
	if s.c.interior.transposed {
		left = at.Right
	}
	s.setSlack(s.chol.L, s.u, s.tau)
	clear(s.multiplier)
	var p []float64
	if left != nil {
		p = f.activeRange(left)
		f.cutSlack(p)
	}
	if !s.chol.Decompose(1e-15 * s.tau) {
		return false
	}
	s.chol.Inverse(s.inverse, s.square, s.square2)
	if left != nil {
		floats.AddScaled(s.inverse, -1/s.tau, p)
	}
	floats.Scale(2, s.inverse)
	s.multiply()
	return true
}

// groupMultipliers sets z_g = |b_g| t_g / (2 |q_g|), the weighted features and the groups in use, at the coefficients
// b.
func (f *limit) groupMultipliers(b []float64) {
	s := f.interior
	f.z = make([]float64, len(s.taus))
	clear(s.weighted)
	for g, t := range s.taus {
		size, q := 0.0, floats.Norm(s.group(s.q, g), 2)
		for j := range s.group(s.q, g) {
			size = math.Hypot(size, b[s.c.interior.order[s.c.interior.start[g]+j]])
		}
		z := size * t / (2 * q)
		if size > 0 && z*t*t > (t-q*q/t)*floats.Dot(s.c.groups.Y, s.c.groups.Y)/2 {
			f.z[g] = z
			f.used = append(f.used, g)
			for j := range s.group(s.q, g) {
				at := s.c.interior.start[g] + j
				dense.Axpy(-2*z/t, s.column(at), s.weighted[at*len(s.u):(at+1)*len(s.u)])
			}
		}
	}
}

// activeRange sets L, R'L and Z = L L', and returns the projection P on the range of L.
func (f *limit) activeRange(left *mat.Dense) []float64 {
	s, m := f.interior, f.e.m
	l := f.active(left)
	_, f.rank = l.Dims()
	p := make([]float64, m*m)
	for k := range f.rank {
		column := mat.Col(nil, k, l)
		a := 1 / floats.Dot(column, column)
		for j, v := range column {
			dense.Axpy(v, column, s.multiplier[j*m:(j+1)*m])
			dense.Axpy(a*v, column, p[j*m:(j+1)*m])
		}
	}
	f.l = l.RawMatrix().Data
	f.rl = make([]float64, s.e.n*f.rank)
	for k, v := range s.u {
		i, j := s.e.row[k], s.e.col[k]
		dense.Axpy(v, f.l[i*f.rank:(i+1)*f.rank], f.rl[j*f.rank:(j+1)*f.rank])
	}
	return p
}

// cutSlack replaces C by Q C Q + t P with Q = I - P, whose inverse is that of C on the complement of the range of L,
// and 1/t on the range.
func (f *limit) cutSlack(p []float64) {
	s, m := f.interior, f.e.m
	q := make([]float64, m*m)
	floats.Sub(q, p)
	for i := range m {
		q[i+i*m]++
	}
	clear(s.square)
	dense.GemmNT(m, m, m, q, m, s.chol.L, m, s.square, m)
	clear(s.chol.L)
	dense.GemmNT(m, m, m, s.square, m, q, m, s.chol.L, m)
	floats.AddScaled(s.chol.L, s.tau, p)
}

// active returns L with columns at right angles, L L' = A A' / 2, without the directions along which C is further from
// zero than Z, in the units t and |y|^2 / (2 t): these are zero but for rounding, or the gap of the solution. s.chol
// has C.
func (f *limit) active(a *mat.Dense) *mat.Dense {
	m, y := f.e.m, f.c.groups.Y
	_, rank := a.Dims()
	var gram mat.SymDense
	gram.SymOuterK(0.5, a.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		out := mat.DenseCopyOf(a)
		out.Scale(math.Sqrt2/2, out)
		return out
	}
	var turn, turned mat.Dense
	eigen.VectorsTo(&turn)
	turned.Mul(a, &turn)
	turned.Scale(math.Sqrt2/2, &turned)
	first := rank // the eigenvalues rise
	for k := rank - 1; k >= 0; k-- {
		z, c, column := eigen.Values(nil)[k], 0.0, mat.Col(nil, k, &turned)
		for j, v := range column {
			c += v * dense.Dot(column, f.chol.L[j*m:(j+1)*m])
		}
		if !(z > 0) || z*z*f.tau*f.tau <= c*floats.Dot(y, y)/2 {
			break
		}
		first = k
	}
	if first == rank {
		first = rank - 1
	}
	return mat.DenseCopyOf(turned.Slice(0, m, first, rank))
}

// elements adds to the first elements of b those of L'E L at a matrix with v at (i, j), by columns, elements that stand
// for two times sqrt(2).
func (f *limit) elements(b []float64, i, j int, v float64) {
	l, r, at := f.l[i*f.rank:(i+1)*f.rank], f.rl[j*f.rank:(j+1)*f.rank], 0
	v /= f.tau
	for p, lp := range l {
		rp := r[p]
		for q := range p {
			b[at] += math.Sqrt2 * v * (lp*r[q] + l[q]*rp)
			at++
		}
		b[at] += 2 * v * lp * rp
		at++
	}
}

// groupElements sets those of the groups to 2/t_g q_g'x_g, with x given by its coefficient's place.
func (f *limit) groupElements(b []float64, x func(j int) float64) {
	for k, g := range f.used {
		sum := 0.0
		for j, q := range f.group(f.q, g) {
			sum += q * x(f.c.interior.start[g]+j)
		}
		b[f.at-len(f.u)+k] = 2 / f.taus[g] * sum
	}
}

// derivative is that of [Problem.Derivative]. All maps of du are symmetric: with V the matrix that has v at the other
// entries, s = X_other'v, and (x, w) the solution of the system with V in the place of dR and s in that of X'du on the
// right,
//
//	d/dt = <V - R(x), G_t> + <w, L'T L>,   d/dt_g = (s_g - X_g'x)'b_t + w_g (1 + |q_g|^2 / t_g^2).
func (f *limit) derivative(v []float64, x *design.Matrix, row, col []int) []float64 {
	d, N := f.c.interior, len(f.u)
	if d.transposed {
		row, col = col, row
	}
	pulled := make([]float64, len(d.order))
	for at, j := range d.order {
		if f.c.groups.Norm2[j] == 0 {
			continue
		}
		pulled[at] = x.Dot(j, v)
		if f.c.groups.Mean != nil {
			pulled[at] -= f.c.groups.Mean[j] * floats.Sum(v)
		}
	}
	h, w := f.adjoint(v, pulled, row, col)
	out := make([]float64, 1+len(f.taus))
	out[0] = float64(N) * f.alongTau(v, row, col, h, w)
	for k, g := range f.used {
		t, q := f.taus[g], f.group(f.q, g)
		sum := 0.0
		for j, a := range q {
			sum += a * (pulled[d.start[g]+j] - dense.Dot(f.column(d.start[g]+j), h))
		}
		out[1+g] = float64(N) * (w[f.at-N+k]*(1+floats.Dot(q, q)/(t*t)) - 2*f.z[g]/(t*t)*sum)
	}
	return out
}

// adjoint returns (x, w) of [limit.derivative], for v at other entries and s, by the order of the features' columns.
func (f *limit) adjoint(v, s []float64, row, col []int) (x, w []float64) {
	solution := make([]float64, f.bordered.Order())
	x, w = solution[:len(f.u)], solution[len(f.u):]
	f.atOthers(x, v, row, col)
	for k, i := range row {
		f.elements(w, i, col[k], v[k])
	}
	for _, g := range f.used {
		for j := range f.group(f.q, g) {
			at := f.c.interior.start[g] + j
			dense.Axpy(2*f.z[g]/f.taus[g]*s[at], f.column(at), x)
		}
	}
	f.groupElements(w, func(j int) float64 { return s[j] })
	if f.c.groups.Intercept {
		w[len(w)-1] = floats.Sum(v)
	}
	f.bordered.Solve(solution)
	return x, w
}

// alongTau is d/dt of [limit.derivative].
func (f *limit) alongTau(v []float64, row, col []int, x, w []float64) float64 {
	m := f.e.m
	// -G_t t / 2, and L'T L
	clear(f.outer)
	f.e.outer(f.outer, 1/(f.tau*f.tau), f.u, f.u)
	for i := range m {
		f.outer[i+i*m]++
	}
	f.sandwich(f.square2, f.outer)
	f.e.right(f.products, 1, f.square2, m, f.u)
	floats.Add(f.products, f.gamma)
	sum := 0.0
	for k, a := range v {
		sum -= a * f.products[row[k]+col[k]*m]
	}
	for k, a := range x {
		sum += a * f.products[f.e.row[k]+f.e.col[k]*m]
	}
	nuclear := 2 / f.tau * sum
	inner := make([]float64, f.rank*(f.rank+1)/2)
	f.squares(inner, f.l, 1)
	f.squares(inner, f.rl, 1/(f.tau*f.tau))
	return nuclear + floats.Dot(inner, w[:len(inner)])
}

// squares adds a times the elements of A'A, for A of rank columns, by rows, in the order of elements.
func (f *limit) squares(to []float64, from []float64, a float64) {
	for start := 0; start < len(from); start += f.rank {
		row, at := from[start:start+f.rank], 0
		for p, x := range row {
			for _, y := range row[:p] {
				to[at] += math.Sqrt2 * a * x * y
				at++
			}
			to[at] += a * x * x
			at++
		}
	}
}

// atOthers adds 2/t A*(Z V + (Z E K + K E Z) R) with E = (V R' + R V') / t, for V with v at other entries.
func (f *limit) atOthers(h, v []float64, row, col []int) {
	m := f.e.m
	full := make([]float64, m*f.e.n)
	for k, a := range v {
		full[row[k]+col[k]*m] += a
	}
	cross := make([]float64, m*m)
	for k, a := range f.u {
		i, j := f.e.row[k], f.e.col[k]
		dense.Axpy(2*a/f.tau, full[j*m:(j+1)*m], cross[i*m:(i+1)*m])
	}
	symmetrise(cross, m)
	f.sandwich(f.square2, cross)
	f.pull(h, 2/f.tau, f.square2, f.u)
	newEntries(m, f.e.n, row, col).right(f.products, 2/f.tau, f.multiplier, m, v)
	f.e.gather(h, 1, f.products)
}

package singular

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// How the singular vectors of a matrix turn.
//
// With all multipliers fixed, the Lagrangian of a program is, as a function of a matrix variable,
//
//	f(X) + g |X|_*,   f(X) = <G, X - X1> + 1/2 <X - X1, H (X - X1)>
//
// around X1 = U S V' of rank r, with H from the squares in which X stands. On the
// manifold of matrices of rank r this is smooth. A tangent vector is
//
//	D = P V' + U A',   V'A = 0
//
// and the Hessian (Vandereycken 2013, section 2.3, for f; the derivative of U V' for the norm) maps it to
//
//	in P:  (H D) V + g B S^-1 + N A S^-1 + g U K,   B = (I - UU')P, C = U'P, K_ij = (C_ij - C_ji)/(s_i + s_j)
//	in A:  (I - VV') ((H D)' U + g A S^-1 + N' B S^-1)
//
// with N = (I - UU') G (I - VV'), whose norm is below g where the rank is right. The other
// variables and the multipliers respond to D, see response. Conjugate gradients give the Newton step.
type tangent struct {
	t        triplets // U, S, V
	u, v     panel    // the same vectors
	g        float64
	normal   *mat.Dense // N
	h        *curvature
	weights  []float64 // of the rows of h
	identity float64
	mean     float64 // of H over the entries of X
	// damping is a share of the diagonal, g/s in B and A and the mean of H, that is added to the
	// Hessian (Levenberg 1944, Marquardt 1963). It shortens steps, and where the matrix is not
	// unique, as it may be in a row with few data, it keeps them finite.
	damping float64
	others  *response

	// Work of apply.
	values, byRow, right []float64
	cross                panel
}

// newTangent prepares the system.
func newTangent(h *curvature, t triplets, g float64, normal *mat.Dense, weights []float64) *tangent {
	n := &tangent{t: t, u: panelOf(t.u), v: panelOf(t.v), g: g, normal: normal, h: h}
	n.weights, n.identity = h.weigh(weights)
	for r, w := range n.weights {
		n.mean += w * h.x.squares(r)
	}
	n.mean = n.mean/float64(h.mv.Rows*h.mv.Cols) + n.identity
	n.values, n.byRow = make([]float64, len(h.entries)), make([]float64, len(n.weights))
	return n
}

// panel is a matrix of a few columns, kept column after column.
type panel struct {
	length int
	data   []float64
}

func newPanel(length, cols int) panel { return panel{length, make([]float64, length*cols)} }

func panelOf(m *mat.Dense) panel {
	rows, cols := m.Dims()
	p := newPanel(rows, cols)
	for j := range cols {
		mat.Col(p.col(j), j, m)
	}
	return p
}

func (p panel) cols() int              { return len(p.data) / max(1, p.length) }
func (p panel) col(j int) []float64    { return p.data[j*p.length : (j+1)*p.length] }
func (p panel) clone() panel           { return panel{p.length, slices.Clone(p.data)} }
func (p panel) scale(j int, c float64) { floats.Scale(c, p.col(j)) }

// dense returns the matrix by rows.
func (p panel) dense() *mat.Dense {
	m := mat.NewDense(p.length, p.cols(), nil)
	for j := range p.cols() {
		m.SetCol(j, p.col(j))
	}
	return m
}

// inner returns Q'P, entry (i, j) at i*cols(P)+j.
func (q panel) inner(p panel) []float64 {
	cols := p.cols()
	c := make([]float64, q.cols()*cols)
	for i := range q.cols() {
		for j := range cols {
			c[i*cols+j] = floats.Dot(q.col(i), p.col(j))
		}
	}
	return c
}

// addProduct computes P += f Q C with C as inner returns it.
func (p panel) addProduct(f float64, q panel, c []float64) {
	cols := p.cols()
	for i := range q.cols() {
		for j := range cols {
			floats.AddScaled(p.col(j), f*c[i*cols+j], q.col(i))
		}
	}
}

// without removes from P what is in the span of the orthonormal columns of Q, and returns Q'P.
func (p panel) without(q panel) []float64 {
	c := q.inner(p)
	p.addProduct(-1, q, c)
	return c
}

// times sets P = M Q, or M'Q with trans.
func (p panel) times(m *mat.Dense, trans bool, q panel) {
	// The columns of P are the rows of Q' M' = (M Q)'.
	flag := blas.Trans
	if trans {
		flag = blas.NoTrans
	}
	blas64.Gemm(blas.NoTrans, flag, 1, blas64.General{Rows: q.cols(), Cols: q.length, Stride: q.length, Data: q.data}, m.RawMatrix(),
		0, blas64.General{Rows: p.cols(), Cols: p.length, Stride: p.length, Data: p.data})
}

// vector is a tangent vector (P, A).
type vector struct{ p, a panel }

func (x vector) dot(y vector) float64 {
	return floats.Dot(x.p.data, y.p.data) + floats.Dot(x.a.data, y.a.data)
}

// add computes x += c y.
func (x vector) add(c float64, y vector) {
	floats.AddScaled(x.p.data, c, y.p.data)
	floats.AddScaled(x.a.data, c, y.a.data)
}

func (x vector) clone() vector { return vector{x.p.clone(), x.a.clone()} }

// project returns the tangent part of a matrix by rows; nil is zero.
func (n *tangent) project(f []float64) *vector {
	rank := len(n.t.s)
	out := &vector{newPanel(n.h.mv.Rows, rank), newPanel(n.h.mv.Cols, rank)}
	if f != nil {
		m := mat.NewDense(n.h.mv.Rows, n.h.mv.Cols, f)
		out.p.times(m, false, n.v)
		out.a.times(m, true, n.u)
		out.a.without(n.v)
	}
	return out
}

// apply multiplies by the Hessian, what the other variables do included.
func (n *tangent) apply(d vector) vector {
	h, rank := n.h, len(n.t.s)
	for k, e := range h.entries { // D at the entries that matter
		i, j := e/h.mv.Cols, e%h.mv.Cols
		sum := 0.0
		for c := range rank {
			ic, jc := c*h.mv.Rows+i, c*h.mv.Cols+j
			sum += d.p.data[ic]*n.v.data[jc] + n.u.data[ic]*d.a.data[jc]
		}
		n.values[k] = sum
	}
	for r := range n.byRow {
		n.byRow[r] = h.x.dot(r, n.values)
	}
	out := d.clone()
	diagonal := n.identity + n.damping*n.mean
	floats.Scale(diagonal, out.p.data)
	floats.Scale(diagonal, out.a.data)
	if n.others != nil {
		n.respond(d, out)
	}
	clear(n.values)
	for r, w := range n.weights {
		h.x.addTo(n.values, r, w*n.byRow[r])
	}
	for k, e := range h.entries {
		i, j, value := e/h.mv.Cols, e%h.mv.Cols, n.values[k]
		for c := range rank {
			ic, jc := c*h.mv.Rows+i, c*h.mv.Cols+j
			out.p.data[ic] += value * n.v.data[jc]
			out.a.data[jc] += value * n.u.data[ic]
		}
	}
	n.bend(d, out)
	out.a.without(n.v)
	return out
}

// bend adds what the curvature of the norm and of the manifold does to d.
func (n *tangent) bend(d, out vector) {
	s, h := n.t.s, n.h
	rank := len(s)
	b := d.p.clone()
	c := b.without(n.u)
	as := d.a.clone()
	for j, sigma := range s {
		b.scale(j, 1/sigma)
		as.scale(j, 1/sigma)
	}
	if n.cross.data == nil {
		n.cross = newPanel(max(h.mv.Rows, h.mv.Cols), rank)
	}
	cross := panel{h.mv.Rows, n.cross.data[:h.mv.Rows*rank]}
	cross.times(n.normal, false, as)
	floats.Add(out.p.data, cross.data)
	cross = panel{h.mv.Cols, n.cross.data[:h.mv.Cols*rank]}
	cross.times(n.normal, true, b)
	floats.Add(out.a.data, cross.data)
	bend := n.g * (1 + n.damping)
	floats.AddScaled(out.p.data, bend, b.data)
	floats.AddScaled(out.a.data, bend, as.data)
	turn := make([]float64, rank*rank) // g K
	for i := range rank {
		for j := range rank {
			turn[i*rank+j] = n.g * (c[i*rank+j] - c[j*rank+i]) / (s[i] + s[j])
		}
	}
	out.p.addProduct(1, n.u, turn)
}

// respond takes from n.byRow and out what the movement of the other variables undoes.
func (n *tangent) respond(d, out vector) {
	ny := n.others.ny
	if n.right == nil {
		n.right = make([]float64, ny+len(n.others.tangent))
	}
	q := n.right
	clear(q)
	for r, w := range n.weights {
		n.h.y.addTo(q, r, w*n.byRow[r])
	}
	for k, t := range n.others.tangent {
		if t != nil {
			q[ny+k] = t.dot(d)
		}
	}
	n.others.solve(q)
	for r := range n.byRow {
		n.byRow[r] -= n.h.y.dot(r, q)
	}
	for k, t := range n.others.tangent {
		if t != nil {
			out.add(-q[ny+k], *t)
		}
	}
}

// precondition divides by a diagonal that stands for the Hessian.
func (n *tangent) precondition(d vector) vector {
	out := d.clone()
	rank := len(n.t.s)
	c := out.p.without(n.u)
	for j, s := range n.t.s {
		e := (1 + n.damping) * (n.g/s + n.mean)
		out.p.scale(j, 1/e)
		out.a.scale(j, 1/e)
	}
	// The norm bends along the antisymmetric part of C alone.
	turned := make([]float64, rank*rank)
	for i, si := range n.t.s {
		for j, sj := range n.t.s {
			even, odd := (c[i*rank+j]+c[j*rank+i])/2, (c[i*rank+j]-c[j*rank+i])/2
			if n.mean > 0 {
				even /= n.mean
			}
			turned[i*rank+j] = even + odd/(n.mean+2*n.g/(si+sj))
		}
	}
	out.p.addProduct(1, n.u, turned)
	return out
}

// step approximates the Newton step for the gradient G of f by rows, to the given part of the first residual in the norm of the
// preconditioner. It ends early where the Hessian is not positive definite.
func (n *tangent) step(gradient []float64, tolerance float64) vector {
	const iterations = 200
	r := *n.project(gradient) // - (G V + g U), and -(I - VV') G'U
	floats.AddScaled(r.p.data, n.g, n.u.data)
	floats.Scale(-1, r.p.data)
	floats.Scale(-1, r.a.data)

	x := *n.project(nil)
	y := n.precondition(r)
	p := y.clone()
	ry := r.dot(y)
	first := ry
	for k := 0; k < iterations && ry > tolerance*tolerance*first; k++ {
		hp := n.apply(p)
		curve := p.dot(hp)
		if !(curve > 0) {
			if k == 0 {
				return y
			}
			break
		}
		c := ry / curve
		x.add(c, p)
		r.add(-c, hp)
		y = n.precondition(r)
		next := r.dot(y)
		beta := next / ry
		ry = next
		floats.Scale(beta, p.p.data)
		floats.Scale(beta, p.a.data)
		p.add(1, y)
	}
	if !(ry < first) {
		return *n.project(nil)
	}
	return x
}

// move returns the r largest singular triplets of X1 + D.
func (n *tangent) move(d vector) triplets {
	// X1 + D = [U Q] [S + C, R_A'; R_B, 0] [V W]' with B = Q R_B, A = W R_A
	rank := len(n.t.s)
	pb := d.p.clone()
	c := pb.without(n.u)
	b, a := pb.dense(), d.a.dense()
	left := orthonormal(n.h.mv.Rows, n.t.u, b)
	right := orthonormal(n.h.mv.Cols, n.t.v, a)
	_, k := left.Dims()
	_, l := right.Dims()
	core := mat.NewDense(k, l, nil)
	for i := range rank {
		for j := range rank {
			core.Set(i, j, c[i*rank+j])
		}
		core.Set(i, i, core.At(i, i)+n.t.s[i])
	}
	var rb, ra mat.Dense
	rb.Mul(left.T(), b)
	ra.Mul(right.T(), a)
	for j := range rank {
		for i := rank; i < k; i++ {
			core.Set(i, j, rb.At(i, j))
		}
		for i := rank; i < l; i++ {
			core.Set(j, i, ra.At(i, j))
		}
	}
	t := compactSVD(core.RawMatrix().Data, k).first(min(rank, k, l))
	var u, v mat.Dense
	u.Mul(left, t.u)
	v.Mul(right, t.v)
	return triplets{t.s, &u, &v}
}

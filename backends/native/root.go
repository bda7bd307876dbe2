package native

import (
	"math"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/finite"
)

// root solves the Newton systems of the direct method as least-squares problems. With
// S = Ls Ls' and Z = Lz Lz', the direction of semidefinite cones, see semidefinite,
//
//	Z + dZ = target S^-1 - sym(dZ' dS' S^-1) - sym(Z dS S^-1),   dS = -wz Rz - A dx,
//
// where dZ' and dS' are the direction before, is with B_j = Lz' F_j Ls^-T for the matrix F_j of column j
//
//	dZ = -sym(Lz R Ls^-1),   R = C - B dx,
//	C = Lz'Ls - target Lz^-1 Ls^-T + Lz^-1 dZ' dS' Ls^-T - wz Lz' Rz Ls^-T,
//
// and A'dZ = -wx rx is B'R = wx rx. These are the normal equations of a least-squares
// problem in dx, and their matrix B'B is A'H^-1 A, which kkt factors. An orthonormal
// basis of the range of B in place of B'B loses half as many digits; R, computed as a
// projection, is orthogonal to the range to all digits; and its factors Lz and Ls^-1
// carry what is small in Z to dZ. So a matrix may be as near to its boundary as it must
// be where one side has no interior. The price is n rows of B for each row of a matrix of order n.
//
// An inequality is a matrix of order one.
type root struct {
	*iterate
	rows, n int // of B
	parts   []*rootPart
	b       []float64 // B by columns, then the basis Q of its range
	scale   []float64 // of the columns of B
	turns   []turn    // B diag(scale) = Q T_used .. T_1
	used    int
	c, r    []float64
	gram    []float64
	chunk   []float64 // rows of B, transposed
	sign    []int8
	w, v    []float64
	within  dense.Within
}

// turn is an upper triangular matrix T = diag(d) L'.
type turn struct{ l, d []float64 }

// rootPart is a semidefinite cone in root.
type rootPart struct {
	c                 *semidefinite
	from, to          int   // rows of A
	at                int   // first row of B
	g                 *gram // the F_j
	own               bool  // g is not that of kkt
	ls, lsT, lz, lzT  []float64
	inverse, inverseT []float64 // Ls^-1 and Ls^-T
	first, second     []float64
}

const (
	// The most numbers that B may have.
	rootLimit = 1 << 24
	// Rows of B that are multiplied at a time.
	rootChunk = 256
	// Of the columns of B, scaled to length one, B'B is factored as it is rounded, plus rootShift times
	// its order on the diagonal. After a turn from columns that are orthonormal to nearBasis, and so well
	// conditioned, they are to rounding.
	rootShift = 1e-15
	nearBasis = 0.1
	rootTurns = 6
)

// fits says whether the problem is one for root.
func (q *root) fits() bool { return q.rows > 0 }

// take takes the current numbers of A.
func (q *root) take() {
	for _, p := range q.parts {
		if p.own {
			p.g.set(func(m *gramMember, e int) float64 { return q.f.a.val[m.from[e]] })
		}
	}
}

// newRoot returns an empty root if the problem is not one for it.
func newRoot(it *iterate) *root {
	f := it.f
	q := &root{iterate: it, n: f.n, rows: f.nonneg, within: f.within()}
	fits := f.zero == 0 && len(f.p.ind) == 0
	for j := range f.n {
		fits = fits && f.a.ptr[j] < f.a.ptr[j+1]
	}
	for _, p := range it.cones {
		switch c := p.cone.(type) {
		case *nonnegative:
		case *semidefinite:
			q.parts = append(q.parts, &rootPart{c: c, from: p.from, to: p.to, at: q.rows})
			q.rows += c.rows * c.rows
			fits = fits && q.rows*q.n <= rootLimit
		default:
			fits = false
		}
	}
	if !fits || q.rows < q.n || f.memory.fits("a basis of the rows", 8*int64(q.n)*int64(q.rows+(rootTurns+1)*q.n)) != nil {
		return &root{}
	}
	for _, p := range q.parts {
		n := p.c.rows
		for _, m := range it.k.matrices {
			if m.c == p.c && m.c.form == eliminateRows {
				p.g = &m.g
			}
		}
		if p.own = p.g == nil; p.own {
			p.g = &gram{n: n, members: f.members(p.from, p.to, func(j int32) int32 { return j })}
			p.g.within = q.within
			p.g.prepare()
		}
		allocate(n*n, &p.ls, &p.lsT, &p.lz, &p.lzT, &p.inverse, &p.inverseT, &p.first, &p.second)
	}
	q.b = make([]float64, q.rows*q.n)
	allocate(q.rows, &q.c, &q.r)
	allocate(q.n, &q.scale, &q.w, &q.v)
	q.gram, q.chunk, q.sign = make([]float64, q.n*q.n), make([]float64, q.n*rootChunk), make([]int8, q.n)
	for i := range q.sign {
		q.sign[i] = 1
	}
	return q
}

// factor computes B for the current S and Z, whose factors are there, and the basis.
func (q *root) factor() {
	f := q.f
	clear(q.b)
	for j := range f.n {
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			if i := int(f.a.ind[e]); i < f.nonneg {
				q.col(j)[i] = f.a.val[e] * math.Sqrt(q.z[i]/q.s[i])
			}
		}
	}
	for _, p := range q.parts {
		n := p.c.rows
		p.c.s.roots(p.ls, p.lsT)
		p.c.z.roots(p.lz, p.lzT)
		clear(p.inverseT)
		for i := range n {
			p.inverseT[i+i*n] = 1
		}
		p.c.s.divide(p.inverseT)
		transpose(p.inverse, p.inverseT, n)
		p.g.each(func(g *gram, o int) {
			m := &g.members[g.order[o]]
			k := len(m.support)
			if g.within.Stop.Reached(n*n + n*n*k/8) {
				return
			}
			g.multiply(m, p.lzT)
			column := g.pack[:n*k]
			for l, r := range m.support { // columns of Ls^-1, with the sign that the kernel takes off
				for i, v := range p.inverse[int(r)*n : int(r)*n+n] {
					column[l*n+i] = -v
				}
			}
			g.within.GemmNT(n, n, k, g.t, n, column, n, q.col(int(m.item))[p.at:p.at+n*n], n)
		})
	}
	for j := range q.n {
		q.scale[j] = 1 / norm2(q.col(j))
		dense.Scale(q.col(j), q.scale[j])
	}
	q.orthonormalise()
}

// orthonormalise turns the columns of B into an orthonormal basis by repeated Cholesky
// factorisations of their products (Fukaya, Kannan, Nakatsukasa, Yamamoto and Yanagisawa 2020, shifted CholeskyQR3).
func (q *root) orthonormalise() {
	n := q.n
	for q.used = 0; q.used < rootTurns && !q.within.Stop.Reached(0); {
		if len(q.turns) == q.used {
			q.turns = append(q.turns, turn{make([]float64, n*n), make([]float64, n)})
		}
		t := &q.turns[q.used]
		q.products()
		worst := 0.0
		for j := range n {
			t.l[j+j*n] = -q.gram[j+j*n]
			worst = max(worst, math.Abs(1+q.gram[j+j*n]))
			for i := j + 1; i < n; i++ {
				t.l[i+j*n] = -q.gram[i+j*n]
				worst = max(worst, math.Abs(q.gram[i+j*n]))
			}
		}
		if worst > nearBasis {
			for j := range n {
				t.l[j+j*n] += rootShift * float64(n)
			}
		}
		q.within.LDL(n, t.l, n, t.d, q.sign, 0, rootShift)
		q.within.TrsmRightLT(q.rows, n, t.l, n, q.b, q.rows)
		for j, d := range t.d {
			t.d[j] = math.Sqrt(d)
			dense.Scale(q.col(j), 1/t.d[j])
		}
		if q.used++; worst <= nearBasis {
			return
		}
	}
}

// products writes -B'B into the lower triangle of gram.
func (q *root) products() {
	clear(q.gram)
	for i := 0; i < q.rows; i += rootChunk {
		nb := min(rootChunk, q.rows-i)
		if q.within.Stop.Reached(q.n * nb) {
			return
		}
		const unit = 64
		crew.Each((q.n+unit-1)/unit, q.within.Threads, func(part int) {
			for j := part * unit; j < min(q.n, (part+1)*unit); j++ {
				for k, v := range q.col(j)[i : i+nb] {
					q.chunk[j+k*q.n] = v
				}
			}
		})
		q.within.SyrkNT(q.n, nb, q.chunk, q.n, q.chunk, q.n, q.gram, q.n)
	}
}

// col returns a column of B.
func (q *root) col(j int) []float64 { return q.b[j*q.rows : (j+1)*q.rows] }

// direction writes the direction to dx, ds and dz, the right-hand sides being -wx and -wz times the
// residuals; the second-order term is of what dx, ds and dz hold. It reports whether the result is finite.
func (q *root) direction(wx, wz, target float64, second bool) error {
	q.rightSide(wz, target, second)
	// T^-T diag(scale) wx rx
	for j, s := range q.scale {
		q.w[j] = wx * q.rx[j] * s
	}
	for k := range q.used {
		t := &q.turns[k]
		dense.TrsvN(q.n, t.l, q.n, q.w)
		for j, d := range t.d {
			q.w[j] /= d
		}
	}
	q.project()
	for i := range q.f.nonneg {
		q.dz[i] = -q.r[i] * math.Sqrt(q.z[i]/q.s[i])
	}
	for _, p := range q.parts {
		if q.within.Stop.Reached(p.c.rows * p.c.rows) {
			return errStopped
		}
		n := p.c.rows
		mulTo(q.within, p.first, p.inverseT, q.r[p.at:p.at+n*n], n) // (R Ls^-1)'
		mulTo(q.within, p.second, p.lz, p.first, n)
		packMean(q.dz[p.from:p.to], p.second, n)
		dense.Scale(q.dz[p.from:p.to], -1)
	}
	if q.slacks(wz); !finite.All(q.dx...) || !finite.All(q.dz...) {
		return errUnsolved
	}
	return nil
}

// project computes R = (I - QQ')C + Q w, twice, for the digits, and dx = diag(scale) T^-1 (Q'C - w).
func (q *root) project() {
	copy(q.r, q.c)
	for j, v := range q.w {
		q.dx[j] = -v
	}
	for range 2 {
		if q.within.Stop.Reached(q.n * q.rows) {
			return
		}
		for j := range q.n {
			q.v[j] = dense.Dot(q.col(j), q.r)
		}
		for j, a := range q.v {
			q.dx[j] += a
			dense.Axpy(-a, q.col(j), q.r)
		}
	}
	for j, a := range q.w {
		dense.Axpy(a, q.col(j), q.r)
	}
	for k := q.used - 1; k >= 0; k-- {
		t := &q.turns[k]
		for j, d := range t.d {
			q.dx[j] /= d
		}
		dense.TrsvT(q.n, t.l, q.n, q.dx)
	}
	for j, s := range q.scale {
		q.dx[j] *= s
	}
}

// rightSide computes C.
func (q *root) rightSide(wz, target float64, second bool) {
	for i := range q.f.nonneg {
		s, z := q.s[i], q.z[i]
		q.c[i] = math.Sqrt(z*s) - target/math.Sqrt(z*s) - wz*q.rz[i]*math.Sqrt(z/s)
		if second {
			q.c[i] += q.dz[i] * q.ds[i] / math.Sqrt(z*s)
		}
	}
	for _, p := range q.parts {
		n := p.c.rows
		c, u, v := q.c[p.at:p.at+n*n], p.first, p.second
		// Lz^-1 (dZ' dS' - target I) Ls^-T
		if clear(c); second {
			unpack(u, q.dz[p.from:p.to], n)
			unpack(v, q.ds[p.from:p.to], n)
			mulTo(q.within, c, u, v, n)
		}
		for i := range n {
			c[i+i*n] -= target
		}
		p.c.s.divide(c)
		transpose(u, c, n)
		p.c.z.divide(u)
		transpose(c, u, n)
		if wz != 0 {
			unpack(u, q.rz[p.from:p.to], n)
			mulTo(q.within, v, p.lzT, u, n)
			p.c.s.divide(v)
			axpy(-wz, v, c)
		}
		mulTo(q.within, v, p.lzT, p.lsT, n)
		axpy(1, v, c)
	}
}

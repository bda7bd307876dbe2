package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
)

// face is a face of the cone of semidefinite matrices of order n: U Y U' with Y semidefinite of a smaller order.
// The multipliers Z of a cone are in it where tr(F Z) = 0 is an equation of theirs with a semidefinite F, zero on the
// range of U, as <ee', Z> = 0 is. They have no interior then, and the x side may have no solution. In the face they
// have, and its dual is the cone of S with U'SU semidefinite (Borwein and Wolkowicz 1981).
type face struct {
	n, rank int
	turns   [][]float64 // of reflections I - vv', |v|^2 = 2: U are the columns of their product after the first rank
	product []float64
	within  dense.Within
}

const (
	// What of F is below this part of its largest entry is zero.
	faceRounding = 1e-12
	// A vector is new beside others if this part of it is orthogonal to them.
	faceNew = 1e-6
	// How far, in powers of four, a point may move along F into the cone.
	faceMoves = 40
)

// extend takes a vector into the span that U is orthogonal to.
func (f *face) extend(v []float64) {
	size := norm2(v)
	for _, t := range f.turns {
		axpy(-dot(t, v), t, v)
	}
	clear(v[:f.rank])
	length := norm2(v)
	if !(length > faceNew*size) || f.rank == f.n {
		return
	}
	v[f.rank] += math.Copysign(length, v[f.rank])
	scaleBy(v, math.Sqrt2/norm2(v))
	f.turns = append(f.turns, v)
	f.rank++
}

// turn overwrites the symmetric m with HmH, H = I - vv'.
func (f *face) turn(m, v []float64) {
	n, p := f.n, f.product
	clear(p)
	f.within.GemvN(n, n, m, n, v, p)
	dense.Axpy(-dense.Dot(p, v)/2, v, p)
	for j := range n {
		col := m[j*n : j*n+n]
		dense.Axpy(p[j], v, col)
		dense.Axpy(v[j], p, col)
	}
}

// project overwrites m with U'mU, of order n - rank.
func (f *face) project(m []float64) {
	for _, v := range f.turns {
		f.turn(m, v)
	}
	r := f.n - f.rank
	for j := range r {
		copy(m[j*r:j*r+r], m[(j+f.rank)*f.n+f.rank:])
	}
}

// lift writes U (y + y')/2 U' into m.
func (f *face) lift(m, y []float64) {
	r := f.n - f.rank
	m = m[:f.n*f.n] // work may have been cut to the order of y
	clear(m)
	for j := range r {
		for i := range r {
			m[(j+f.rank)*f.n+f.rank+i] = (y[j*r+i] + y[i*r+j]) / 2
		}
	}
	for _, v := range slices.Backward(f.turns) {
		f.turn(m, v)
	}
}

// span returns vectors v over the support with sum vv' = F or -F, and the sign; none where F is indefinite.
func (m *gramMember) span() (out [][]float64, sign float64) {
	k, diagonal, top := len(m.support), make([]float64, len(m.support)), 0.0
	for e, v := range m.val {
		if m.p[e] == m.q[e] {
			diagonal[m.lp[e]] = v
			top = max(top, math.Abs(v))
			sign += v
		}
	}
	sign = math.Copysign(1, sign)
	for e, v := range m.val {
		a, b := sign*diagonal[m.lp[e]], sign*diagonal[m.lq[e]]
		if a < 0 || b < 0 || v*v > (1+faceRounding)*a*b {
			return nil, 0
		}
	}
	f := make([]float64, k*k)
	for e, v := range m.val {
		f[int(m.lp[e])*k+int(m.lq[e])], f[int(m.lq[e])*k+int(m.lp[e])] = sign*v, sign*v
	}
	out = factor.Root(f, k, faceRounding*top)
	for _, v := range out {
		for j := range k {
			axpy(-v[j], v, f[j*k:j*k+k])
		}
	}
	if maxAbs(f) > 10*faceRounding*top {
		return nil, 0
	}
	return out, sign
}

// faced is a cone of direct whose multipliers are in a face, with the columns that put them there.
type faced struct {
	part    *matrixPart
	face    *face
	columns []*gramMember
	signs   []float64
	saved   [][]float64 // the numbers of the columns while they are out of the problem
}

// faces finds them among the columns without a cost, in the rows of one cone.
func (d *direct) faces() (out []faced) {
	a := &d.f.a
	for _, p := range d.k.matrices {
		if p.c.form != eliminateRows || d.f.memory.fits("the face of a cone", 32*int64(p.g.n)*int64(p.g.n)) != nil {
			continue
		}
		in := faced{part: p, face: &face{n: p.g.n, product: make([]float64, p.g.n), within: p.g.within}}
		for i := range p.g.members {
			m := &p.g.members[i]
			if d.f.stop.Reached(8*len(m.row)) || d.f.q[m.item] != 0 || len(m.row) != int(a.ptr[m.item+1]-a.ptr[m.item]) {
				continue
			}
			span, sign := m.span()
			for _, v := range span {
				whole := make([]float64, p.g.n)
				for l, i := range m.support {
					whole[i] = v[l]
				}
				in.face.extend(whole)
			}
			if len(span) > 0 {
				in.columns, in.signs = append(in.columns, m), append(in.signs, sign)
			}
		}
		if in.face.rank > 0 && in.face.rank < p.g.n {
			out = append(out, in)
		}
	}
	return out
}

// enter takes the faces, and their columns, which are zero there, out of the problem.
func (d *direct) enter(all []faced) {
	d.faced = all
	for i := range all {
		in := &all[i]
		for _, m := range in.columns {
			val := d.f.a.val[d.f.a.ptr[m.item]:d.f.a.ptr[m.item+1]]
			in.saved = append(in.saved, slices.Clone(val))
			clear(val)
		}
		d.reduce(in, in.face)
	}
}

// leave undoes enter. The best point becomes one of the whole problem.
func (d *direct) leave() {
	if x, s, ok := d.unreduced(); ok {
		copy(d.best.x, x)
		copy(d.best.s, s)
	} else if !d.f.stop.Reached(0) {
		d.best.error, d.best.isPoint = math.Inf(1), false
	}
	for i := range d.faced {
		in := &d.faced[i]
		for k, m := range in.columns {
			copy(d.f.a.val[d.f.a.ptr[m.item]:], in.saved[k])
		}
		d.reduce(in, nil)
	}
	d.faced, d.left = nil, true
}

// reduce puts the cone into a face, or into none.
func (d *direct) reduce(in *faced, to *face) {
	before := in.part.c.degree()
	in.part.c.reduce(to)
	d.degree += float64(in.part.c.degree() - before)
	in.part.g.set(func(m *gramMember, e int) float64 { return d.f.a.val[m.from[e]] })
}

// unreduced returns x and s of the best point, moved along the columns that are out of the problem until S, of which
// U'SU is inside, is; false if that is too far.
func (d *direct) unreduced() (x, s []float64, ok bool) {
	b := &d.best
	x, s = slices.Clone(b.x), slices.Clone(b.s)
	for i := range d.faced {
		in := &d.faced[i]
		rows := s[in.part.from:in.part.to]
		along := make([]float64, len(rows))
		parts := make([]float64, len(in.columns))
		for k, c := range in.columns {
			parts[k] = in.signs[k] / maxAbs(in.saved[k])
			for e, row := range c.row {
				along[row] += parts[k] * in.saved[k][e]
			}
		}
		a, fits := in.face.move(rows, along)
		if !fits {
			return nil, nil, false
		}
		axpy(a, along, rows)
		for k, c := range in.columns {
			x[c.item] -= a * parts[k]
		}
	}
	return x, s, !math.IsInf(b.error, 1)
}

// move returns an a with S + aF semidefinite, given as svec, U'SU being inside, and U'F zero: with the rest of the
// rotated matrices, A - B C^-1 B' + aD is. It is false if a would be too large.
func (f *face) move(s, along []float64) (a float64, ok bool) {
	n, k, r := f.n, f.rank, f.n-f.rank
	m, w := make([]float64, n*n), make([]float64, n*n)
	unpack(m, s, n)
	unpack(w, along, n)
	for _, v := range f.turns {
		f.turn(m, v)
		f.turn(w, v)
	}
	c, outer, trial := newTriangular(r, f.within), newTriangular(k, f.within), make([]float64, k*k)
	block, g := make([]float64, r*r), make([]float64, k*r)
	for j := range r {
		copy(g[j*k:j*k+k], m[(k+j)*n:])
		copy(block[j*r:j*r+r], m[(k+j)*n+k:])
	}
	if !c.factor(block) {
		return 0, false
	}
	c.TrsmRightLT(k, r, c.l, r, g, k)
	a = maxAbs(s) / 1024
	for range faceMoves {
		for j := range k {
			for i := range k {
				trial[j*k+i] = m[j*n+i] + a*w[j*n+i]
				for l, root := range c.root {
					trial[j*k+i] -= g[l*k+i] * g[l*k+j] * root * root
				}
			}
		}
		if outer.factor(trial) {
			return a, true
		}
		a *= 4
	}
	return 0, false
}

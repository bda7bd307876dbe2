package ldl

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// pieceLength is how much of a long vector is done between two looks at Stop.
const pieceLength = 1 << 18

// Factorize computes L and D for the matrix with the given values, in the order
// of the pattern of Analyze, with shift added to its diagonal (nil: nothing). A
// pivot whose product with its sign is at most eps is replaced as in dense.LDL, by
// the larger of delta and its size, with that sign; the number of such pivots is returned.
// Where Options.Stop is reached nothing that it leaves is of use.
func (f *Factor) Factorize(values, shift []float64, eps, delta float64) int {
	for v := f.val; len(v) > 0 && !f.within.Stop.Reached(min(len(v), pieceLength)); v = v[min(len(v), pieceLength):] {
		clear(v[:min(len(v), pieceLength)])
	}
	clear(f.d)
	if shift != nil {
		for j, i := range f.perm {
			f.d[j] = shift[i]
		}
	}
	for from := 0; from < len(f.place) && !f.within.Stop.Reached(pieceLength); from += pieceLength {
		values := values[from:]
		for k, at := range f.place[from:min(from+pieceLength, len(f.place))] {
			if at >= 0 {
				f.val[at] += values[k]
			} else {
				f.d[^at] += values[k]
			}
		}
	}
	for s := range f.panels {
		if p := &f.panels[s]; p.kind == clique {
			for j := range int(p.width) {
				f.val[p.val+j*(p.ld+1)] += f.d[int(p.first)+j]
			}
		}
	}
	replaced := 0
	for s := range f.panels {
		p := &f.panels[s]
		if f.within.Stop.Reached(p.work()) {
			return replaced
		}
		switch p.kind {
		case small:
			replaced += f.eliminateSmall(p, eps, delta)
		case twins:
			for j := int(p.first); j < int(p.first+p.width); j++ {
				replaced += f.pivot(j, eps, delta)
			}
			k, w := len(p.rows), int(p.width)
			// what is stored is L D; keep a copy of it and divide
			v := f.val[p.val : p.val+k*w]
			block := max(1, pieceLength/max(1, k)) // columns
			for j := 0; j < w && !f.within.Stop.Reached(block*k); j += block {
				nb := min(block, w-j)
				copy(f.scaled[j*k:], v[j*k:(j+nb)*k])
				dense.ScaleColumns(k, nb, f.scaled[j*k:], k, f.dInv[int(p.first)+j:], v[j*k:], k)
			}
			f.updateAncestors(p, v, k)
		case clique:
			replaced += f.eliminateClique(p, eps, delta)
		}
	}
	return replaced
}

// pivot makes the pivot of column j safe and inverts it.
func (f *Factor) pivot(j int, eps, delta float64) int {
	replaced := 0
	if s := float64(f.sign[j]); s*f.d[j] <= eps { // NaN stays, and shows in the solution
		f.d[j] = s * max(delta, -s*f.d[j])
		replaced = 1
	}
	f.dInv[j] = 1 / f.d[j]
	return replaced
}

func (f *Factor) eliminateSmall(p *panel, eps, delta float64) int {
	val, d, addr := f.val, f.d, p.addr
	replaced, from := 0, p.val
	for j := range p.width {
		replaced += f.pivot(int(p.first+j), eps, delta)
		k := int(p.ptr[j+1] - p.ptr[j])
		v := val[from : from+k : from+k]
		from += k
		inv := f.dInv[p.first+j]
		for a, va := range v {
			l := va * inv
			for b, at := range addr[:a] {
				val[at] -= l * v[b]
			}
			if c := addr[a]; c >= 0 {
				val[c] -= l * va
			} else {
				d[^c] -= l * va
			}
			addr = addr[a+1:]
		}
		for a := range v {
			v[a] *= inv
		}
	}
	return replaced
}

func (f *Factor) eliminateClique(p *panel, eps, delta float64) int {
	k, w := len(p.rows), int(p.width)
	v, ld := f.val[p.val:p.val+p.ld*w], p.ld
	d := f.d[p.first : p.first+p.width]
	replaced := f.within.LDL(w, v, ld, d, f.sign[p.first:p.first+p.width], eps, delta)
	dInv := f.dInv[p.first : p.first+p.width]
	for j := range d {
		dInv[j] = 1 / d[j]
	}
	if k == 0 {
		return replaced
	}
	below := v[w:]
	f.within.SolvePanel(k, w, v, ld, dInv, below, ld, f.scaled, k) // L D into scaled, L into below
	f.updateAncestors(p, below, ld)
	return replaced
}

// updateAncestors subtracts L D L' of the rows below p from the panels that own
// them. l is L, and f.scaled holds L D with columns k apart.
func (f *Factor) updateAncestors(p *panel, l []float64, ld int) {
	k, w := len(p.rows), int(p.width)
	for _, g := range p.segments {
		from, to := int(g.from), int(g.to)
		m, c := k-from, to-from
		t := &f.panels[g.target]
		if f.within.Stop.Reached(m*c + w) {
			return
		}
		if g.dense {
			out := f.val[t.val+int(g.col)*t.ld+int(g.row):]
			f.within.SyrkNT(c, w, l[from:], ld, f.scaled[from:], k, out, t.ld)
			if m > c {
				f.within.GemmNT(m-c, c, w, l[to:], ld, f.scaled[from:], k, out[c:], t.ld)
			}
			continue
		}
		u := f.update[:m*c]
		clear(u)
		f.within.SyrkNT(c, w, l[from:], ld, f.scaled[from:], k, u, m)
		if m > c {
			f.within.GemmNT(m-c, c, w, l[to:], ld, f.scaled[from:], k, u[c:], m)
		}
		f.scatter(p.rows[from:], c, t, u)
	}
}

// scatter adds the lower trapezoid u, whose rows are the given ones and whose
// columns are the first c of them, to panel t.
func (f *Factor) scatter(rows []int32, c int, t *panel, u []float64) {
	m := len(rows)
	at := f.at[:m]
	offset := int32(0)
	if t.kind == clique {
		offset = t.width
		for i := range c {
			at[i] = rows[i] - t.first
		}
	}
	q := 0
	own := t.below(rows[0] - t.first)
	for i := c; i < m; i++ {
		for own[q] != rows[i] {
			q++
		}
		at[i] = int32(q) + offset
	}
	for j := range c {
		col := u[j*m : (j+1)*m]
		at0 := t.val + int(rows[j]-t.first)*t.ld
		if t.kind == small {
			at0 = t.val + int(t.ptr[rows[j]-t.first])
		}
		out := f.val[at0:]
		begin := j
		if t.kind != clique {
			// twins and small columns keep the pivot apart and have no entry
			// among themselves
			f.d[rows[j]] += col[j]
			begin = c
		}
		to := at[begin:m]
		for i, v := range col[begin:m:m] {
			out[to[i]] += v
		}
	}
}

// Solve replaces b by the solution of L D L' x = b, or by what there is of it where Options.Stop is reached.
func (f *Factor) Solve(b []float64) {
	x := f.x
	for k, i := range f.perm {
		x[k] = b[i]
	}
	short := f.within.Stop.Short(2 * f.length) // told about as a whole
	if short {
		f.within.Stop.Reached(2 * f.length)
	}
	for s := range f.panels {
		if p := &f.panels[s]; short || !f.within.Stop.Reached(p.length()) {
			f.forward(p, x)
		}
	}
	for j, v := range f.dInv {
		x[j] *= v
	}
	for s := len(f.panels) - 1; s >= 0; s-- {
		if p := &f.panels[s]; short || !f.within.Stop.Reached(p.length()) {
			f.backward(p, x)
		}
	}
	for k, i := range f.perm {
		b[i] = x[k]
	}
}

func (f *Factor) forward(p *panel, x []float64) {
	if p.kind == small {
		rows := p.rows
		v := f.val[p.val:][:len(rows)]
		own, ptr := x[p.first:p.first+p.width], p.ptr[1:]
		at := 0
		for j, xj := range own {
			for end := min(int(ptr[j]), len(rows)); at < end; at++ {
				x[rows[at]] -= v[at] * xj
			}
		}
		return
	}
	k, w := len(p.rows), int(p.width)
	own := x[p.first : p.first+p.width]
	v := f.val[p.val : p.val+p.ld*w]
	if p.kind == clique {
		f.within.TrsvN(w, v, p.ld, own)
		v = v[min(w, len(v)):]
	}
	if k == 0 {
		return
	}
	if contiguous(p.rows) {
		f.within.GemvN(k, w, v, p.ld, own, x[p.rows[0]:int(p.rows[0])+k])
		return
	}
	y := f.gather[:k]
	clear(y)
	f.within.GemvN(k, w, v, p.ld, own, y)
	for a, i := range p.rows {
		x[i] += y[a]
	}
}

func (f *Factor) backward(p *panel, x []float64) {
	if p.kind == small {
		rows, ptr, own := p.rows, p.ptr, x[p.first:p.first+p.width]
		v := f.val[p.val:][:len(rows)]
		for j := len(own) - 1; j >= 0; j-- {
			sum := own[j]
			for at, end := int(ptr[j]), min(int(ptr[j+1]), len(rows)); at < end; at++ {
				sum -= v[at] * x[rows[at]]
			}
			own[j] = sum
		}
		return
	}
	k, w := len(p.rows), int(p.width)
	own := x[p.first : p.first+p.width]
	v := f.val[p.val : p.val+p.ld*w]
	below := v
	if p.kind == clique {
		below = v[min(w, len(v)):]
	}
	if k > 0 {
		y := f.gather[:k]
		if contiguous(p.rows) {
			y = x[p.rows[0] : int(p.rows[0])+k]
		} else {
			for a, i := range p.rows {
				y[a] = x[i]
			}
		}
		f.within.GemvT(k, w, below, p.ld, y, own)
	}
	if p.kind == clique {
		f.within.TrsvT(w, v, p.ld, own)
	}
}

func contiguous(rows []int32) bool { return int(rows[len(rows)-1]-rows[0]) == len(rows)-1 }

// Marked, as the delta of Factorize with eps = 0, marks the pivots that are not positive in
// their sign, so that NegativeDirection finds the first one; it takes their rows and columns out of
// the rest of the factorisation.
const Marked = 0x1p1000

// NegativeDirection returns v = L^-T e_k for the first pivot k that the last Factorize, with
// delta = Marked, replaced: v'Kv is that pivot as it was. It panics if there is none.
func (f *Factor) NegativeDirection() []float64 {
	x := f.x
	clear(x)
	for k, d := range f.d {
		if math.Abs(d) >= Marked {
			x[k] = 1
			break
		}
		if k == len(f.d)-1 {
			panic("ldl: no pivot was replaced")
		}
	}
	for s := len(f.panels) - 1; s >= 0; s-- {
		f.backward(&f.panels[s], x)
	}
	v := make([]float64, f.n)
	for k, i := range f.perm {
		v[i] = x[k]
	}
	return v
}

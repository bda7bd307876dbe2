package ldl

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
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
	f.work.replaced = 0
	done := int32(0)
	for k := range f.stages {
		st := &f.stages[k]
		f.eliminate(&f.work, done, st.starts[0], int32(f.n), eps, delta)
		f.pass(st, eps, delta)
		done = st.starts[len(st.starts)-1]
	}
	f.eliminate(&f.work, done, int32(len(f.panels)), int32(f.n), eps, delta)
	return f.work.replaced
}

// eliminate eliminates the panels from:to and subtracts what they do from the columns before end; L D of the rows from
// there on is kept.
func (f *Factor) eliminate(w *work, from, to, end int32, eps, delta float64) {
	for s := from; s < to; s++ {
		p := &f.panels[s]
		if w.within.Stop.Reached(p.work()) {
			return
		}
		switch p.kind {
		case small:
			w.replaced += f.eliminateSmall(p, end, eps, delta)
		case twins:
			for j := int(p.first); j < int(p.first+p.width); j++ {
				w.replaced += f.pivot(j, eps, delta)
			}
			k, wd := len(p.rows), int(p.width)
			// what is stored is L D; keep a copy of it and divide
			v := f.val[p.val : p.val+k*wd]
			block := max(1, pieceLength/max(1, k)) // columns
			for j := 0; j < wd && !w.within.Stop.Reached(block*k); j += block {
				nb := min(block, wd-j)
				copy(w.scaled[j*k:], v[j*k:(j+nb)*k])
				dense.ScaleColumns(k, nb, w.scaled[j*k:], k, f.dInv[int(p.first)+j:], v[j*k:], k)
			}
			f.updateBefore(w, p, end)
		case clique:
			w.replaced += f.eliminateClique(w, p, eps, delta)
			f.updateBefore(w, p, end)
		}
	}
}

// updateBefore subtracts what a panel does from the columns before end, and keeps L D of the rows from there on.
func (f *Factor) updateBefore(w *work, p *panel, end int32) {
	k := len(p.rows)
	f.updateAncestors(w, p, w.scaled, k, 0, 0, end)
	if k == 0 || p.rows[k-1] < end {
		return
	}
	a := before(p.rows, end)
	for j := range int(p.width) {
		copy(f.kept[p.kept+j*(k-a):], w.scaled[j*k+a:(j+1)*k])
	}
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

func (f *Factor) eliminateSmall(p *panel, end int32, eps, delta float64) int {
	val, d, addr := f.val, f.d, p.addr
	replaced, from := 0, p.val
	for j := range p.width {
		replaced += f.pivot(int(p.first+j), eps, delta)
		k := int(p.ptr[j+1] - p.ptr[j])
		v := val[from : from+k : from+k]
		from += k
		inside, rows := k, p.rows[p.ptr[j]:p.ptr[j+1]]
		for inside > 0 && rows[inside-1] >= end {
			inside--
		}
		if inside < k {
			copy(f.kept[p.kept+int(p.ptr[j]):], v)
		}
		inv := f.dInv[p.first+j]
		for a, va := range v[:inside] {
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
		for a := inside; a < k; a++ {
			l := v[a] * inv
			for b, at := range addr[:inside] {
				val[at] -= l * v[b]
			}
			addr = addr[a+1:]
		}
		for a := range v {
			v[a] *= inv
		}
	}
	return replaced
}

func (f *Factor) eliminateClique(w *work, p *panel, eps, delta float64) int {
	k, wd := len(p.rows), int(p.width)
	v, ld := f.val[p.val:p.val+p.ld*wd], p.ld
	d := f.d[p.first : p.first+p.width]
	replaced := w.within.LDL(wd, v, ld, d, f.sign[p.first:p.first+p.width], eps, delta)
	dInv := f.dInv[p.first : p.first+p.width]
	for j := range d {
		dInv[j] = 1 / d[j]
	}
	if k > 0 {
		w.within.SolvePanel(k, wd, v, ld, dInv, v[wd:], ld, w.scaled, k) // L D into scaled, L below
	}
	return replaced
}

// updateAncestors subtracts L D L' of the rows below p from the columns lo to hi of the panels that own them. scaled
// is L D from row number a on, with columns lds apart.
func (f *Factor) updateAncestors(w *work, p *panel, scaled []float64, lds, a int, lo, hi int32) {
	k, wd, ld := len(p.rows), int(p.width), p.ld
	below := f.val[p.val : p.val+ld*wd]
	if p.kind == clique {
		below = below[min(wd, len(below)):]
	}
	for _, g := range p.segments {
		from, to, end := int(g.from), int(g.to), int(g.to)
		if p.rows[from] >= hi {
			return
		}
		for to > from && p.rows[to-1] >= hi {
			to--
		}
		for from < to && p.rows[from] < lo {
			from++
		}
		if from == to {
			continue
		}
		m, c := k-from, to-from
		t := &f.panels[g.target]
		if w.within.Stop.Reached(m*c + wd) {
			return
		}
		out, ldo := w.update, m
		if g.dense {
			skip := from - int(g.from)
			out, ldo = f.val[t.val+(int(g.col)+skip)*t.ld+int(g.row)+skip:], t.ld
		} else {
			out = out[:m*c]
			clear(out)
		}
		l, scaled := below[from:], scaled[from-a:]
		w.within.SyrkNT(c, wd, l, ld, scaled, lds, out, ldo)
		if end > to { // the rest of the triangle
			w.strips().GemmNT(end-to, c, wd, l[c:], ld, scaled, lds, out[c:], ldo)
		}
		if at := end - from; m > at {
			within := w.within
			if c < end-int(g.from) && !dense.Tiny(k-end, end-int(g.from), wd) {
				within = w.strips()
			}
			within.GemmNT(m-at, c, wd, l[at:], ld, scaled, lds, out[at:], ldo)
		}
		if !g.dense {
			f.scatter(w, p.rows[from:], c, t, out)
		}
	}
}

// scatter adds the lower trapezoid u, whose rows are the given ones and whose
// columns are the first c of them, to panel t.
func (f *Factor) scatter(w *work, rows []int32, c int, t *panel, u []float64) {
	m := len(rows)
	at := w.at[:m]
	in, offset := c, int32(0) // rows among the columns of t, a small one being by itself
	for t.kind != small && in < m && rows[in] < t.first+t.width {
		in++
	}
	if t.kind == clique {
		offset = t.width
		for i := range in {
			at[i] = rows[i] - t.first
		}
	}
	q := 0
	own := t.below(rows[0] - t.first)
	for i := in; i < m; i++ {
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
			begin = in
		}
		to := at[begin:m]
		for i, v := range col[begin:m:m] {
			out[to[i]] += v
		}
	}
}

// Beside returns the same factors for solves beside those of f, which end with s: what a solve writes is its own.
func (f *Factor) Beside(s *stop.Stop) *Factor {
	out := *f
	out.within = dense.Within{Stop: s}
	out.x, out.gather = make([]float64, len(f.x)), make([]float64, len(f.gather))
	return &out
}

// Solve replaces b by the solution of L D L' x = b, or by what there is of it where Options.Stop is reached.
func (f *Factor) Solve(b []float64) {
	x := f.x
	for k, i := range f.perm {
		x[k] = b[i]
	}
	for s := range f.panels {
		if p := &f.panels[s]; !f.within.Stop.Reached(p.length()) {
			f.forward(p, x)
		}
	}
	for j, v := range f.dInv {
		x[j] *= v
	}
	for s := len(f.panels) - 1; s >= 0; s-- {
		if p := &f.panels[s]; !f.within.Stop.Reached(p.length()) {
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

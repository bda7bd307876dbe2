package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends/internal/ldl"
)

// chooseForms decides how each semidefinite cone takes part, marks the columns of
// eliminated matrix variables with -1 in xpos, and their rows and eliminated ones in pos.
func (k *kkt) chooseForms(keep bool) {
	partOf := make([]int32, k.f.m) // by row, the part and 1
	for _, c := range k.cones {
		if m, ok := c.cone.(*semidefinite); ok {
			p := &matrixPart{c: m, from: c.from, to: c.to}
			k.matrices = append(k.matrices, p)
			for r := p.from; r < p.to; r++ {
				partOf[r] = int32(len(k.matrices))
			}
			allocate(p.to-p.from, &p.divided, &p.pushed, &p.work, &p.of, &p.term)
		}
	}
	if len(k.matrices) == 0 {
		return
	}
	touched := k.touched(partOf)
	for i, p := range k.matrices {
		dim, t := p.to-p.from, &touched[i]
		p.c.form = eliminateRows
		if float64(len(t.columns)) > manyColumns*float64(dim) {
			p.c.form = denseRows
		}
		if !keep && !t.shared && t.entries == dim && len(t.columns) == dim && k.takeOwn(p, t.columns) {
			p.c.form = eliminateColumns
			for _, j := range t.columns {
				k.xpos[j] = -1
			}
		}
		if p.c.form != denseRows {
			for r := p.from; r < p.to; r++ {
				k.pos[r] = -1
			}
		}
	}
}

// touched is what the rows of a part have in A.
type touched struct {
	columns []int32
	entries int
	shared  bool // some column has another entry in this part or in another one, or is in P
}

// touched returns that of each part, partOf being the number of the part and 1 by row.
func (k *kkt) touched(partOf []int32) []touched {
	f, out := k.f, make([]touched, len(k.matrices))
	inP := make([]bool, f.n)
	for j := range f.n {
		for _, i := range f.p.ind[f.p.ptr[j]:f.p.ptr[j+1]] {
			inP[i], inP[j] = true, true
		}
	}
	for j := range f.n {
		if f.stop.Reached(vectorWork + 2*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return out
		}
		seen := int32(0)
		for _, i := range f.a.ind[f.a.ptr[j]:f.a.ptr[j+1]] {
			p := partOf[i]
			if p == 0 {
				continue
			}
			t := &out[p-1]
			t.entries++
			t.shared = t.shared || seen != 0 || inP[j]
			if seen != p {
				t.columns = append(t.columns, int32(j))
			}
			if seen != 0 {
				out[seen-1].shared = true
			}
			seen = p
		}
	}
	return out
}

// takeOwn finds the column of each row of a matrix variable. It returns false if a row
// has none, if more other rows have entries in these columns than there are columns, or if the
// entries are so many that keeping the columns is less work: products of the other rows with each other
// against one of each pair of columns and a larger matrix to factor.
func (k *kkt) takeOwn(p *matrixPart, columns []int32) bool {
	f := k.f
	own, entry := make([]int32, len(columns)), make([]int32, len(columns))
	for i := range own {
		own[i] = -1
	}
	others := map[int32]bool{}
	entries := 0.0
	for _, j := range columns {
		if f.stop.Reached(vectorWork + 50*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return false
		}
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			if i := int(f.a.ind[e]); i >= p.from && i < p.to {
				own[i-p.from], entry[i-p.from] = j, e
			} else {
				others[int32(i)] = true
				entries++
			}
		}
	}
	if slices.Contains(own, -1) || len(others) > len(columns) {
		return false
	}
	rest, all := float64(len(others)), float64(len(others)+len(columns))
	eliminated := pickCost * rest * entries / 2
	kept := pickCost*float64(len(columns)*len(columns))/2 + (all*all*all-rest*rest*rest)/(3*gemmGain)
	if kept < eliminated {
		return false
	}
	p.own, p.entry = own, entry
	return true
}

// makeMembers makes those of the parts, whose unknowns are known now, and the groups of
// unknowns that they link with each other in K.
func (k *kkt) makeMembers() error {
	f := k.f
	for _, p := range k.matrices {
		p.g.n, p.g.sign, p.g.within = p.c.rows, -1, f.within()
		switch p.c.form {
		case eliminateRows:
			p.g.sign = 1
			p.g.members = f.members(p.from, p.to, func(j int32) int32 { return k.xpos[j] })
		case eliminateColumns:
			p.g.members = k.otherRows(p)
		case denseRows:
			for i := p.from; i < p.to && !f.stop.Reached(100); i++ {
				p.g.members = append(p.g.members, gramMember{unknown: k.pos[i], item: int32(i), row: []int32{int32(i - p.from)},
					from: []int32{-1}})
			}
		}
		k.eliminates = k.eliminates || p.c.form != denseRows
		members, order := int64(len(p.g.members)), int64(p.g.n)
		if members*(members+1)/2 > math.MaxInt32 {
			return ldl.ErrTooLarge
		}
		bytes := 32*order*order*int64(max(1, f.threads)) + 2*members*(members+1)
		if err := f.memory.take("the products of semidefinite cones", bytes); err != nil {
			return err
		}
		if p.g.prepare(); f.stop.Reached(0) {
			return errStopped
		}
		group := make([]int32, len(p.g.members))
		for i := range p.g.members {
			group[i] = p.g.members[i].unknown
		}
		k.groups = append(k.groups, group)
	}
	if k.eliminates {
		if err := f.memory.take("the directions of the refinement", 8*(2*outerSteps+3)*int64(f.n+f.m)); err != nil {
			return err
		}
		k.outer = newOuter(f, k.matrices)
	}
	return nil
}

// otherRows returns the rows, beside its own, that have entries in the columns of a matrix variable.
func (k *kkt) otherRows(p *matrixPart) (out []gramMember) {
	f, at := k.f, make(map[int32]int) // only looked up, never walked
	for r, j := range p.own {
		if f.stop.Reached(vectorWork + 50*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return nil
		}
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			i := f.a.ind[e]
			if int(i) >= p.from && int(i) < p.to {
				continue
			}
			o, ok := at[i]
			if !ok {
				o = len(out)
				at[i], out = o, append(out, gramMember{unknown: k.pos[i], item: i})
			}
			out[o].row, out[o].from = append(out[o].row, int32(r)), append(out[o].from, e)
		}
	}
	return out
}

// members returns the columns with entries in the rows of a semidefinite cone, as members of a gram.
func (f *form) members(from, to int, unknown func(column int32) int32) []gramMember {
	var out []gramMember
	for j := range int32(f.n) {
		m := gramMember{item: j}
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			if i := int(f.a.ind[e]); i >= from && i < to {
				m.row, m.from = append(m.row, int32(i-from)), append(m.from, e)
			}
		}
		if f.stop.Reached(vectorWork + int(f.a.ptr[j+1]-f.a.ptr[j]) + 50*len(m.row)) {
			return nil
		}
		if len(m.row) > 0 {
			m.unknown = unknown(j)
			out = append(out, m)
		}
	}
	return out
}

// place finds the entries of K of all pairs of the grams.
func (k *kkt) place() error {
	for _, p := range k.matrices {
		g := &p.g
		g.place = make([]int32, 0, len(g.members)*(len(g.members)+1)/2)
		for i := range g.members { // in rising order of their unknowns
			u := g.members[i].unknown
			if k.f.stop.Reached(2 * (i + int(k.mat.ptr[u+1]-k.mat.ptr[u]))) {
				return errStopped
			}
			k.mark(u)
			for j := range i + 1 {
				g.place = append(g.place, k.marked[g.members[j].unknown])
			}
		}
	}
	return nil
}

package ldl

import "slices"

// find returns the place in val of entry (i, j) of L, i > j.
func (f *Factor) find(i, j int32) int32 {
	p := &f.panels[f.owner[j]]
	if p.kind == small {
		at := p.ptr[j-p.first]
		for p.rows[at] != i {
			at++
		}
		return int32(p.val) + at
	}
	column := p.val + int(j-p.first)*p.ld
	if i < p.first+p.width {
		return int32(column + int(i-p.first))
	}
	k, _ := slices.BinarySearch(p.rows, i)
	if p.kind == clique {
		k += int(p.width)
	}
	return int32(column + k)
}

// diagonal returns the code of the pivot of column j.
func (f *Factor) diagonal(j int32) int32 {
	p := &f.panels[f.owner[j]]
	if p.kind == clique {
		return int32(p.val + int(j-p.first)*(p.ld+1))
	}
	return ^j
}

// mapEntries finds the place of each entry of K. The members of a group are
// consecutive columns of one panel, so that the places of one give those of the
// others.
func (f *Factor) mapEntries(colptr, rowidx []int32, g *groups) {
	f.place = make([]int32, len(rowidx))
	// where column c has the first member of each group
	seen, at := make([]int32, len(g.ptr)), make([]int32, len(g.ptr))
	for c := range int32(f.n) {
		if f.within.Stop.Reached(entryWork * (1 + int(colptr[c+1]-colptr[c]))) {
			return
		}
		if g.first[c] != c {
			f.copyPlaces(c, colptr, rowidx, g)
			continue
		}
		for k := colptr[c]; k < colptr[c+1]; k++ {
			r := rowidx[k]
			i, j := f.inverse[r], f.inverse[c]
			group := g.column[r]
			switch first := g.first[r]; {
			case i == j:
				f.place[k] = f.diagonal(i)
			case first == r:
				f.place[k] = f.find(max(i, j), min(i, j))
				if group >= 0 {
					seen[group], at[group] = c+1, f.place[k]
				}
			case seen[group] == c+1:
				f.place[k] = at[group] + f.step(r, i > j)*(i-f.inverse[first])
			default:
				f.place[k] = f.find(max(i, j), min(i, j))
			}
		}
	}
}

// step returns how far apart the entries of consecutive members of the group of
// node r are, as rows of L or as columns.
func (f *Factor) step(r int32, row bool) int32 {
	if row {
		return 1
	}
	return int32(f.panels[f.owner[f.inverse[r]]].ld)
}

// copyPlaces takes the places of the entries of column c from those of the first
// member of its group, which has the same entries in the same order.
func (f *Factor) copyPlaces(c int32, colptr, rowidx []int32, g *groups) {
	first := g.first[c]
	j, j0 := f.inverse[c], f.inverse[first]
	asColumn, asRow := f.step(c, false)*(j-j0), j-j0
	rows, place := rowidx[colptr[c]:colptr[c+1]], f.place[colptr[c]:colptr[c+1]]
	rows0, place0 := rowidx[colptr[first]:colptr[first+1]], f.place[colptr[first]:colptr[first+1]]
	from := 0
	if end := len(rows) - 1; end == len(rows0)-1 && rows[end] == c && slices.Equal(rows[:end], rows0[:end]) {
		for k, r := range rows[:end] {
			step := asRow
			if f.inverse[r] > j {
				step = asColumn
			}
			place[k] = place0[k] + step
		}
		place[end] = f.diagonal(j)
		return
	}
	for k, r := range rows {
		i := f.inverse[r]
		switch {
		case r == c:
			place[k] = f.diagonal(i)
			continue
		case g.early[r] >= 0:
			place[k] = f.find(j, i)
			continue
		}
		for rows0[from] != r {
			from++
		}
		if i > j {
			place[k] = place0[from] + asColumn
		} else {
			place[k] = place0[from] + asRow
		}
		from++
	}
}

// address computes where small columns put their updates.
func (f *Factor) address() {
	total := 0
	for s := range f.panels {
		if p := &f.panels[s]; p.kind == small {
			for j := range p.width {
				k := len(p.below(j))
				total += k * (k + 1) / 2
			}
		}
	}
	store := make([]int32, 0, total)
	for s := range f.panels {
		p := &f.panels[s]
		if p.kind != small {
			continue
		}
		begin := len(store)
		for c := range p.width {
			rows := p.below(c)
			if f.within.Stop.Reached(entryWork * (1 + len(rows)*len(rows))) {
				return
			}
			for a, i := range rows {
				for _, j := range rows[:a] {
					store = append(store, f.find(i, j))
				}
				store = append(store, f.diagonal(i))
			}
		}
		p.addr = store[begin:len(store):len(store)]
	}
}

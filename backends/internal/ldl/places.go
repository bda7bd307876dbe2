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

// mapEntries finds the place of each entry of K. Where entries follow each other in a column of K and in L, there as
// rows of one column or as columns of one panel, the place of one gives that of the next.
func (f *Factor) mapEntries(colptr, rowidx []int32) {
	f.place = make([]int32, len(rowidx))
	for c, j := range f.inverse {
		from, to := colptr[c], colptr[c+1]
		if f.within.Stop.Reached(entryWork * (1 + int(to-from))) {
			return
		}
		last := int32(-2) // the row of the entry before
		for k := from; k < to; k++ {
			i := f.inverse[rowidx[k]]
			p := &f.panels[f.owner[i]]
			switch next := i == last+1; {
			case i == j:
				f.place[k] = f.diagonal(i)
			case next && last > j:
				f.place[k] = f.place[k-1] + 1
			case next && i < j && last >= p.first && p.kind != small:
				f.place[k] = f.place[k-1] + int32(p.ld)
			default:
				f.place[k] = f.find(max(i, j), min(i, j))
			}
			last = i
		}
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

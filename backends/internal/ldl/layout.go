package ldl

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/stop"
)

// layout turns the supernodes of the reduced pattern into panels of the whole.
// Columns that are not adjacent and have equal rows become twins and are numbered
// one after the other, at the place of the last of them, which is still before
// all their ancestors. So are the members of a group. A supernode of small columns
// is taken apart. parent is the elimination tree; loose, first and rows are those of groups.loose and structures.
func (f *Factor) layout(g *groups, perm, parent []int32, loose []bool, first []int32, rows [][]int32) error {
	weight := make([]int32, len(perm))
	for j, c := range perm {
		weight[j] = g.ptr[c+1] - g.ptr[c]
	}
	f.perm, f.owner = make([]int32, 0, f.n), make([]int32, f.n)
	f.columns = make([]columns, 0, f.n-len(g.members)+len(perm))
	for i, q := range g.early {
		if q >= 0 {
			f.columns = append(f.columns, columns{kind: small, first: int32(len(f.perm)), width: 1})
			f.perm = append(f.perm, int32(i))
		}
	}
	early := len(f.perm)

	height := make([]int32, len(rows)) // number of rows of the whole
	for s, list := range rows {
		if f.within.Stop.Reached(entryWork + len(list)) {
			return ErrStopped
		}
		for _, j := range list {
			height[s] += weight[j]
		}
	}
	first, rows, height = amalgamate(first, rows, height, parent, weight, loose, f.within.Stop)
	begin, sorted := sameRows(rows, func(s int32) bool {
		j := first[s]
		return height[s] > smallRows && first[s+1]-j == 1 && (weight[j] == 1 || loose[j])
	}, len(perm), f.within.Stop)
	if f.within.Stop.Reached(0) {
		return ErrStopped
	}
	l := &numbering{stop: f.within.Stop, place: make([]int32, len(perm)), columns: make([]int32, 0, len(perm)),
		weight: weight}
	var store []int32 // rows of small columns that were in one supernode
	for s := range rows {
		if f.within.Stop.Reached(4 * entryWork) {
			return ErrStopped
		}
		list := sorted[begin[s]:begin[s+1]]
		if len(list) == 0 {
			continue
		}
		at := int32(len(f.perm))
		for _, t := range list {
			for j := first[t]; j < first[t+1]; j++ {
				l.place[j] = int32(len(f.perm))
				l.columns = append(l.columns, j)
				f.perm = append(f.perm, g.of(perm[j])...)
			}
		}
		from, to := first[s], first[s+1]
		p := columns{first: at, width: int32(len(f.perm)) - at, rows: rows[s]}
		switch {
		case len(list) > 1 || loose[from]:
			p.kind = twins
		case p.width == to-from && (p.width-1+height[s] <= smallRows || p.width == 1 && height[s] <= loneRows):
			p.kind, p.width = small, 1
			for j := from; j < to-1; j++ {
				begin := len(store)
				for i := j + 1; i < to; i++ {
					store = append(store, i)
				}
				store = append(store, rows[s]...)
				p.rows = store[begin:]
				f.columns = append(f.columns, p)
				l.total += int(to - 1 - j + height[s])
				p.first++
			}
			p.rows = rows[s]
		}
		f.columns = append(f.columns, p)
		l.total += int(height[s])
	}
	if l.total > math.MaxInt32 {
		return ErrTooLarge
	}
	f.inverse = invert(f.perm)
	if l.sortRows(f.columns[early:]); l.stop.Reached(0) {
		return ErrStopped
	}
	neighbours := make([]int32, early)
	for s := range neighbours {
		neighbours[s] = f.inverse[g.early[f.perm[s]]]
		f.columns[s].rows = neighbours[s : s+1]
	}
	return nil
}

// A supernode joins its parent where the zeros that all of it then stores are no more than fewZeros and a share of it:
// scattering updates costs more than these. Of fewZeros 100 to 1000 and shares of 1/30 to 1/5 these are the best on
// linear and quadratic programs, which take three quarters of the time that they take without, large ones half.
const (
	fewZeros  = 300
	zeroShare = 10
)

// amalgamate joins supernodes, but for small columns, with parents that are the next ones: the rows below are then
// those of the parent. Columns have weights, and rows below a supernode its height.
func amalgamate(first []int32, rows [][]int32, height, parent, weight []int32, loose []bool, stop *stop.Stop) ([]int32,
	[][]int32, []int32) {
	to := len(rows) // what is joined is from here on
	end, wide, below, zeros := first[to], 0, 0, 0
	for s := len(rows) - 1; s >= 0; s-- {
		from, next, width, h := first[s], first[s+1], 0, int(height[s])
		stop.Reached(entryWork * int(next-from)) // that is soon over
		for _, w := range weight[from:next] {
			width += int(w)
		}
		all, more := width+wide, zeros+width*(wide+below-h)
		if next < end && parent[next-1] == next && !loose[next-1] && width-1+h > smallRows &&
			more <= fewZeros+(all*(all+1)/2+all*below)/zeroShare {
			wide, zeros = all, more
		} else {
			to--
			rows[to], height[to] = rows[s], height[s]
			end, wide, below, zeros = next, width, h, 0
		}
		first[to] = from
	}
	return first[to:], rows[to:], height[to:]
}

// sameRows puts the supernodes with equal rows together, of those that may be.
// sorted[begin[s]:begin[s+1]] are those whose last one is s, ascending; it is
// empty if s is not the last. n is above all rows.
func sameRows(rows [][]int32, may func(s int32) bool, n int, stop *stop.Stop) (begin, sorted []int32) {
	count := int32(len(rows))
	known, mark := make(map[uint64]int32, count), make([]int32, n)
	first, last := make([]int32, count), make([]int32, count) // of those with the same rows
	for s := range count {
		if stop.Reached(entryWork * (1 + len(rows[s]))) {
			return nil, nil
		}
		if first[s] = s; may(s) {
			key := uint64(len(rows[s]))
			for _, i := range rows[s] {
				key += mix(uint64(i)) // independent of the order
			}
			if h := firstOf(known, key, s); h != s && len(rows[h]) == len(rows[s]) {
				for _, i := range rows[h] {
					mark[i] = s
				}
				if !slices.ContainsFunc(rows[s], func(i int32) bool { return mark[i] != s }) {
					first[s] = h
				}
			}
		}
		last[first[s]] = s
	}
	begin = make([]int32, count+1)
	if stop.Reached(int(count)) {
		return nil, nil
	}
	for s, f := range first {
		last[s] = last[f]
		begin[last[s]+1]++
	}
	for s := range count {
		begin[s+1] += begin[s]
	}
	if stop.Reached(int(2 * count)) {
		return nil, nil
	}
	sorted = make([]int32, count)
	at := slices.Clone(begin[:count])
	for s := range count {
		sorted[at[last[s]]] = s
		at[last[s]]++
	}
	return begin, sorted
}

// longestRun is the most columns of a run of small ones, between which a factorisation can end.
const longestRun = 1 << 12

// joinSmall makes runs of neighbouring small columns.
func (f *Factor) joinSmall() {
	total, count := 0, 2+f.n/longestRun
	for s := range f.columns {
		if f.within.Stop.Reached(entryWork) {
			return
		}
		p := &f.columns[s]
		if p.kind == small {
			total += len(p.rows)
		}
		if p.kind != small || s == 0 || f.columns[s-1].kind != small {
			count++
		}
	}
	rows := make([]int32, 0, total)
	ptr := make([]int32, 0, 2*f.n)
	var starts []*int32 // of tasks, at which no run goes on
	for _, st := range f.stages {
		for k := range st.starts {
			starts = append(starts, &st.starts[k])
		}
	}
	none := int32(math.MaxInt32)
	starts = append(starts, &none)
	panels := make([]panel, 0, count+len(starts))
	for s := 0; s < len(f.columns); {
		for ; int(*starts[0]) == s; starts = starts[1:] {
			*starts[0] = int32(len(panels))
		}
		if f.within.Stop.Reached(entryWork * longestRun) {
			return
		}
		p := panel{columns: f.columns[s]}
		if p.kind != small {
			s++
		} else {
			from, begin := len(rows), len(ptr)
			ptr = append(ptr, 0)
			p.width = 0
			for ; s < len(f.columns) && f.columns[s].kind == small && p.width < longestRun && s < int(*starts[0]); s++ {
				rows = append(rows, f.columns[s].rows...)
				ptr = append(ptr, int32(len(rows)-from))
				p.width++
			}
			p.rows, p.ptr = rows[from:len(rows):len(rows)], ptr[begin:len(ptr):len(ptr)]
		}
		for j := p.first; j < p.first+p.width; j++ {
			f.owner[j] = int32(len(panels))
		}
		panels = append(panels, p)
	}
	for ; len(starts) > 1; starts = starts[1:] {
		*starts[0] = int32(len(panels))
	}
	f.columns, f.panels = nil, panels
}

// numbering says where the columns of the reduced pattern are in the whole.
type numbering struct {
	place   []int32 // of the first member of each column
	weight  []int32 // number of members
	columns []int32 // the columns in the order of their place
	total   int     // number of rows of all panels, in the whole
	stop    *stop.Stop
}

// sortRows replaces the rows of the panels, columns of the reduced pattern, by
// those of the whole, sorted, by one pass over the transposed structure.
func (l *numbering) sortRows(panels []columns) {
	n := len(l.columns)
	ptr := make([]int32, n+1)
	for s := range panels {
		if l.stop.Reached(entryWork * (1 + len(panels[s].rows))) {
			return
		}
		for _, j := range panels[s].rows {
			ptr[j+1]++
		}
	}
	for j := range n {
		ptr[j+1] += ptr[j]
	}
	by, next := make([]int32, ptr[n]), slices.Clone(ptr[:n])
	store := make([]int32, l.total)
	end := make([]int32, len(panels)) // of the rows of a panel in store
	used := int32(0)
	for s := range panels {
		if l.stop.Reached(entryWork * (1 + len(panels[s].rows))) {
			return
		}
		end[s] = used
		for _, j := range panels[s].rows {
			by[next[j]] = int32(s)
			next[j]++
			used += l.weight[j]
		}
	}
	for _, j := range l.columns {
		at, weight := l.place[j], l.weight[j]
		if l.stop.Reached(entryWork * (1 + int(ptr[j+1]-ptr[j])*int(weight))) {
			return
		}
		for _, s := range by[ptr[j]:ptr[j+1]] {
			rows := store[end[s]:]
			end[s] += weight
			for i := range weight {
				rows[i] = at + i
			}
		}
	}
	begin := int32(0)
	for s := range panels {
		panels[s].rows = store[begin:end[s]:end[s]]
		begin = end[s]
	}
}

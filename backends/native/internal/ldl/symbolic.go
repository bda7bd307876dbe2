// Package ldl factors sparse symmetric quasi-definite matrices, K = L D L' with
// D diagonal and the signs of D known beforehand (Vanderbei 1995), so that any
// symmetric permutation works and no pivoting is needed.
//
// The columns of L are held in panels, so that the flops are done by dense
// kernels. There are three kinds of panel:
//
//   - a clique: consecutive columns with the same structure below the diagonal
//     block, which is dense (the usual supernode);
//   - twins: columns that are not adjacent to each other and have the same
//     structure, so that the diagonal block is diagonal. A dense block of data
//     next to a diagonal one, as in least squares, makes such panels;
//   - a run of small columns, each with at most smallRows entries below its pivot
//     and rows of its own, whose updates go to addresses that were computed once.
//
// The analysis is done once for a pattern, and a factorisation or a solve
// allocates nothing.
package ldl

import (
	"errors"
	"math"
	"slices"

	"github.com/conetune/conetune/backends/native/internal/order"
)

// smallRows is the largest number of entries below the pivot of a small column.
// A small column stores k(k+1)/2 addresses; at 8 rows this is still less work
// than one call of a dense kernel.
const smallRows = 8

type kind uint8

const (
	clique kind = iota
	twins
	small
)

// panel is a group of consecutive columns of L.
type panel struct {
	kind  kind
	first int32 // first column
	width int32 // number of columns
	// rows are those below the columns. In a run of small columns those of
	// column j are rows[ptr[j]:ptr[j+1]].
	rows, ptr []int32
	// values start at val, columns ld apart. A clique begins with its diagonal
	// block; twins hold only what is below it. Those of small columns are in the
	// order of rows.
	val, ld int
	// addr are the places that small columns update, column by column: entry
	// (a, b), a >= b, of the outer product at a(a+1)/2 + b; ^c stands for the pivot
	// of column c.
	addr []int32
	// segments cut rows by the panels that they belong to (not for small).
	segments []segment
}

// below returns the rows of column j of the panel, counted from its first.
func (p *panel) below(j int32) []int32 {
	if p.kind == small {
		return p.rows[p.ptr[j]:p.ptr[j+1]]
	}
	return p.rows
}

// segment says that rows[from:to] are columns of panel target, and how all rows
// from there on are found in it.
type segment struct {
	from, to, target int32
	// If dense, rows[from:] are consecutive rows of the target's storage,
	// starting at row, and rows[from:to] consecutive columns starting at col.
	dense    bool
	row, col int32
}

// Factor is the analysis of a pattern and the numbers of the last factorisation.
// It is for one goroutine at a time.
type Factor struct {
	n       int
	perm    []int32 // perm[k] is the index in K of pivot k
	inverse []int32
	panels  []panel
	owner   []int32 // the panel of each column
	place   []int32 // where entry k of K goes: a place in val, or ^c for the pivot of column c
	val     []float64
	d       []float64
	dInv    []float64
	sign    []int8
	x       []float64 // permuted vector of a solve
	scaled  []float64 // L D of a panel
	update  []float64 // a product before it is scattered
	gather  []float64
	at      []int32 // rows of a segment in its target
	flops   float64
}

// ErrTooLarge is returned when the factor does not fit into 32-bit indices.
var ErrTooLarge = errors.New("ldl: the factor has more than 2^31 entries")

// Analyze prepares the factorisation of matrices with the given pattern: the
// upper triangle in compressed columns, diagonal included in every column.
// sign[i] is the sign, +1 or -1, of pivot i.
func Analyze(n int, colptr, rowidx []int32, sign []int8) (*Factor, error) {
	perm := order.AMD(n, colptr, rowidx)
	up := permuteUpper(n, colptr, rowidx, perm)
	parent := order.Etree(n, up.ptr, up.ind)
	post := order.Postorder(parent)
	if !identity(post) {
		perm = compose(perm, post)
		up = permuteUpper(n, colptr, rowidx, perm)
		parent = order.Etree(n, up.ptr, up.ind)
		post = order.Postorder(parent)
	}
	count := order.ColCounts(n, up.ptr, up.ind, parent, post)

	f := &Factor{n: n}
	first, rows := structures(n, up, parent, count)
	f.layout(n, first, rows, perm)
	if err := f.allocate(sign); err != nil {
		return nil, err
	}
	f.mapEntries(colptr, rowidx)
	f.address()
	return f, nil
}

// Nonzeros returns the number of stored entries of L, Flops the number of
// multiply-adds of a factorisation.
func (f *Factor) Nonzeros() int { return len(f.val) }

// Flops returns the number of multiply-adds of one factorisation.
func (f *Factor) Flops() float64 { return f.flops }

// pattern is an upper triangle in compressed columns.
type pattern struct{ ptr, ind []int32 }

// permuteUpper returns the upper triangle of the permuted pattern, without its
// diagonal, rows unsorted.
func permuteUpper(n int, ptr, ind, perm []int32) pattern {
	inv := invert(perm)
	out := pattern{ptr: make([]int32, n+1)}
	for j := range n {
		for _, i := range ind[ptr[j]:ptr[j+1]] {
			if int(i) != j {
				out.ptr[max(inv[i], inv[j])+1]++
			}
		}
	}
	for j := range n {
		out.ptr[j+1] += out.ptr[j]
	}
	out.ind = make([]int32, out.ptr[n])
	next := slices.Clone(out.ptr[:n])
	for j := range n {
		for _, i := range ind[ptr[j]:ptr[j+1]] {
			if int(i) != j {
				a, b := inv[i], inv[j]
				c := max(a, b)
				out.ind[next[c]] = min(a, b)
				next[c]++
			}
		}
	}
	return out
}

func invert(perm []int32) []int32 {
	inv := make([]int32, len(perm))
	for k, i := range perm {
		inv[i] = int32(k)
	}
	return inv
}

// compose returns the permutation that first applies perm, then post.
func compose(perm, post []int32) []int32 {
	out := make([]int32, len(perm))
	for k, i := range post {
		out[k] = perm[i]
	}
	return out
}

func identity(perm []int32) bool {
	for k, i := range perm {
		if int(i) != k {
			return false
		}
	}
	return true
}

// structures groups the columns into supernodes and returns the first column of
// each (with n at the end) and its rows below the diagonal block, unsorted.
func structures(n int, up pattern, parent, count []int32) (first []int32, rows [][]int32) {
	for j := range int32(n) {
		if j == 0 || parent[j-1] != j || count[j-1] != count[j]+1 {
			first = append(first, j)
		}
	}
	supers := len(first)
	first = append(first, int32(n))
	owner := make([]int32, n)
	for s := range supers {
		for j := first[s]; j < first[s+1]; j++ {
			owner[j] = int32(s)
		}
	}
	// lower triangle by columns: the transpose of up
	ptr := make([]int32, n+1)
	for _, i := range up.ind {
		ptr[i+1]++
	}
	for j := range n {
		ptr[j+1] += ptr[j]
	}
	ind, next := make([]int32, len(up.ind)), slices.Clone(ptr[:n])
	for j := range int32(n) {
		for _, i := range up.ind[up.ptr[j]:up.ptr[j+1]] {
			ind[next[i]] = j
			next[i]++
		}
	}
	total := 0
	for s := range supers {
		total += int(count[first[s+1]-1]) - 1
	}
	store := make([]int32, 0, total)
	rows = make([][]int32, supers)
	mark := make([]int32, n)
	for i := range mark {
		mark[i] = -1
	}
	children := make([]int32, supers) // head of the list of children
	sibling := make([]int32, supers)
	for s := range children {
		children[s] = -1
	}
	for s := range int32(supers) {
		last := first[s+1] - 1
		begin := len(store)
		add := func(list []int32) {
			for _, i := range list {
				if i > last && mark[i] != s {
					mark[i] = s
					store = append(store, i)
				}
			}
		}
		for c := children[s]; c >= 0; c = sibling[c] {
			add(rows[c])
		}
		for j := first[s]; j <= last; j++ {
			add(ind[ptr[j]:ptr[j+1]])
		}
		rows[s] = store[begin:len(store):len(store)]
		if p := parent[last]; p >= 0 {
			t := owner[p]
			sibling[s], children[t] = children[t], s
		}
	}
	return first, rows
}

// layout turns supernodes into panels: single columns with equal rows become
// twins and are numbered one after the other, at the place of the last of them,
// which is still before all their ancestors.
func (f *Factor) layout(n int, first []int32, rows [][]int32, perm []int32) {
	supers := len(rows)
	group := make([]int32, supers) // the last supernode of the group
	groups := map[uint64][]int32{}
	for s := range int32(supers) {
		group[s] = s
		if first[s+1]-first[s] == 1 && len(rows[s]) > smallRows {
			h := uint64(len(rows[s]))
			for _, i := range rows[s] {
				h += mix(uint64(i)) // independent of the order
			}
			groups[h] = append(groups[h], s)
		}
	}
	mark := make([]int32, n)
	for s := range int32(supers) {
		if first[s+1]-first[s] != 1 || len(rows[s]) <= smallRows || group[s] != s {
			continue
		}
		h := uint64(len(rows[s]))
		for _, i := range rows[s] {
			h += mix(uint64(i))
			mark[i] = s + 1
		}
		members := groups[h]
		if len(members) < 2 || members[0] != s {
			continue
		}
		same := members[:1]
		for _, t := range members[1:] {
			equal := len(rows[t]) == len(rows[s])
			for _, i := range rows[t] {
				equal = equal && mark[i] == s+1
			}
			if equal {
				same = append(same, t)
			}
		}
		for _, t := range same {
			group[t] = same[len(same)-1]
		}
	}
	members := make([]int32, supers+1)
	for s := range supers {
		members[group[s]+1]++
	}
	f.perm, f.owner = make([]int32, 0, n), make([]int32, n)
	renumber := make([]int32, n)
	// supernodes of a group in ascending order, groups by their last member
	for s := range supers {
		members[s+1] += members[s]
	}
	sorted, next := make([]int32, supers), slices.Clone(members[:supers])
	for s := range int32(supers) {
		g := group[s]
		sorted[next[g]] = s
		next[g]++
	}
	for g := range int32(supers) {
		list := sorted[members[g]:members[g+1]]
		if len(list) == 0 {
			continue
		}
		p := panel{first: int32(len(f.perm)), rows: rows[g]}
		for _, s := range list {
			for j := first[s]; j < first[s+1]; j++ {
				renumber[j] = int32(len(f.perm))
				f.owner[len(f.perm)] = int32(len(f.panels))
				f.perm = append(f.perm, perm[j])
				p.width++
			}
		}
		switch {
		case len(list) > 1:
			p.kind = twins
		case p.width == 1 && len(p.rows) <= smallRows:
			p.kind = small
		}
		f.panels = append(f.panels, p)
	}
	f.inverse = invert(f.perm)
	f.sortRows(renumber)
	f.joinSmall()
}

// joinSmall makes runs of neighbouring small columns.
func (f *Factor) joinSmall() {
	total := 0
	for s := range f.panels {
		if p := &f.panels[s]; p.kind == small {
			total += len(p.rows)
		}
	}
	rows := make([]int32, 0, total)
	ptr := make([]int32, 0, 2*f.n)
	panels := f.panels[:0]
	for s := 0; s < len(f.panels); {
		p := f.panels[s]
		if p.kind != small {
			s++
		} else {
			from, begin := len(rows), len(ptr)
			ptr = append(ptr, 0)
			p.width = 0
			for ; s < len(f.panels) && f.panels[s].kind == small; s++ {
				rows = append(rows, f.panels[s].rows...)
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
	f.panels = panels
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

// sortRows renumbers the rows of all panels and sorts them by one pass over the
// transposed structure.
func (f *Factor) sortRows(renumber []int32) {
	ptr := make([]int, f.n+1)
	total := 0
	for s := range f.panels {
		for _, i := range f.panels[s].rows {
			ptr[renumber[i]+1]++
		}
		total += len(f.panels[s].rows)
	}
	for i := range f.n {
		ptr[i+1] += ptr[i]
	}
	by := make([]int32, total)
	next := slices.Clone(ptr[:f.n])
	for s := range f.panels {
		for _, i := range f.panels[s].rows {
			r := renumber[i]
			by[next[r]] = int32(s)
			next[r]++
		}
		f.panels[s].rows = f.panels[s].rows[:0]
	}
	store := make([]int32, total)
	used := 0
	for s := range f.panels {
		k := cap(f.panels[s].rows)
		f.panels[s].rows = store[used : used : used+k]
		used += k
	}
	for i := range f.n {
		for _, s := range by[ptr[i]:ptr[i+1]] {
			f.panels[s].rows = append(f.panels[s].rows, int32(i))
		}
	}
}

// allocate gives every panel its place and makes the buffers.
func (f *Factor) allocate(sign []int8) error {
	total, rowMax, widest, scaled, product := 0, 0, 0, 0, 0
	for s := range f.panels {
		p := &f.panels[s]
		k, w := len(p.rows), int(p.width)
		p.val, p.ld = total, k
		if p.kind == small {
			total += k
			for j := range p.width {
				k := len(p.below(j))
				f.flops += float64(k*(k+1)) / 2
			}
			continue
		}
		if p.kind == clique {
			p.ld = k + w
		}
		total += p.ld * w
		rowMax, widest = max(rowMax, k), max(widest, w)
		scaled = max(scaled, k*w)
		f.flops += float64(w) * float64(k) * float64(k+1) / 2
		if p.kind == clique {
			f.flops += float64(w*w*w)/6 + float64(w*w*k)/2
		}
		f.segment(p)
		for _, g := range p.segments {
			if !g.dense {
				product = max(product, (k-int(g.from))*int(g.to-g.from))
			}
		}
	}
	if total > math.MaxInt32 {
		return ErrTooLarge
	}
	f.val = make([]float64, total)
	f.d, f.dInv, f.x = make([]float64, f.n), make([]float64, f.n), make([]float64, f.n)
	f.scaled, f.update = make([]float64, scaled), make([]float64, product)
	f.gather, f.at = make([]float64, max(rowMax, widest)), make([]int32, rowMax)
	f.sign = make([]int8, f.n)
	for k, i := range f.perm {
		f.sign[k] = sign[i]
	}
	return nil
}

// segment cuts the rows of p by the panels that own them. It is called in the
// order of the panels, but needs only their rows and columns.
func (f *Factor) segment(p *panel) {
	for from := 0; from < len(p.rows); {
		t := f.owner[p.rows[from]]
		target := &f.panels[t]
		end := target.first + target.width
		if target.kind == small {
			end = p.rows[from] + 1 // each column has its own rows
		}
		to := from + 1
		for to < len(p.rows) && p.rows[to] < end {
			to++
		}
		g := segment{from: int32(from), to: int32(to), target: t}
		if target.kind == clique {
			g.col = p.rows[from] - target.first
			g.row = g.col
			contiguous := int(p.rows[to-1]-p.rows[from]) == to-from-1
			if rest := len(p.rows) - to; contiguous && rest > 0 {
				// the rows below must follow the columns without a hole
				contiguous = p.rows[to-1] == end-1 && rest <= len(target.rows) && slices.Equal(p.rows[to:], target.rows[:rest])
			}
			g.dense = contiguous
		}
		p.segments = append(p.segments, g)
		from = to
	}
}

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

// mapEntries finds the place of each entry of K.
func (f *Factor) mapEntries(colptr, rowidx []int32) {
	f.place = make([]int32, len(rowidx))
	for c := range int32(f.n) {
		for k := colptr[c]; k < colptr[c+1]; k++ {
			i, j := f.inverse[rowidx[k]], f.inverse[c]
			if i == j {
				f.place[k] = f.diagonal(i)
			} else {
				f.place[k] = f.find(max(i, j), min(i, j))
			}
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

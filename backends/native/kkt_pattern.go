package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends/internal/ldl"
)

// pattern lays out the upper triangle of K by columns: first P, then the rows
// of A with their part of H, then the unknowns of the second-order cones.
func (k *kkt) pattern(count []int32, columns int) error {
	f := k.f
	k.link()
	const what = "the matrix of the Newton systems"
	if err := f.memory.take(what, 64*int64(k.size)+16*int64(len(f.p.ind)+len(f.a.ind))); err != nil {
		return err
	}
	k.mat.ptr = make([]int32, 1, k.size+1)
	k.diag, k.sign = make([]int32, k.size), make([]int8, k.size)
	k.pAt, k.aAt = make([]int32, len(f.p.ind)), make([]int32, len(f.a.ind))
	k.mat.ind = make([]int32, 0, len(f.p.ind)+len(f.a.ind)+4*k.size)
	k.baseX = make([]float64, columns)
	k.at = make([][]int32, len(k.cones))
	w := &patternWriter{kkt: k, what: what, columns: columns}
	for _, part := range []func(){w.variables, func() { w.rowsOfA(count) }, w.equations, w.coneRows, w.rankTwo} {
		if part(); w.err != nil {
			return w.err
		}
	}
	if f.stop.Reached(0) {
		return errStopped
	}
	if err := f.memory.take(what, entryBytes*int64(len(k.mat.ind))); err != nil {
		return err
	}
	k.mat.val = make([]float64, len(k.mat.ind))
	k.mat.stop = f.stop
	k.mat.split(true)
	return nil
}

// link finds the groups of each unknown: those of semidefinite cones, which are all that is linked in K.
func (k *kkt) link() {
	if k.marked = make([]int32, k.size); len(k.groups) == 0 {
		return
	}
	k.groupsOf = make([][]int32, k.size)
	for g, group := range k.groups {
		for _, u := range group {
			k.groupsOf[u] = append(k.groupsOf[u], int32(g))
		}
	}
}

// mark writes the places of the entries of column j into marked.
func (k *kkt) mark(j int32) {
	for e := k.mat.ptr[j]; e < k.mat.ptr[j+1]; e++ {
		k.marked[k.mat.ind[e]] = e
	}
}

// patternWriter writes the matrix column by column.
type patternWriter struct {
	*kkt
	what    string
	columns int

	start, col, entry []int32 // the rows of A: columns and entries, by row
	err               error   // once it is set, the next column is the last
}

// push appends an entry to the column, and returns its place.
func (w *patternWriter) push(i int32) int32 {
	w.mat.ind = append(w.mat.ind, i)
	return int32(len(w.mat.ind) - 1)
}

// end ends column j.
func (w *patternWriter) end(j int, sign int8) {
	entries := len(w.mat.ind)
	switch {
	case w.f.stop.Reached(20 + 4*(entries-int(w.mat.ptr[len(w.mat.ptr)-1]))):
		w.err = errStopped
	case entries > math.MaxInt32:
		w.err = ldl.ErrTooLarge
	case w.err == nil:
		w.err = w.f.memory.fits(w.what, entryBytes*int64(entries))
	}
	w.sign[j] = sign
	w.mat.ptr = append(w.mat.ptr, int32(len(w.mat.ind)))
}

// pivot ends a column of a row of A with its place on the diagonal.
func (w *patternWriter) pivot(i int) {
	j := int(w.pos[i])
	w.diag[j] = w.push(int32(j))
	w.end(j, -1)
}

// variables writes the columns of the variables: those of P, with the whole diagonal.
func (w *patternWriter) variables() {
	p := &w.f.p
	for c := range w.f.n {
		if w.err != nil {
			return
		}
		j := w.xpos[c]
		if j < 0 {
			for e := p.ptr[c]; e < p.ptr[c+1]; e++ {
				w.pAt[e] = -1
			}
			continue
		}
		if len(w.groups) > 0 && len(w.groupsOf[j]) > 0 {
			w.pushLinked(c)
			w.end(int(j), 1)
			continue
		}
		w.diag[j] = -1
		for e := p.ptr[c]; e < p.ptr[c+1]; e++ {
			w.pAt[e] = w.push(w.xpos[p.ind[e]])
			if int(p.ind[e]) == c {
				w.diag[j] = w.pAt[e]
			}
		}
		if w.diag[j] < 0 {
			w.diag[j] = w.push(j)
		}
		w.end(int(j), 1)
	}
}

// rowsOfA sorts the entries of A by rows, of which count is how many each has.
func (w *patternWriter) rowsOfA(count []int32) {
	f := w.f
	w.start = make([]int32, f.m+1)
	for i, c := range count {
		w.start[i+1] = w.start[i] + c
	}
	w.col, w.entry = make([]int32, len(f.a.ind)), make([]int32, len(f.a.ind))
	next := append([]int32(nil), w.start[:f.m]...)
	for j := range f.n {
		if f.stop.Reached(vectorWork + 4*int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return
		}
		for e := f.a.ptr[j]; e < f.a.ptr[j+1]; e++ {
			i := f.a.ind[e]
			w.col[next[i]], w.entry[next[i]] = int32(j), e
			next[i]++
		}
	}
}

// row writes the entries of a row of A, and those of the rows that it is linked to otherwise than by A.
func (w *patternWriter) row(i int) {
	for e := w.start[i]; e < w.start[i+1]; e++ {
		if j := w.xpos[w.col[e]]; j >= 0 {
			w.aAt[w.entry[e]] = w.push(j)
		} else {
			w.aAt[w.entry[e]] = -1
		}
	}
	if len(w.groups) == 0 || len(w.groupsOf[w.pos[i]]) == 0 {
		return
	}
	for _, u := range w.earlier(w.pos[i], nil) {
		if u >= int32(w.columns) {
			w.push(u)
		}
	}
}

// without notes that the entries of a row of A are not in the matrix.
func (w *patternWriter) without(i int) {
	for e := w.start[i]; e < w.start[i+1]; e++ {
		w.aAt[w.entry[e]] = -1
	}
}

// equations writes the columns of the rows of the zero cone.
func (w *patternWriter) equations() {
	for i := range w.f.zero {
		if w.err != nil {
			return
		}
		w.row(i)
		w.pivot(i)
	}
}

// coneRows writes the columns of the rows of the other cones.
func (w *patternWriter) coneRows() {
	for c, cn := range w.cones {
		if w.err != nil {
			return
		}
		from, to := cn.from, cn.to
		switch block := cn.block(); block {
		case basisBlock:
			w.basisRows(c, from, to)
		case eliminatedBlock:
			for i := from; i < to && !w.f.stop.Reached(vectorWork+int(w.start[i+1]-w.start[i])); i++ {
				w.without(i)
			}
		default:
			w.plainRows(c, from, to, block)
		}
	}
}

// plainRows writes the columns of the rows of a cone. Rows of one entry without a place in the matrix are bounds.
func (w *patternWriter) plainRows(c, from, to int, block block) {
	if block == diagonalBlock {
		w.at[c] = make([]int32, 0, to-from)
	}
	for i := from; i < to; i++ {
		if w.err != nil || w.f.stop.Reached(vectorWork+int(w.start[i+1]-w.start[i])) {
			return
		}
		if w.pos[i] < 0 {
			e := w.start[i]
			w.bounds = append(w.bounds, bound{int32(i), w.col[e], w.entry[e]})
			w.aAt[w.entry[e]] = -1
			w.at[c] = append(w.at[c], -1)
			continue
		}
		w.row(i)
		w.pivot(i)
		w.at[c] = append(w.at[c], w.diag[w.pos[i]])
	}
}

// rankTwo writes the two more columns of the cones whose part is a diagonal with two outer products.
func (w *patternWriter) rankTwo() {
	for c, cn := range w.cones {
		if cn.block() != rankTwoBlock {
			continue
		}
		for side, sign := range [2]int8{-1, 1} { // v, then u
			j := int(w.extra[c]) + side
			for i := cn.from; i < cn.to; i++ {
				w.at[c] = append(w.at[c], w.push(w.pos[i]))
			}
			w.diag[j] = w.push(int32(j))
			w.at[c] = append(w.at[c], w.diag[j])
			w.end(j, sign)
		}
	}
}

// earlier returns the unknowns before j that share a group with it and those of more,
// in rising order.
func (k *kkt) earlier(j int32, more []int32) []int32 {
	out := more
	for _, g := range k.groupsOf[j] {
		for _, u := range k.groups[g] {
			if u < j {
				out = append(out, u)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pushLinked lays out column c of P with the columns that it is linked to.
func (w *patternWriter) pushLinked(c int) {
	f, j := w.f, w.xpos[c]
	from, to := f.p.ptr[c], f.p.ptr[c+1]
	var rows []int32
	for _, i := range f.p.ind[from:to] {
		rows = append(rows, w.xpos[i])
	}
	rows = append(rows, j)
	for _, u := range w.earlier(j, rows) {
		w.marked[u] = w.push(u)
	}
	w.diag[j] = w.marked[j]
	for e := from; e < to; e++ {
		w.pAt[e] = w.marked[w.xpos[f.p.ind[e]]]
	}
}

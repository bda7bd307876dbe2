package native

import "slices"

// inBasis is a second-order cone of at most rotatedDim rows, or an exponential or a power cone, in the KKT matrix. It
// stands there in a basis in which its H is diagonal:
//
//	A_c x - H z = r   becomes   U A_c x - D y = U r,  z = U'y,  U H U' = D.
//
// Its part of the matrix then is like that of inequalities, whatever the distance of the point to the boundary: the
// entries of D, from the largest to the smallest, are each known to full accuracy, and nothing cancels. The price is
// that its rows have the columns of others, too: where U is orthogonal, of all, where it is triangular, of those
// before, so that the rows with the fewest come first.
type inBasis struct {
	cone      basisCone
	row       int     // its first row in A
	unknown   int32   // its first unknown
	order     []int32 // its rows
	from, to  int32   // the places of its entries in the matrix
	entries   []basisEntry
	places    []int32 // of each entry, one for each unknown from its first on
	u, values []float64
}

// basisEntry is an entry of A: its number there, its row in the order of the cone, the first unknown of the cone that
// has it, and the unknown of its column.
type basisEntry struct{ entry, row, first, column int32 }

// rotatedDim: from five rows on two more unknowns are cheaper than full rows.
const rotatedDim = 4

// basisRows writes the columns of a cone in its basis, which is triangular for curved cones, and orthogonal else.
func (w *patternWriter) basisRows(c, from, to int) {
	n := to - from
	t := inBasis{cone: w.cones[c].cone.(basisCone), row: from, unknown: w.pos[from], from: int32(len(w.mat.ind)),
		u: make([]float64, n*n), values: make([]float64, n)}
	count := func(i int32) int { return int(w.start[from+int(i)+1] - w.start[from+int(i)]) }
	for i := range n {
		t.order = append(t.order, int32(i))
	}
	_, curved := t.cone.(*nonsymmetric)
	if curved {
		w.curved = true
		slices.Reverse(t.order)
		slices.SortStableFunc(t.order, func(a, b int32) int { return count(a) - count(b) })
	}
	var columns []int32
	take := func(row int, first int32) {
		r := from + int(t.order[row])
		w.without(r)
		for e := w.start[r]; e < w.start[r+1]; e++ {
			u := w.xpos[w.col[e]]
			columns = append(columns, u)
			t.entries = append(t.entries, basisEntry{w.entry[e], int32(row), first, u})
		}
		slices.Sort(columns)
		columns = slices.Compact(columns)
	}
	for j := range n {
		if curved {
			take(j, int32(j))
		} else if j == 0 {
			for row := range n {
				take(row, 0)
			}
		}
		for _, u := range columns {
			w.marked[u] = w.push(u)
		}
		for _, e := range t.entries {
			t.places = append(t.places, w.marked[e.column])
		}
		w.f.stop.Reached(4 * len(t.entries))
		if w.pivot(from + j); w.err != nil {
			return
		}
	}
	t.to = int32(len(w.mat.ind))
	w.err = w.f.memory.take(w.what, 16*int64(len(t.entries))+4*int64(len(t.places)))
	w.inBasis = append(w.inBasis, t)
}

// intoBasis puts the rows of t, in the current basis, into the matrix.
func (k *kkt) intoBasis(t *inBasis) {
	n, unknown := len(t.values), int(t.unknown)
	shift := t.cone.basis(t.order, t.u, t.values)
	clear(k.mat.val[t.from:t.to])
	for j, v := range t.values {
		k.mat.val[k.diag[unknown+j]] = -v
		k.shift[unknown+j] = -shift
	}
	places := t.places
	for j := range n {
		u := t.u[j*n:][:n]
		for _, e := range t.entries {
			if int(e.first) > j {
				break
			}
			k.mat.val[places[0]] += k.f.a.val[e.entry] * u[e.row]
			places = places[1:]
		}
	}
}

// into writes U v of the rows v of the cone into its unknowns in out.
func (t *inBasis) into(out, v []float64) {
	n := len(t.values)
	out, v = out[t.unknown:][:n], v[t.row:][:n]
	for j := range n {
		sum := 0.0
		for i, u := range t.u[j*n:][:n] {
			sum += u * v[t.order[i]]
		}
		out[j] = sum
	}
}

// outOf writes U'y into the rows of the cone in out, y being its unknowns in sol.
func (t *inBasis) outOf(out, sol []float64) {
	n := len(t.values)
	out, y := out[t.row:][:n], sol[t.unknown:][:n]
	clear(out)
	for j, v := range y {
		for i, u := range t.u[j*n:][:n] {
			out[t.order[i]] += u * v
		}
	}
}

package native

import (
	"math"
	"slices"
)

// A second-order cone of at most rotatedDim rows stands in the KKT matrix in the
// basis of the eigenvectors of its H:
//
//	A_c x - H z = r   becomes   Q'A_c x - L y = Q'r,  z = Q y,  H = Q L Q',  L diagonal.
//
// Its part of the matrix then is like that of inequalities, whatever the
// distance of the point to the boundary: the eigenvalues, from the largest to
// the smallest, are each known to full accuracy, and nothing cancels against
// anything. The price is that each of its rows has the columns of all of them.
type rotation struct {
	cone    eigenCone
	row     int     // its first row in A
	unknown int32   // its first unknown
	columns []int32 // the unknowns of the columns with entries in its rows, ascending
	stride  int32   // from an entry of one unknown to that of the next
	first   int32   // the place of the first entry in the matrix
	entries []rotatedEntry
	q       []float64 // eigenvectors, by rows
	values  []float64 // eigenvalues
}

// rotatedEntry is an entry of A: its number there, its row in the cone, and
// its place in the column of the first unknown.
type rotatedEntry struct{ entry, row, at int32 }

// rotatedDim: from five rows on two more unknowns are cheaper than full rows.
const rotatedDim = 4

// newRotation makes that of a cone with n rows.
func newRotation(c eigenCone, n, row int, unknown int32, columns []int32, first int32) rotation {
	return rotation{
		cone: c, row: row, unknown: unknown, columns: columns, stride: int32(len(columns) + 1), first: first,
		q: make([]float64, n*n), values: make([]float64, n),
	}
}

// add takes entry number e of A, in the given row of the cone and the column of unknown j.
func (r *rotation) add(e int32, row int, j int32) {
	at, _ := slices.BinarySearch(r.columns, j)
	r.entries = append(r.entries, rotatedEntry{e, int32(row), int32(at)})
}

// columnsOf returns the unknowns of the given columns, ascending and each once.
func (k *kkt) columnsOf(col []int32) []int32 {
	list := make([]int32, len(col))
	for i, c := range col {
		list[i] = k.xpos[c]
	}
	slices.Sort(list)
	return slices.Clip(slices.Compact(list))
}

// eigen writes the eigenvectors of H = eta^2 (2ww' - J) into the columns of the
// row-major q, and the eigenvalues into values: with w = (w0, |w1| u), (1, u) and
// (1, -u) with eta^2 (w0 + |w1|)^2 and its inverse eta^2 / (w0 + |w1|)^2, and
// eta^2 for what is orthogonal to both.
func (c *secondOrder) eigen(q, values []float64) (shift float64) {
	n := len(c.w)
	tail := norm2(c.w[1:])
	top := c.w[0] + tail
	values[0], values[1] = c.eta2*top*top, c.eta2/(top*top)
	u := c.a[:n-1]
	if tail > 0 {
		for i := range u {
			u[i] = c.w[i+1] / tail
		}
	} else {
		clear(u)
		u[0] = 1
	}
	q[0], q[1] = math.Sqrt2/2, math.Sqrt2/2
	for i, v := range u {
		q[(i+1)*n], q[(i+1)*n+1] = v*math.Sqrt2/2, -v*math.Sqrt2/2
	}
	// The reflection I - h h'/(1 + |u_0|), h = u + sign(u_0) e_0, maps u to a
	// multiple of e_0: its other columns are orthogonal to u.
	sign := math.Copysign(1, u[0])
	for j := 1; j < n-1; j++ {
		values[j+1] = c.eta2
		f := u[j] / (1 + math.Abs(u[0]))
		q[j+1] = 0
		for i, v := range u {
			if i == 0 {
				v += sign
			}
			v *= -f
			if i == j {
				v++
			}
			q[(i+1)*n+j+1] = v
		}
	}
	return rotatedRegularisation * c.eta2
}

// rotate puts the rows of r, in the current basis, into the matrix.
func (k *kkt) rotate(r *rotation) {
	n := len(r.values)
	val := k.mat.val[r.first : r.first+int32(n)*r.stride]
	shift := r.cone.eigen(r.q, r.values)
	clear(val)
	for j, v := range r.values {
		val[int32(j+1)*r.stride-1] = -v
		k.shift[r.unknown+int32(j)] = -shift
	}
	for _, e := range r.entries {
		a, at := k.f.a.val[e.entry], e.at
		for _, q := range r.q[int(e.row)*n:][:n] {
			val[at] += a * q
			at += r.stride
		}
	}
}

// into writes Q'v of the rows v of the cone into its unknowns in out.
func (r *rotation) into(out, v []float64) {
	n := len(r.values)
	out = out[r.unknown:][:n]
	clear(out)
	for i, x := range v[r.row:][:n] {
		for j, q := range r.q[i*n:][:n] {
			out[j] += q * x
		}
	}
}

// outOf writes Q y into the rows of the cone in out, y being its unknowns in sol.
func (r *rotation) outOf(out, sol []float64) {
	n := len(r.values)
	y := sol[r.unknown:][:n]
	for i := range n {
		sum := 0.0
		for j, q := range r.q[i*n:][:n] {
			sum += q * y[j]
		}
		out[r.row+i] = sum
	}
}

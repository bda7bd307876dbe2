package native

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/conetune/conetune/internal/dense"
)

const (
	// Up to exactOrder all eigenvalues are computed; beyond, the Lanczos method
	// takes n^2 work a step where a tridiagonalisation takes n^3.
	exactOrder = 40
	// Up to eigenOrder a warm start has the eigenvectors. They save up to a third of its iterations and take as long as
	// some of the cheapest of these, 8 ms, which nothing ends within; at twice the order 40.
	eigenOrder = 100
	// The Lanczos method ends when the residual of the smallest Ritz value is this
	// small beside it, tested every lanczosCheck steps.
	lanczosAccuracy = 0.01
	lanczosSteps    = 80
	lanczosCheck    = 5
	// Entries so much smaller than the largest one are far within the rounding of the eigenvalues.
	negligibleEntry = 1e-30
)

// eigenWork finds eigenvalues of symmetric matrices. It is shared by the
// cones of a problem.
type eigenWork struct {
	basis                     []float64 // of the Krylov space, by columns
	alpha, beta               []float64
	diag, off, vectors, steqr []float64
	a, b                      []float64 // vectors of length n
	values, work              []float64
	within                    dense.Within
}

func newEigenWork(n int, within dense.Within) *eigenWork {
	k, order := lanczosSteps, max(exactOrder, min(n, eigenOrder))
	e := &eigenWork{within: within, values: make([]float64, order), work: make([]float64, 34*order)}
	if n > exactOrder {
		e.basis = make([]float64, n*(k+1))
		e.alpha, e.beta = make([]float64, k), make([]float64, k)
		e.diag, e.off = make([]float64, k), make([]float64, k)
		e.vectors, e.steqr = make([]float64, k*k), make([]float64, 2*k)
		e.a, e.b = make([]float64, n), make([]float64, n)
	}
	return e
}

// smallest returns a lower bound of the smallest eigenvalue of m, near it unless
// it exceeds enough: then any bound above enough will do. It overwrites m if n <= exactOrder.
func (e *eigenWork) smallest(m []float64, n int, t *triangular, enough float64) float64 {
	if n > exactOrder {
		return e.lanczos(m, n, t, enough)
	}
	if t != nil { // D^-1/2 L^-1 M L^-T D^-1/2
		dense.TrsmRightLT(n, n, t.l, n, m, n)
		for j := range n {
			for i := range j {
				m[i+j*n], m[j+i*n] = m[j+i*n], m[i+j*n]
			}
		}
		dense.TrsmRightLT(n, n, t.l, n, m, n)
		for j := range n {
			for i := range n {
				m[i+j*n] *= t.root[i] * t.root[j]
			}
		}
	}
	if !finite(m[:n*n]) {
		return math.NaN()
	}
	size := dense.MaxAbs(m[:n*n])
	if size == 0 {
		return 0
	}
	// Dsterf fails on blocks of very large and very small numbers.
	_, exponent := math.Frexp(size)
	for k, v := range m[:n*n] {
		if v = math.Ldexp(v, -exponent); math.Abs(v) < negligibleEntry {
			v = 0
		}
		m[k] = v
	}
	if !(gonum.Implementation{}).Dsyev(lapack.EVNone, blas.Upper, n, m, n, e.values[:n], e.work, 34*exactOrder) {
		return math.NaN()
	}
	return math.Ldexp(e.values[0], exponent)
}

// all overwrites the symmetric m of order n with its eigenvectors by columns, of a matrix by rows, and returns the
// eigenvalues, ascending; false beyond eigenOrder, and where they are not found.
func (e *eigenWork) all(m []float64, n int) ([]float64, bool) {
	if n > eigenOrder || !finite(m) {
		return nil, false
	}
	values := e.values[:n]
	return values, gonum.Implementation{}.Dsyev(lapack.EVCompute, blas.Upper, n, m, n, values, e.work, 34*n)
}

// lanczos applies the method of Lanczos with full orthogonalisation to m, or to
// D^-1/2 L^-1 M L^-T D^-1/2 if t is given. Of the smallest Ritz value it takes off the
// norm of the residual, within which there is an eigenvalue.
func (e *eigenWork) lanczos(m []float64, n int, t *triangular, enough float64) float64 {
	q := e.basis[:n]
	state, norm := uint64(0x9e3779b97f4a7c15), 0.0
	for i := range q { // any start without symmetries; always the same
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		q[i] = float64(state>>11)/(1<<53) - 0.5
		norm += q[i] * q[i]
	}
	dense.Scale(q, 1/math.Sqrt(norm))
	bound := math.NaN()
	steps := min(lanczosSteps, n)
	for k := range steps {
		q, w := e.basis[k*n:(k+1)*n], e.basis[(k+1)*n:(k+2)*n]
		if e.within.Stop.Reached(n*n + 4*k*n) {
			return math.NaN()
		}
		e.apply(w, q, m, n, t)
		e.alpha[k] = dense.Dot(q, w)
		for range 2 { // twice is enough (Parlett)
			for i := range k + 1 {
				v := e.basis[i*n : (i+1)*n]
				dense.Axpy(-dense.Dot(v, w), v, w)
			}
		}
		e.beta[k] = math.Sqrt(dense.Dot(w, w))
		if math.IsNaN(e.beta[k]) {
			return math.NaN()
		}
		size := 0.0
		for i := range k + 1 {
			size = max(size, math.Abs(e.alpha[i]), e.beta[i])
		}
		complete := k+1 == steps || e.beta[k] <= 1e-14*size
		if complete || (k+1)%lanczosCheck == 0 {
			value, residual := e.ritz(k + 1)
			bound = value - residual
			if complete || bound >= enough || residual <= lanczosAccuracy*math.Abs(value) {
				break
			}
		}
		dense.Scale(w, 1/e.beta[k])
	}
	return bound
}

// ritz returns the smallest eigenvalue of the tridiagonal matrix of k steps and the
// norm of its residual, beta_k times the last entry of the eigenvector.
func (e *eigenWork) ritz(k int) (value, residual float64) {
	copy(e.diag, e.alpha[:k])
	copy(e.off, e.beta[:k-1])
	if !(gonum.Implementation{}).Dsteqr(lapack.EVTridiag, k, e.diag, e.off, e.vectors, k, e.steqr) {
		return math.NaN(), 0
	}
	return e.diag[0], e.beta[k-1] * math.Abs(e.vectors[(k-1)*k])
}

// apply writes M v, or D^-1/2 L^-1 M L^-T D^-1/2 v, into out.
func (e *eigenWork) apply(out, v, m []float64, n int, t *triangular) {
	clear(out)
	if t == nil {
		e.within.GemvN(n, n, m, n, v, out)
		dense.Scale(out, -1)
		return
	}
	x := e.a
	for i, r := range t.root {
		x[i] = r * v[i]
	}
	e.within.TrsvT(n, t.l, n, x)
	e.within.GemvN(n, n, m, n, x, out)
	e.within.TrsvN(n, t.l, n, out)
	for i, r := range t.root {
		out[i] *= -r
	}
}

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

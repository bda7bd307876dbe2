package native

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// semidefinite is the cone of positive semidefinite matrices of order n >= 2, as svec.
//
// Its search direction is that of Helmberg, Rendl, Vanderbei and Wolkowicz (1996),
// Kojima, Shindoh and Hara (1997) and Monteiro (1997), which needs products,
// Cholesky factors and an inverse and no eigenvectors. It linearises one of
//
//	Z + dZ + sym(Z dS S^-1) = target S^-1 - sym(dZ dS S^-1)    (inverse form)
//	S + dS + sym(S dZ Z^-1) = target Z^-1 - sym(dS dZ Z^-1)    (plain form)
//
// with sym(M) = (M + M')/2: in the plain form H V = sym(S V Z^-1), in the inverse form
// H^-1 V = sym(Z V S^-1). Which one is a matter of what can be eliminated
// from the Newton systems, see matrixPart. In the inverse form the
// complementarity term is H^-1 d.
type semidefinite struct {
	rows int   // the order of the matrices
	n    int   // and in the face
	face *face // nil for the cone itself
	form matrixForm
	s, z *triangular // factors of S and Z
	// inv is S^-1 in the inverse form, Z^-1 in the plain one; mat is the other matrix.
	inv, mat []float64
	x        []float64 // L^-T of the factor of the first, inverted matrix
	lifted   []float64 // mat and inv, of the matrices out of the face
	work     *matrixWork
}

var _ cone = (*semidefinite)(nil)

// matrixForm says how a semidefinite cone takes part in the Newton systems.
type matrixForm int

const (
	// eliminateRows takes out the rows and their dz: A'H^-1 A, with entries
	// tr(F_i Z F_j S^-1), comes to the columns that the rows touch.
	eliminateRows matrixForm = iota
	// eliminateColumns is for a matrix variable, rows with one entry each, in
	// columns of their own: rows and columns are taken out, and the other
	// rows of these columns get -tr(A_i S A_j Z^-1).
	eliminateColumns
	// denseRows keeps the rows, with H as a dense block: few rows with many columns.
	denseRows
)

// matrixWork is work space shared by the cones of a problem, for matrices as large as the largest semidefinite one.
type matrixWork struct {
	a, b, c []float64
	eigen   *eigenWork
	trial   map[int]*triangular // by order, for trial factorisations
	within  dense.Within
}

func newMatrixWork(n int, within dense.Within) *matrixWork {
	if n == 0 {
		return &matrixWork{within: within}
	}
	return &matrixWork{a: make([]float64, n*n), b: make([]float64, n*n), c: make([]float64, n*n),
		eigen: newEigenWork(n, within), trial: map[int]*triangular{}, within: within}
}

// semidefiniteOf is the maker of semidefinite cones.
func semidefiniteOf(c backends.Cone, work *matrixWork) cone {
	return newSemidefinite(backends.PSDOrder(c.Dim), work)
}

// bytesOfMatrices is what a semidefinite cone takes.
func bytesOfMatrices(c backends.Cone) (own, shared int64) {
	n := int64(backends.PSDOrder(c.Dim))
	return 8 * (ownMatrices*n*n + 5*int64(c.Dim)), 8 * (sharedMatrices*n*n + (lanczosSteps+1)*n + 35*min(n, eigenOrder))
}

const (
	// The matrices of order n that a semidefinite cone has for itself, and those that the cones share.
	ownMatrices    = 5
	sharedMatrices = 4
)

func newSemidefinite(n int, work *matrixWork) *semidefinite {
	c := &semidefinite{rows: n, n: n, work: work, s: newTriangular(n, work.within), z: newTriangular(n, work.within),
		x: make([]float64, n*n), inv: make([]float64, n*n), mat: make([]float64, n*n)}
	work.takeTrial(n)
	return c
}

// takeTrial makes the factor for trials of an order.
func (w *matrixWork) takeTrial(n int) {
	if n > exactOrder && w.trial[n] == nil {
		w.trial[n] = newTriangular(n, w.within)
	}
}

// reduce puts the cone into a face, or into none.
func (c *semidefinite) reduce(to *face) {
	c.face, c.n, c.lifted = to, c.rows, nil
	if to != nil {
		c.n -= to.rank
		c.lifted = make([]float64, 2*c.rows*c.rows)
	}
	c.s.resize(c.n)
	c.z.resize(c.n)
	c.work.takeTrial(c.n)
}

// unpack writes the matrix whose svec is v into m, as it is in the face.
func (c *semidefinite) unpack(m, v []float64) {
	if unpack(m, v, c.rows); c.face != nil {
		c.face.project(m)
	}
}

// packMean writes the svec of (m + m')/2, m in the face, into v; work is a matrix other than m.
func (c *semidefinite) packMean(v, m, work []float64) {
	if c.face != nil {
		c.face.lift(work, m)
		m = work[:c.rows*c.rows]
	}
	packMean(v, m, c.rows)
}

func (c *semidefinite) degree() int { return c.n }

// smooth changes the eigenvalues of S - Z. Where these are not computed, it moves S and Z inside by mu, which is on the
// central path as far as their eigenvalues are zero or one, one of a pair each.
func (c *semidefinite) smooth(s, z []float64, mu float64) {
	n, w := c.n, c.work
	q, roots := w.a[:n*n], w.b[:n*n] // eigenvectors, and times the roots of the eigenvalues of S or Z
	for i, v := range z {
		w.c[i] = s[i] - v
	}
	unpack(q, w.c, n)
	values, ok := w.eigen.all(q, n)
	if !ok {
		for _, v := range [2][]float64{s, z} {
			c.addUnit(v, max(0, c.shift(v))+mu)
		}
		return
	}
	least := boundaryMargin * float64(n) * max(-values[0], values[n-1])
	for m, out := range [2][]float64{s, z} {
		for k, v := range values {
			ofS, ofZ := smoothing(v, mu)
			root := math.Sqrt(max(least, [2]float64{ofS, ofZ}[m]))
			for i := range n {
				roots[i*n+k] = q[i*n+k] * root
			}
		}
		at := 0
		for j := range n {
			for i := j; i < n; i++ {
				if out[at] = dot(roots[i*n:i*n+n], roots[j*n:j*n+n]); i > j {
					out[at] *= math.Sqrt2
				}
				at++
			}
		}
	}
}

func (c *semidefinite) addUnit(v []float64, a float64) {
	at := 0
	for j := range c.rows {
		v[at] += a
		at += c.rows - j
	}
	if c.face != nil { // UU' is the unit
		c.unpack(c.work.a, v)
		c.packMean(v, c.work.a, c.work.b)
	}
}

// shift returns minus the smallest eigenvalue, or an upper bound of that near it.
func (c *semidefinite) shift(v []float64) float64 {
	n, m := c.n, c.work.a
	c.unpack(m, v)
	bound := c.work.eigen.smallest(m, n, nil, math.Inf(1))
	if n > exactOrder && bound < 0 && c.work.trial[n].factor(m) {
		return 0
	}
	return -bound
}

func (c *semidefinite) scale(s, z []float64) bool {
	a := c.work.a
	first, second := inForm(c.form, s, z)
	f1, f2 := inForm(c.form, c.s, c.z)
	c.unpack(c.mat, second)
	c.unpack(a, first)
	if !f2.factor(c.mat) || !f1.factor(a) {
		return false
	}
	f1.inverse(c.x, c.inv, a)
	return true
}

// mulSym writes svec of sym(mat V inv): H^-1 v in the inverse form, H v in the plain one.
func (c *semidefinite) mulSym(out, v []float64) {
	n, w := c.n, c.work
	a, b := w.a[:n*n], w.b[:n*n]
	c.solve(b, v)
	mulTo(w.within, a, b, c.mat, n) // inv V mat
	c.packMean(out, a, b)
}

// solve writes inv V into out, V as svec.
func (c *semidefinite) solve(out, v []float64) {
	t, _ := inForm(c.form, c.s, c.z)
	w, n := c.work.c, c.n
	entries := 0
	for _, x := range v {
		if x != 0 {
			entries++
		}
	}
	c.unpack(w, v)
	if w = w[:n*n]; c.face != nil || entries*fewEntries > len(v) {
		t.multiply(w)
	} else { // the same by the columns of V X D^-1, transposed
		xt := c.work.a[:n*n]
		transpose(xt, c.x, n)
		clear(out)
		for j := range n {
			for i, x := range w[j*n : j*n+n] {
				if x != 0 {
					dense.Axpy(x, xt[i*n+i:i*n+n], out[j*n+i:j*n+n])
				}
			}
			for k, d := range t.d {
				out[j*n+k] /= -d
			}
		}
		transpose(w, out[:n*n], n)
	}
	t.solve(out, w, c.x)
}

// fewEntries: with so many times fewer entries a matrix is multiplied entry by entry.
const fewEntries = 16

// inForm returns first what is of the matrix that is inverted: S in the inverse form, Z in the plain one.
func inForm[T any](form matrixForm, ofS, ofZ T) (inverted, other T) {
	if form == eliminateRows {
		return ofS, ofZ
	}
	return ofZ, ofS
}

// mulH writes H v of the plain form.
func (c *semidefinite) mulH(out, v []float64) {
	if c.form == eliminateRows {
		panic("native: H of a semidefinite cone in its inverse form")
	}
	c.mulSym(out, v)
}

// affine writes z in the inverse form and s in the plain one: H^-1 s = z, H z = s.
func (c *semidefinite) affine(d, _ []float64) { c.packMean(d, c.mat, c.work.a) }

func (c *semidefinite) combined(d, _, _, ds, dz []float64, target float64) {
	n, w := c.n, c.work
	first, second := inForm(c.form, ds, dz)
	a, b := w.a[:n*n], w.b[:n*n]
	if dense.MaxAbs(first) != 0 {
		c.solve(b, first)
		c.unpack(w.c, second)
		mulTo(w.within, a, b, w.c, n) // inv dFirst dSecond
	} else {
		clear(a)
	}
	for i := range a {
		a[i] += c.mat[i] - target*c.inv[i]
	}
	c.packMean(d, a, b)
}

func (c *semidefinite) step(s, z, ds, dz []float64, limit float64) float64 {
	return c.stepOf(c.z, z, dz, c.stepOf(c.s, s, ds, limit))
}

// stepOf returns the largest a <= limit with V + a dV positive semidefinite, or a
// little less, where t is the factor of V: -1/a is the smallest eigenvalue of L^-1 dV L^-T.
func (c *semidefinite) stepOf(t *triangular, v, dv []float64, limit float64) float64 {
	n, m := c.n, c.work.a
	c.unpack(m, dv)
	lowest := c.work.eigen.smallest(m, n, t, -1/limit)
	if math.IsNaN(lowest) {
		return 0
	}
	a := limit
	if lowest < -1/limit {
		a = -1 / lowest
	}
	if n <= exactOrder {
		return a
	}
	// The bound of the Lanczos method holds unless its start misses the eigenvector.
	for range trialSteps {
		if c.work.within.Stop.Reached(n * n) {
			return 0
		}
		for i, x := range v {
			c.work.c[i] = x + trialFraction*a*dv[i]
		}
		c.unpack(c.work.b, c.work.c)
		if c.work.trial[n].factor(c.work.b) {
			return a
		}
		a *= trialFactor
	}
	return 0
}

const (
	// A step found by the Lanczos method is tried at trialFraction of its length, a
	// little more than what is taken of it, and shortened if that is not inside.
	trialFraction = 0.995
	trialFactor   = 0.8
	trialSteps    = 20
)

// product returns where the X and Y are kept with which mulSym is V -> sym(X V Y).
func (c *semidefinite) product() (x, y []float64) {
	if c.face == nil {
		return c.mat, c.inv
	}
	x, y = c.lifted[:c.rows*c.rows], c.lifted[c.rows*c.rows:]
	c.face.lift(x, c.mat)
	c.face.lift(y, c.inv)
	return x, y
}

func (c *semidefinite) block() block {
	if c.form == denseRows {
		return productBlock
	}
	return eliminatedBlock
}

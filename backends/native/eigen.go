package native

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/finite"
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
	a                         []float64 // a vector of length n
	values, work              []float64
	within                    dense.Within
}

func newEigenWork(n int, within dense.Within) *eigenWork {
	k, order := lanczosSteps, max(exactOrder, min(n, eigenOrder))
	e := &eigenWork{within: within, values: make([]float64, order), work: make([]float64, 34*order)}
	if n > exactOrder {
		e.basis = make([]float64, n*(k+1))
		allocate(k, &e.alpha, &e.beta, &e.diag, &e.off)
		e.vectors, e.steqr, e.a = make([]float64, k*k), make([]float64, 2*k), make([]float64, n)
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
	if !finite.All(m[:n*n]...) {
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
	if n > eigenOrder || !finite.All(m...) {
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

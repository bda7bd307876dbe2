package descent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Inverse is the factored matrix H = X_S'X_S / n + diag(w2) of [Regression.Hessian], for several right-hand sides. With more
// coefficients than rows, and W = diag(w2) positive, the factor has the order n:
//
//	H^-1 q = W^-1 (q - X_S' (n I + X_S W^-1 X_S')^-1 X_S W^-1 q).
type Inverse struct {
	chol mat.Cholesky
	// Where the order is n: the rows of X_S' W^-1/2, and W^1/2; nil where it is k.
	columns *mat.Dense
	root    []float64
}

const (
	// inverseMost bounds the order of the factor.
	inverseMost = 1500
	// leastWeight is the smallest w2, relative to the mean diagonal of X_S'X_S / n, with which the order may be n: what rounding leaves of
	// the difference above is relative to w2.
	leastWeight = 1e-9
)

// Invertible says whether [Regression.Inverse] may be had for these coefficients: an order of more than 1500 is left to the iterative
// [Regression.GaussSeidel] and [Regression.ConjugateGradient].
func (g *Regression) Invertible(set []int, w2 []float64) bool {
	return len(set) <= inverseMost || g.byRows(set, w2)
}

// byRows says whether the factor has the order n.
func (g *Regression) byRows(set []int, w2 []float64) bool {
	k, n := len(set), g.x.n
	if w2 == nil || k <= n || n > inverseMost {
		return false
	}
	trace, least := 0.0, math.Inf(1)
	for _, j := range set {
		trace += g.norm2[j] / float64(n)
		least = math.Min(least, w2[j])
	}
	return least > leastWeight*trace/float64(k)
}

// Inverse factors H of the coefficients S. Where H is singular, it adds as little to the diagonal as the factorisation needs,
// from rounding size on. The error is for a matrix that vanishes or overflows.
func (g *Regression) Inverse(set []int, w2 []float64) (*Inverse, error) {
	f := new(Inverse)
	if !g.byRows(set, w2) {
		return f, f.factor(g.Hessian(set, w2))
	}
	k, n := len(set), g.x.n
	f.columns, f.root = mat.NewDense(k, n, nil), make([]float64, k)
	for i, j := range set {
		f.root[i] = math.Sqrt(w2[j])
		row := f.columns.RawRowView(i)
		g.x.axpy(1/f.root[i], j, row)
		if g.mean != nil {
			floats.AddConst(-g.mean[j]/f.root[i], row)
		}
	}
	m := mat.NewSymDense(n, nil)
	blas64.Syrk(blas.Trans, 1, f.columns.RawMatrix(), 0, m.RawSymmetric())
	for i := range n {
		m.SetSym(i, i, m.At(i, i)+float64(n))
	}
	return f, f.factor(m)
}

// InverseOf factors a positive semidefinite matrix in the same way. It may change the diagonal of h.
func InverseOf(h *mat.SymDense) (*Inverse, error) {
	f := new(Inverse)
	return f, f.factor(h)
}

func (f *Inverse) factor(h *mat.SymDense) error {
	k := h.SymmetricDim()
	trace := mat.Trace(h)
	if !(trace > 0) || math.IsInf(trace, 1) {
		return fmt.Errorf("descent: the Hessian vanishes or overflows on the %d coefficients in use", k)
	}
	added := 0.0
	for ridge := 1e-14; ridge < 1e-3; ridge *= 10 {
		if f.chol.Factorize(h) && f.chol.Cond() < 1e14 {
			return nil
		}
		step := ridge*trace/float64(k) - added
		added += step
		for i := range k {
			h.SetSym(i, i, h.At(i, i)+step)
		}
	}
	return fmt.Errorf("descent: the Hessian is not positive semidefinite on the %d coefficients in use", k)
}

// Solve sets v to H^-1 v.
func (f *Inverse) Solve(v []float64) {
	if f.columns == nil {
		x := mat.NewVecDense(len(v), v)
		_ = f.chol.SolveVecTo(x, x) // its only error is a condition that factor has looked at
		return
	}
	// With the rows scaled by W^-1/2: v = W^-1/2 (I - C (n I + C'C)^-1 C') W^-1/2 v.
	floats.Div(v, f.root)
	image := mat.NewVecDense(f.columns.RawMatrix().Cols, nil)
	x := mat.NewVecDense(len(v), v)
	image.MulVec(f.columns.T(), x)
	_ = f.chol.SolveVecTo(image, image)
	blas64.Gemv(blas.NoTrans, -1, f.columns.RawMatrix(), image.RawVector(), 1, x.RawVector())
	floats.Div(v, f.root)
}

package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// Inverse is the factored matrix H = X_S'X_S / n + diag(w2) of [Regression.Hessian], for several right-hand sides. With more
// coefficients than rows, and W = diag(w2) positive, the factor has the order n:
//
//	H^-1 q = W^-1 (q - X_S' (n I + X_S W^-1 X_S')^-1 X_S W^-1 q).
type Inverse struct {
	factor factor.Definite
	// Where the order is n: the columns of X_S W^-1/2, and W^1/2; nil where it is k.
	columns, root []float64
}

const (
	// inverseMost bounds the order of the factor.
	inverseMost = 1500
	// leastWeight is the smallest w2, relative to the mean diagonal of X_S'X_S / n, with which the order may be n: what rounding leaves of
	// the difference above is relative to w2.
	leastWeight = 1e-9
)

// Invertible says whether [Regression.Inverse] may be had for these coefficients: an order of more than 1500 is left to the iterative
// [Regression.ConjugateGradient].
func (g *Regression) Invertible(set []int, w2 []float64) bool {
	return len(set) <= inverseMost || g.byRows(set, w2)
}

// byRows says whether the factor has the order n.
func (g *Regression) byRows(set []int, w2 []float64) bool {
	k, n := len(set), g.data.X.Rows()
	if w2 == nil || k <= n || n > inverseMost {
		return false
	}
	trace, least := 0.0, math.Inf(1)
	for _, j := range set {
		trace += g.data.Norm2[j] / float64(n)
		least = math.Min(least, w2[j])
	}
	return least > leastWeight*trace/float64(k)
}

// Inverse factors H of the coefficients S. Where H is singular, it adds as little to the diagonal as the factorisation needs,
// from rounding size on. The error is for a matrix that vanishes or overflows, or that of the context.
func (g *Regression) Inverse(ctx context.Context, set []int, w2 []float64) (*Inverse, error) {
	f := new(Inverse)
	if !g.byRows(set, w2) {
		var end stop.Stop
		end.Begin(ctx, 0)
		h := g.data.Hessian(set, w2, &end)
		if h == nil {
			return nil, ctx.Err()
		}
		return f, f.of(h)
	}
	k, n := len(set), g.data.X.Rows()
	f.columns, f.root = make([]float64, n*k), make([]float64, k)
	for i, j := range set {
		f.root[i] = math.Sqrt(w2[j])
		column := f.columns[i*n : (i+1)*n]
		g.data.X.Axpy(1/f.root[i], j, column)
		if g.data.Mean != nil {
			floats.AddConst(-g.data.Mean[j]/f.root[i], column)
		}
	}
	m := mat.NewSymDense(n, nil)
	factor.AddOuter(m, 1, f.columns, k)
	for i := range n {
		m.SetSym(i, i, m.At(i, i)+float64(n))
	}
	return f, f.of(m)
}

// InverseOf factors a positive semidefinite matrix in the same way. It may change the diagonal of h.
func InverseOf(h *mat.SymDense) (*Inverse, error) {
	f := new(Inverse)
	return f, f.of(h)
}

// leastRatio is the least pivot, relative to the largest, of a matrix that is not taken for singular.
const leastRatio = 1e-13

func (f *Inverse) of(h *mat.SymDense) error {
	k := h.SymmetricDim()
	trace := mat.Trace(h)
	if !(trace > 0) || math.IsInf(trace, 1) {
		return fmt.Errorf("sparse: the Hessian vanishes or overflows on the %d coefficients in use", k)
	}
	added := 0.0
	for ridge := 1e-14; ridge < 1e-3; ridge *= 10 {
		if f.factor.FactorSym(h, 0) && floats.Min(f.factor.D[:k]) > leastRatio*floats.Max(f.factor.D[:k]) {
			return nil
		}
		step := ridge*trace/float64(k) - added
		added += step
		for i := range k {
			h.SetSym(i, i, h.At(i, i)+step)
		}
	}
	return fmt.Errorf("sparse: the Hessian is not positive semidefinite on the %d coefficients in use", k)
}

// Solve sets v to H^-1 v.
func (f *Inverse) Solve(v []float64) {
	if f.columns == nil {
		f.factor.Solve(v)
		return
	}
	// With C = X_S W^-1/2: v = W^-1/2 (I - C' (n I + C C')^-1 C) W^-1/2 v.
	floats.Div(v, f.root)
	n := f.factor.Order()
	image := make([]float64, n)
	for i, a := range v {
		dense.Axpy(a, f.columns[i*n:(i+1)*n], image)
	}
	f.factor.Solve(image)
	for i := range v {
		v[i] -= dense.Dot(f.columns[i*n:(i+1)*n], image)
	}
	floats.Div(v, f.root)
}

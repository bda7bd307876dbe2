package completion

import (
	"math"

	"github.com/conetune/conetune/internal/factor"
	"gonum.org/v1/gonum/floats"
)

const (
	// blockMost bounds the coefficients whose block of the preconditioner is factored.
	blockMost = 500
	// blockRidge, relative to the trace, keeps that block positive definite.
	blockRidge = 1e-12
)

// blocks are a preconditioner: the diagonal of the Hessian without the terms of the residual, which is near to it where
// the columns of A and of B are orthogonal, and the factor or the diagonal of the block of S.
type blocks struct {
	rows         [2][]float64
	coefficients factor.Definite
	last         []float64 // the diagonal, nil where the block was factored
}

// prepare forms the blocks.
func (f *factored) prepare() {
	b := &blocks{}
	f.blocks, f.holds = b, nil
	b.rows[0], b.rows[1] = f.diagonals(0, f.j.m, f.b), f.diagonals(1, f.j.n, f.a)
	f.prepareCoefficients(b)
}

// places are the rows of a factor and of the other one of the entries of a set.
func (f *factored) places(s, set int) (place, opposite []int) {
	of := f.side(set)
	if s == 0 {
		return of.row, of.col
	}
	return of.col, of.row
}

// diagonals are those of the blocks of A or of B.
func (f *factored) diagonals(s, rows int, other []float64) []float64 {
	k := f.k
	squares, all := make([]float64, len(other)), make([]float64, k)
	for i, v := range other {
		squares[i] = v * v
		all[i%k] += v * v
	}
	out := make([]float64, rows*k)
	for i := range out {
		out[i] = f.nuclear + f.rho*all[i%k]
	}
	for set, w := range f.w {
		if w == 0 || k == 0 {
			continue
		}
		place, opposite := f.places(s, set)
		f.side(set).entries(k, func(e int) {
			i, l := place[e], opposite[e]
			addScaled(out[i*k:(i+1)*k], w, squares[l*k:(l+1)*k])
		})
	}
	return out
}

func (f *factored) prepareCoefficients(b *blocks) {
	n := len(f.set)
	if f.j.intercept {
		n++
	}
	if n == 0 {
		return
	}
	p := f.j.p
	index := func(i int) int {
		if i < len(f.set) {
			return f.set[i]
		}
		return p
	}
	at := func(i, l int) float64 {
		sum := 0.0
		for s, w := range f.w {
			if w > 0 {
				sum += w * f.side(s).product(index(i), index(l))
			}
		}
		if i == l {
			sum += f.rho
		}
		if i < len(f.set) && l < len(f.set) {
			g := f.j.of[f.set[i]]
			if g == f.j.of[f.set[l]] {
				size := f.size(g)
				sum -= f.norm[g] * f.x[f.set[i]] * f.x[f.set[l]] / (size * size * size)
				if i == l {
					sum += f.norm[g] / size
				}
			}
		}
		return sum
	}
	if p <= blockMost {
		trace := 0.0
		for i := range n {
			trace += at(i, i)
		}
		if b.coefficients.Factor(n, func(l int, column []float64) {
			for i := l; i < n; i++ {
				column[i] = at(i, l)
			}
			column[l] += blockRidge * trace
		}) {
			return
		}
	}
	b.last = make([]float64, n)
	for i := range b.last {
		b.last[i] = math.Max(at(i, i), math.SmallestNonzeroFloat64)
	}
}

// product is that of two columns of (X, 1), the same one where there is no Gram matrix.
func (s *side) product(i, l int) float64 {
	switch p := len(s.norm2); {
	case s.gram != nil:
		return s.gram[i*(p+1)+l]
	case i < p:
		return s.norm2[i]
	}
	return float64(len(s.y))
}

// precondition returns M^-1 t.
func (f *factored) precondition(t tangent) tangent {
	out := f.zero()
	f.preconditionTo(out.all, t.all)
	return out
}

// preconditionTo sets to to M^-1 t.
func (f *factored) preconditionTo(to, t []float64) {
	b := f.blocks
	copy(to, t)
	out := f.tangent(to)
	for s, to := range [][]float64{out.A, out.B} {
		floats.Div(to, b.rows[s])
	}
	switch {
	case len(out.S) == 0:
	case b.last != nil:
		floats.Div(out.S, b.last)
	default:
		b.coefficients.Solve(out.S)
	}
}

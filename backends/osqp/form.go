//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
	"github.com/james-bowman/sparse"
)

// bounds are lo <= s <= up of every row, with infinite entries.
type bounds struct {
	lower, upper []float64
}

func newBounds(p *backends.Problem) bounds {
	_, m := p.Dims()
	v := bounds{make([]float64, m), make([]float64, m)} // equations as they are
	row := 0
	for _, c := range p.Cones {
		for i := range c.Dim {
			switch c.Kind {
			case backends.NonnegativeCone:
				v.upper[row] = math.Inf(1)
			case backends.BoxCone:
				v.lower[row], v.upper[row] = c.Lower[i], c.Upper[i]
			}
			row++
		}
	}
	return v
}

// problem returns what OSQP is given.
func (v bounds) problem(p *backends.Problem) *mirror.Data {
	n, m := p.Dims()
	l, u := v.onAx(p.B)
	return &mirror.Data{P: matrix(p.P, n, n), Q: p.Q, A: matrix(p.A, m, n), L: l, U: u}
}

// onAx returns l = b - up and u = b - lo, with OSQP's infinity.
func (v bounds) onAx(b []float64) (l, u []float64) {
	l, u = make([]float64, len(b)), make([]float64, len(b))
	for i, bi := range b {
		l[i] = max(bi-v.upper[i], -mirror.Infinity)
		u[i] = min(bi-v.lower[i], mirror.Infinity)
	}
	return l, u
}

// check refuses rows that want Ax beyond OSQP's infinity, where no bound is seen.
func (v bounds) check(b []float64) error {
	l, u := v.onAx(b)
	for i := range l {
		if l[i] > u[i] {
			return &backends.ProblemError{Field: "B", Reason: fmt.Sprintf("entry %d and the cone want (Ax)_%d between %.3g and %.3g in the scale of OSQP, which takes sizes from %g on as infinite",
				i, i, b[i]-v.upper[i], b[i]-v.lower[i], mirror.Infinity)}
		}
	}
	return nil
}

// slack returns b - Ax between the bounds.
func (v bounds) slack(p *backends.Problem, x []float64) []float64 {
	out := append([]float64{}, p.B...)
	if p.A != nil {
		raw := p.A.RawMatrix()
		for j, xj := range x {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				out[raw.Ind[k]] -= raw.Data[k] * xj
			}
		}
	}
	for i := range out {
		out[i] = min(max(out[i], v.lower[i]), v.upper[i])
	}
	return out
}

// matrix shares the arrays of a; nil is a matrix without entries.
func matrix(a *sparse.CSC, rows, cols int) *mirror.Matrix {
	if a == nil {
		return &mirror.Matrix{Rows: rows, Cols: cols, Ptr: make([]int, cols+1)}
	}
	raw := a.RawMatrix()
	return &mirror.Matrix{Rows: rows, Cols: cols, Ptr: raw.Indptr, Ind: raw.Ind, Val: raw.Data}
}

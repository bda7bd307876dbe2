package adapter

import (
	"fmt"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/james-bowman/sparse"
)

// MatrixOf shares the arrays of a; nil is a matrix without entries.
func MatrixOf(a *sparse.CSC, rows, cols int) *mirror.Matrix {
	if a == nil {
		return &mirror.Matrix{Rows: rows, Cols: cols, Ptr: make([]int, cols+1)}
	}
	raw := a.RawMatrix()
	return &mirror.Matrix{Rows: rows, Cols: cols, Ptr: raw.Indptr, Ind: raw.Ind, Val: raw.Data}
}

// Values returns the values of a matrix, nil for nil.
func Values(a *sparse.CSC) []float64 {
	if a == nil {
		return nil
	}
	return a.RawMatrix().Data
}

// Intervals are Lower <= s <= Upper of every row of a problem without other cones, with infinite entries.
type Intervals struct{ Lower, Upper []float64 }

// IntervalsOf returns those of p.
func IntervalsOf(p *backends.Problem) Intervals {
	_, m := p.Dims()
	v := Intervals{make([]float64, m), make([]float64, m)}
	for row, c := range backends.Rows(p.Cones) {
		for i := range c.Dim {
			v.Lower[row+i], v.Upper[row+i] = c.Interval(i)
		}
	}
	return v
}

// OnAx returns l = b - Upper and u = b - Lower, of l <= Ax <= u, for a library with an infinity of its own. It refuses
// rows that want Ax beyond that, where the library sees no bound.
func (v Intervals) OnAx(b []float64, infinity float64, library string) (l, u []float64, err error) {
	l, u = make([]float64, len(b)), make([]float64, len(b))
	for i, bi := range b {
		l[i], u[i] = bi-v.Upper[i], bi-v.Lower[i]
		if l[i] >= infinity || u[i] <= -infinity {
			reason := fmt.Sprintf("entry %d and the cone want (Ax)_%d between %.3g and %.3g in the scale of %s, "+
				"which takes sizes from %g on as infinite", i, i, l[i], u[i], library, infinity)
			return nil, nil, &backends.ProblemError{Field: "B", Reason: reason}
		}
		l[i], u[i] = max(l[i], -infinity), min(u[i], infinity)
	}
	return l, u, nil
}

// Slack returns b - Ax between the bounds.
func (v Intervals) Slack(p *backends.Problem, x []float64) []float64 {
	out := p.Slack(x)
	for i := range out {
		out[i] = min(max(out[i], v.Lower[i]), v.Upper[i])
	}
	return out
}

//go:build highs && cgo

package highs

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/james-bowman/sparse"
)

// form is how HiGHS sees the rows of a problem.
type form struct {
	adapter.Intervals
	// p is the pattern of the lower triangle of P, nil without entries, and from says where its values are among those of
	// the upper triangle.
	p    *mirror.Matrix
	from []int
}

func newForm(p *backends.Problem) *form {
	f := &form{Intervals: adapter.IntervalsOf(p)}
	if p.P != nil && p.P.NNZ() > 0 {
		f.transpose(p.P)
	}
	return f
}

// transpose makes the pattern of the lower triangle.
func (f *form) transpose(upper *sparse.CSC) {
	raw := upper.RawMatrix()
	n := len(raw.Indptr) - 1
	f.p = &mirror.Matrix{Rows: n, Cols: n, Ptr: make([]int, n+1), Ind: make([]int, len(raw.Ind))}
	f.from = make([]int, len(raw.Ind))
	for _, i := range raw.Ind {
		f.p.Ptr[i+1]++
	}
	for j := range n {
		f.p.Ptr[j+1] += f.p.Ptr[j]
	}
	at := slices.Clone(f.p.Ptr[:n])
	for j := range n {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			i := raw.Ind[k]
			f.p.Ind[at[i]], f.from[at[i]] = j, k
			at[i]++
		}
	}
}

// quadratic returns the values of the lower triangle of P.
func (f *form) quadratic(p *sparse.CSC) []float64 {
	if f.p == nil || p == nil {
		return nil
	}
	all := p.RawMatrix().Data
	out := make([]float64, len(f.from))
	for k, from := range f.from {
		out[k] = all[from]
	}
	return out
}

// problem returns what HiGHS is given.
func (f *form) problem(p *backends.Problem) (*chighs.Data, error) {
	if err := checkObjective(p.Q); err != nil {
		return nil, err
	}
	l, u, err := f.OnAx(p.B, chighs.Infinity, "HiGHS")
	n, m := p.Dims()
	out := &chighs.Data{Q: p.Q, A: adapter.MatrixOf(p.A, m, n), Lower: l, Upper: u}
	if f.p != nil {
		lower := *f.p
		lower.Val = f.quadratic(p.P)
		out.P = &lower
	}
	return out, err
}

// checkObjective refuses a q that scaling took beyond the numbers: the ratio test of the simplex method does not end on
// a reduced cost that is none, and looks at no limit.
func checkObjective(q []float64) error {
	for j, v := range q {
		if math.IsNaN(v - v) {
			return &backends.ProblemError{Field: "Q", Reason: fmt.Sprintf("entry %d is %g in the scale of HiGHS", j, v)}
		}
	}
	return nil
}

// negated returns -v.
func negated(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}

// basis returns one in which the rows of a point that bind are at their bounds, as many as there are variables
// at most; HiGHS makes a basis of it.
func (f *form) basis(p *backends.Problem, at backends.Point) chighs.Basis {
	n, m := p.Dims()
	out := chighs.Basis{Cols: make([]chighs.BasisStatus, n), Rows: make([]chighs.BasisStatus, m)}
	for j := range out.Cols {
		out.Cols[j] = chighs.Basic
	}
	var slack []float64
	if at.X != nil {
		slack = p.Slack(at.X)
	}
	for i := range out.Rows {
		out.Rows[i] = chighs.Basic
		z := 0.0
		if at.Z != nil {
			z = at.Z[i]
		}
		switch binds := func(bound float64) bool {
			return slack != nil && math.Abs(slack[i]-bound) <= bindingShare*max(1, math.Abs(bound))
		}; {
		case z > bindingShare || z >= 0 && binds(f.Lower[i]) || f.Lower[i] == f.Upper[i]:
			out.Rows[i] = chighs.AtUpper // of Ax, where s is smallest
		case z < -bindingShare || z <= 0 && binds(f.Upper[i]):
			out.Rows[i] = chighs.AtLower
		}
	}
	return out
}

// bindingShare is what a multiplier is larger, or a slack nearer to its bound, than rounding leaves.
const bindingShare = 1e-7

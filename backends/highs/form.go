//go:build highs && cgo

package highs

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/james-bowman/sparse"
)

// lowerTriangle returns that of a P by its upper one, nil without entries.
func lowerTriangle(upper *sparse.CSC) *mirror.Matrix {
	if upper == nil || upper.NNZ() == 0 {
		return nil
	}
	n, _ := upper.Dims()
	raw := upper.RawMatrix()
	var lower backends.Triplets
	for j := range n {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			lower.Add(j, raw.Ind[k], raw.Data[k])
		}
	}
	out, _ := lower.CSC(n, n) // all are within
	return adapter.MatrixOf(out, n, n)
}

// given returns what HiGHS is given.
func (s *solver) given(data *backends.Problem) (*chighs.Data, error) {
	if err := checkObjective(data.Q); err != nil {
		return nil, err
	}
	n, m := data.Dims()
	l, u, err := s.rows.OnAx(data.B, chighs.Infinity, "HiGHS")
	return &chighs.Data{P: lowerTriangle(data.P), Q: data.Q, A: adapter.MatrixOf(data.A, m, n), Lower: l, Upper: u}, err
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
func (s *solver) basis(at backends.Point) chighs.Basis {
	p := s.Data
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
		case z > bindingShare || z >= 0 && binds(s.rows.Lower[i]) || s.rows.Lower[i] == s.rows.Upper[i]:
			out.Rows[i] = chighs.AtUpper // of Ax, where s is smallest
		case z < -bindingShare || z <= 0 && binds(s.rows.Upper[i]):
			out.Rows[i] = chighs.AtLower
		}
	}
	return out
}

// bindingShare is what a multiplier is larger, or a slack nearer to its bound, than rounding leaves.
const bindingShare = 1e-7

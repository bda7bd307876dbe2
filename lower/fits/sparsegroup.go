package fits

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/sparse"
)

// SparseGroupLasso has a hyperparameter for the norm of each of M groups, and the last one for the l1 norm:
//
//	min over b, b0 of  1/(2n) |y - X b - b0|^2 + sum_g lambda_g |b^(g)|_2 + lambda_{M+1} |b|_1.
//
// The validation loss is half the mean squared error. Its points have the coefficients, and with an
// intercept b0. It has the adjoint mode only. It also solves both programs of an iteration of VF-iDCA. A [GroupLasso] is the same without the last term.
type SparseGroupLasso struct {
	separated
	groups    *sparse.Groups
	members   [][]int
	shared    bool // with the last term
	val       Rows
	intercept bool
}

// NewSparseGroupLasso takes the lists of the features of the groups; each feature is in one.
func NewSparseGroupLasso(train, val Rows, members [][]int, intercept bool) (*SparseGroupLasso, error) {
	return newGrouped("sparse group lasso", train, val, members, true, intercept)
}

// GroupLasso has a hyperparameter for the norm of each group.
type GroupLasso struct{ *SparseGroupLasso }

// NewGroupLasso takes the lists of the features of the groups; each feature is in one.
func NewGroupLasso(train, val Rows, members [][]int, intercept bool) (*GroupLasso, error) {
	m, err := newGrouped("group lasso", train, val, members, false, intercept)
	return &GroupLasso{m}, err
}

func newGrouped(name string, train, val Rows, members [][]int, shared, intercept bool) (*SparseGroupLasso, error) {
	g, err := newTraining(name, train, val, intercept)
	if err != nil {
		return nil, err
	}
	groups, err := sparse.NewGroups(g, members)
	if err != nil {
		return nil, fmt.Errorf("fits: %s: %w", name, err)
	}
	s, err := newSeparated(name, train, val, members, shared, intercept)
	if err != nil {
		return nil, err
	}
	return &SparseGroupLasso{separated: s, groups: groups, members: members, shared: shared, val: val, intercept: intercept}, nil
}

// Dim is the number of groups, plus one with the l1 norm.
func (m *SparseGroupLasso) Dim() int {
	if m.shared {
		return len(m.members) + 1
	}
	return len(m.members)
}

// LambdaMax is the least common value at which all coefficients are zero.
func (m *SparseGroupLasso) LambdaMax() float64 {
	if m.shared {
		return m.groups.LambdaMax()
	}
	return m.groups.NormMax()
}

// Path goes down with a common value.
func (m *SparseGroupLasso) Path() [][]float64 { return commonPath(m.Dim(), m.LambdaMax()) }

// groupState is the solution behind a point.
type groupState struct {
	*sparse.Solution
	weights  sparse.GroupWeights
	gradient []float64
}

// Solve implements [lower.Differentiable].
func (m *SparseGroupLasso) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != m.Dim() {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.Dim())
	}
	pt := &lower.Point{Lambda: append([]float64(nil), lambda...)}
	w := sparse.GroupWeights{Norm: pt.Lambda[:len(m.members)]}
	if m.shared {
		w.L1 = pt.Lambda[len(m.members):]
	}
	o := sparse.Options{Tol: tol}
	if start != nil {
		o.Start = start.State.(*groupState).Solution
	}
	s, err := m.groups.Solve(ctx, w, o)
	if err != nil {
		return nil, err
	}
	gradient := fill(pt, m.groups.Regression, m.val, s, m.intercept)
	pt.State = &groupState{s, w, gradient}
	return pt, nil
}

// Gradient implements [lower.Differentiable]. With H the Hessian of the lower level on the support S and H v = grad_S L,
//
//	dL/dlambda_g = -v_g'b_g / |b_g|,   dL/dlambda_{M+1} = -v' sign(b_S).
func (m *SparseGroupLasso) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	if o.Mode == lower.Forward {
		return nil, fmt.Errorf("fits: the (sparse) group lasso has no forward mode, only %s", lower.Adjoint)
	}
	s := at.State.(*groupState)
	out := make([]float64, m.Dim())
	if len(s.Support) == 0 {
		return out, nil
	}
	h, err := m.groups.Hessian(s.Support, s.B, s.weights)
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(s.Support))
	if o.Mode == lower.Truncated {
		dense := mat.NewVecDense(len(v), nil)
		truncated(ctx, func(out, v []float64) {
			dense.MulVec(h, mat.NewVecDense(len(v), v))
			copy(out, dense.RawVector().Data)
		}, s.gradient, v, len(v))
	} else {
		inverse, err := sparse.InverseOf(h)
		if err != nil {
			return nil, fmt.Errorf("fits: lower level: %w", err)
		}
		copy(v, s.gradient)
		inverse.Solve(v)
	}
	full := make([]float64, len(s.B))
	for i, j := range s.Support {
		full[j] = v[i]
		if m.shared {
			out[len(m.members)] -= v[i] * sign(s.B[j])
		}
	}
	for k, group := range m.members {
		var inner, size float64
		for _, j := range group {
			inner += full[j] * s.B[j]
			size += s.B[j] * s.B[j]
		}
		if size > 0 {
			out[k] = -inner / math.Sqrt(size)
		}
	}
	return out, nil
}

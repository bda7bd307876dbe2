package fits

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/sparse"
)

// Grouped has a hyperparameter for the norm of each of M groups, and perhaps one for the l1 norm:
//
//	min over b, b0 of  1/(2n) |y - X b - b0|^2 + sum_g lambda_g |b^(g)|_2 + lambda_{M+1} |b|_1.
//
// The validation loss is half the mean squared error. Its points have the coefficients, and with an intercept b0. It
// has the adjoint mode, and of groups of one feature the forward mode, which solves the same system. It also solves
// both programs of an iteration of VF-iDCA.
type Grouped struct {
	separated
	groups    *sparse.Groups
	members   [][]int
	shared    bool // with the l1 norm
	val       Rows
	intercept bool
}

// NewSparseGroupLasso takes the lists of the features of the groups; each feature is in one.
func NewSparseGroupLasso(train, val Rows, members [][]int, intercept bool) (*Grouped, error) {
	return newGrouped("sparse group lasso", train, val, members, true, intercept)
}

// NewGroupLasso is [NewSparseGroupLasso] without the l1 norm.
func NewGroupLasso(train, val Rows, members [][]int, intercept bool) (*Grouped, error) {
	return newGrouped("group lasso", train, val, members, false, intercept)
}

// NewWeightedLasso is the group lasso of groups of one feature.
func NewWeightedLasso(train, val Rows, intercept bool) (*Grouped, error) {
	members := make([][]int, train.X.Columns())
	for j := range members {
		members[j] = []int{j}
	}
	return newGrouped("weighted lasso", train, val, members, false, intercept)
}

// newTraining checks the rows and prepares those for training.
func newTraining(name string, train, val Rows, intercept bool) (*sparse.Regression, error) {
	if err := plainRows(name, train, val); err != nil {
		return nil, err
	}
	g, err := sparse.NewRegression(train.X, train.Y, intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the %s: %w", name, err)
	}
	return g, check(name, train, val)
}

// fill puts a solution into the point, and returns the gradient of the validation loss on its support.
func fill(pt *lower.Point, g *sparse.Regression, val Rows, s *sparse.Solution, intercept bool) []float64 {
	value, gradient := g.ValidationGradient(val.X, val.Y, s)
	pt.X, pt.Validation = [][]float64{s.B}, value
	if intercept {
		pt.X = append(pt.X, s.B0)
	}
	pt.Gap, pt.Solved = g.Relative(s.Gap), s.Status == lower.Optimal || s.Status == lower.Exhausted
	return gradient
}

func newGrouped(name string, train, val Rows, members [][]int, shared, intercept bool) (*Grouped, error) {
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
	return &Grouped{separated: s, groups: groups, members: members, shared: shared, val: val, intercept: intercept}, nil
}

// Dim is the number of groups, plus one with the l1 norm.
func (m *Grouped) Dim() int {
	if m.shared {
		return len(m.members) + 1
	}
	return len(m.members)
}

// LambdaMax is the least common value at which all coefficients are zero.
func (m *Grouped) LambdaMax() float64 {
	if m.shared {
		return m.groups.LambdaMax()
	}
	return m.groups.NormMax()
}

// Path goes down with a common value.
func (m *Grouped) Path() [][]float64 { return commonPath(m.Dim(), m.LambdaMax()) }

// Traits implements [lower.Fit].
func (m *Grouped) Traits() lower.Traits {
	return lower.Traits{Path: m.Path, Gradient: m.Gradient, Parts: []lower.Bilevel{m}, LeastNorm: m.LeastNorm}
}

// groupState is the solution behind a point.
type groupState struct {
	*sparse.Solution
	weights  sparse.GroupWeights
	gradient []float64
}

// Solve implements [lower.Fit].
func (m *Grouped) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
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

// Gradient is that of [lower.Traits]. With H the Hessian of the lower level on the support S and H v = grad_S
// L,
//
//	dL/dlambda_g = -v_g'b_g / |b_g|,   dL/dlambda_{M+1} = -v' sign(b_S).
func (m *Grouped) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	if o.Mode == lower.Forward && (m.shared || len(m.members) < m.val.X.Columns()) {
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

func sign(v float64) float64 { return math.Copysign(1, v) }

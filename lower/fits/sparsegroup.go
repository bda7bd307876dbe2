package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/glm"
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
	*Net
	groups  *sparse.Groups
	members [][]int
	shared  bool // with the l1 norm
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

func newGrouped(name string, train, val Rows, members [][]int, shared, intercept bool) (*Grouped, error) {
	if err := plainRows(name, train, val); err != nil {
		return nil, err
	}
	groups, err := sparse.NewGroups(sparse.Sample(train), intercept, members)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the %s: %w", name, err)
	}
	if err := check(name, train, val); err != nil {
		return nil, err
	}
	s, err := newSeparated(name, train, val, members, shared, intercept)
	if err != nil {
		return nil, err
	}
	net, err := newNet(name, groups.Fit, train, val, 0, intercept, nil)
	if err != nil {
		return nil, err
	}
	m := &Grouped{separated: s, Net: net, groups: groups, members: members, shared: shared}
	net.top, net.dim = groups.LambdaMax(shared), len(members)
	if shared {
		net.dim++
	}
	net.weights = func(lambda []float64) (*glm.Weights, error) {
		return groups.Weights(sparse.GroupWeights{Norm: lambda[:len(members)], L1: lambda[len(members):]})
	}
	net.grad = m.norm
	return m, nil
}

// norm has the gradient of the norm of a group, or of the l1 norm.
func (m *Grouped) norm(s *netState, i int, q []float64) {
	if i == len(m.members) {
		for k, j := range s.free {
			q[k] = sign(s.B[j])
		}
		return
	}
	size := 0.0
	for _, j := range m.members[i] {
		size += s.B[j] * s.B[j]
	}
	for _, j := range m.members[i] {
		if k, free := slices.BinarySearch(s.free, j); free {
			q[k] = s.B[j] / math.Sqrt(size)
		}
	}
}

// Traits implements [lower.Fit].
func (m *Grouped) Traits() lower.Traits {
	return lower.Traits{Path: m.Path, Gradient: m.Gradient, Parts: []lower.Bilevel{m}, LeastNorm: m.LeastNorm}
}

// Gradient is that of [lower.Traits].
func (m *Grouped) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	if o.Mode == lower.Forward && (m.shared || len(m.members) < m.val.X.Columns()) {
		return nil, fmt.Errorf("fits: the (sparse) group lasso has no forward mode, only %s", lower.Adjoint)
	}
	return m.Net.Gradient(ctx, at, o)
}

package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// NewSparseGroupLasso has a hyperparameter for the norm of each of M groups, and one for the l1 norm:
//
//	min over b, b0 of  1/(2n) |y - X b - b0|^2 + sum_g lambda_g |b^(g)|_2 + lambda_{M+1} |b|_1.
//
// members lists the features of the groups; each feature is in one. The validation loss is half the mean squared error.
// It has the adjoint mode, and of groups of one feature the forward mode, which solves the same system.
func NewSparseGroupLasso(train, val Rows, members [][]int, intercept bool) (*Net, error) {
	return grouped("sparse group lasso", train, val, members, true, intercept)
}

// NewGroupLasso is [NewSparseGroupLasso] without the l1 norm.
func NewGroupLasso(train, val Rows, members [][]int, intercept bool) (*Net, error) {
	return grouped("group lasso", train, val, members, false, intercept)
}

// NewWeightedLasso is the group lasso of groups of one feature.
func NewWeightedLasso(train, val Rows, intercept bool) (*Net, error) {
	return grouped("weighted lasso", train, val, indices.Singles(train.X.Columns()), false, intercept)
}

func grouped(name string, train, val Rows, members [][]int, shared, intercept bool) (*Net, error) {
	if err := plainRows(name, train, val); err != nil {
		return nil, err
	}
	if err := indices.Divide(members, train.X.Columns()); err != nil {
		return nil, fmt.Errorf("fits: %s: %w", name, err)
	}
	units := members
	if slices.EqualFunc(members, indices.Singles(train.X.Columns()), slices.Equal) { // they are features
		units = nil
	}
	m, err := newNet(name, nil, train, val, intercept, sparse.Terms{}, units, nil)
	if err != nil {
		return nil, err
	}
	m.groups = separable.New(train, val, members, shared, intercept)
	m.dim = m.groups.Penalties()
	weights := func(lambda []float64) *glm.Weights {
		w := &glm.Weights{Norm: lambda[:len(members)]}
		if shared {
			w.L1 = slices.Repeat(lambda[len(members):], train.X.Columns())
		}
		return w
	}
	m.weights = func(lambda []float64) (*glm.Weights, error) {
		if k := slices.Index(lambda[:len(members)], 0); k >= 0 && !(shared && lambda[len(members)] > 0) {
			return weights(lambda), fmt.Errorf("fits: %s: feature %d of group %d has no penalty", name, members[k][0], k)
		}
		return weights(lambda), nil
	}
	m.top = m.Fit.LambdaMaxOf(weights(slices.Repeat([]float64{1}, m.dim)))
	m.traits.Bounds, m.traits.LeastNorm = nil, m.groups.LeastNorm
	if shared || len(members) < train.X.Columns() {
		m.traits.Gradient = func(ctx context.Context, at *lower.Point, mode lower.Mode, tol float64) ([]float64, error) {
			if mode == lower.Forward {
				return nil, fmt.Errorf("fits: the (sparse) group lasso has no forward mode, only %s", lower.Adjoint)
			}
			return m.gradient(ctx, at, mode, tol)
		}
	}
	return m, nil
}

// Times is the fit whose hyperparameters multiply weights: that of the norm of each group, and the last one those of
// the 1-norm, where w has them.
func (m *Net) Times(w *glm.Weights) *Net {
	out, norms := *m, len(w.Norm)
	out.top = m.top / floats.Min(w.Norm)
	out.weights = func(factors []float64) (*glm.Weights, error) { return w.Times(factors), nil }
	out.traits = lower.Traits{Gradient: out.gradient, Bounds: func() (low, high []float64) { // those of the weights
		for i := range m.dim {
			var weight float64
			if i < norms {
				weight = w.Norm[i]
			} else {
				weight = floats.Max(w.L1)
			}
			low = append(low, math.Min(1, lower.LeastShare*m.top/weight))
			high = append(high, math.Max(1, lower.MostShare*m.top/weight))
		}
		return low, high
	}}
	return &out
}

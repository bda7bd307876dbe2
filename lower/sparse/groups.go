package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// Groups is a regression whose features are divided into groups, for the sparse group lasso
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + sum_g w_g |b^(g)|_2 + sum_j w1_j |b_j|
//
// with the weights of [GroupWeights]. A dual point u is feasible where |soft(X_g'u / n, w1)|_2 <= w_g for all g
// (Ndiaye, Fercoq, Gramfort, Salmon, NIPS 2016).
type Groups struct {
	*Regression
	groups *leastsquares.Groups
	table  *table
}

// GroupWeights are those of the penalties. Each feature needs a positive one of the two.
type GroupWeights struct {
	// Norm holds w_g, one for each group or one for all.
	Norm []float64
	// L1 holds w1: nil for 0, one for all, or one for each feature.
	L1 []float64
}

// NewGroups divides the features of a regression: members lists those of each group, and each feature is
// in one. The lists are kept.
func NewGroups(g *Regression, members [][]int) (*Groups, error) {
	groups, err := leastsquares.NewGroups(g.data, members)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	t := single(Sample{X: g.data.X, Y: g.table.of.Y[0]}, g.data.Intercept)
	for k, group := range members {
		if len(group) != 1 || group[0] != k { // else they are features
			t.of.Units = members
		}
	}
	return &Groups{g, groups, t}, nil
}

// LambdaMax is the smallest weight that, common to all norms and to w1, makes all coefficients zero.
func (q *Groups) LambdaMax() float64 {
	top := 0.0
	c := make([]float64, len(q.data.XtY))
	for j, v := range q.data.XtY {
		c[j] = v / float64(q.data.X.Rows())
	}
	for _, group := range q.groups.Members {
		// The root of |soft(c, l)| = l lies below |c|_inf.
		lo, hi := top, 0.0
		for _, j := range group {
			hi = math.Max(hi, math.Abs(c[j]))
		}
		for hi-lo > 1e-15*hi {
			l := (lo + hi) / 2
			if l == lo || l == hi {
				break
			}
			if leastsquares.SoftNorm(group, c, 1, func(int) float64 { return l }) > l {
				lo = l
			} else {
				hi = l
			}
		}
		top = math.Max(top, hi)
	}
	return top
}

// NormMax is the smallest weight that, common to all norms, makes all coefficients zero without w1.
func (q *Groups) NormMax() float64 {
	top := 0.0
	for _, group := range q.groups.Members {
		squares := 0.0
		for _, j := range group {
			c := q.data.XtY[j] / float64(q.data.X.Rows())
			squares += c * c
		}
		top = math.Max(top, math.Sqrt(squares))
	}
	return top
}

func (q *Groups) weights(w GroupWeights) (norm, l1 []float64, err error) {
	if norm, l1, err = q.groups.Weights(w.Norm, w.L1); err != nil {
		return nil, nil, fmt.Errorf("sparse: %w", err)
	}
	return norm, l1, nil
}

// Solve returns a solution at the weights w, as [Regression.Solve] does.
func (q *Groups) Solve(ctx context.Context, w GroupWeights, o Options) (*Solution, error) {
	norm, l1, err := q.weights(w)
	if err != nil {
		return nil, err
	}
	return q.table.solve(ctx, q.data.Scale, &glm.Weights{Norm: norm, L1: l1}, o)
}

// Hessian is that of the objective in the coefficients S, none of them zero: the matrix of
// [Regression.Hessian] and, within each group, w_g (I / |b_g| - b_g b_g' / |b_g|^3).
func (q *Groups) Hessian(set []int, b []float64, w GroupWeights) (*mat.SymDense, error) {
	norm, _, err := q.weights(w)
	if err != nil {
		return nil, err
	}
	return q.groups.NormHessian(set, b, norm), nil
}

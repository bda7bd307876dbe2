package sparse

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/leastsquares"
)

// Groups is a fit of squares whose features are divided into groups, for the sparse group lasso
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + sum_g w_g |b^(g)|_2 + sum_j w1_j |b_j|
//
// with the weights of [GroupWeights].
type Groups struct {
	*Fit
	of      []int // the group of each feature
	members [][]int
	slope   []float64 // of the loss without coefficients
}

// GroupWeights are those of the penalties. Each feature needs a positive one of the two.
type GroupWeights struct {
	// Norm holds w_g, one for each group or one for all.
	Norm []float64
	// L1 holds w1: nil for 0, one for all, or one for each feature.
	L1 []float64
}

// NewGroups divides the features: members lists those of each group, and each feature is in one. The lists are kept.
func NewGroups(s Sample, intercept bool, members [][]int) (*Groups, error) {
	g, err := Squares(s, intercept, Terms{})
	if err != nil {
		return nil, err
	}
	q := &Groups{Fit: g, members: members, slope: make([]float64, g.p)}
	if q.of, err = leastsquares.Divide(members, g.p); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	for k, group := range members {
		if len(group) != 1 || group[0] != k { // else they are features
			g.table.of.Units = members
		}
	}
	s.X.MulTrans(q.slope, g.look(training, g.start).slopes)
	return q, nil
}

// LambdaMax is the smallest weight that, common to all norms and to w1, makes all coefficients zero, or to the norms
// alone.
func (q *Groups) LambdaMax(shared bool) float64 {
	top := 0.0
	for _, group := range q.members {
		if !shared {
			top = math.Max(top, q.norm(group, 0))
			continue
		}
		// The root of |soft(c, l)| = l lies below |c|_inf.
		lo, hi := top, 0.0
		for _, j := range group {
			hi = math.Max(hi, math.Abs(q.slope[j]))
		}
		for hi-lo > 1e-15*hi {
			l := (lo + hi) / 2
			if l == lo || l == hi {
				break
			}
			if q.norm(group, l) > l {
				lo = l
			} else {
				hi = l
			}
		}
		top = math.Max(top, hi)
	}
	return top
}

// norm is that of the slopes of a group, less what absolute values of a weight hold back.
func (q *Groups) norm(group []int, w1 float64) float64 {
	sum := 0.0
	for _, j := range group {
		if v := math.Abs(q.slope[j]) - w1; v > 0 {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// Weights are those of package glm.
func (q *Groups) Weights(w GroupWeights) (out *glm.Weights, err error) {
	out = new(glm.Weights)
	if out.Norm, out.L1, err = leastsquares.GroupWeights(w.Norm, w.L1, len(q.members), q.of); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	return out, nil
}

// Solve returns a solution at the weights w, as [Fit.Solve] does.
func (q *Groups) Solve(ctx context.Context, w GroupWeights, tol float64, start *Solution) (*Solution, error) {
	weights, err := q.Weights(w)
	if err != nil {
		return nil, err
	}
	return q.Fit.SolveAt(ctx, weights, tol, start)
}

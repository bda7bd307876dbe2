package fits

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
)

// SingleFit is an elastic net of one weight, the other being zero: the lasso or ridge regression. It can be solved with its validation rows in it.
type SingleFit struct {
	*Regression
	single
}

// single has the functions of a joint fit with one of the penalties of an elastic net.
type single struct {
	both *sparse.Joint
	kept int // which of the penalties
}

// LassoFit is the lasso, w1_j = lambda_0.
func LassoFit(train, val Rows, intercept bool) (*SingleFit, error) {
	m, err := Lasso(train, val, intercept)
	if err != nil {
		return nil, err
	}
	return newSingle(m, train, val, intercept, 0)
}

// RidgeFit is ridge regression, w2_j = lambda_0.
func RidgeFit(train, val Rows, intercept bool) (*SingleFit, error) {
	m, err := newRegression("ridge regression", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.second = 1, make([]int, p)
	})
	if err != nil {
		return nil, err
	}
	return newSingle(m, train, val, intercept, 1)
}

func newSingle(m *Regression, train, val Rows, intercept bool, kept int) (*SingleFit, error) {
	g, err := sparse.JointSquares(sparse.Sample(train), sparse.Sample(val), intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: %w", err)
	}
	return &SingleFit{m, single{g, kept}}, nil
}

// Path goes down with the weight.
func (m *SingleFit) Path() [][]float64 { return commonPath(1, m.LambdaMax()) }

// Shape implements [lower.Valued].
func (m single) Shape() []int { return m.both.Shape() }

// Values implements [lower.Valued].
func (m single) Values(x [][]float64) lower.Values { return m.of(m.both.Values(x)) }

// of keeps one penalty.
func (m single) of(v lower.Values) lower.Values {
	v.Penalties = v.Penalties[m.kept : m.kept+1 : m.kept+1]
	return v
}

// Within implements [lower.Bilevel].
func (m *SingleFit) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Subproblem implements [lower.Bilevel].
func (m single) Subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	return subproblem(parts, workers)
}

// Joint implements [lower.Joint].
func (m single) Joint() lower.JointSolver { return &singleSolver{m.both.Joint(), m} }

// singleSolver solves with the weight zero for the other penalty.
type singleSolver struct {
	lower.JointSolver
	fit single
}

func (s *singleSolver) weights(w *lower.JointWeights) *lower.JointWeights {
	both := *w
	both.Penalties = make([]float64, 2)
	both.Penalties[s.fit.kept] = w.Penalties[0]
	return &both
}

// Solve implements [lower.JointSolver].
func (s *singleSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
	pt, err := s.JointSolver.Solve(ctx, s.weights(w))
	if pt == nil || err != nil {
		return nil, err
	}
	out := *pt
	out.Values = s.fit.of(pt.Values)
	k := 1 + s.fit.kept
	out.Curvature = [][]float64{{pt.Curvature[0][0], pt.Curvature[0][k]}, {pt.Curvature[k][0], pt.Curvature[k][k]}}
	return &out, nil
}

// Check implements [lower.JointSolver].
func (s *singleSolver) Check(ctx context.Context, w *lower.JointWeights) (lower.JointCheck, error) {
	c, err := s.JointSolver.Check(ctx, s.weights(w))
	if c.Penalties != nil {
		c.Values = s.fit.of(c.Values)
	}
	return c, err
}

var (
	_ lower.Bilevel        = (*SingleFit)(nil)
	_ lower.Bilevel        = (*SingleSquares)(nil)
	_ lower.Differentiable = (*SingleFit)(nil)
)

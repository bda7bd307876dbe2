package fits

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
)

// SingleSquares is the lasso or ridge regression with features that have terms: [Squares] with one weight, the other being zero.
type SingleSquares struct {
	net *Squares
	single
}

// LassoTerms is [LassoFit] with terms, RidgeTerms [RidgeFit].
func LassoTerms(train, val Rows, intercept bool, t sparse.Terms) (*SingleSquares, error) {
	return newSingleSquares(train, val, intercept, t, 0)
}

// RidgeTerms is [RidgeFit] with terms.
func RidgeTerms(train, val Rows, intercept bool, t sparse.Terms) (*SingleSquares, error) {
	return newSingleSquares(train, val, intercept, t, 1)
}

func newSingleSquares(train, val Rows, intercept bool, t sparse.Terms, kept int) (*SingleSquares, error) {
	net, err := NewSquares(train, val, intercept, t)
	if err != nil {
		return nil, err
	}
	return &SingleSquares{net, single{net.both, kept}}, nil
}

// Dim is 1.
func (m *SingleSquares) Dim() int { return 1 }

// LambdaMax is that of the elastic net.
func (m *SingleSquares) LambdaMax() float64 { return m.net.LambdaMax() }

// Bounds implements [lower.Bounded].
func (m *SingleSquares) Bounds() (low, high []float64) {
	low, high = m.net.Bounds()
	return low[m.kept : m.kept+1], high[m.kept : m.kept+1]
}

// Path goes down with the weight.
func (m *SingleSquares) Path() [][]float64 { return commonPath(1, m.LambdaMax()) }

// Solve implements [lower.Differentiable].
func (m *SingleSquares) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != 1 {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected 1", len(lambda))
	}
	both := make([]float64, 2)
	both[m.kept] = lambda[0]
	pt, err := m.net.Solve(ctx, both, tol, start)
	if err != nil {
		return nil, err
	}
	pt.Lambda = append([]float64(nil), lambda...)
	return pt, nil
}

// Gradient implements [lower.Differentiable].
func (m *SingleSquares) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	g, err := m.net.Gradient(ctx, at, o)
	if err != nil {
		return nil, err
	}
	return g[m.kept : m.kept+1 : m.kept+1], nil
}

// Within implements [lower.Bilevel].
func (m *SingleSquares) Within() lower.WithinSolver { return multipliers.NewLower(m) }

package fits

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/separable"
)

// separated has the functions of a fit whose penalties are norms of groups of coefficients, and both programs of an iteration.
type separated struct{ data *separable.Regression }

func newSeparated(name string, train, val Rows, members [][]int, shared, intercept bool) (separated, error) {
	if err := plainRows(name, train, val); err != nil {
		return separated{}, err
	}
	g, err := separable.New(separable.Rows{X: train.X, Y: train.Y}, separable.Rows{X: val.X, Y: val.Y}, members, shared, intercept)
	if err != nil {
		return separated{}, fmt.Errorf("fits: %s: %w", name, err)
	}
	return separated{g}, nil
}

// separables is what [separated.Subproblem] knows its parts by.
type separables interface{ rows() *separable.Regression }

func (s separated) rows() *separable.Regression { return s.data }

// Shape implements [lower.Bilevel].
func (s separated) Shape() []int { return s.data.Shape() }

// Values implements [lower.Bilevel].
func (s separated) Values(x [][]float64) lower.Values { return s.data.Values(x) }

// Within implements [lower.Bilevel].
func (s separated) Within() lower.WithinSolver { return separable.NewLower(s.data) }

// LeastNorm is that of [lower.Traits].
func (s separated) LeastNorm(ctx context.Context, radii []float64, loss float64) ([][]float64, error) {
	return s.data.LeastNorm(ctx, radii, loss)
}

// Subproblem implements [lower.Bilevel].
func (s separated) Subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	data := make([]*separable.Regression, len(parts))
	for t, p := range parts {
		data[t] = p.(separables).rows()
	}
	return separable.NewSubproblem(data, workers).Solve
}

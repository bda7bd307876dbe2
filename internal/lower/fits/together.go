package fits

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/lower"
)

// Together are the fits of all folds of a cross-validation, solved together, see package glm. Its points have the
// coefficients of a fold and, with an intercept, its constants, fold by fold.
type Together struct {
	data      *glm.Data
	dim       int
	intercept bool
	weights   func(lambda []float64) []*glm.Weights // of each fold, or one for all
	top       float64
	working   *sync.Mutex // of data
}

// NewTogether makes the rows ready. dim hyperparameters give the weights of the penalties.
func NewTogether(ctx context.Context, t *glm.Table, dim int, weights func(lambda []float64) *glm.Weights) (*Together,
	error) {
	t.Threads = runtime.GOMAXPROCS(0)
	data, err := glm.New(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("fits: %w", err)
	}
	m := &Together{data: data, intercept: t.Intercept, working: new(sync.Mutex)}
	return m.With(ctx, dim, func(lambda []float64) []*glm.Weights { return []*glm.Weights{weights(lambda)} }), nil
}

// With are the fits of the same rows where dim hyperparameters give the weights of the penalties of each fold, or those
// of all.
func (m *Together) With(ctx context.Context, dim int, weights func(lambda []float64) []*glm.Weights) *Together {
	out := &Together{data: m.data, dim: dim, intercept: m.intercept, weights: weights, working: m.working}
	var norms []*glm.Weights
	for _, w := range weights(slices.Repeat([]float64{1}, dim)) {
		norms = append(norms, &glm.Weights{Norm: w.Norm, L2: w.L2})
	}
	_, out.top = m.data.Path(ctx).LambdaMax(norms...)
	return out
}

// Dim is the number of hyperparameters.
func (m *Together) Dim() int { return m.dim }

// LambdaMax is a common weight at which all penalised coefficients of a norm are zero.
func (m *Together) LambdaMax() float64 { return m.top }

// togetherState is a path where it stands after a solve.
type togetherState struct {
	path  *glm.Path
	steps int
}

// Traits implements [lower.Fit].
func (m *Together) Traits() lower.Traits {
	return lower.Traits{Piecewise: m.data.Piecewise()}
}

// Solve implements [lower.Fit]. It starts from the point before, and from nothing where another solve has gone on from
// that.
func (m *Together) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != m.dim {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.dim)
	}
	m.working.Lock()
	defer m.working.Unlock()
	var path *glm.Path
	if start != nil {
		if s := start.State.(*togetherState); s.path.Steps() == s.steps {
			path = s.path
		}
	}
	if path == nil {
		path = m.data.Path(ctx)
	}
	weights := m.weights(lambda)
	if len(weights) == 1 {
		weights = slices.Repeat(weights, m.data.Folds())
	}
	s, err := path.SolveEach(ctx, weights, tol)
	if err != nil {
		return nil, fmt.Errorf("fits: %w", err)
	}
	pt := &lower.Point{Lambda: slices.Clone(lambda), Gap: s.Gap, Solved: s.Solved, Folds: s.Validation,
		State: &togetherState{path, path.Steps()}}
	for t := range s.B {
		pt.X = append(pt.X, s.B[t])
		if m.intercept {
			pt.X = append(pt.X, s.B0[t])
		}
		pt.Validation += s.Validation[t] / float64(len(s.B))
	}
	return pt, nil
}

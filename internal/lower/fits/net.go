package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// Net is a regression of package sparse. With the penalties of an elastic net, or one of them, it is
//
//	min over b, b0 of  1/n sum_i l(y_i, f_i) + lambda_1 |b|_1 + lambda_2 / 2 |b|^2,   f = X b + b0,
//
// with the means by the weights of the rows and f plus their offsets where there are any, and the penalties weighted
// by factors and the coefficients within bounds where there are [sparse.Terms]; others have norms of groups. Its points
// have the coefficients, and with an intercept the constants.
type Net struct {
	*sparse.Fit // with validation rows
	val         Rows
	dim         int   // number of penalties
	kept        []int // which of the two of an elastic net there are; nil with groups
	intercept   bool
	top         float64
	traits      lower.Traits
	groups      *separable.Regression // of norms of groups, which solves both programs of VF-iDCA; nil with an elastic net
	// weights are those of package glm, and what is wrong with them for a fit.
	weights func(lambda []float64) (*glm.Weights, error)
	// loss is the validation loss, with its derivatives in some coefficients and, if there is one, the constant.
	loss func(x [][]float64, of []int) (value float64, gradient []float64)
}

// both, first and second are what is kept.
var both, first, second = []int{0, 1}, []int{0}, []int{1}

// newNet takes what [sparse.New] does for training rows, and what is kept.
func newNet(name string, l glm.Loss, train, val Rows, intercept bool, t sparse.Terms, units [][]int, kept []int) (*Net,
	error) {
	g, err := sparse.New(l, train, intercept, t, units)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the %s: %w", name, err)
	}
	if g, err = g.With(val, kept...); err != nil {
		return nil, fmt.Errorf("fits: validation rows of the %s: %w", name, err)
	}
	m := &Net{Fit: g, val: val, dim: len(kept), kept: kept, intercept: intercept, top: g.LambdaMax()}
	m.loss, m.weights = m.mean, g.Weights
	m.traits = lower.Traits{Bounds: m.boundsFor(curvature(train.X)), Path: m.path, Gradient: m.gradient,
		Parts: []lower.Fit{m}}
	return m, nil
}

// Dim is the number of penalties.
func (m *Net) Dim() int { return m.dim }

// LambdaMax is the least lambda_1, or common weight of all groups, at which all coefficients are zero.
func (m *Net) LambdaMax() float64 { return m.top }

// Traits implements [lower.Fit].
func (m *Net) Traits() lower.Traits { return m.traits }

// mean is the validation loss of the fit.
func (m *Net) mean(x [][]float64, of []int) (value float64, gradient []float64) {
	value, slopes := m.Fit.Validation(x)
	for _, j := range of {
		gradient = append(gradient, m.val.X.Dot(j, slopes))
	}
	if m.intercept {
		gradient = append(gradient, floats.Sum(slopes))
	}
	floats.Scale(-1, gradient)
	return value, gradient
}

// boundsFor are those of [lower.Traits] where the second derivative of the loss is about bend. A square is zero at no
// weight: there is next to nothing left of a coefficient at bend times [lower.MostShare].
func (m *Net) boundsFor(bend float64) func() (low, high []float64) {
	return func() (low, high []float64) {
		for _, k := range m.kept {
			top := m.top
			if k == 1 {
				top = math.Max(top, bend)
			}
			low, high = append(low, lower.LeastShare*m.top), append(high, lower.MostShare*top)
		}
		return low, high
	}
}

// path goes down with common values, and with both penalties by every second of them and then up again with a hundredth
// for the squares.
func (m *Net) path() [][]float64 {
	path := commonPath(m.dim, m.top)
	if len(m.kept) < 2 {
		return path
	}
	var out [][]float64
	for i := 0; i < len(path); i += 2 {
		out = append(out, path[i])
	}
	for _, at := range slices.Backward(out) {
		out = append(out, []float64{at[0], at[1] / 100})
	}
	return out
}

// netState is the solution behind a point.
type netState struct {
	*sparse.Solution
	free      []int     // coefficients that move with the weights
	gradient  []float64 // of L in these, and in the intercept
	penalties []float64 // of the coefficients
}

// Solve implements [lower.Fit].
func (m *Net) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != m.dim {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.dim)
	}
	var from *sparse.Solution
	if start != nil {
		from = start.State.(*netState).Solution
	}
	w, err := m.weights(lambda)
	if err != nil {
		return nil, err
	}
	s, err := m.Fit.Solve(ctx, w, tol, from)
	if err != nil {
		return nil, err
	}
	pt, state := &lower.Point{Lambda: slices.Clone(lambda), X: [][]float64{s.B}, Gap: m.Fit.Relative(s.Gap)},
		&netState{Solution: s}
	pt.Solved = s.Status == outcome.Converged || s.Status == numerics.Exhausted
	if m.intercept {
		pt.X = append(pt.X, s.B0)
	}
	if m.traits.Gradient != nil {
		state.free = m.Fit.Free(s.B)
	} else {
		state.penalties = m.Fit.Penalties(s.B)
	}
	pt.Validation, state.gradient = m.loss(pt.X, state.free)
	pt.State = state
	return pt, nil
}

// gradient is that of [lower.Traits]: dL/dlambda_i = -v' grad P_i with H v = grad L, on what is free.
func (m *Net) gradient(ctx context.Context, at *lower.Point, mode lower.Mode, tol float64) ([]float64, error) {
	s := at.State.(*netState)
	out := make([]float64, m.dim)
	if len(s.free) == 0 {
		return out, nil
	}
	w, err := m.weights(at.Lambda)
	if err != nil {
		return nil, err
	}
	h, err := m.Fit.System(ctx, s.Solution, w, tol)
	if err != nil {
		return nil, fmt.Errorf("fits: lower level: %w", err)
	}
	v, columns := s.gradient, m.kept != nil && (mode == lower.Forward || mode == lower.Truncated)
	if !columns {
		v = h.Solve(ctx, v, mode == lower.Truncated)
	}
	one := make([]float64, m.dim) // the penalties are linear in their weights
	for i := range out {
		if m.kept == nil && !h.Has(i) { // the norm of a unit of zeros
			continue
		}
		one[i] = 1
		w, _ := m.weights(one)
		q := h.Slope(w)
		if one[i] = 0; columns {
			q = h.Solve(ctx, q, mode == lower.Truncated)
		}
		out[i] = -floats.Dot(q, v)
	}
	return out, nil
}

var _ bilevel.Joint = (*Net)(nil)

package fits

import (
	"context"

	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/lower"
)

// Shape implements [lower.Bilevel].
func (m *Net) Shape() []int { return m.fit.Shape() }

// Values implements [lower.Bilevel].
func (m *Net) Values(x [][]float64) lower.Values {
	if m.groups != nil {
		return m.groups.Values(x)
	}
	return m.values(m.fit.Values(x))
}

// values have the penalties that are kept.
func (m *Net) values(v lower.Values) lower.Values {
	p := v.Penalties
	v.Penalties = make([]float64, len(m.kept))
	for i, k := range m.kept {
		v.Penalties[i] = p[k]
	}
	return v
}

// Within implements [lower.Bilevel].
func (m *Net) Within() lower.WithinSolver {
	if m.groups != nil {
		return separable.NewLower(m.groups)
	}
	return multipliers.NewLower(m)
}

// Subproblem implements [lower.Bilevel].
func (m *Net) Subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	if m.groups != nil {
		return separable.NewSubproblem(each(parts, func(p *Net) *separable.Regression { return p.groups }), workers).Solve
	}
	return joint(parts, workers)
}

// joint solves the subproblems of parts by their multipliers.
func joint(parts []lower.Bilevel, workers int) lower.Subproblem {
	return multipliers.NewSubproblem(each(parts, func(p lower.Joint) lower.Joint { return p }), workers).Solve
}

// each are the data of parts, all of the same kind.
func each[K lower.Bilevel, D any](parts []lower.Bilevel, of func(K) D) []D {
	out := make([]D, len(parts))
	for t, p := range parts {
		out[t] = of(p.(K))
	}
	return out
}

// Joint implements [lower.Joint], of an elastic net.
func (m *Net) Joint() lower.JointSolver {
	s := m.fit.Joint()
	if m.dim == 1 {
		return &singleSolver{s, m}
	}
	return s
}

// singleSolver solves with the weight zero for the other penalty.
type singleSolver struct {
	lower.JointSolver
	fit *Net
}

func (s *singleSolver) weights(w *lower.JointWeights) *lower.JointWeights {
	out := *w
	out.Penalties = s.fit.all(w.Penalties)
	return &out
}

// Solve implements [lower.JointSolver].
func (s *singleSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
	pt, err := s.JointSolver.Solve(ctx, s.weights(w))
	if pt == nil || err != nil {
		return nil, err
	}
	out := *pt
	out.Values = s.fit.values(pt.Values)
	if pt.Curvature == nil {
		return &out, nil
	}
	k := 1 + s.fit.kept[0]
	out.Curvature = [][]float64{{pt.Curvature[0][0], pt.Curvature[0][k]}, {pt.Curvature[k][0], pt.Curvature[k][k]}}
	return &out, nil
}

// Check implements [lower.JointSolver].
func (s *singleSolver) Check(ctx context.Context, w *lower.JointWeights) (lower.JointCheck, error) {
	c, err := s.JointSolver.Check(ctx, s.weights(w))
	if c.Penalties != nil {
		c.Values = s.fit.values(c.Values)
	}
	return c, err
}

package fits

import (
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
	return m.fit.Values(x)
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
func (m *Net) Joint() lower.JointSolver { return m.fit.Joint() }

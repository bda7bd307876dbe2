package fits

import (
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/separable"
)

// Values implements [bilevel.Fit].
func (m *Net) Values(x [][]float64) bilevel.Values {
	if m.groups != nil {
		return m.groups.Values(x)
	}
	return m.Fit.Values(x)
}

// Within implements [bilevel.Fit].
func (m *Net) Within() bilevel.WithinSolver {
	if m.groups != nil {
		return separable.NewLower(m.groups)
	}
	return multipliers.NewLower(m)
}

// Subproblem implements [bilevel.Fit].
func (m *Net) Subproblem(parts []bilevel.Fit, workers int) bilevel.Subproblem {
	if m.groups != nil {
		return separable.NewSubproblem(each(parts, func(p *Net) *separable.Regression { return p.groups }), workers).Solve
	}
	return joint(parts, workers)
}

// joint solves the subproblems of parts by their multipliers.
func joint(parts []bilevel.Fit, workers int) bilevel.Subproblem {
	return multipliers.NewSubproblem(each(parts, func(p bilevel.Joint) bilevel.Joint { return p }), workers).Solve
}

// each are the data of parts, all of the same kind.
func each[K bilevel.Fit, D any](parts []bilevel.Fit, of func(K) D) []D {
	out := make([]D, len(parts))
	for t, p := range parts {
		out[t] = of(p.(K))
	}
	return out
}

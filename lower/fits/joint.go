package fits

import (
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
)

// joint has the functions of a fit that can be solved with its validation rows in it.
type joint struct{ both *sparse.Joint }

// Shape implements [lower.Valued].
func (j joint) Shape() []int { return j.both.Shape() }

// Values implements [lower.Valued].
func (j joint) Values(x [][]float64) lower.Values { return j.both.Values(x) }

// Joint implements [lower.Joint].
func (j joint) Joint() lower.JointSolver { return j.both.Joint() }

// Subproblem implements [lower.Bilevel].
func (j joint) Subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	return subproblem(parts, workers)
}

// subproblem solves the subproblems of parts that are joint fits.
func subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	joints := make([]lower.Joint, len(parts))
	for t, p := range parts {
		joints[t] = p.(lower.Joint)
	}
	return multipliers.NewSubproblem(joints, workers)
}

// Within implements [lower.Bilevel].
func (m *ElasticNetFit) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Within implements [lower.Bilevel].
func (m *Logistic) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Within implements [lower.Bilevel].
func (m *Poisson) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Within implements [lower.Bilevel].
func (m *Squares) Within() lower.WithinSolver { return multipliers.NewLower(m) }

var (
	_ lower.Joint         = (*ElasticNetFit)(nil)
	_ lower.Interpolating = (*ElasticNetFit)(nil)
	_ lower.Bilevel       = (*Logistic)(nil)
	_ lower.Bilevel       = (*Poisson)(nil)
	_ lower.Bilevel       = (*Squares)(nil)
)

package convex

import "github.com/conetune/conetune/convex/internal/restrict/singular"

// SetsSolver is Solver with working sets for nuclear norms however small the matrices are.
func (p *Program) SetsSolver(o SolverOptions) (*Solver, error) { return p.solver(o, singular.Size{}) }

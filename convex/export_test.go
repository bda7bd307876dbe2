package convex

// SetsSolver is Solver with working sets for nuclear norms however small the matrices are.
func (p *Program) SetsSolver(o SolverOptions) (*Solver, error) { return p.solver(o, false) }

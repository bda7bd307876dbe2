package convex

// SetsSolver is Solver with working sets for nuclear norms however small the matrices are.
func (p *Program) SetsSolver(o SolverOptions) (*Solver, error) { return p.solver(o, false) }

// Named are the constraints of a model, by name.
func (m *Model) Named() map[string]*Constraint {
	out := map[string]*Constraint{}
	for _, c := range m.constraints {
		out[c.name] = c
	}
	return out
}

// Only is the first parameter, nil for none.
func (m *Model) Only() *Parameter {
	for _, p := range m.params {
		return p
	}
	return nil
}

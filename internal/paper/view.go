package paper

// String writes a mean with its standard error as the tables do; "-" where there is none.
func (s Stat) String() string { return s.text() }

// String writes a figure of the paper as the tables do.
func (f Figure) String() string { return f.text() }

// Label is the method of a line, with its backend where the plan has several.
func (p *Plan) Label(l *Line) string { return p.label(l) }

// Best says which lines have the least mean of a number, or one that looks the same in the tables.
func Best(lines []Line, of func(*Line) Stat) []bool {
	m := measure{of: of}
	best := m.best(lines)
	out := make([]bool, len(lines))
	for k := range lines {
		s := of(&lines[k])
		out[k] = s.N > 0 && s.mean() == of(best).mean()
	}
	return out
}

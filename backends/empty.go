package backends

import "slices"

// withoutVariables answers a problem with n = 0, where the only question is whether b is
// in K: with s = b and z = 0 the point is optimal, and otherwise the plane that
// separates b from the cone it violates most is the certificate.
func (s *checkedSolver) withoutVariables(p *Problem) *Solution {
	m := len(p.B)
	out := &Solution{Status: Optimal, X: []float64{}, S: slices.Clone(p.B), Z: make([]float64, m)}
	if out.S == nil {
		out.S = []float64{}
	}
	if r, _, _ := Recheck(p, out.X, out.S, out.Z); r.Primal <= s.options.Eps {
		return out
	}
	worst, worstRow, worstDistance, row := 0, 0, 0.0, 0
	for i, c := range p.Cones {
		if d := c.Distance(p.B[row : row+c.Dim]); d > worstDistance {
			worst, worstRow, worstDistance = i, row, d
		}
		row += c.Dim
	}
	if worstDistance == 0 { // a distance is no number
		out.Status = NumericalError
		return out
	}
	c := p.Cones[worst]
	copy(out.Z[worstRow:], separator(c, p.B[worstRow:worstRow+c.Dim]))
	out.Status, out.X, out.S = PrimalInfeasible, nil, nil
	return out
}

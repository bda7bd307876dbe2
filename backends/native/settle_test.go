package native_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/must"
)

// min sum t_i, |x_i| <= t_i, whose solution is zero: t is inside of its constraints, so that a program with this t in
// the place of the variable has a point. A residual of 4e-10 with slacks of 6e-11 made t negative.
func TestPointsKeepToConstraints(t *testing.T) {
	const n = 3
	program := func(fixed []float64) *backends.Problem {
		p := &backends.Problem{Q: []float64{1, 1, 1, 0, 0, 0}, B: make([]float64, 2*n),
			Cones: []backends.Cone{backends.Nonnegative(2 * n)}}
		entries := backends.NewTriplets(5 * n)
		for i := range n {
			entries.Add(i, i, -1)
			entries.Add(i, n+i, -1)
			entries.Add(n+i, i, -1)
			entries.Add(n+i, n+i, 1)
			if fixed != nil {
				entries.Add(2*n+i, i, 1)
			}
		}
		if fixed != nil {
			p.B, p.Cones = append(p.B, fixed...), append(p.Cones, backends.Zero(n))
		}
		p.A = must.Of(entries.CSC(len(p.B), 2*n))(t)
		return p
	}
	solve := func(p *backends.Problem) *backends.Solution {
		r := backendtest.Answer(t, opened(t, p))
		require.Equal(t, backends.Optimal, r.Status, r.Message)
		return r
	}
	p := program(nil)
	r := solve(p)
	for _, s := range p.Slack(r.X) {
		require.GreaterOrEqual(t, s, 0.)
	}
	solve(program(r.X[:n]))
}

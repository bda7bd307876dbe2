package native_test

import (
	"math"
	"math/rand/v2"
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

// The objective of max sum w_i log x_i over the simplex, with the solution x = w/sum w, is flat: points within the
// tolerance may be sqrt(1e-8) away. Points of the central path are O(1e-8) away, whatever the rounding: data that
// differ in the last places are as near. So are those of min sum w_i/x_i, where x is along the roots of w, by
// second-order cones.
func TestFlatOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 100 {
		n, near := 2+try%25, func() float64 { return 1 + 1e-14*(rng.Float64()-0.5) }
		weights, squares, sum := make([]float64, n), try/25%2 == 1, 0.0
		root := func(i int) float64 { return weights[i] }
		if squares {
			root = func(i int) float64 { return math.Sqrt(weights[i]) }
		}
		for i := range weights {
			weights[i] = 1
			if try >= 50 {
				weights[i] += 3 * rng.Float64()
			}
			sum += root(i)
		}
		entries := backends.NewTriplets(5 * n)
		p := &backends.Problem{Q: make([]float64, 2*n), B: make([]float64, 1+3*n)}
		p.B[0], p.Cones = 1, []backends.Cone{backends.Zero(1)}
		for i := range n {
			entries.Add(0, n+i, near())
			entries.Add(1+3*i, i, -1)
			if squares { // u_i with (u_i + x_i, u_i - x_i, 2) in the cone
				p.Q[i], p.B[3+3*i] = weights[i]*near(), 2
				entries.Add(1+3*i, n+i, -1)
				entries.Add(2+3*i, i, -1)
				entries.Add(2+3*i, n+i, 1)
				p.Cones = append(p.Cones, backends.SecondOrder(3))
			} else { // u_i with (u_i, 1, x_i) in the cone
				p.Q[i], p.B[2+3*i] = -weights[i]*near(), 1
				entries.Add(3+3*i, n+i, -1)
				p.Cones = append(p.Cones, backends.Exponential())
			}
		}
		p.A = must.Of(entries.CSC(1+3*n, 2*n))(t)
		r := backendtest.Answer(t, opened(t, p))
		require.Equal(t, backends.Optimal, r.Status)
		for i, x := range r.X[n:] {
			if off := math.Abs(x - root(i)/sum); off > 1e-8 {
				t.Errorf("n = %d, squares %t: off by %.1e", n, squares, off)
			}
		}
	}
}

package activeset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// builder collects rows.
type builder struct{ Problem }

func (b *builder) row(normal []float64, right float64) int {
	if b.Ptr == nil {
		b.Ptr = []int{0}
	}
	for j, v := range normal {
		if v != 0 {
			b.Ind, b.Val = append(b.Ind, j), append(b.Val, v)
		}
	}
	b.Ptr = append(b.Ptr, len(b.Ind))
	b.Right = append(b.Right, right)
	return len(b.Right) - 1
}

// errors returns the largest violations of stationarity, of the constraints and bounds, and of complementarity, from the
// definitions.
func errors(p *Problem, pt Point) (stationary, feasibility, complementary float64) {
	g := append([]float64(nil), p.Q...)
	for j, d := range p.D {
		g[j] += d * pt.X[j]
	}
	row := func(r int) float64 { return p.dot(r, pt.X) - p.Right[r] }
	bad := func(v float64) { feasibility = math.Max(feasibility, v) }
	gap := func(v float64) { complementary = math.Max(complementary, math.Abs(v)) }
	top := make([]float64, len(p.Hinges))
	for k, h := range p.Hinges {
		top[k] = h.Cost
		p.add(h.Row, pt.Hinge[k], g)
	}
	for i, l := range p.Limits {
		v := row(l.Row)
		p.add(l.Row, pt.Limit[i], g)
		for _, u := range l.Uses {
			v += u.Weight * math.Max(0, row(p.Hinges[u.Hinge].Row))
			top[u.Hinge] += u.Weight * pt.Limit[i]
		}
		bad(v)
		bad(-pt.Limit[i])
		gap(pt.Limit[i] * v)
	}
	for k, h := range p.Hinges {
		v := row(h.Row)
		bad(-pt.Hinge[k])
		bad(pt.Hinge[k] - top[k])
		gap(math.Max(0, v) * (top[k] - pt.Hinge[k]))
		gap(math.Max(0, -v) * pt.Hinge[k])
	}
	for b, q := range p.Balls {
		v := row(q.Row)
		p.add(q.Row, pt.Ball[b], g)
		for k, j := range q.Index {
			v += q.Kappa[k] * pt.X[j] * pt.X[j] / 2
			g[j] += pt.Ball[b] * q.Kappa[k] * pt.X[j]
		}
		bad(v)
		bad(-pt.Ball[b])
		gap(pt.Ball[b] * v)
	}
	for _, v := range g {
		stationary = math.Max(stationary, math.Abs(v))
	}
	return stationary, feasibility, complementary
}

// machines is like the subproblem of a support vector machine by cross-validation: blocks of n variables and a constant with
// n bounds h in common, a variable t that all constraints may be violated by, hinges in the objective and in one limit.
func machines(rng *rand.Rand, blocks, n, rows int, rho, alpha float64) *Problem {
	size := blocks*(n+1) + n + 1
	t, h := size-1, size-1-n
	b := &builder{}
	b.D, b.Q = make([]float64, size), make([]float64, size)
	for j := range size - 1 {
		b.D[j], b.Q[j] = rho, rho*0.3*rng.NormFloat64()
	}
	b.Q[t] = alpha
	value := make([]float64, size)
	value[t] = -1
	var uses []Use
	for k := range blocks {
		at := k * (n + 1)
		for i := range rows {
			y := float64(2*rng.IntN(2) - 1)
			a := make([]float64, size)
			for j := range n {
				a[at+j] = -y * (rng.NormFloat64() + y/float64(1+j))
			}
			a[at+n] = y
			r := b.row(a, -1)
			hinge := Hinge{Row: r}
			if i%3 == 0 {
				hinge.Cost = 1 / float64(rows)
			} else {
				uses = append(uses, Use{len(b.Hinges), 1 / float64(rows)})
			}
			b.Hinges = append(b.Hinges, hinge)
		}
		for j := range n {
			for _, sign := range []float64{-1, 1} {
				a := make([]float64, size)
				a[at+j], a[h+j], a[t] = sign, -1, -1
				b.Limits = append(b.Limits, Limit{Row: b.row(a, 0)})
			}
		}
		a := make([]float64, size)
		a[t] = -1
		ball := Ball{Row: b.row(a, 2)}
		for j := range n {
			ball.Index, ball.Kappa = append(ball.Index, at+j), append(ball.Kappa, 1)
		}
		b.Balls = append(b.Balls, ball)
	}
	for j := range n {
		a := make([]float64, size)
		a[h+j] = -1
		b.Limits = append(b.Limits, Limit{Row: b.row(a, -1e-3)})
		value[h+j] = 0.05
	}
	b.Limits = append(b.Limits, Limit{Row: b.row(value, 0.3), Uses: uses})
	a := make([]float64, size)
	a[t] = -1
	b.Limits = append(b.Limits, Limit{Row: b.row(a, 0)})
	return &b.Problem
}

// From nothing, and then from the solution before as the numbers move, the solver ends at points that satisfy the
// optimality conditions.
func TestSolve(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 31))
			p := machines(rng, 1+int(seed%3), 3+int(seed), 20, []float64{1, 1e-3}[seed%2], 1+float64(seed))
			s := NewSolver(p)
			s.Start(Point{X: make([]float64, len(p.D)), Limit: make([]float64, len(p.Limits)), Hinge: make([]float64, len(p.Hinges)), Ball: make([]float64, len(p.Balls))})
			for range 8 {
				ok := s.Solve(3000, 1e-10, nil)
				a, b, c := errors(p, s.Point())
				require.True(t, ok)
				require.LessOrEqual(t, math.Max(a, math.Max(b, c)), 1e-9)
				for j := range p.Q {
					p.Q[j] += 0.01 * p.D[j] * rng.NormFloat64()
				}
				for i := range p.Right {
					if p.Right[i] != -1 {
						p.Right[i] += 0.003 * rng.Float64()
					}
				}
			}
		})
	}
}

// Where more constraints hold with equality than there are dimensions, as where every row is there three times,
// multipliers are not unique, and the solver still follows the numbers with few exchanges.
func TestDegenerate(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 32))
		p := machines(rng, 2, 5, 20, 1e-3, 2)
		limits, hinges := p.Limits, p.Hinges
		again := func(row int) int {
			p.Ind = append(p.Ind, p.Ind[p.Ptr[row]:p.Ptr[row+1]]...)
			p.Val = append(p.Val, p.Val[p.Ptr[row]:p.Ptr[row+1]]...)
			p.Ptr, p.Right = append(p.Ptr, len(p.Ind)), append(p.Right, p.Right[row])
			return len(p.Right) - 1
		}
		for range 2 {
			for _, l := range limits[:20] {
				p.Limits = append(p.Limits, Limit{Row: again(l.Row)})
			}
			for _, h := range hinges {
				p.Hinges = append(p.Hinges, Hinge{again(h.Row), h.Cost})
			}
		}
		value := &p.Limits[len(limits)-2]
		once := len(value.Uses)
		for k := range 2 * once {
			u := value.Uses[k%once]
			value.Uses = append(value.Uses, Use{u.Hinge + len(hinges)*(1+k/once), u.Weight})
		}
		s := NewSolver(p)
		s.Start(Point{X: make([]float64, len(p.D)), Limit: make([]float64, len(p.Limits)), Hinge: make([]float64, len(p.Hinges)), Ball: make([]float64, len(p.Balls))})
		for round := range 8 {
			require.True(t, s.Solve(3000, 1e-10, nil))
			a, b, c := errors(p, s.Point())
			require.LessOrEqual(t, math.Max(a, math.Max(b, c)), 1e-9)
			if round > 0 {
				require.Less(t, s.Exchanges(), 60)
			}
			for j := range p.Q {
				p.Q[j] += 0.01 * p.D[j] * rng.NormFloat64()
			}
		}
	}
}

// A call may be stopped, and gives up after too many exchanges; a new start makes up for both.
func TestGivesUp(t *testing.T) {
	p := machines(rand.New(rand.NewPCG(1, 33)), 2, 5, 20, 1e-3, 2)
	none := Point{X: make([]float64, len(p.D)), Limit: make([]float64, len(p.Limits)), Hinge: make([]float64, len(p.Hinges)), Ball: make([]float64, len(p.Balls))}
	s := NewSolver(p)
	s.Start(none)
	require.False(t, s.Solve(3000, 1e-10, func() bool { return true }))
	s.Start(none)
	require.False(t, s.Solve(3, 1e-10, nil))
	s.Start(none)
	require.True(t, s.Solve(3000, 1e-10, nil))
}

package native

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// cut is the relaxation of max-cut, minimize the sum of y subject to C + diag(y) semidefinite, with C of this order and
// entries; variables are in the reverse order, in units of their own, and others pay for the rows.
func cut(n int, entries func(set func(i, j int, v float64)), pay func(i int) float64) *backends.Problem {
	p := &backends.Problem{Q: make([]float64, n), B: make([]float64, n*(n+1)/2), Cones: []backends.Cone{backends.PSD(n)}}
	a := sparse.NewDOK(len(p.B), n)
	for i := range n {
		unit := 1 + float64(i%3)
		a.Set(svecPlace(n, i, i), n-1-i, -unit)
		p.Q[n-1-i] = unit * pay(i)
	}
	p.A = a.ToCSC()
	entries(func(i, j int, v float64) { p.B[svecPlace(n, max(i, j), min(i, j))] = math.Sqrt2 * v })
	return p
}

// ofMatrix is the program of the multiplier of p, whose value is the negative one, with its equations first or last.
func ofMatrix(p *backends.Problem, last bool) *backends.Problem {
	n, m := p.Dims()
	out := &backends.Problem{Q: make([]float64, m), B: make([]float64, m+n), Cones: []backends.Cone{backends.Zero(n), p.Cones[0]}}
	equations, first := 0, n
	if last {
		slices.Reverse(out.Cones)
		equations, first = m, 0
	}
	equation, raw := map[int]int{}, p.A.RawMatrix()
	for j, k := range raw.Ind {
		equation[k] = j
		out.B[equations+j] = 2 * p.Q[j] / (-raw.Data[j] * (1 + float64(k%4)))
	}
	start, ind, val := []int{0}, []int(nil), []float64(nil)
	for k := m - 1; k >= 0; k-- {
		unit := 1 + float64(k%4)
		out.Q[m-1-k] = unit * p.B[k]
		j, diagonal := equation[k]
		if diagonal && !last {
			ind, val = append(ind, j), append(val, 2)
		}
		ind, val = append(ind, first+k), append(val, -unit)
		if diagonal && last {
			ind, val = append(ind, equations+j), append(val, 2)
		}
		start = append(start, len(ind))
	}
	out.A = sparse.NewCSC(m+n, m, start, ind, val)
	return out
}

func one(int) float64 { return 1 }

func ended(t *testing.T, p *backends.Problem, o backends.Options) *backends.Solution {
	s := must.Of(must.Of(backends.Open("native"))(t).Setup(p, o))(t)
	defer func() { require.NoError(t, s.Close()) }()
	return must.Of(s.Solve(context.Background()))(t)
}

// The relaxation is 2n cos(pi/n) for an odd cycle and n for a complete graph (Delorme and Poljak 1993), whatever
// vertices without edges stand beside.
func TestLowRank(t *testing.T) {
	cycle := func(n int) func(set func(i, j int, v float64)) {
		return func(set func(i, j int, v float64)) {
			for i := range n {
				set(i, (i+1)%n, 1)
			}
		}
	}
	complete := func(n int) func(set func(i, j int, v float64)) {
		return func(set func(i, j int, v float64)) {
			for i := range n {
				for j := range i {
					set(i, j, 1)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		p    *backends.Problem
		want float64
	}{
		"cycle":    {cut(61, cycle(61), one), 122 * math.Cos(math.Pi/61)},
		"long":     {cut(301, cycle(301), one), 602 * math.Cos(math.Pi/301)},
		"complete": {cut(80, complete(80), one), 80},
		"beside":   {cut(90, cycle(61), one), 122 * math.Cos(math.Pi/61)},
		"paid":     {cut(70, complete(70), func(int) float64 { return 1e3 }), 7e4},
	} {
		require.NotNil(t, newLowRank(c.p, nil, 0), name)
		for _, eps := range []float64{1e-4, 1e-8} {
			sol := ended(t, c.p, backends.Options{Eps: eps, History: true})
			require.Equal(t, backends.Optimal, sol.Status, "%s %v", name, sol.Message)
			require.InEpsilon(t, c.want, sol.Objective, eps, name)
			require.Len(t, sol.History, sol.Iterations, name)
			for _, last := range []bool{false, true} {
				p := ofMatrix(c.p, last)
				require.NotNil(t, newLowRank(p, nil, 0), name)
				other := ended(t, p, backends.Options{Eps: eps})
				require.Equal(t, backends.Optimal, other.Status, "%s %v", name, other.Message)
				require.InEpsilon(t, -c.want, other.Objective, eps, name)
			}
		}
	}
}

// Updates are as new programs, to the bit; limits hold; other programs are left to interior points.
func TestLowRankSolver(t *testing.T) {
	grid := func(weight float64) *backends.Problem {
		return cut(64, func(set func(i, j int, v float64)) {
			for i := range 64 {
				set(i, (i+8)%64, weight)
				set(i, i/8*8+(i+1)%8, 1+float64(i%5))
			}
		}, one)
	}
	s := must.Of(must.Of(backends.Open("native"))(t).Setup(grid(1), backends.Options{Eps: 1e-8}))(t)
	first := must.Of(s.Solve(context.Background()))(t)
	require.Equal(t, backends.Optimal, first.Status)
	require.NoError(t, s.Update(backends.Update{B: grid(-2).B}))
	require.NoError(t, s.WarmStart(backends.Point{X: first.X}))
	second, fresh := must.Of(s.Solve(context.Background()))(t), ended(t, grid(-2), backends.Options{Eps: 1e-8})
	require.Equal(t, []any{fresh.X, fresh.S, fresh.Z}, []any{second.X, second.S, second.Z})
	require.Contains(t, second.Message, "the warm start was not used")
	require.NoError(t, s.Close())
	require.Equal(t, backends.IterationLimit, ended(t, grid(1), backends.Options{Eps: 1e-8, MaxIterations: 1}).Status)
	long := cut(900, func(set func(i, j int, v float64)) {
		for i := range 900 {
			set(i, (i+1)%900, 1)
			set(i, (i*i+7)%900, 1)
		}
	}, one)
	for i := range 900 {
		long.B[svecPlace(900, i, i)] = 0
	}
	require.Equal(t, backends.TimeLimit, ended(t, long, backends.Options{TimeLimit: time.Millisecond}).Status)

	for name, change := range map[string]func(p *backends.Problem){
		"small":         func(p *backends.Problem) { *p = *cut(20, func(func(i, j int, v float64)) {}, one) },
		"paid to":       func(p *backends.Problem) { p.Q[3] = -1 },
		"free":          func(p *backends.Problem) { p.Q[3] = 0 },
		"off diagonal":  func(p *backends.Problem) { p.A.RawMatrix().Ind[3]++ },
		"twice a row":   func(p *backends.Problem) { p.A.RawMatrix().Ind[3] = p.A.RawMatrix().Ind[4] },
		"quadratic":     func(p *backends.Problem) { p.P = matrices.Identity(64, 1) },
		"of two blocks": func(p *backends.Problem) { p.Cones = []backends.Cone{backends.PSD(63), backends.Nonnegative(64)} },
	} {
		p := grid(1)
		change(p)
		require.Nil(t, newLowRank(p, nil, 0), name)
	}
	for name, change := range map[string]func(p *backends.Problem){
		"other entries":  func(p *backends.Problem) { p.B[64] = 1 },
		"no diagonal":    func(p *backends.Problem) { p.B[3] = 0 },
		"one equation":   func(p *backends.Problem) { p.Cones[0], p.B = backends.Zero(63), p.B[1:] },
		"more equations": func(p *backends.Problem) { p.Cones[0].Kind = backends.NonnegativeCone },
		"quadratic":      func(p *backends.Problem) { p.P = matrices.Identity(len(p.Q), 1) },
	} {
		p := ofMatrix(grid(1), false)
		change(p)
		require.Nil(t, newLowRank(p, nil, 0), name)
	}
	require.Nil(t, newLowRank(grid(1), nil, 1000), "within 1000 bytes")
	other := &backends.Problem{Q: []float64{1}, B: []float64{1, 0}, A: sparse.NewCSC(2, 1, []int{0, 2}, []int{0, 1},
		[]float64{1, -1}), Cones: []backends.Cone{backends.Zero(1), backends.Nonnegative(1)}}
	require.Zero(t, testing.AllocsPerRun(5, func() { newLowRank(other, nil, 0) }), "of programs that it is not for")
}

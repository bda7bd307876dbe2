package native_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/planted"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Open(t, "native"), backendtest.Options{Answers: 0.99})
}

// A solve with a loose tolerance can be tightened: both solves together take no
// more iterations than one, and end at the same point.
func TestSetEpsGoesOn(t *testing.T) {
	for name, p := range backendtest.Suite(backendtest.Open(t, "native")) {
		if !strings.HasSuffix(name, "seed 3") {
			continue
		}
		want := backendtest.Answer(t, opened(t, p))
		s := must.Of(backendtest.Open(t, "native").Setup(p, backends.Options{Eps: 1e-2}))(t)
		first := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, first.Status)
		require.NoError(t, s.(backends.Tightener).SetEps(1e-8))
		second := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, second.Status)
		require.Equal(t, want.Iterations, first.Iterations+second.Iterations)
		require.Equal(t, want.X, second.X)
	}
}

// TestCancelDelay has a linear program whose iterations take some milliseconds.
func TestCancelDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("a test of time, which the race detector distorts")
	}
	const n = 500
	c := backendtest.NewCase(planted.Shape{Name: "lp", N: n, Cones: []backends.Cone{backends.Nonnegative(2 * n)},
		Density: 0.2, Vertex: true}, 1)
	assert.Less(t, backendtest.CancelDelay(t, opened(t, c.Problem)), 100*time.Millisecond)
}

// TestNonconvex: min -x^2/2 + y^2/2 with x + y >= -10 is unbounded, and is refused by name.
func TestNonconvex(t *testing.T) {
	diagonal := func(x, y float64) *sparse.CSC {
		return sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{x, y})
	}
	p := &backends.Problem{
		P: diagonal(-1, 1), Q: []float64{0, 0}, A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{-1, -1}),
		B:     []float64{10},
		Cones: []backends.Cone{backends.Nonnegative(1)},
	}
	var nonconvex *backends.ProblemError
	_, err := backendtest.Open(t, "native").Setup(p, backends.Options{})
	require.ErrorAs(t, err, &nonconvex)
	assert.Equal(t, []float64{1, 0}, nonconvex.Direction)
	assert.Equal(t, -1.0, nonconvex.Curvature)

	p.P = diagonal(1, 1)
	s := opened(t, p)
	require.ErrorAs(t, s.Update(backends.Update{P: diagonal(1, -1e-3)}), &nonconvex)
	sol := backendtest.Answer(t, s) // with the numbers before
	assert.Equal(t, backends.Optimal, sol.Status)
	assert.InDelta(t, 0, sol.Objective, 1e-7)
}

// TestNearlyConvex: min 1/2 (x^2 + y^2 + 2 (1+e) x y) - x - y has the eigenvalue -e along x = -y. With free variables
// it is unbounded; within a small box its optimum is near that of e = 0, -1/2.
func TestNearlyConvex(t *testing.T) {
	const e = 1e-6
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		bound float64
		want  backends.Status
	}{{"free", inf, backends.Inaccurate}, {"bounded", 2, backends.Optimal}, {"a large box", 1e9, backends.Inaccurate}} {
		p := &backends.Problem{
			P: sparse.NewCSC(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{1, 1 + e, 1}), Q: []float64{-1, -1},
			A: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{-1, -1}), B: []float64{0, 0},
			Cones: []backends.Cone{backends.Box([]float64{-c.bound, -c.bound}, []float64{c.bound, c.bound})},
		}
		sol := backendtest.Answer(t, opened(t, p))
		// optimal only locally: whether the solver ends there or nowhere, the status must not say more
		if c.name == "a large box" {
			assert.False(t, sol.Status == backends.Optimal && sol.Distance < 0.01 && math.Abs(sol.Objective+0.5) > 0.1)
			continue
		}
		assert.NotEqual(t, backends.DualInfeasible, sol.Status)
		if c.want == backends.Optimal {
			assert.Equal(t, c.want, sol.Status, sol.Message)
			assert.InDelta(t, -0.5, sol.Objective, 2e-5)
			assert.Positive(t, sol.Distance)
			assert.Less(t, sol.Distance, 2e-5)
		} else {
			assert.NotEqual(t, backends.Optimal, sol.Status)
		}
	}
}

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

// TestThreads has the same answers to the bit for any number of threads: of factors whose trees they share, of cones,
// and of directions that are solved for side by side.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	b := backendtest.Open(t, "native")
	plant := func(n int, density float64, cones ...backends.Cone) *backends.Problem {
		return backendtest.NewCase(planted.Shape{N: n, Cones: cones, Density: density, Vertex: true}, 1).Problem
	}
	for name, p := range map[string]*backends.Problem{
		"qp": scattered(1500), "max-cut": beside(60), "lp": plant(1200, 0.002, backends.Nonnegative(2400)),
		"socp": plant(300, 0.05, backends.Nonnegative(900), backends.SecondOrder(40), backends.SecondOrder(200)),
		"sdp":  plant(40, 0.3, backends.PSD(30)),
	} {
		t.Run(name, func(t *testing.T) {
			var first *backends.Solution
			for threads := 1; threads <= 4; threads++ {
				o := backends.Options{Threads: threads, MaxIterations: 20}
				got := backendtest.Answer(t, backendtest.Setup(t, b, p, o))
				if first == nil {
					first = got
				}
				require.Equal(t, first.Status, got.Status)
				for k, v := range [3][2][]float64{{first.X, got.X}, {first.S, got.S}, {first.Z, got.Z}} {
					require.Equal(t, v[0], v[1], fmt.Sprint(threads, " threads, part ", k))
				}
			}
			t.Log(first.Status, first.Iterations)
		})
	}
}

// beside is maxCut whose first variable is in an entry beside the diagonal, too, which has no multiplier of low rank.
func beside(n int) *backends.Problem {
	p := maxCut(n)
	a := p.A.RawMatrix()
	for j := range n {
		a.Indptr[j+1]++
	}
	ind, val := slices.Insert(slices.Clone(a.Ind), 1, 1), slices.Insert(slices.Clone(a.Data), 1, -0.1)
	p.A = sparse.NewCSC(len(p.B), n, a.Indptr, ind, val)
	return p
}

// maxCut is max tr(X) with the given diagonal, X of order n.
func maxCut(n int) *backends.Problem {
	cone := backends.PSD(n)
	ptr, ind, val := make([]int, n+1), make([]int, n), make([]float64, n)
	at := 0
	for j := range n {
		ptr[j+1], ind[j], val[j] = j+1, at, -1
		at += n - j
	}
	q, b := make([]float64, n), make([]float64, cone.Dim)
	for j := range q {
		q[j] = 1
	}
	for i := range b {
		b[i] = -1.0 / float64(n)
	}
	return &backends.Problem{Q: q, A: sparse.NewCSC(cone.Dim, n, ptr, ind, val), B: b, Cones: []backends.Cone{cone}}
}

// scattered has n variables in rows of three entries anywhere, whose factors fill up.
func scattered(n int) *backends.Problem {
	rng := rand.New(rand.NewPCG(1, 1))
	ptr, ind, val := make([]int, n+1), make([]int, 0, 3*n), make([]float64, 0, 3*n)
	for j := range n {
		i := rng.IntN(n / 3)
		for range 3 {
			ind, val = append(ind, i), append(val, 1)
			i += 1 + rng.IntN(n/3-1)
		}
		ptr[j+1] = len(ind)
	}
	q, b := make([]float64, n), make([]float64, n)
	for j := range q {
		q[j], b[j] = 1, 1
	}
	return &backends.Problem{P: matrices.Identity(n, 1), Q: q, A: sparse.NewCSC(n, n, ptr, ind, val), B: b,
		Cones: []backends.Cone{backends.Nonnegative(n)}}
}

// TestMemory has budgets that are too small. The error names what is too much, and by then
// no more than the budget has been allocated; with as much as it takes the same solver would have gone on.
func TestMemory(t *testing.T) {
	b := backendtest.Open(t, "native")
	for _, c := range []struct {
		name   string
		p      *backends.Problem
		memory int64
		what   string
	}{
		{"form", scattered(3000), 1e5, "the problem in the form of the solver"},
		{"cones", beside(600), 50e6, "the vectors of the iterate and the matrices of the cones"},
		{"products", beside(600), 50e6 + 8*9*600*600, "the products of semidefinite cones"},
		{"matrix", scattered(3000), 15e5, "the matrix of the Newton systems"},
		{"factors", scattered(3000), 6e6, "the factors of the Newton systems"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := backendtest.Setup(t, b, c.p, backends.Options{Memory: c.memory})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := s.Solve(context.Background())
			runtime.ReadMemStats(&after)
			var room *backends.MemoryError
			require.ErrorAs(t, err, &room)
			assert.Equal(t, c.what, room.What, "%v", err)
			assert.Equal(t, c.memory, room.Limit)
			assert.Greater(t, room.Need, c.memory)
			assert.Less(t, int64(after.TotalAlloc-before.TotalAlloc), 2*c.memory+1e6, "allocated, with what was let go")
			_, err = s.Solve(context.Background())
			require.ErrorAs(t, err, &room, "again")
		})
	}
}

// TestMemoryThatSuffices compares what is counted with what is allocated, for solves to the end.
func TestMemoryThatSuffices(t *testing.T) {
	b := backendtest.Open(t, "native")
	for name, p := range map[string]*backends.Problem{"semidefinite": beside(150), "low rank": maxCut(150),
		"sparse": scattered(1500)} {
		t.Run(name, func(t *testing.T) {
			fits := func(memory int64) bool {
				s := backendtest.Setup(t, b, p, backends.Options{Memory: memory})
				sol, err := s.Solve(context.Background())
				if err != nil {
					require.ErrorAs(t, err, new(*backends.MemoryError))
					return false
				}
				require.Equal(t, backends.Optimal, sol.Status)
				return true
			}
			low, high := 1e4, 1e10
			for high > 1.1*low {
				if mid := math.Sqrt(low * high); fits(int64(mid)) {
					high = mid
				} else {
					low = mid
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.True(t, fits(int64(high)))
			runtime.ReadMemStats(&after)
			if native.RaceDetector {
				return // it allocates too, and lets pools lose what they hold
			}
			allocated := float64(after.TotalAlloc - before.TotalAlloc)
			t.Logf("counted %.0f, allocated %.0f", high, allocated)
			assert.InDelta(t, 1, high/allocated, 0.6, "counted %.0f, allocated %.0f", high, allocated)
		})
	}
}

// TestWarmStartByX starts from the x of a problem nearby alone: the multipliers are found from the slacks, and with
// linear and second-order cones the solve is shorter than from nothing.
func TestWarmStartByX(t *testing.T) {
	for _, shape := range backendtest.Shapes() {
		if slices.ContainsFunc(shape.Cones, func(c backends.Cone) bool {
			return !c.Kind.Intervals() &&
				c.Kind != backends.SecondOrderCone
		}) || len(shape.Cones) == 0 {
			continue
		}
		for seed := range uint64(4) {
			c := backendtest.NewCase(shape, seed)
			s := opened(t, c.Problem)
			solve := func(start backends.Point, shift float64) *backends.Solution {
				near := slices.Clone(c.Problem.B)
				for i := range near {
					near[i] += shift * math.Abs(math.Sin(float64(i)))
				}
				require.NoError(t, s.Update(backends.Update{B: near}))
				require.NoError(t, s.WarmStart(start))
				sol := backendtest.Answer(t, s)
				require.Equal(t, backends.Optimal, sol.Status, "%s: %s", c.Name, sol.Message)
				return sol
			}
			x := backends.Point{X: solve(backends.Point{}, 0).X}
			for _, shift := range []float64{0, 1e-6, 1e-4} {
				cold, warm := solve(backends.Point{}, shift), solve(x, shift)
				assert.Empty(t, warm.Message)
				assert.InDelta(t, cold.Objective, warm.Objective, 1e-6*max(1, math.Abs(cold.Objective)), c.Name)
				if cold.Iterations > 0 {
					assert.Contains(t, cold.Message, "no x", "a point of nothing is told")
					assert.Less(t, warm.Iterations, cold.Iterations, "%s, b moved by %g", c.Name, shift)
				}
			}
		}
	}
}

// From the solution of a problem nearby a solve takes at most three tenths of the iterations that it takes from
// nothing, in sum over random problems of each shape, whatever the cones.
func TestWarmStartPays(t *testing.T) {
	for _, shape := range backendtest.Shapes() {
		if slices.ContainsFunc(shape.Cones, func(c backends.Cone) bool { return c.Kind == backends.NuclearNormCone }) {
			continue
		}
		cold, warm := 0, 0
		for seed := range uint64(4) {
			for _, shift := range []float64{1e-5, 1e-4, 1e-3} {
				p := backendtest.NewCase(shape, seed).Problem
				s, fresh := opened(t, p), opened(t, p)
				last := backendtest.Answer(t, s)
				near := backends.Update{Q: slices.Clone(p.Q), B: slices.Clone(p.B)}
				for _, v := range [2][]float64{near.Q, near.B} {
					for i := range v {
						v[i] += shift * math.Sin(float64(i+1))
					}
				}
				require.NoError(t, errors.Join(fresh.Update(near), s.Update(near)))
				require.NoError(t, s.WarmStart(backends.Point{X: last.X, S: last.S, Z: last.Z}))
				a, b := backendtest.Answer(t, fresh), backendtest.Answer(t, s)
				require.Equal(t, a.Status, b.Status, shape.Name)
				assert.InDelta(t, a.Objective, b.Objective, 1e-6*max(1, math.Abs(a.Objective)), shape.Name)
				cold, warm = cold+a.Iterations, warm+b.Iterations
			}
		}
		t.Logf("%s: %d of %d", shape.Name, warm, cold)
		assert.LessOrEqual(t, float64(warm), 0.3*float64(cold), shape.Name)
	}
}

// Model predictive control in closed loop: x+ = 0.95 x + Bu + noise, |u| <= 0.1, ten steps ahead, from the plan before
// for a state that is another. Bounds become active and inactive. A warm start takes at most three quarters of the
// iterations from nothing where the noise moves the whole plan, and a third where it is small; the plans are the same.
func TestWarmStartFollowsControl(t *testing.T) {
	const n, inputs, ahead, steps = 8, 4, 10, 30
	for noise, part := range map[float64]float64{0.02: 1. / 3, 0.3: 3. / 4} {
		rng := rand.New(rand.NewPCG(1, 2))
		move := make([]float64, n*inputs)
		for i := range move {
			move[i] = rng.NormFloat64()
		}
		entries, diagonal := backends.NewTriplets(0), backends.NewTriplets(0)
		const width, rows = n + inputs, ahead * (n + 2*inputs) // x_t and u_t for each t
		for t := range ahead {
			for i := range n {
				diagonal.Add(t*width+i, t*width+i, 1)
				entries.Add(t*n+i, t*width+i, 1)
				if t > 0 {
					entries.Add(t*n+i, (t-1)*width+i, -0.95)
				}
				for j := range inputs {
					entries.Add(t*n+i, t*width+n+j, -move[i*inputs+j])
				}
			}
			for j := range inputs {
				diagonal.Add(t*width+n+j, t*width+n+j, 0.1)
				entries.Add(ahead*n+2*(t*inputs+j), t*width+n+j, 1)
				entries.Add(ahead*n+2*(t*inputs+j)+1, t*width+n+j, -1)
			}
		}
		p := &backends.Problem{P: must.Of(diagonal.CSC(ahead*width, ahead*width))(t), Q: make([]float64, ahead*width),
			A: must.Of(entries.CSC(rows, ahead*width))(t), B: make([]float64, rows),
			Cones: []backends.Cone{backends.Zero(ahead * n), backends.Nonnegative(2 * ahead * inputs)}}
		for i := ahead * n; i < rows; i++ {
			p.B[i] = 0.1
		}
		cold, warm, state := opened(t, p), opened(t, p), make([]float64, n)
		var last *backends.Solution
		sum, all := 0, 0
		for range steps {
			b := slices.Clone(p.B)
			for i := range state {
				state[i] += noise * rng.NormFloat64()
				b[i] = 0.95 * state[i]
			}
			require.NoError(t, errors.Join(cold.Update(backends.Update{B: b}), warm.Update(backends.Update{B: b})))
			if last != nil {
				require.NoError(t, warm.WarmStart(backends.Point{X: last.X, S: last.S, Z: last.Z}))
			}
			from := backendtest.Answer(t, cold)
			last = backendtest.Answer(t, warm)
			require.Equal(t, backends.Optimal, last.Status)
			require.InDeltaSlice(t, from.X, last.X, 1e-5)
			sum, all = sum+last.Iterations, all+from.Iterations
			copy(state, last.X)
		}
		t.Logf("noise %g: %d of %d", noise, sum, all)
		assert.LessOrEqual(t, float64(sum), part*float64(all), "noise %g", noise)
	}
}

// A point whose residuals and products are 0, but whose s is outside, is a warm start as others: min 0, x >= 1, y >= 0
// from x = 0.999 and y = 0, where a mu of 0 has no s and z.
func TestWarmStartOutside(t *testing.T) {
	p := &backends.Problem{Q: []float64{0, 0}, B: []float64{-1, 0}, Cones: []backends.Cone{backends.Nonnegative(2)},
		A: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{-1, -1})}
	s := opened(t, p)
	require.NoError(t, s.WarmStart(backends.Point{X: []float64{0.999, 0}, S: []float64{-0.001, 0}, Z: []float64{0, 0}}))
	sol := backendtest.Answer(t, s)
	require.Equal(t, backends.Optimal, sol.Status)
	require.Empty(t, sol.Message)
	require.False(t, sol.Fresh, "begun anew")
}

// Warm starts of matrices beyond the order of which eigenvectors are computed take at most half of the iterations, too.
func TestWarmStartOfLargeMatrices(t *testing.T) {
	const n = 120
	p := beside(n)
	cold, warm := opened(t, p), opened(t, p)
	last := backendtest.Answer(t, warm)
	near := slices.Clone(p.B)
	for i := range near {
		near[i] += 1e-3 / n * math.Sin(float64(i+1))
	}
	require.NoError(t, errors.Join(cold.Update(backends.Update{B: near}), warm.Update(backends.Update{B: near})))
	require.NoError(t, warm.WarmStart(backends.Point{X: last.X, S: last.S, Z: last.Z}))
	a, b := backendtest.Answer(t, cold), backendtest.Answer(t, warm)
	require.Equal(t, backends.Optimal, b.Status)
	assert.InDelta(t, a.Objective, b.Objective, 1e-6)
	assert.LessOrEqual(t, 2*b.Iterations, a.Iterations)
}

// Where transports are asked for one more than there is, multipliers of 1 and -1 add up the equations to 0 = -1, which
// no iteration comes nearer to; of the dual program they are a ray.
func TestEquationsThatContradictEachOther(t *testing.T) {
	const from, to = 20, 25
	at := func(i, k int) float64 {
		switch i {
		case k / to, from + k%to:
			return 1
		case from + to + k:
			return -1
		}
		return 0
	}
	cost, amount := make([]float64, from*to), make([]float64, from+to+from*to)
	for k := range cost {
		cost[k] = 1 + float64(k*k%7)
	}
	for i := range from + to {
		if amount[i] = to; i >= from {
			amount[i] = from
		}
	}
	amount[0]--
	primal := &backends.Problem{Q: cost, B: amount, A: matrices.Of(len(amount), len(cost), at),
		Cones: []backends.Cone{backends.Zero(from + to), backends.Nonnegative(len(cost))}}
	dual := &backends.Problem{Q: amount[:from+to], B: cost, Cones: []backends.Cone{backends.Nonnegative(len(cost))},
		A: matrices.Of(len(cost), from+to, func(k, i int) float64 { return -at(i, k) })}
	for want, p := range map[backends.Status]*backends.Problem{
		backends.PrimalInfeasible: primal, backends.DualInfeasible: dual,
	} {
		got := backendtest.Answer(t, opened(t, p))
		assert.Equal(t, want, got.Status)
		assert.Less(t, got.Iterations, 20, want)
	}
}

// What rounding leaves of 0 <= 0, or of a cost of nothing, contradicts nothing; what is more does.
func TestCancelledNumbers(t *testing.T) {
	for _, c := range []struct {
		b, q float64
		want backends.Status
	}{
		{-7e-18, 0, backends.Optimal}, {0, 3e-17, backends.Optimal}, {-1e-12, 0, backends.PrimalInfeasible},
		{0, 1e-12, backends.DualInfeasible},
	} { // min x + q y with x >= 1 and b >= 0
		p := &backends.Problem{Q: []float64{1, c.q}, B: []float64{-1, c.b}, Cones: []backends.Cone{backends.Nonnegative(2)},
			A: sparse.NewCSC(2, 2, []int{0, 1, 1}, []int{0}, []float64{-1})}
		assert.Equal(t, c.want, backendtest.Answer(t, opened(t, p)).Status, "%v", c)
	}
}

package native

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
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

// edges is the svec of the matrix of a graph.
func edges(n int, is func(i, j int) bool) []float64 {
	v := make([]float64, n*(n+1)/2)
	for j := range n {
		for i := j + 1; i < n; i++ {
			if is(i, j) {
				v[svecPlace(n, i, j)] = math.Sqrt2
			}
		}
	}
	return v
}

// The least trace of a diagonal D with D + A semidefinite is the order of a complete graph with edges. Graphs side by
// side are cones side by side, and an update of b that connects them makes them one.
func TestMatrixInParts(t *testing.T) {
	const n = 7
	diagonal := &triplets{}
	for j := range n {
		diagonal.add(svecPlace(n, j, j), j, -1)
	}
	parts := edges(n, func(i, j int) bool { return i%3 == j%3 && i != 6 }) // 0 3, 1 4, 2 5, and 6 alone
	p := &backends.Problem{Q: []float64{1, 1, 1, 1, 1, 1, 1}, A: diagonal.csc(n*(n+1)/2, n), B: parts,
		Cones: []backends.Cone{backends.PSD(n)}}
	f := formOf(t, p)
	require.Equal(t, []backends.Cone{backends.PSD(2), backends.PSD(2), backends.PSD(2)}, f.blocks)
	require.Equal(t, 1, f.nonneg)
	s := must.Of(backendtest.Open(t, "native").Setup(p, backends.Options{}))(t)
	for _, c := range []struct {
		b     []float64
		trace float64
	}{{parts, 6}, {edges(n, func(_, _ int) bool { return true }), 7}, {parts, 6}} {
		require.NoError(t, s.Update(backends.Update{B: c.b}))
		sol := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, sol.Status)
		require.InDelta(t, c.trace, mat.Sum(mat.NewVecDense(n, sol.X)), 1e-6)
		fresh := *p
		fresh.B = c.b
		require.Equal(t, solveChecked(t, &fresh).X, sol.X)
	}
}

// Half the cut of a cycle into equal parts, relaxed: <L, Z> with Z_ii = 1 and <ee', Z> = 0 is at least n times the
// second eigenvalue of L, and no less. Z has no interior, and one attempt in its face finds it.
func TestFaceOfPartitions(t *testing.T) {
	for _, n := range []int{5, exactOrder + 6} {
		a := &triplets{}
		for j := range n {
			a.add(svecPlace(n, j, j), j, 1)
			for i := j; i < n; i++ {
				a.add(svecPlace(n, i, j), n, map[bool]float64{true: 1, false: math.Sqrt2}[i == j])
			}
		}
		b := edges(n, func(i, j int) bool { return i == j+1 || i == j+n-1 })
		for k := range b {
			b[k] = -b[k]
		}
		q := make([]float64, n+1)
		for j := range n {
			b[svecPlace(n, j, j)], q[j] = 2, -1
		}
		p := &backends.Problem{Q: q, A: a.csc(len(b), n+1), B: b, Cones: []backends.Cone{backends.PSD(n)}}
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := must.Of(backendtest.Open(t, "native").Setup(p, backends.Options{Logger: log}))(t)
		for attempts, eps := range []float64{1e-7, 1e-9} {
			require.NoError(t, s.(backends.Tightener).SetEps(eps))
			sol := backendtest.Answer(t, s)
			require.Equal(t, backends.Optimal, sol.Status)
			require.InEpsilon(t, -float64(n)*(2-2*math.Cos(2*math.Pi/float64(n))), sol.Objective, 1e-7)
			require.Equal(t, attempts+1, strings.Count(text.String(), "in a face of it"))
			require.Equal(t, attempts+1, strings.Count(text.String(), "attempt="))
		}
	}
}

// matrixOf returns the matrix whose svec is v.
func matrixOf(v []float64, n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	unpack(m.RawMatrix().Data, v, n)
	return m
}

// The direction solves the equations that it stands for, written with inverses:
// A'dZ = -wx rx, A dx + ds = -wz rz, and the linearised complementarity of every cone.
func TestRootSolvesTheNewtonSystem(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	orders := []int{3, 5}
	const n, inequalities = 6, 4
	m := inequalities + 6 + 15
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			if rng.Float64() < 0.5 || i == j {
				a.Set(i, j, rng.NormFloat64())
			}
		}
	}
	p := &backends.Problem{Q: make([]float64, n), B: make([]float64, m), A: matrices.Compress(a),
		Cones: []backends.Cone{backends.Nonnegative(inequalities), backends.PSD(orders[0]), backends.PSD(orders[1])}}
	it := factoredAt(t, rng, p)
	f := it.f
	for _, v := range [][]float64{it.rx, it.rz} {
		for i := range v {
			v[i] = rng.NormFloat64()
		}
	}
	d := &direct{iterate: it}
	require.True(t, d.relief())
	d.root.factor()
	const wx, wz = 0.7, 0.4
	for _, target := range []float64{0, 0.3} {
		oldS, oldZ := append([]float64(nil), it.ds...), append([]float64(nil), it.dz...)
		require.NoError(t, d.direction(wx, wz, target, target > 0))
		atz, adx := make([]float64, n), make([]float64, m)
		f.mulAt(atz, it.dz)
		f.mulA(adx, it.dx)
		for j := range atz {
			require.InDelta(t, -wx*it.rx[j], atz[j], 1e-12)
		}
		for i := range adx {
			require.InDelta(t, -wz*it.rz[i], adx[i]+it.ds[i], 1e-12)
		}
		for i := range inequalities {
			second := oldS[i] * oldZ[i]
			require.InDelta(t, target-second, it.s[i]*it.z[i]+it.ds[i]*it.z[i]+it.s[i]*it.dz[i], 1e-12)
		}
		for c, order := range orders {
			at := func(v []float64) *mat.Dense { return matrixOf(it.cones[c+1].of(v), order) }
			var inverse, left, product mat.Dense
			require.NoError(t, inverse.Inverse(at(it.s)))
			// Z + dZ + sym((Z dS + dZ' dS') S^-1) - target S^-1 = 0
			left.Mul(at(it.z), at(it.ds))
			product.Mul(at(oldZ), at(oldS))
			left.Add(&left, &product)
			product.Mul(&left, &inverse)
			left.Add(&product, product.T())
			left.Scale(0.5, &left)
			left.Add(&left, at(it.z))
			left.Add(&left, at(it.dz))
			product.Scale(target, &inverse)
			left.Sub(&left, &product)
			require.Less(t, mat.Norm(&left, math.Inf(1)), 1e-11)
		}
	}
}

// A value that is not attained: the smallest x_1 with [x_1 1; 1 x_2] semidefinite is 0. What is
// called optimal meets the tolerance on the caller's data.
func TestValueThatIsNotAttained(t *testing.T) {
	var a triplets
	a.add(0, 0, -1)
	a.add(2, 1, -1)
	p := &backends.Problem{Q: []float64{1, 0}, A: a.csc(3, 2), B: []float64{0, math.Sqrt2, 0},
		Cones: []backends.Cone{backends.PSD(2)}}
	sol := solveChecked(t, p)
	r, primal, dual := backends.Recheck(p, sol.X, sol.S, sol.Z)
	require.LessOrEqual(t, r.Max(), 1e-8)
	require.Equal(t, backends.Optimal, sol.Status)
	require.InDelta(t, 0, primal, 1e-7)
	require.InDelta(t, 0, dual, 1e-7)
}

package native

import (
	"bytes"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

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
	d := newDirect(it)
	require.True(t, d.relief())
	d.by.factor()
	const wx, wz = 0.7, 0.4
	for _, target := range []float64{0, 0.3} {
		oldS, oldZ := append([]float64(nil), it.ds...), append([]float64(nil), it.dz...)
		require.NoError(t, d.by.direction(wx, wz, target, target > 0))
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
			from, to := it.starts[c+1], it.starts[c+2]
			at := func(v []float64) *mat.Dense { return matrixOf(v[from:to], order) }
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

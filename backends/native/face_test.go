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

// Programs with a planted solution whose Z is in a face, by a column of rank two and by the opposite of another one.
func TestFaceOfPlantedSolutions(t *testing.T) {
	const n, columns, linear = 8, 6, 3
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		face := &face{n: n, product: make([]float64, n)}
		matrices := make([]*mat.SymDense, columns)
		for j := range matrices {
			matrices[j] = mat.NewSymDense(n, nil)
			for k := 0; k < 2 && j < 2; k++ {
				v := normals(rng, n)
				matrices[j].SymRankOne(matrices[j], []float64{1, -3}[j], mat.NewVecDense(n, v))
				face.extend(v)
			}
			if j >= 2 {
				for range 5 {
					matrices[j].SetSym(rng.IntN(n), rng.IntN(n), rng.NormFloat64())
				}
			}
		}
		require.Equal(t, 4, face.rank)
		a := mat.NewDense(linear+n*(n+1)/2, columns, nil)
		x, s, z := normals(rng, columns), make([]float64, linear+n*(n+1)/2), make([]float64, linear+n*(n+1)/2)
		for i := range linear {
			[][]float64{s, z}[i%2][i] = 1
			for j := 2; j < columns; j++ {
				a.Set(i, j, rng.NormFloat64())
			}
		}
		for j, m := range matrices {
			v := make([]float64, n*(n+1)/2)
			packMean(v, mat.DenseCopyOf(m).RawMatrix().Data, n)
			for i, value := range v {
				a.Set(linear+i, j, value)
			}
		}
		// Y = e_0 e_0' + e_1 e_1' and U'SU = e_2 e_2' + e_3 e_3', S the identity out of the face
		y, whole := make([]float64, 16), make([]float64, n*n)
		y[0], y[5] = 1, 1
		face.lift(whole, y)
		packMean(z[linear:], whole, n)
		for i, v := range []float64{1, 1, 1, 1} {
			y[i*5] = v
		}
		face.lift(whole, y)
		packMean(s[linear:], whole, n)
		for k := range n { // I - UU' + U (e_2 e_2' + e_3 e_3') U'
			s[linear+svecPlace(n, k, k)]--
		}
		for k := range s[linear:] {
			s[linear+k] = -s[linear+k]
		}
		y[0], y[5] = 0, 0
		face.lift(whole, y)
		part := make([]float64, n*(n+1)/2)
		packMean(part, whole, n)
		axpy(1, part, s[linear:])
		var b, q mat.VecDense
		b.MulVec(a, mat.NewVecDense(columns, x))
		axpy(1, s, b.RawVector().Data)
		q.MulVec(a.T(), mat.NewVecDense(len(z), z))
		q.ScaleVec(-1, &q)
		q.SetVec(0, 0)
		q.SetVec(1, 0)
		p := &backends.Problem{Q: q.RawVector().Data, A: compress(a, false), B: b.RawVector().Data,
			Cones: []backends.Cone{backends.Nonnegative(linear), backends.PSD(n)}}
		sol := solveChecked(t, p)
		require.Equal(t, backends.Optimal, sol.Status)
		require.InDelta(t, dot(p.Q, x), sol.Objective, 1e-6*(1+math.Abs(dot(p.Q, x))))
	}
}

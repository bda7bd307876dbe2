package native

import (
	"math"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

// The cliques of any pattern cover its entries, those with a column are connected in the tree, and together they have
// no more entries than they are said to: those of their own, once.
func TestCliques(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(20, 60).Draw(t, "n")
		ptr, ind := []int32{0}, []int32(nil)
		for j := 1; j <= n; j++ { // a tree, so that the pattern is connected, and more
			for i := range int32(j - 1) {
				if int(i) == (j-1)/2 || rapid.IntRange(0, 40).Draw(t, "edge") == 0 {
					ind = append(ind, i)
				}
			}
			ptr = append(ptr, int32(len(ind)))
		}
		cliques, of, number := cliquesOf(n, ptr, ind, nil)
		if cliques == nil {
			t.Skip("hardly sparse")
		}
		with := make([]int, n) // cliques with a column, less the links between them
		for k, c := range cliques {
			columns := c.columns()
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(columns))), len(columns))
			for _, j := range c.own {
				with[j]++
				require.Equal(t, int32(k), of[j])
			}
			for _, j := range c.separator { // in the parent, too
				require.Contains(t, cliques[c.parent].columns(), j)
			}
			require.Equal(t, k == len(cliques)-1, c.parent < 0)
			require.True(t, c.parent < 0 || c.parent > k && len(c.separator) > 0)
		}
		for j, count := range with {
			require.Equal(t, 1, count)
			for _, i := range ind[ptr[j]:ptr[j+1]] {
				first, other := int32(j), i
				if number[i] < number[j] {
					first, other = i, int32(j)
				}
				require.Contains(t, cliques[of[first]].columns(), other)
			}
		}
	})
}

// chain is to find the largest t for which T - tI is semidefinite, where the tridiagonal T has 2 on its diagonal and -1
// beside it, in another order of the columns: 2 - 2 cos(pi / (n+1)). With a bound, t is at least that.
func chain(n int, bound float64) *backends.Problem {
	m := n * (n + 1) / 2
	a, b := &triplets{}, make([]float64, m+1)
	at := func(k int) int { return k * 7 % n }
	for k := range n {
		i, j := at(k), at((k+1)%n)
		a.add(svecPlace(n, i, i), 0, 1)
		b[svecPlace(n, i, i)] = 2
		if k < n-1 {
			b[svecPlace(n, max(i, j), min(i, j))] = -math.Sqrt2
		}
	}
	a.add(m, 0, -1)
	b[m] = -bound
	return &backends.Problem{Q: []float64{-1}, A: a.csc(m+1, 1), B: b,
		Cones: []backends.Cone{backends.PSD(n), backends.Nonnegative(1)}}
}

// A cone for each clique finds the eigenvalue, its eigenvector in a whole Z, and proofs.
func TestChordal(t *testing.T) {
	for _, n := range []int{60, 200} {
		p := chain(n, -1)
		f := formOf(t, p)
		require.Greater(t, len(f.blocks), 1)
		require.Less(t, f.m, 3*len(p.B)/4)
		want := 2 - 2*math.Cos(math.Pi/float64(n+1))
		s := must.Of(backendtest.Open(t, "native").Setup(p, backends.Options{}))(t)
		sol := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, sol.Status)
		require.InDelta(t, want, sol.X[0], 1e-8)
		require.LessOrEqual(t, sol.Iterations, 30)
		for k := range n { // zz' of the eigenvector
			for l := range k + 1 {
				i, j := k*7%n, l*7%n
				v := 2 / float64(n+1) * math.Sin(math.Pi*float64(k+1)/float64(n+1)) * math.Sin(math.Pi*float64(l+1)/float64(n+1))
				if i != j {
					v *= math.Sqrt2
				}
				require.InDelta(t, v, sol.Z[svecPlace(n, max(i, j), min(i, j))], 1e-4)
			}
		}
		require.NoError(t, s.WarmStart(backends.Point{X: sol.X, S: sol.S, Z: sol.Z}))
		again := backendtest.Answer(t, s)
		require.Equal(t, sol.X, again.X)
		require.Contains(t, again.Message, "the warm start was not used")
		below := chain(n, 2*want)
		require.NoError(t, s.Update(backends.Update{B: below.B}))
		require.Equal(t, backends.PrimalInfeasible, backendtest.Answer(t, s).Status)
		require.NoError(t, s.Update(backends.Update{B: p.B, Q: []float64{1}}))
		require.InDelta(t, -1, backendtest.Answer(t, s).X[0], 1e-8)
	}
}

// matrixProgram is the dual of chain without a bound: the least <T, X> with X of trace one, in the form of a matrix
// variable whose entries are beside 1/2 in its rows.
func matrixProgram(n int) *backends.Problem {
	p := chain(n, -1)
	m := len(p.B) - 1
	a, out := &triplets{}, &backends.Problem{Q: p.B[:m:m], B: make([]float64, m+1), Cones: []backends.Cone{backends.PSD(n),
		backends.Zero(1)}}
	for k := range m {
		a.add(k, k, -2)
		out.B[k] = 0.5
	}
	for k := range n {
		a.add(m, svecPlace(n, k, k), 1)
	}
	out.A, out.B[m] = a.csc(m+1, m), 1
	return out
}

// So has a matrix variable most of whose entries are nowhere else; S = 2X + B is filled in, and in rays S = 2X. The
// least <T, S> of a trace is that times the least eigenvalue.
func TestChordalVariable(t *testing.T) {
	const n = 100
	p := matrixProgram(n)
	require.Greater(t, len(formOf(t, p).blocks), 1)
	require.Less(t, formOf(t, p).n, len(p.Q)/2)
	s := must.Of(backendtest.Open(t, "native").Setup(p, backends.Options{}))(t)
	sol := backendtest.Answer(t, s)
	require.Equal(t, backends.Optimal, sol.Status)
	least := 2 - 2*math.Cos(math.Pi/(n+1))
	require.InDelta(t, ((2+n/2)*least-floats.Sum(p.Q)/2)/2, sol.Objective, 1e-7)
	// Without the trace, all of X may grow where T has a negative diagonal.
	q := slices.Clone(p.Q)
	q[svecPlace(n, 3, 3)] = -3
	a := p.A.RawMatrix()
	none := slices.Clone(a.Data)
	for k, i := range a.Ind {
		if i == len(p.B)-1 {
			none[k] = 0
		}
	}
	b := slices.Clone(p.B)
	b[len(b)-1] = 0
	require.NoError(t, s.Update(backends.Update{Q: q, A: sparse.NewCSC(len(p.B), len(p.Q), a.Indptr, a.Ind, none),
		B: b}))
	require.Equal(t, backends.DualInfeasible, backendtest.Answer(t, s).Status)
}

// Nothing is filled in where z is zero, and what is no number ends.
func TestChordalWithoutZ(t *testing.T) {
	f := formOf(t, chain(60, -1))
	f.fill(chain(60, -1), newMatrices)
	z := make([]float64, f.m)
	require.Zero(t, maxAbs(f.expand(make([]float64, f.n), make([]float64, f.m), z, 1).Z))
	z[f.m-1] = math.NaN()
	require.True(t, math.IsNaN(maxAbs(f.expand(make([]float64, f.n), make([]float64, f.m), z, 1).Z)))
}

// With a quadratic cost of some entries, too, the value is that of the whole cone, which a row with all entries asks
// for.
func TestChordalVariableQuadratic(t *testing.T) {
	const n = 80
	p := matrixProgram(n)
	m := len(p.Q)
	diagonal := &triplets{}
	for k := range n {
		diagonal.add(svecPlace(n, k, k), svecPlace(n, k, k), float64(1+k%5))
	}
	p.P = diagonal.csc(m, m)
	require.Greater(t, len(formOf(t, p).blocks), 1)
	whole, a, raw := *p, &triplets{}, p.A.RawMatrix()
	for j := range m {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			a.add(raw.Ind[k], j, raw.Data[k])
		}
		a.add(m+1, j, 1)
	}
	whole.A, whole.B = a.csc(m+2, m), append(slices.Clone(p.B), 1e3)
	whole.Cones = append(slices.Clone(p.Cones), backends.Nonnegative(1))
	require.Len(t, formOf(t, &whole).blocks, 1)
	sol := solveChecked(t, p)
	require.Equal(t, backends.Optimal, sol.Status)
	require.InDelta(t, solveChecked(t, &whole).Objective, sol.Objective, 1e-6)
}

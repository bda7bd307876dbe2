package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

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
	p := &backends.Problem{Q: make([]float64, n), B: make([]float64, m), A: compress(a, false),
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

// Columns that are linearly dependent to twelve digits get an orthonormal basis that spans them.
func TestRootOrthonormalises(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const rows, n = 700, 20
	q := &root{rows: rows, n: n, b: make([]float64, rows*n), gram: make([]float64, n*n),
		chunk: make([]float64, n*rootChunk), sign: make([]int8, n)}
	for i := range q.b {
		q.b[i] = rng.NormFloat64() / math.Sqrt(rows)
	}
	for j := range n {
		q.sign[j] = 1
		if j%3 == 2 {
			scaleBy(q.col(j), 1e-12)
			axpy(1, q.col(j-1), q.col(j))
		}
	}
	before := mat.NewDense(n, rows, append([]float64(nil), q.b...))
	q.orthonormalise()
	basis := mat.NewDense(n, rows, q.b)
	var products, parts, back mat.Dense
	products.Mul(basis, basis.T())
	parts.Mul(before, basis.T())
	back.Mul(&parts, basis)
	back.Sub(&back, before)
	for i := range n {
		for j := range n {
			require.InDelta(t, map[bool]float64{true: 1}[i == j], products.At(i, j), 1e-13)
		}
	}
	require.Less(t, maxAbs(back.RawMatrix().Data), 1e-14)
}

// Partition of the cycle of n nodes: the smallest <L, X> with X_ii = 1, <ee', X> = 0 and
// X semidefinite is n times the second eigenvalue of L, n (2 - 2 cos(2 pi/n)): L >= that
// on the complement of e, and the mean of its eigenvectors attains it. There is no X in the
// interior. Here X is the multiplier: maximise sum x_i subject to L - diag(x) - x_0 ee' semidefinite.
func TestPartitionOfACycle(t *testing.T) {
	for _, n := range []int{8, 15, 24} {
		var a triplets
		b := make([]float64, n*(n+1)/2)
		for j := range n {
			for i := j; i < n; i++ {
				r := svecPlace(n, i, j)
				switch {
				case i == j:
					a.add(r, i+1, 1)
					a.add(r, 0, 1)
					b[r] = 2
				default:
					a.add(r, 0, math.Sqrt2)
					if i == j+1 || i == n-1 && j == 0 {
						b[r] = -math.Sqrt2
					}
				}
			}
		}
		q := make([]float64, n+1)
		for i := range n {
			q[i+1] = -1
		}
		p := &backends.Problem{Q: q, A: a.csc(len(b), n+1), B: b, Cones: []backends.Cone{backends.PSD(n)}}
		sol := solveChecked(t, p)
		require.Equal(t, backends.Optimal, sol.Status)
		value := float64(n) * (2 - 2*math.Cos(2*math.Pi/float64(n)))
		require.InDelta(t, -value, sol.Objective, 1e-7*value)
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

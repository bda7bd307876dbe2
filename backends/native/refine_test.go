package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the factors are of another matrix in a few pivots, iterative refinement
// diverges, and improve finds the solution all the same.
func TestImproveWithWrongPivots(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	p := randomProblem(rng, 12)
	it := factoredAt(t, rng, p)
	f, k := it.f, it.k.(*kkt)
	wrong := append([]float64(nil), k.shift...)
	for _, j := range []int{2, 7, k.size - 1} {
		wrong[j] = -0.8 * k.mat.val[k.diag[j]]
	}
	k.factor.Factorize(k.mat.val, wrong, pivotTolerance, pivotReplaced)
	rx, rz := normals(rng, f.n), make([]float64, f.m)
	x, z := make([]float64, f.n), make([]float64, f.m)
	require.NoError(t, k.solve(x, z, rx, rz, refined))
	left, leftZ := k.residual(limits{1, 1, 1})
	require.Less(t, max(left, leftZ), 1e-8)

	// refinement alone does not get there
	copy(k.sol, k.rhs)
	k.factor.Solve(k.sol)
	for range refineSteps {
		k.residual(limits{1, 1, 1})
		k.factor.Solve(k.res)
		axpy(1, k.res, k.sol)
	}
	left, leftZ = k.residual(limits{1, 1, 1})
	require.Greater(t, max(left, leftZ), 1e-3)
}

// The residual of the columns is brought to its own scale, however much larger
// that of the rows is.
func TestRefineMindsTheColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	p := randomProblem(rng, 8)
	it := factoredAt(t, rng, p)
	f := it.f
	rx, rz := make([]float64, f.n), make([]float64, f.m)
	for j := range rx {
		rx[j] = 1e-9 * rng.NormFloat64()
	}
	for i := range rz {
		rz[i] = 100 * rng.NormFloat64()
	}
	x, z := make([]float64, f.n), make([]float64, f.m)
	require.NoError(t, it.k.solve(x, z, rx, rz, accuracy{left: 1e-2, rows: 1e-6}))
	px, atz := make([]float64, f.n), make([]float64, f.n)
	f.mulP(px, x)
	f.mulAt(atz, z)
	for j := range rx {
		require.LessOrEqual(t, math.Abs(px[j]+atz[j]-rx[j]), 3e-2*maxAbs(rx))
	}
}

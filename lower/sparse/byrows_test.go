package sparse

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/design"
)

// With few rows the factor is that of the whole matrix, which gonum forms and solves with.
func TestByRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const p = 90
	q := &implicit{ctx: context.Background()}
	q.end.Begin(q.ctx, 0)
	matrix := mat.NewDense(p+1, p+1, nil)
	for j := range p {
		q.columns = append(q.columns, j)
		q.ridge = append(q.ridge, 0.1+rng.Float64())
	}
	q.columns, q.ridge = append(q.columns, design.Ones), append(q.ridge, 0.2)
	for j, r := range q.ridge {
		matrix.Set(j, j, r)
	}
	for _, n := range []int{12, 7} {
		x, _ := scattered(uint64(n), n, p, func(float64) float64 { return 0 })
		omega := make([]float64, n)
		for i := range omega {
			if omega[i] = rng.Float64(); i == 3 {
				omega[i] = 0
			}
			row := append(mat.Row(nil, i, x), 1)
			for a, u := range row {
				for b, v := range row {
					matrix.Set(a, b, matrix.At(a, b)+omega[i]*u*v)
				}
			}
		}
		q.parts = append(q.parts, implicitPart{x: design.New(x), omega: omega, e0: make([]float64, n), share: 1, curvature: &implicitModel{}})
	}
	q.w = make([]float64, p+1) // all are free
	q.free = indices(p + 1)
	q.prepare()
	require.True(t, q.precondition())
	require.True(t, q.byRows.on)
	right := make([]float64, p+1)
	for j := range right {
		right[j] = rng.NormFloat64()
	}
	require.True(t, q.precondition()) // the same factor
	again := q.preconditioned(right)
	for j := range q.ridge { // another one
		q.ridge[j] += 0.5
		matrix.Set(j, j, matrix.At(j, j)+0.5)
	}
	require.True(t, q.precondition())
	require.Greater(t, mat.Norm(mat.NewVecDense(p+1, again), 2), mat.Norm(mat.NewVecDense(p+1, q.preconditioned(right)), 2))
	var want mat.VecDense
	require.NoError(t, want.SolveVec(matrix, mat.NewVecDense(p+1, right)))
	got := q.preconditioned(right)
	for j := range got {
		require.InDelta(t, want.AtVec(j), got[j], 1e-6)
	}
	exact := q.conjugate(right, 1e-12)
	for j := range exact {
		require.InDelta(t, want.AtVec(j), exact[j], 1e-6)
	}
}

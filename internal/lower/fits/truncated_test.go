package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// After j steps the truncated solution has the least |H (q - H v)| over the span of H q, H^3 q, ..., H^(2j-1) q; and enough of
// them solve the system.
func TestTruncated(t *testing.T) {
	const k, steps = 6, 3
	r := rand.New(rand.NewPCG(1, 2))
	root, q := mat.NewDense(k, k, nil), mat.NewVecDense(k, nil)
	for i := range k {
		q.SetVec(i, math.Cos(float64(3*i)))
		for j := range k {
			root.Set(i, j, r.NormFloat64())
		}
	}
	var h, square, exact mat.Dense
	h.Mul(root, root.T())
	product := func(out, v []float64) {
		x := mat.NewVecDense(k, nil)
		x.MulVec(&h, mat.NewVecDense(k, v))
		copy(out, x.RawVector().Data)
	}
	v := make([]float64, k)
	truncated(context.Background(), product, q.RawVector().Data, v, steps)

	square.Mul(&h, &h)
	krylov, basis := mat.NewDense(k, steps, nil), mat.NewVecDense(k, nil)
	basis.MulVec(&h, q)
	for j := range steps {
		basis.ScaleVec(1/mat.Norm(basis, 2), basis)
		krylov.SetCol(j, basis.RawVector().Data)
		basis.MulVec(&square, basis)
	}
	var image mat.Dense
	var right, y, want mat.VecDense
	image.Mul(&square, krylov)
	right.MulVec(&h, q)
	require.NoError(t, y.SolveVec(&image, &right)) // least squares
	want.MulVec(krylov, &y)
	require.InDeltaSlice(t, want.RawVector().Data, v, 1e-6*mat.Norm(&want, 2))

	// With eigenvalues of 1 to 3.
	for i := range k {
		h.Set(i, i, h.At(i, i)+20)
	}
	require.NoError(t, exact.Solve(&h, q))
	truncated(context.Background(), product, q.RawVector().Data, v, k)
	floats.Sub(v, exact.RawMatrix().Data)
	require.Less(t, floats.Norm(v, 2), 1e-5*mat.Norm(&exact, 2))
}

// Where the systems are well conditioned the truncated gradient is the exact one.
func TestTruncatedGradient(t *testing.T) {
	train, val := generated(t, "60-30-0-p80", 4, false)
	groups := make([][]int, 20)
	for j := range 80 {
		groups[j%20] = append(groups[j%20], j)
	}
	lasso, err := NewWeightedLasso(train, val, true)
	require.NoError(t, err)
	net, err := ElasticNet(train, val, true, sparse.Terms{})
	require.NoError(t, err)
	grouped, err := NewSparseGroupLasso(train, val, groups, true)
	require.NoError(t, err)
	for _, m := range []lower.Fit{lasso, net, grouped} {
		lambda := make([]float64, m.Dim())
		for i := range lambda {
			lambda[i] = 0.7 * m.LambdaMax()
		}
		at, err := m.Solve(context.Background(), lambda, 1e-12, nil)
		require.NoError(t, err)
		want, err := m.Traits().Gradient(context.Background(), at, lower.GradientOptions{})
		require.NoError(t, err)
		got, err := m.Traits().Gradient(context.Background(), at, lower.GradientOptions{Mode: lower.Truncated})
		require.NoError(t, err)
		require.Positive(t, floats.Norm(want, 2))
		require.InDeltaSlice(t, want, got, 1e-4*floats.Norm(want, 2), "%T", m)
	}
}

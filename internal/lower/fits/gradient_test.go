package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// difference is the central difference of the refitted validation loss in hyperparameter i.
func difference(t testing.TB, m lower.Fit, at *lower.Point, i int) float64 {
	return differenceAt(t, m, at, i, 1e-5, 1e-15)
}

// differenceAt has steps of a share h of the hyperparameter, and lower levels solved to tol.
func differenceAt(t testing.TB, m lower.Fit, at *lower.Point, i int, h, tol float64) float64 {
	value := func(factor float64) float64 {
		lambda := slices.Clone(at.Lambda)
		lambda[i] *= factor
		pt := must.Of(m.Solve(context.Background(), lambda, tol, at))(t)
		require.True(t, pt.Solved)
		return pt.Validation
	}
	return (value(1+h) - value(1-h)) / (2 * h * at.Lambda[i])
}

// gradients are how hypergradients are compared with differences of relative length h of lower levels solved to tol, to
// a share of their largest entry, and the forward mode with the adjoint one, to forward; 0 where there is none.
// accuracy is that of systems.
type gradients struct{ tol, h, share, forward, accuracy float64 }

// check compares them at lambda, and returns the point.
func (c gradients) check(t testing.TB, m lower.Fit, lambda []float64, name ...any) *lower.Point {
	t.Helper()
	ctx := context.Background()
	at := must.Of(m.Solve(ctx, lambda, c.tol, nil))(t)
	require.True(t, at.Solved)
	adjoint := must.Of(m.Traits().Gradient(ctx, at, lower.Adjoint, c.accuracy))(t)
	scale := floats.Norm(adjoint, math.Inf(1))
	require.Positive(t, scale)
	for i := range lambda {
		require.InDelta(t, differenceAt(t, m, at, i, c.h, c.tol), adjoint[i], c.share*scale, "%v %d", name, i)
	}
	if c.forward > 0 {
		forward := must.Of(m.Traits().Gradient(ctx, at, lower.Forward, c.accuracy))(t)
		require.InDeltaSlice(t, adjoint, forward, c.forward*scale, "%v", name)
	}
	return at
}

// rolling is a share of LambdaMax for each hyperparameter, a little different for each.
func rolling(m lower.Fit, share float64) []float64 {
	lambda := make([]float64, m.Dim())
	for i := range lambda {
		lambda[i] = share * m.LambdaMax() * (1 + 0.1*math.Sin(float64(i)))
	}
	return lambda
}

// descent is a method of package hypergradient.
type descent func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result, error)

// descend checks that methods end below a share of the least validation loss of the path.
func descend(t testing.TB, m lower.Fit, share float64, s hypergradient.Settings, methods ...descent) {
	t.Helper()
	least := math.Inf(1)
	for _, lambda := range m.Traits().Path() {
		at := must.Of(m.Solve(context.Background(), lambda, 1e-10, nil))(t)
		require.True(t, at.Solved)
		least = min(least, at.Validation)
	}
	for _, run := range methods {
		r := must.Of(run(context.Background(), m, s))(t)
		require.Less(t, r.Best.Validation, share*least)
	}
}

// After j steps the truncated solution has the least |H (q - H v)| over the span of H q, H^3 q, ..., H^(2j-1) q; and
// enough of them solve the system.
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

// scattered are 20 groups of 80 features that do not follow each other.
func scattered() [][]int {
	groups := make([][]int, 20)
	for j := range 80 {
		groups[j%20] = append(groups[j%20], j)
	}
	return groups
}

// Groups need not be of features that follow each other.
func TestGradientOfScatteredGroups(t *testing.T) {
	train, val := generated(t, "60-30-0-p80", 4, false)
	for _, build := range []func(Rows, Rows, [][]int, bool) (*Net, error){NewSparseGroupLasso, NewGroupLasso} {
		m := must.Of(build(train, val, scattered(), true))(t)
		lambda := slices.Repeat([]float64{0.2 * m.LambdaMax()}, m.Dim())
		gradients{tol: 1e-15, h: 1e-5, share: 1e-4}.check(t, m, lambda, m.Dim())
	}
}

// Factors of weights have the gradient of differences, with and without a 1-norm of weights by feature, and the factor
// of all is that of the fit it is of.
func TestGradientOfFactors(t *testing.T) {
	train, val := generated(t, "60-30-0-p80", 4, false)
	for _, build := range []func(Rows, Rows, [][]int, bool) (*Net, error){NewSparseGroupLasso, NewGroupLasso} {
		m := must.Of(build(train, val, scattered(), true))(t)
		w := &glm.Weights{Norm: make([]float64, 20)}
		for g := range w.Norm {
			w.Norm[g] = m.LambdaMax() * (0.1 + 0.02*float64(g))
		}
		if m.Dim() > 20 {
			for j := range 80 {
				w.L1 = append(w.L1, m.LambdaMax()*(0.01+0.002*float64(j)))
			}
		}
		factors := slices.Repeat([]float64{0.9}, m.Dim())
		gradients{tol: 1e-15, h: 1e-5, share: 1e-4}.check(t, m.Times(w), factors, m.Dim())
	}
	m := must.Of(NewGroupLasso(train, val, scattered(), true))(t)
	lambda := slices.Repeat([]float64{0.3 * m.LambdaMax()}, 20)
	want := must.Of(m.Solve(context.Background(), lambda, 1e-12, nil))(t)
	one := slices.Repeat([]float64{1}, 20)
	got := must.Of(m.Times(&glm.Weights{Norm: lambda}).Solve(context.Background(), one, 1e-12, nil))(t)
	require.InDeltaSlice(t, want.X[0], got.X[0], 1e-9)
}

// Where the systems are well conditioned the truncated gradient is the exact one.
func TestTruncatedGradient(t *testing.T) {
	train, val := generated(t, "60-30-0-p80", 4, false)
	lasso := must.Of(NewWeightedLasso(train, val, true))(t)
	net := must.Of(ElasticNet(train, val, true, sparse.Terms{}))(t)
	grouped := must.Of(NewSparseGroupLasso(train, val, scattered(), true))(t)
	for _, m := range []lower.Fit{lasso, net, grouped} {
		lambda := slices.Repeat([]float64{0.7 * m.LambdaMax()}, m.Dim())
		at := must.Of(m.Solve(context.Background(), lambda, 1e-12, nil))(t)
		want := must.Of(m.Traits().Gradient(context.Background(), at, lower.Adjoint, 1e-10))(t)
		got := must.Of(m.Traits().Gradient(context.Background(), at, lower.Truncated, 1e-10))(t)
		require.Positive(t, floats.Norm(want, 2))
		require.InDeltaSlice(t, want, got, 1e-4*floats.Norm(want, 2), "%T", m)
	}
}

package fits

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/numerics"
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
	numerics.Truncated(context.Background(), product, q.RawVector().Data, v, steps)

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
	numerics.Truncated(context.Background(), product, q.RawVector().Data, v, k)
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

// entries are a random part of a matrix of rank 2 plus features of the rows, with noise: training and validation.
func entries(seed uint64, m, n, p int) (train, val Entries) {
	rng := rand.New(rand.NewPCG(seed, 5))
	normal := func(k int) []float64 {
		v := make([]float64, k)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	a, b, features := normal(2*m), normal(2*n), normal(max(1, m*p))
	sets := []*Entries{&train, &val}
	rows := make([][]float64, 2)
	for i := range m {
		for j := range n {
			k := rng.IntN(4) // two of four stay unknown
			if k > 1 {
				continue
			}
			y := 1 + a[2*i]*b[2*j] + a[2*i+1]*b[2*j+1] + 0.3*rng.NormFloat64()
			for _, f := range features[i*p : i*p+min(p, 3)] {
				y += f
			}
			e := sets[k]
			e.Row, e.Col, e.Y = append(e.Row, i), append(e.Col, j), append(e.Y, y)
			rows[k] = append(rows[k], features[i*p:(i+1)*p]...)
		}
	}
	for k, e := range sets {
		e.X = design.FromColumns(len(e.Y), 0, nil)
		if p > 0 {
			e.X = design.New(mat.NewDense(len(e.Y), p, rows[k]))
		}
	}
	return train, val
}

func TestCompletionHypergradient(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, p := range []int{0, 6} {
			for _, share := range []float64{0.4, 0.1} {
				train, val := entries(3, 14, 11, p)
				var groups [][]int
				if p > 0 {
					groups = triples(p)
				}
				m := must.Of(NewCompletion(train, val, 14, 11, groups, intercept))(t)
				lambda := make([]float64, m.Dim())
				for i := range lambda {
					lambda[i] = share * m.LambdaMax() / float64(1+i)
				}
				gradients{tol: 1e-12, h: 1e-4, share: 1e-5, accuracy: 1e-12}.check(t, m, lambda, intercept, p, share)
			}
		}
	}
}

// Conjugate gradients may run to the limits of rounding at a solution of any accuracy: the rotations of
// the factors, along which the Hessian vanishes at an exact solution only, stay out of the hypergradient.
func TestCompletionRotations(t *testing.T) {
	train, val := entries(3, 14, 11, 0)
	m := must.Of(NewCompletion(train, val, 14, 11, nil, true))(t)
	for _, tol := range []float64{1e-6, 1e-8, 1e-10, 1e-12} {
		at := must.Of(m.Solve(context.Background(), []float64{0.1 * m.LambdaMax()}, tol, nil))(t)
		rough := must.Of(m.Traits().Gradient(context.Background(), at, lower.Adjoint, 1e-6))(t)
		fine := must.Of(m.Traits().Gradient(context.Background(), at, lower.Adjoint, 1e-14))(t)
		require.InEpsilon(t, rough[0], fine[0], 1e-4, "tolerance %g", tol)
	}
}

func TestCompletionSearch(t *testing.T) {
	train, val := entries(4, 14, 14, 6)
	m := must.Of(NewCompletion(train, val, 14, 14, triples(6), false))(t)
	descend(t, m, 1, hypergradient.Settings{MaxIter: 10}, hypergradient.IGJO, hypergradient.HOAG)
	val.Row = append([]int(nil), val.Row...)
	val.Row[3] = 14
	_, err := NewCompletion(train, val, 14, 14, triples(6), false)
	require.ErrorContains(t, err, "validation entries of the matrix completion: completion: known entry 3")
}

// conicCompletion is the matrix completion as a conic model.
type conicCompletion struct {
	m, n, p   int
	groups    [][]int
	intercept bool
}

func (q conicCompletion) variables(c *convex.Model) []*convex.Variable {
	x := []*convex.Variable{c.Vector("b", q.p), c.Vector("G", q.m*q.n)}
	if q.intercept {
		x = append(x, c.Vector("b0", 1))
	}
	return x
}

func (q conicCompletion) loss(e Entries, x []*convex.Variable) convex.Expr {
	var at []int
	for k, i := range e.Row {
		at = append(at, i*q.n+e.Col[k])
	}
	f := convex.Sub(convex.Pick(x[1], at), e.Y)
	if q.p > 0 {
		features := mat.NewDense(len(e.Y), q.p, nil)
		for j := range q.p {
			column := make([]float64, len(e.Y))
			e.X.Axpy(1, j, column)
			features.SetCol(j, column)
		}
		f = convex.Add(f, convex.Mul(features, x[0]))
	}
	if q.intercept {
		f = convex.Add(f, x[2])
	}
	return convex.Scale(1/(2*float64(len(e.Y))), convex.SumSquares(f))
}

// part has the nuclear norm first.
func (q conicCompletion) part(m *convex.Model, train, val Entries) conicPart {
	x := q.variables(m)
	out := conicPart{X: x, Train: q.loss(train, x), Validation: q.loss(val, x),
		Penalties: []convex.Expr{convex.NuclearNorm(convex.Reshape(x[1], q.m, q.n))}}
	if q.p > 0 {
		out.Penalties = append(out.Penalties, convex.GroupNorms(x[0], q.groups))
	}
	return out
}

// Both programs of an iteration have the optimum and the point of the conic programs, on matrices of any shape, with
// and without features, for one split and for two, one iteration after the other.
func TestSmallCompletionAgainstConic(t *testing.T) {
	solved := 0 // lower levels; radii that interpolate are not for the fit
	for _, q := range []conicCompletion{
		{m: 9, n: 9, p: 6, groups: triples(6)},
		{m: 6, n: 11, p: 6, groups: triples(6), intercept: true},
		{m: 10, n: 5},
	} {
		for _, folds := range []int{1, 2} {
			name := fmt.Sprint(q, folds)
			var train, val []Entries
			var parts []bilevel.Fit
			for f := range folds {
				a, b := entries(uint64(7+f), q.m, q.n, q.p)
				fit := must.Of(NewCompletion(a, b, q.m, q.n, q.groups, q.intercept))(t)
				train, val, parts = append(train, a), append(val, b), append(parts, fit)
			}
			n := 1 + len(q.groups)
			c := &bilevel.Centre{R: make([]float64, n), Low: make([]float64, n), High: make([]float64, n), Rho: 1e-2, Tol: 1e-9}
			for j := range n {
				c.R[j], c.High[j] = []float64{1, 0.3, 0.05}[j%3], math.Inf(1)
			}
			for _, part := range parts {
				var zero [][]float64
				for _, k := range part.Shape() {
					zero = append(zero, make([]float64, k))
				}
				c.X = append(c.X, zero)
			}
			solver := parts[0].Subproblem(parts, 1)
			for _, alpha := range []float64{0.3, 1, 10} {
				c.Alpha, c.Value, c.Gamma = alpha, 0, make([]float64, n)
				for f, part := range parts {
					w := must.Of(part.Within().Solve(context.Background(), c.R, 1e-9))(t)
					want := conicWithin(t, func(m *convex.Model) conicPart { return q.part(m, train[f], val[f]) }, c.R)
					v := part.Values(w.X)
					for j, l := range want.Lambda {
						c.Gamma[j] += math.Max(0, l) / float64(folds)
						if w.Solved {
							require.InDelta(t, l, w.Lambda[j], 1e-4*(1+l), name)
							require.LessOrEqual(t, v.Penalties[j], c.R[j]*(1+1e-9), name)
						}
					}
					if w.Solved {
						solved++
						require.InDelta(t, want.Value, w.Loss, 1e-7, name)
						require.InDelta(t, w.Loss, v.Train, 1e-9, name)
					}
					c.Value += want.Value / float64(folds)
				}
				got := must.Of(solver(context.Background(), c))(t)
				require.True(t, got.Solved, "%s: gap %g after %d", name, got.Gap, got.Fits)
				want := conicSubproblem(t, c, func(m *convex.Model, f int) conicPart { return q.part(m, train[f], val[f]) })
				require.InDelta(t, want.Value, got.Objective, 1e-6*(1+want.Value), name)
				require.InDeltaSlice(t, want.R, got.R, 1e-3, name)
				for f, of := range got.X {
					for i := range of {
						require.InDeltaSlice(t, want.X[f][i], of[i], 2e-3, name)
					}
				}
				for j := range c.R {
					c.R[j] = math.Max(got.R[j], 1e-3)
				}
				c.X = got.X
			}
		}
	}
	require.Greater(t, solved, 15)
}

package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// setsSolver is solver with working sets however small the matrices are.
func setsSolver(t testing.TB, m *convex.Model, o convex.SolverOptions) *convex.Solver {
	p := must.Of(m.Compile())(t)
	if o.Backend == nil {
		o.Backend = native(t)
	}
	o.WorkingSets = true
	s := must.Of(p.SetsSolver(o))(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// matrixBackends returns the backends for models with nuclear norms.
func matrixBackends(t testing.TB) []backends.ConicBackend {
	var list []backends.ConicBackend
	for _, name := range []string{"native", "scs"} {
		if b, err := backends.Open(name); err == nil {
			list = append(list, b)
		}
	}
	require.NotEmpty(t, list)
	return list
}

// shrink lowers the singular values of a matrix by c.
func shrink(a []float64, rows int, c float64) []float64 {
	var svd mat.SVD
	svd.Factorize(mat.NewDense(rows, len(a)/rows, a), mat.SVDThin)
	var u, v, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	s := svd.Values(nil)
	for k := range s {
		s[k] = max(0, s[k]-c)
	}
	u.Mul(&u, mat.NewDiagDense(len(s), s))
	out.Mul(&u, v.T())
	return out.RawMatrix().Data
}

func TestNuclearNormValues(t *testing.T) {
	m := convex.NewModel()
	x := m.Vector("X", 6)
	point := convex.Point{x: {1, 1, 1, 1, 1, 1}}
	// A matrix of ones has one singular value, the root of the number of entries.
	for _, size := range [][2]int{{2, 3}, {3, 2}, {1, 6}, {6, 1}} {
		require.InDelta(t, math.Sqrt(6), convex.NuclearNorm(convex.Reshape(x, size[0], size[1])).Eval(point)[0], 1e-12)
	}
	// Orthogonal rows: their lengths.
	require.InDelta(t, 5+13, convex.NuclearNorm(convex.Reshape(x, 2, 3)).Eval(convex.Point{x: {3, 4, 0, 0, 0, 13}})[0],
		1e-12)
	require.Zero(t, convex.NuclearNorm(convex.Reshape([]float64{}, 0, 4)).Eval(nil)[0])
	for want, f := range map[string]convex.Expr{
		"is not a matrix of 2 x 2":   convex.NuclearNorm(convex.Reshape(x, 2, 2)),
		"is not a matrix of -2 x -3": convex.NuclearNorm(convex.Reshape(x, -2, -3)),
	} {
		require.ErrorContains(t, f.Err(), want)
	}
}

// The proximal map of the nuclear norm lowers the singular values.
func TestNuclearProximalMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, backend := range matrixBackends(t) {
		for _, size := range [][2]int{{5, 4}, {3, 7}, {1, 1}, {1, 6}, {6, 1}, {2, 2}, {12, 9}} {
			rows, cols := size[0], size[1]
			a := random(rng, rows*cols)
			for _, sets := range []bool{false, true} {
				m := convex.NewModel()
				x := m.Vector("X", rows*cols)
				m.Minimize(convex.Add(distance(x, a), convex.Scale(.6,
					convex.NuclearNorm(convex.Reshape(convex.Scale(-2, x), rows, cols)))))
				prepare := solver
				if sets {
					prepare = setsSolver
				}
				s := prepare(t, m, convex.SolverOptions{Backend: backend, Options: backends.Options{Eps: 1e-9}})
				r := solve(t, s)
				inDelta(t, shrink(a, rows, 1.2), r.Value(x), 1e-4, backend.Name(), size, sets)
				recheck(t, s.Program(), r, 1e-9)
			}
		}
	}
}

// completion is a matrix of rank 2 with noise, a quarter of it known.
type completion struct {
	rows, cols int
	index      []int
	value      []float64
}

func newCompletion(rng *rand.Rand, rows, cols int) completion {
	c := completion{rows: rows, cols: cols}
	u, v := random(rng, 2*rows), random(rng, 2*cols)
	for e := range rows * cols {
		if i, j := e/cols, e%cols; rng.IntN(4) == 0 {
			c.index = append(c.index, e)
			c.value = append(c.value, u[2*i]*v[2*j]+u[2*i+1]*v[2*j+1]+.3*rng.NormFloat64())
		}
	}
	return c
}

// loss is half the mean squared error of x on the known entries.
func (c completion) loss(x convex.Expr) convex.Expr {
	return convex.Scale(.5/float64(len(c.index)), convex.SumSquares(convex.Sub(convex.Pick(x, c.index), c.value)))
}

// gradient is that of the loss at x.
func (c completion) gradient(x []float64) []float64 {
	g := make([]float64, len(x))
	for k, e := range c.index {
		g[e] = (x[e] - c.value[k]) / float64(len(c.index))
	}
	return g
}

// spectral returns the largest singular value.
func spectral(x []float64, rows int) float64 {
	var svd mat.SVD
	svd.Factorize(mat.NewDense(rows, len(x)/rows, x), mat.SVDNone)
	return svd.Values(nil)[0]
}

// A penalised completion against its optimality conditions, which need the gradient of the loss alone:
// |G|_2 <= lambda and <G, X> = -lambda |X|_*.
func TestCompletionIsOptimal(t *testing.T) {
	c := newCompletion(rand.New(rand.NewPCG(3, 4)), 30, 25)
	m := convex.NewModel()
	x, lambda := m.Vector("X", c.rows*c.cols), m.Parameter("lambda", []float64{0})
	norm := convex.NuclearNorm(convex.Reshape(x, c.rows, c.cols))
	m.Minimize(convex.Add(c.loss(x), convex.Scale(lambda, norm)))
	s := setsSolver(t, m, convex.SolverOptions{})
	for _, l := range []float64{.05, .02, .01, .03, 1} {
		require.NoError(t, s.Set(lambda, []float64{l}))
		r := solve(t, s)
		recheck(t, s.Program(), r, 1e-8)
		value := r.Value(x)
		g := c.gradient(value)
		require.LessOrEqual(t, spectral(g, c.rows), l+1e-6)
		require.InDelta(t, -l*norm.Eval(r.Point())[0], floats.Dot(g, value), 1e-6)
		require.InDelta(t, r.Objective, c.loss(x).Eval(r.Point())[0]+l*norm.Eval(r.Point())[0], 1e-6)
		require.InDelta(t, norm.Eval(r.Point())[0], r.Sensitivity(lambda)[0], 1e-3) // d/d lambda = |X|_*
		require.LessOrEqual(t, r.Active, 25)
	}
	require.InDeltaSlice(t, make([]float64, x.Len()), solve(t, s).Value(x), 1e-6) // above |G(0)|_2
}

// The subproblem of VF-iDCA for a small completion with row features: with working sets it is what it is as one large
// semidefinite program, and so are the multipliers and the derivatives in all parameters.
func TestMatrixSetsEqualFull(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c := newCompletion(rng, 9, 8)
	val := newCompletion(rng, 9, 8)
	features := mat.NewDense(9, 2, random(rng, 18))
	m := convex.NewModel()
	theta, x := m.Vector("theta", 2), m.Vector("X", 72)
	h, s := m.Vector("h", 2), m.Vector("s", 1)
	xk, hk := m.Parameter("X_k", make([]float64, 72)), m.Parameter("h_k", make([]float64, 2))
	gamma, alpha := m.Parameter("gamma", make([]float64, 2)), m.Parameter("alpha", []float64{0})
	rows := func(c completion) *mat.Dense {
		f := mat.NewDense(len(c.index), 2, nil)
		for k, e := range c.index {
			f.SetRow(k, features.RawRowView(e/c.cols))
		}
		return f
	}
	loss := func(c completion) convex.Expr {
		r := convex.Sub(convex.Add(convex.Pick(x, c.index), convex.Mul(rows(c), theta)), c.value)
		return convex.Scale(.5/float64(len(c.index)), convex.SumSquares(r))
	}
	m.Minimize(convex.Add(loss(val), convex.Scale(.01, convex.SumSquares(convex.Sub(x, xk))),
		convex.Scale(.01, convex.SumSquares(theta)), convex.Scale(.01,
			convex.SumSquares(convex.Sub(h, hk))), convex.Dot(alpha, s)))
	constraints := []*convex.Constraint{
		m.Le("", convex.Add(loss(c), convex.Dot(gamma, h)), convex.Add(s, .8)),
		m.Le("", convex.NuclearNorm(convex.Reshape(x, 9, 8)), convex.Add(convex.At(h, 0), s)),
		m.Le("", convex.Norm2(theta), convex.Add(convex.At(h, 1), s)),
		m.Ge("", s, 0),
	}
	options := backends.Options{Eps: 1e-9}
	full := solver(t, m, convex.SolverOptions{Options: options})
	sets := setsSolver(t, m, convex.SolverOptions{Options: options})
	for k := range 3 {
		centre := shrink(random(rng, 72), 9, 3)
		for _, s := range []*convex.Solver{full, sets} {
			require.NoError(t, s.Set(gamma, []float64{.05 + .02*float64(k), .1}))
			require.NoError(t, s.Set(alpha, []float64{1 + 4*float64(k)}))
			require.NoError(t, s.Set(hk, []float64{3 + float64(k), .5}))
			require.NoError(t, s.Set(xk, centre))
		}
		want, got := solve(t, full), solve(t, sets)
		recheck(t, sets.Program(), got, 1e-9)
		require.InDelta(t, want.Objective, got.Objective, 1e-7)
		for _, v := range []*convex.Variable{theta, x, h, s} {
			inDelta(t, want.Value(v), got.Value(v), 1e-3, v.Name())
			inDelta(t, make([]float64, v.Len()), got.DualResidual(v), 1e-7, v.Name())
		}
		for i, con := range constraints {
			inDelta(t, want.Dual(con), got.Dual(con), 1e-4, "constraint", i)
		}
		for _, p := range []*convex.Parameter{xk, hk, gamma, alpha} {
			inDelta(t, want.Sensitivity(p), got.Sensitivity(p), 1e-3, p.Name())
		}
		require.Less(t, got.Active, want.Active)
	}
}

// A matrix that stands in linear constraints, weighted sums and a maximum too.
func TestMatrixElsewhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := newCompletion(rng, 8, 8)
	m := convex.NewModel()
	x, w := m.Vector("X", 64), m.Parameter("w", numbered(64, func(j int) float64 { return float64(j%5) / 50 }))
	diagonal := make([]int, 8)
	for i := range diagonal {
		diagonal[i] = 9 * i
	}
	m.Minimize(convex.Add(c.loss(x), convex.Scale(.05, convex.NuclearNorm(convex.Reshape(x, 8, 8))), convex.Dot(w, x),
		convex.Scale(.1, convex.Max(convex.Abs(convex.Slice(x, 0, 8))))))
	trace := m.Eq("", convex.Sum(convex.Pick(x, diagonal)), 1)
	signs := m.Ge("", convex.Mul(mat.NewDense(3, 64, random(rng, 192)), x), -.5)
	second := m.Le("", convex.NuclearNorm(convex.Reshape(convex.Sub(x, random(rng, 64)), 8, 8)), 16)

	full := solve(t, solver(t, m, convex.SolverOptions{}))
	s := setsSolver(t, m, convex.SolverOptions{})
	got := solve(t, s)
	recheck(t, s.Program(), got, 1e-8)
	require.InDelta(t, full.Objective, got.Objective, 1e-6)
	inDelta(t, full.Dual(trace), got.Dual(trace), 1e-3)
	inDelta(t, full.Dual(signs), got.Dual(signs), 1e-3)
	inDelta(t, full.Dual(second), got.Dual(second), 1e-3)
	inDelta(t, full.Sensitivity(w), got.Sensitivity(w), 2e-2)

	// The rounds do not settle, and the backend solves the whole program, from now on.
	require.Equal(t, convex.EngineBackend, got.Engine)
	require.Greater(t, got.Rounds, 1)
	require.Equal(t, s.Stats().Rounds, got.Rounds)
	require.Equal(t, s.Stats().Iterations, got.Iterations)
	require.NoError(t, s.Set(w, numbered(64, func(j int) float64 { return float64(j%5) / 40 })))
	got = solve(t, s)
	require.Equal(t, convex.EngineBackend, got.Engine)
	require.Equal(t, 1, got.Rounds)
}

// A matrix of norm at most 1 has no entry above 1, and the certificate that says so holds for all of it.
func TestInfeasibleMatrix(t *testing.T) {
	m := convex.NewModel()
	x, least := m.Vector("X", 30*20), m.Parameter("least", []float64{0})
	norm := m.Le("", convex.NuclearNorm(convex.Reshape(x, 30, 20)), 1)
	entry := m.Ge("", convex.At(x, 77), least)

	m.Minimize(convex.SumSquares(x))
	s := setsSolver(t, m, convex.SolverOptions{})
	require.NoError(t, s.Set(least, []float64{2}))
	r := must.Of(s.Solve(context.Background()))(t)
	require.Equal(t, backends.PrimalInfeasible, r.Status)
	require.Equal(t, convex.EngineSingularVectors, r.Engine)
	require.Equal(t, []float64{math.Inf(1), math.Inf(1)}, []float64{r.Objective, r.DualObjective})
	require.InDelta(t, 1, 2*r.Dual(entry)[0]-r.Dual(norm)[0], 1e-6) // X_e >= 2 against |X|_* <= 1
	require.NoError(t, s.Set(least, []float64{.5}))
	r = solve(t, s)
	require.InDelta(t, .25, r.Objective, 1e-7)
	require.InDelta(t, .5, r.Value(x)[77], 1e-4)
	require.InDelta(t, 1, r.Dual(entry)[0], 1e-4)
}

// Two matrices, one with two norms.
func TestTwoMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	a, b := random(rng, 42), random(rng, 30)
	m := convex.NewModel()
	x, y := m.Vector("X", 42), m.Vector("Y", 30)
	norm := convex.NuclearNorm(convex.Reshape(x, 6, 7))
	bound := m.Le("", norm, 6)

	m.Minimize(convex.Add(distance(x, a), distance(y, b), convex.Scale(.5, norm),
		convex.Scale(.8, convex.NuclearNorm(convex.Reshape(y, 5, 6))), convex.Scale(.1,
			convex.Add(convex.At(x, 0), convex.At(y, 0)))))
	a[0], b[0] = a[0]-.1, b[0]-.1 // what the linear part does
	s := setsSolver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-9}})
	r := solve(t, s)
	recheck(t, s.Program(), r, 1e-9)
	inDelta(t, shrink(a, 6, .5+r.Dual(bound)[0]), r.Value(x), 1e-4)
	inDelta(t, shrink(b, 5, .8), r.Value(y), 1e-4)
	require.InDelta(t, 6, norm.Eval(r.Point())[0], 1e-6)
}

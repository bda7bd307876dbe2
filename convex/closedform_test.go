package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// distance is half the squared distance of x from a.
func distance(x convex.Expr, a []float64) convex.Expr {
	return convex.Scale(.5, convex.SumSquares(convex.Sub(x, a)))
}

// Least squares with many rows is compressed, and solves the normal equations.
func TestTallLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x, y := regression(rng, 300, 8, 4)
	m := convex.NewModel()
	b, c := m.Vector("b", 8), m.Vector("c", 1)
	residual := convex.Sub(convex.Add(convex.Mul(x, b), c), y)
	limited := m.Le("", convex.Scale(1./600, convex.SumSquares(residual)), 1000)

	m.Minimize(convex.Scale(1./600, convex.SumSquares(residual)))
	s := solver(t, m, convex.SolverOptions{})
	r := solve(t, s)
	problem := must.Of(s.Program().Problem())(t)
	require.LessOrEqual(t, len(problem.B), 2+10+10, "10 rows of R for the objective and for the constraint")

	full := mat.NewDense(300, 9, nil)
	for i := range 300 {
		copy(full.RawRowView(i), x.RawRowView(i))
		full.Set(i, 8, 1)
	}
	var normal mat.Dense
	var right, want mat.VecDense
	normal.Mul(full.T(), full)
	right.MulVec(full.T(), mat.NewVecDense(300, y))
	require.NoError(t, want.SolveVec(&normal, &right))
	inDelta(t, want.RawVector().Data, append(r.Value(b), r.Value(c)...), 1e-5)
	rest := floats.Norm(residual.Eval(r.Point()), 2)
	require.InDelta(t, rest*rest/600, r.Objective, 1e-8)

	// With the limit below the least value of 2/3 of the data's it binds.
	require.InDelta(t, 0, r.Dual(limited)[0], 1e-6)
	m = convex.NewModel()
	b, c = m.Vector("b", 8), m.Vector("c", 1)
	residual = convex.Sub(convex.Add(convex.Mul(x, b), c), y)
	limited = m.Le("", convex.Scale(1./600, convex.SumSquares(residual)), 2*r.Objective)

	m.Minimize(convex.SumSquares(b))
	q := solve(t, solver(t, m, convex.SolverOptions{}))
	value := floats.Norm(residual.Eval(q.Point()), 2)
	require.InDelta(t, 2*r.Objective, value*value/600, 1e-6)
	// 2b + lambda/300 X'(residual) = 0
	gradient := make([]float64, 8)
	e := residual.Eval(q.Point())
	for j := range gradient {
		gradient[j] = 2 * q.Value(b)[j]
		for i := range e {
			gradient[j] += q.Dual(limited)[0] / 300 * x.At(i, j) * e[i]
		}
	}
	inDelta(t, make([]float64, 8), gradient, 1e-4)
}

// A model without an objective is a feasibility problem; one without anything is solved too.
func TestEmptyModels(t *testing.T) {
	m := convex.NewModel()
	require.Equal(t, 0.0, solve(t, solver(t, m, convex.SolverOptions{})).Objective)
	x := m.Vector("x", 2)
	m.Eq("", x, []float64{1, 2})
	m.Le("", convex.Norm2(x), 5)
	inDelta(t, []float64{1, 2}, solve(t, solver(t, m, convex.SolverOptions{})).Value(x), 1e-6)
	// No entries at all.
	m = convex.NewModel()
	none := m.Vector("none", 0)
	m.Minimize(convex.Add(convex.Norm1(none), convex.SumSquares(none), convex.Norm2(none), convex.NormInf(none)))
	r := solve(t, solver(t, m, convex.SolverOptions{WorkingSets: true}))
	require.InDelta(t, 0, r.Objective, 1e-7)
	require.Empty(t, r.Value(none))
}

// Values of exponentials, without overflow.
func TestExponentialValues(t *testing.T) {
	m := convex.NewModel()
	x := m.Vector("x", 4)
	point := convex.Point{x: {0, 2, -800, 800}}
	logistic := []float64{math.Log(2), math.Log(1 + math.Exp(2)), 0, 800}
	require.InDeltaSlice(t, logistic, convex.Logistic(x).Eval(point), 1e-12)
	require.InDeltaSlice(t, []float64{1, math.E * math.E, 0}, convex.Exp(x).Eval(point)[:3], 1e-12)
	got := convex.LogSumExp(x, [][]int{{0, 1}, {2, 3}, {1}}...).Eval(point)
	require.InDeltaSlice(t, []float64{math.Log(1 + math.Exp(2)), 800, 2}, got, 1e-12)
	for _, groups := range [][][]int{{{0, 4}}, {{-1}}, {{}}} {
		m := convex.NewModel()
		m.Minimize(convex.Sum(convex.LogSumExp(m.Vector("x", 4), groups...)))
		_, err := m.Compile()
		require.ErrorContains(t, err, "LogSumExp")
	}
}

// denoising is min |x - y|^2 + lambda sum |x_(i+1) - x_i| for data y that may change.
func denoising(t *testing.T, n int, lambda float64) (s *convex.Solver, x *convex.Variable, y *convex.Parameter) {
	m := convex.NewModel()
	x, y = m.Vector("x", n), m.Parameter("y", make([]float64, n))
	e := x
	m.Minimize(convex.Add(convex.SumSquares(convex.Sub(e, y)),
		convex.Scale(lambda, convex.Norm1(convex.Sub(convex.Slice(e, 1, n), convex.Slice(e, 0, n-1))))))
	return solver(t, m, convex.SolverOptions{}), x, y
}

func solveAt(t *testing.T, s *convex.Solver) *convex.Result {
	return must.Of(s.Solve(t.Context()))(t)
}

// Two levels a < b of n values each have the solution a + lambda/2n, b - lambda/2n, and an offset changes nothing but
// it.
func TestConstantOfSquares(t *testing.T) {
	const n, lambda = 25, 1.
	const want = 2*lambda*lambda/(4*n) + 1 - lambda*lambda/n
	y := make([]float64, 2*n)
	for i := n; i < 2*n; i++ {
		y[i] = 1
	}
	s, x, p := denoising(t, 2*n, lambda)
	for _, offset := range []float64{0, 100, 1e4, 1e6, 1e8, 1e6, 100, 0} {
		at := make([]float64, 2*n)
		for i := range at {
			at[i] = y[i] + offset
		}
		require.NoError(t, s.Set(p, at))
		r := solveAt(t, s)
		rounding := 4e-16 * offset * 2 * n
		if r.Status != backends.Optimal || math.Abs(r.Objective-want) > 1e-8+rounding {
			t.Errorf("offset %g: %v, objective %.10f, expected %.10f (%s)", offset, r.Status, r.Objective, want, r.Message)
		}
		if r.DualObjective > want+1e-9+rounding || r.DualObjective < want-2e-8-rounding {
			t.Errorf("offset %g: dual objective %.10f, expected at most %.10f", offset, r.DualObjective, want)
		}
		if off := math.Abs(r.Objective - want); off > r.Distance || r.Distance > 1e-6+100*rounding {
			t.Errorf("offset %g: the objective is off by %.1e, and the distance says %.1e", offset, off, r.Distance)
		}
		if told := strings.Contains(r.Message, "rounding"); told && offset < 1e6 || !told && offset == 1e8 {
			t.Errorf("offset %g: the message is %q", offset, r.Message)
		}
		value, slope := r.Value(x), r.Sensitivity(p)
		for i := range y {
			shift := lambda / (2 * n) * (1 - 2*y[i])
			if math.Abs(value[i]-at[i]-shift) > 1e-4+2*rounding || math.Abs(slope[i]+2*shift) > 2e-4+4*rounding {
				t.Fatalf("offset %g: x_%d - y_%d = %g, slope %g, expected %g and %g", offset, i, i, value[i]-at[i], slope[i], shift,
					-2*shift)
			}
		}
	}
}

// A constant that is no part of a square cancels the rest, too: 1e3 (exp x - 3x) has the least value 1e3 (3 - 3 log 3).
func TestConstantOfExponential(t *testing.T) {
	const least = 1e3 * 3
	want := least - least*math.Log(3)
	for _, offset := range []float64{0, -want, 1e-3 - want} {
		m := convex.NewModel()
		x := m.Vector("x", 1)
		m.Minimize(convex.Add(convex.Scale(1e3, convex.Exp(x)), convex.Scale(-3e3, x), offset))
		r := solveAt(t, solver(t, m, convex.SolverOptions{}))
		if r.Status != backends.Optimal || !(r.Residuals.Gap <= 1e-8) || math.Abs(r.Objective-want-offset) > r.Distance ||
			r.Distance > 1e-7*max(1, math.Abs(want+offset)) {
			t.Errorf("constant %g: %v, off by %.1e, distance %.1e (%s)", offset, r.Status, r.Objective-want-offset, r.Distance,
				r.Message)
		}
	}
}

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

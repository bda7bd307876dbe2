package convex_test

import (
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

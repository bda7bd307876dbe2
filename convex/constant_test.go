package convex_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// denoising is min |x - y|^2 + lambda sum |x_(i+1) - x_i| for data y that may change.
func denoising(t *testing.T, n int, lambda float64) (s *convex.Solver, x *convex.Variable, y *convex.Parameter) {
	m := convex.NewModel()
	x, y = m.Vector("x", n), m.Parameter("y", make([]float64, n))
	e := x
	m.Minimize(convex.Add(convex.SumSquares(convex.Sub(e, y)),
		convex.Scale(lambda, convex.Norm1(convex.Sub(convex.Slice(e, 1, n), convex.Slice(e, 0, n-1))))))
	return solverOf(t, m), x, y
}

func solverOf(t *testing.T, m *convex.Model) *convex.Solver {
	p := must.Of(m.Compile())(t)
	be := must.Of(backends.Open("native"))(t)
	s := must.Of(p.Solver(convex.SolverOptions{Backend: be}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func solveAt(t *testing.T, s *convex.Solver) *convex.Result {
	r := must.Of(s.Solve(t.Context()))(t)
	return r
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

// With a penalty that allows no steps the solution is the mean.
func TestConstantOfSquaresMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	y := make([]float64, 50)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	want := stat.Variance(y, nil) * float64(len(y)-1)
	s, _, p := denoising(t, len(y), 100)
	for _, offset := range []float64{0, 1e3, 1e6} {
		at := append([]float64(nil), y...)
		floats.AddConst(offset, at)
		require.NoError(t, s.Set(p, at))
		if r := solveAt(t, s); r.Status != backends.Optimal || math.Abs(r.Objective-want) > 1e-8*want+1e-13*offset {
			t.Errorf("offset %g: %v, objective %.10f, expected %.10f", offset, r.Status, r.Objective, want)
		}
	}
}

// A constant that a caller adds cancels the rest of the objective: x^2 - 2e4 x + 1e8 + 1 >= 1 for x >= 1e4, without
// squares of x - 1e4 to count from, is known to 1e-8 or said not to be.
func TestConstantThatCancels(t *testing.T) {
	m := convex.NewModel()
	x := m.Vector("x", 1)
	m.Minimize(convex.Add(convex.SumSquares(x), convex.Scale(-2e4, x), 1e8+1))
	m.Le("", x, 2e4)
	r := solveAt(t, solverOf(t, m))
	off := math.Abs(r.Objective - 1)
	if r.Status == backends.Optimal && (off > 2e-8 && r.Message == "" || off > r.Distance) {
		t.Errorf("objective %.10f, expected 1, distance %.1e, message %q", r.Objective, r.Distance, r.Message)
	}
	if r.Status != backends.Optimal && r.Message == "" {
		t.Errorf("%v without a message", r.Status)
	}
	t.Log(r.Status, r.Objective, r.DualObjective, r.Distance, r.Message)
}

// What the working set of columns solves has the constant, too: sparse x near y in few entries.
func TestConstantOfSquaresSparse(t *testing.T) {
	const n, offset = 40, 1e5
	y, want := make([]float64, n), 0.
	for i := range 10 {
		y[4*i] = offset + float64(i)
		want += y[4*i] - 0.25 // x = y - 1/2: (1/2)^2 + y - 1/2
	}
	m := convex.NewModel()
	x := m.Vector("x", n)
	m.Minimize(convex.Add(convex.SumSquares(convex.Sub(x, y)), convex.Norm1(x)))
	p, _ := m.Compile()
	be, _ := backends.Open("native")
	for _, sets := range []bool{false, true} {
		s := must.Of(p.Solver(convex.SolverOptions{Backend: be, WorkingSets: sets}))(t)
		r := solveAt(t, s)
		if r.Status != backends.Optimal || math.Abs(r.Objective-want) > 1e-8*want || math.Abs(r.Objective-want) > r.Distance {
			t.Errorf("working sets %v, engine %v: %v, objective %.8f, expected %.8f, distance %.1e (%s)", sets, r.Engine,
				r.Status, r.Objective, want, r.Distance, r.Message)
		}
		s.Close()
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
		r := solveAt(t, solverOf(t, m))
		if r.Status != backends.Optimal || !(r.Residuals.Gap <= 1e-8) || math.Abs(r.Objective-want-offset) > r.Distance ||
			r.Distance > 1e-7*max(1, math.Abs(want+offset)) {
			t.Errorf("constant %g: %v, off by %.1e, distance %.1e (%s)", offset, r.Status, r.Objective-want-offset, r.Distance,
				r.Message)
		}
	}
}

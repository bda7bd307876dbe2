package convex_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// A lasso whose weight is a parameter: the model is compiled once and solved twice.
func Example_lasso() {
	x := mat.NewDense(4, 3, []float64{
		1, 1, 1,
		1, -1, 1,
		1, 1, -1,
		1, -1, -1,
	})
	y := []float64{6, 2, 4, 0}

	m := convex.NewModel()
	b := m.Vector("b", 3)
	lambda := m.Parameter("lambda", []float64{0})
	residual := convex.Sub(convex.Mul(x, b), y)
	m.Minimize(convex.Add(convex.Scale(1./8, convex.SumSquares(residual)), convex.Scale(lambda, convex.Norm1(b))))
	program, err := m.Compile()
	check(err)
	solver, err := program.Solver(convex.SolverOptions{})
	check(err)
	defer solver.Close()
	for _, weight := range []float64{0.5, 1.5} {
		check(solver.Set(lambda, []float64{weight}))
		r, err := solver.Solve(context.Background())
		check(err)
		fmt.Printf("lambda %.1f: %s, %.3f at b = %.3f\n", weight, r.Status, r.Objective, r.Value(b))
	}
	// The columns are orthogonal, so each entry is its least-squares value, 3, 2 and 1, less lambda, or zero.
	// Output:
	// lambda 0.5: optimal, 2.625 at b = [2.500 1.500 0.500]
	// lambda 1.5: optimal, 5.750 at b = [1.500 0.500 0.000]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The projection of a point that moves on the simplex, again and again in the memory of one result.
func ExampleSolver_SolveInto() {
	m := convex.NewModel()
	x, p := m.Vector("x", 3, convex.Nonneg()), m.Parameter("p", []float64{0, 0, 0})
	m.Eq("sum", convex.Sum(x), 1)
	m.Minimize(convex.SumSquares(convex.Sub(x, p)))
	program, err := m.Compile()
	check(err)
	solver, err := program.Solver(convex.SolverOptions{})
	check(err)
	defer solver.Close()
	var r convex.Result
	for _, first := range []float64{0.6, 0.9} {
		check(errors.Join(solver.Set(p, []float64{first, 0.4, -1}), solver.SetEps(1e-6)))
		check(solver.SolveInto(context.Background(), &r))
		fmt.Printf("%.2f\n", tidy(r.Value(x)))
	}
	fmt.Println("with equations:", solver.Program().Has(backends.ZeroCone))
	fmt.Println("set up", solver.Stats().Setups, "time, updated", solver.Stats().Updates)
	// Output:
	// [0.60 0.40 0.00]
	// [0.75 0.25 0.00]
	// with equations: true
	// set up 1 time, updated 1
}

// tidy rounds what is zero but for the tolerance.
func tidy(v []float64) []float64 {
	for i, x := range v {
		if x < 1e-4 && x > -1e-4 {
			v[i] = 0
		}
	}
	return v
}

// Two assets with a required return: the multiplier of the requirement, read by
// the handle of the constraint, is the price of return in risk.
func Example_portfolio() {
	m := convex.NewModel()
	w := m.Vector("w", 2)
	target := m.Parameter("target", []float64{2})
	risk := mat.NewDiagDense(2, []float64{1, 2}) // deviations, independent assets
	m.Minimize(convex.Scale(0.5, convex.SumSquares(convex.Mul(risk, w))))
	earns := m.Ge("", convex.Dot([]float64{1, 3}, w), target)
	m.Eq("", convex.Sum(w), 1)
	m.Ge("", w, 0)
	r := mustSolve(m)
	// Both constraints hold with equality: w_0 + w_1 = 1, w_0 + 3 w_1 = 2.
	fmt.Printf("weights %.3f, risk %.3f\n", r.Value(w), r.Objective)
	fmt.Printf("multiplier %.3f, sensitivity %.3f\n", r.Dual(earns), r.Sensitivity(target))
	// Output:
	// weights [0.500 0.500], risk 0.625
	// multiplier [0.750], sensitivity [0.750]
}

// mustSolve solves a model.
func mustSolve(m *convex.Model) *convex.Result {
	r, err := m.Solve(context.Background())
	check(err)
	return r
}

// The inverse covariance of three variables, sparse by a weight of the 1-norm of what is off its diagonal: without
// dependence of the third one, its row is zero but for the diagonal.
func ExampleLogDet() {
	covariance := [][]float64{
		{1, 0.6, 0.05},
		{0.6, 1, 0},
		{0.05, 0, 1},
	}
	m := convex.NewModel()
	inverse := m.Matrix("inverse", 3, 3, convex.Symmetric())
	off := convex.Pick(inverse, []int{1, 2, 3, 5, 6, 7})
	m.Maximize(convex.Sub(convex.LogDet(inverse),
		convex.Add(convex.Trace(convex.Mul(covariance, inverse)), convex.Scale(0.1, convex.Norm1(off)))))
	fmt.Printf("%.2f\n", tidy(mustSolve(m).Value(inverse)))
	// Output:
	// [1.33 -0.67 0.00 -0.67 1.33 0.00 0.00 0.00 1.00]
}

// The projection of (3, 4) on the unit ball.
func ExampleResult_Dual() {
	m := convex.NewModel()
	x := m.Vector("x", 2)
	ball, side := m.Le("", convex.Norm2(x), 1), m.Le("", convex.At(x, 0), 1)

	m.Minimize(convex.Scale(0.5, convex.SumSquares(convex.Sub(x, []float64{3, 4}))))
	r := mustSolve(m)
	// The objective is (5 - r)^2 / 2 for the radius r, with slope -(5 - r).
	fmt.Printf("x = %.3f, multiplier %.3f, slack %.3f\n", r.Value(x), r.Dual(ball), r.Slack(side))
	// Output:
	// x = [0.600 0.800], multiplier [4.000], slack [0.400]
}

// The projection on the simplex of a point that moves, and how a function of the projection changes with the point.
func ExampleResult_Derivative() {
	m := convex.NewModel()
	x, p := m.Vector("x", 3, convex.Nonneg()), m.Parameter("p", []float64{0.9, 0.5, -1})
	m.Eq("sum", convex.Sum(x), 1)
	m.Minimize(convex.SumSquares(convex.Sub(x, p)))
	r := mustSolve(m)
	dx, err := r.Derivative(context.Background(), convex.Change{p: {1, 0, 0}})
	check(err)
	fmt.Printf("x = %.2f, moves by %.2f\n", tidy(r.Value(x)), tidy(dx[x]))
	// Output:
	// x = [0.70 0.30 0.00], moves by [0.50 -0.50 0.00]
}

// The derivative of the return c'x of a portfolio in the returns that were expected when it was chosen.
func ExampleResult_Gradient() {
	m := convex.NewModel()
	w, expected := m.Vector("w", 3, convex.Nonneg()), m.Parameter("expected", []float64{1, 0.6, -3})
	m.Eq("budget", convex.Sum(w), 1)
	m.Maximize(convex.Sub(convex.Dot(expected, w), convex.SumSquares(w)))
	r := mustSolve(m)
	gradient, err := r.Gradient(context.Background(), convex.Dot([]float64{1, 0.2, 0}, w))
	check(err)
	fmt.Printf("w = %.2f, gradient %.2f\n", tidy(r.Value(w)), tidy(gradient[expected]))
	// Output:
	// w = [0.60 0.40 0.00], gradient [0.20 -0.20 0.00]
}

// What is not convex is an error, and says where.
func ExampleModel_Compile() {
	m := convex.NewModel()
	b := m.Vector("b", 3)
	m.Minimize(convex.Scale(-1, convex.Norm1(b)))
	_, err := m.Compile()
	fmt.Println(err)
	// Output:
	// convex: the objective, minus a convex expression of length 1 with Abs of an expression of length 3 in b, is concave
}

// show prints the values of expressions at a point, which for constants is nil.
func show(at convex.Point, es ...convex.Expr) {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = fmt.Sprintf("%.3g", e.Eval(at))
	}
	fmt.Println(strings.Join(texts, " "))
}

// What is affine, at a point.
func ExampleAdd() {
	m := convex.NewModel()
	x := m.Vector("x", 2)
	at := convex.Point{x: {3, 4}}
	show(at, convex.Add(x, 1, []float64{0, 5}), convex.Sub(x, 1), convex.Neg(x), convex.Scale(2, x))
	show(at, convex.Sum(x), convex.Dot([]float64{1, -1}, x), convex.Mul([][]float64{{1, 2}, {0, 1}}, x))
	// Output:
	// [4 10] [2 3] [-3 -4] [6 8]
	// [7] [-1] [11 4]
}

// Parts of matrices, whose entries are in the order of their rows, and matrices of parts.
func ExampleStack() {
	a := convex.Const([][]float64{{1, 2}, {3, 4}})
	show(nil, convex.At(a, 1, 0), convex.Pick(a, []int{3, 0}), convex.Slice(a, 1, 2), convex.Cols(a, 1, 2))
	show(nil, convex.Stack(a, convex.Slice(a, 0, 1)), convex.Beside(a, []float64{5, 6}))
	show(nil, convex.Reshape(a, 1, 4), convex.Transpose(a), convex.Diag(a), convex.Diag([]float64{7, 8}))
	show(nil, convex.Trace(a), convex.SumRows(a))
	// Output:
	// [3] [4 1] [3 4] [2 4]
	// [1 2 3 4 1 2] [1 2 5 3 4 6]
	// [1 2 3 4] [1 3 2 4] [1 4] [7 0 0 8]
	// [5] [3 7]
}

// Sums and differences along a vector, and products of another kind.
func ExampleCumSum() {
	a := []float64{1, 4, 9}
	show(nil, convex.CumSum(a), convex.Diff(a))
	show(nil, convex.Conv([]float64{1, -1}, a), convex.Kron([][]float64{{1, 2}}, []float64{3, 4}))
	// Output:
	// [1 5 14] [3 5]
	// [1 3 5 -9] [3 6 4 8]
}

// Functions of each entry.
func ExampleAbs() {
	a, b := []float64{-2, 1}, []float64{1, 4}
	show(nil, convex.Abs(a), convex.Pos(a), convex.Huber(a, 0.5), convex.Exp(a), convex.Logistic(a))
	show(nil, convex.Power(a, 2), convex.Power(b, 0.5), convex.Power(b, -1), convex.Log(b), convex.Entropy(b))
	show(nil, convex.Maximum(a, b, 2), convex.Minimum(a, b), convex.RelativeEntropy(b, 2))
	// Output:
	// [2 1] [0 1] [0.875 0.375] [0.135 2.72] [0.127 1.31]
	// [4 1] [1 2] [1 0.25] [0 1.39] [0 -5.55]
	// [2 4] [-2 1] [-0.693 2.77]
}

// Functions of all entries.
func ExampleMax() {
	a, b := []float64{3, -4, 0}, []float64{1, 4, 16}
	show(nil, convex.Max(a), convex.Min(a), convex.SumLargest(b, 1.5), convex.LogSumExp(a), convex.GeoMean(b))
	show(nil, convex.Norm1(a), convex.Norm2(a), convex.NormInf(a), convex.Norm(a, 3), convex.SumSquares(a))
	show(nil, convex.GroupNorms(a, [][]int{{0, 1}, {2}}), convex.QuadOverLin(a, 5))
	// Output:
	// [3] [-4] [18] [3.05] [4]
	// [7] [5] [4] [4.5] [25]
	// [5 0] [5]
}

// Functions of a matrix with the eigenvalues 3 and 1.
func ExampleLambdaMax() {
	a := [][]float64{{2, 1}, {1, 2}}
	show(nil, convex.LambdaMax(a), convex.LambdaMin(a), convex.LogDet(a), convex.TraceInverse(a))
	show(nil, convex.NuclearNorm(a), convex.SpectralNorm(a), convex.MatrixFrac([]float64{1, 0}, a))
	// Output:
	// [3] [1] [1.1] [1.33]
	// [4] [3] [0.667]
}

// Two assets with variances 1 and 4 and the covariance 1: the least variance is where both have the same covariance
// with the whole.
func ExampleQuadForm() {
	m := convex.NewModel()
	w := m.Vector("w", 2)
	m.Eq("budget", convex.Sum(w), 1)
	m.Minimize(convex.QuadForm(w, [][]float64{{1, 0.5}, {0.5, 4}}))
	fmt.Printf("%.3f\n", mustSolve(m).Value(w))
	// Output:
	// [0.875 0.125]
}

// A step, smoothed: each half moves by the weight over its length.
func ExampleTotalVariation() {
	m := convex.NewModel()
	x := m.Vector("x", 4)
	m.Minimize(convex.Add(convex.Scale(0.5, convex.SumSquares(convex.Sub(x, []float64{0, 0, 3, 3}))),
		convex.TotalVariation(x)))
	fmt.Printf("%.2f\n", mustSolve(m).Value(x))
	// Output:
	// [0.50 0.50 2.50 2.50]
}

// Attributes of variables: the correlation nearest to 2, as a symmetric matrix that is positive semidefinite, and the
// largest diagonal matrix, with entries from 0 to 5, that may be taken from a covariance.
func ExamplePSD() {
	m := convex.NewModel()
	x := m.Matrix("x", 2, 2, convex.PSD())
	m.Eq("ones", convex.Diag(x), 1)
	m.Minimize(convex.SumSquares(convex.Sub(x, [][]float64{{1, 2}, {2, 1}})))
	fmt.Printf("%.2f\n", mustSolve(m).Value(x))

	m = convex.NewModel()
	d := m.Matrix("d", 2, 2, convex.Diagonal(), convex.Bounds(0, 5))
	m.PSD("rest", convex.Sub([][]float64{{3, 1}, {1, 3}}, d))
	m.Maximize(convex.Trace(d))
	fmt.Printf("%.2f\n", mustSolve(m).Value(d))
	// Output:
	// [1.00 1.00 1.00 1.00]
	// [2.00 0.00 0.00 2.00]
}

// A cone by hand, |x| <= t.
func ExampleModel_In() {
	m := convex.NewModel()
	x, t := m.Vector("x", 2), m.Vector("t", 1)
	m.In("length", backends.SecondOrder(3), t, x)
	m.Eq("x", x, []float64{3, 4})
	m.Minimize(t)
	fmt.Printf("%.3f\n", mustSolve(m).Value(t))
	// Output:
	// [5.000]
}

// A constant as an expression, and a parameter, which is one with values that each solver may change.
func ExampleConst() {
	m := convex.NewModel()
	p := m.Parameter("p", []float64{1, 2})
	e := convex.Sub(convex.Const([]float64{5, 5}), p)
	fmt.Println(e.Eval(nil), e.Curvature(), p.Values())
	// Output:
	// [4 3] constant [1 2]
}

// What a model is compiled to.
func ExampleProgram_Problem() {
	m := convex.NewModel()
	x := m.Vector("x", 3, convex.Nonneg())
	m.Minimize(convex.Norm2(convex.Sub(x, 1)))
	p, err := m.Compile()
	check(err)
	conic, err := p.Problem()
	check(err)
	fmt.Println(conic.Dims())
	fmt.Println(p.Has(backends.SecondOrderCone), p.Has(backends.PSDCone), p.LowRank())
	// Output:
	// 4 7
	// true false false
}

// The solution as a point, in other expressions and in the conic program.
func ExampleResult_Point() {
	m := convex.NewModel()
	x := m.Vector("x", 2, convex.Nonneg())
	m.Minimize(convex.SumSquares(convex.Sub(x, []float64{3, -4})))
	r := mustSolve(m)
	fmt.Printf("%.3f %.3f\n", tidy(r.Point()[x]), convex.Norm1(x).Eval(r.Point()))
	fmt.Printf("%.3f of %d variables and %d rows\n", tidy(r.DualResidual(x)), len(r.Conic().X), len(r.Conic().S))
	// Output:
	// [3.000 0.000] [3.000]
	// [0.000 0.000] of 2 variables and 2 rows
}

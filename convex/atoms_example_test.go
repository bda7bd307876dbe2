package convex_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

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
	if err != nil {
		log.Fatal(err)
	}
	conic, err := p.Problem()
	if err != nil {
		log.Fatal(err)
	}
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

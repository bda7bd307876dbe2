package misuse

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// convexFunctions are those of the package that are no methods. The test fails where one is missing.
var convexFunctions = map[string]any{
	"Abs": convex.Abs, "Add": convex.Add, "At": convex.At, "Beside": convex.Beside, "Bounds": convex.Bounds,
	"Cols": convex.Cols, "Const": convex.Const, "Conv": convex.Conv, "CumSum": convex.CumSum, "Diag": convex.Diag,
	"Diagonal": convex.Diagonal, "Diff": convex.Diff, "Dot": convex.Dot, "Entropy": convex.Entropy,
	"Exp": convex.Exp, "GeoMean": convex.GeoMean, "GroupNorms": convex.GroupNorms, "Huber": convex.Huber,
	"Kron": convex.Kron, "LambdaMax": convex.LambdaMax, "LambdaMin": convex.LambdaMin, "Log": convex.Log,
	"LogDet": convex.LogDet, "LogSumExp": convex.LogSumExp, "Logistic": convex.Logistic,
	"MatrixFrac": convex.MatrixFrac, "Max": convex.Max, "Maximum": convex.Maximum, "Min": convex.Min,
	"Minimum": convex.Minimum, "Mul": convex.Mul, "Neg": convex.Neg, "NewModel": convex.NewModel,
	"Nonneg": convex.Nonneg, "Norm": convex.Norm, "Norm1": convex.Norm1, "Norm2": convex.Norm2,
	"NormInf": convex.NormInf, "NuclearNorm": convex.NuclearNorm, "PSD": convex.PSD, "Pick": convex.Pick,
	"Pos": convex.Pos, "Power": convex.Power, "QuadForm": convex.QuadForm, "QuadOverLin": convex.QuadOverLin,
	"RelativeEntropy": convex.RelativeEntropy, "Reshape": convex.Reshape, "Scale": convex.Scale,
	"Slice": convex.Slice, "SpectralNorm": convex.SpectralNorm, "Stack": convex.Stack, "Sub": convex.Sub,
	"Sum": convex.Sum, "SumLargest": convex.SumLargest, "SumRows": convex.SumRows, "SumSquares": convex.SumSquares,
	"Symmetric": convex.Symmetric, "TotalVariation": convex.TotalVariation, "Trace": convex.Trace,
	"TraceInverse": convex.TraceInverse, "Transpose": convex.Transpose,
}

// Every function and method of the package, with arguments that are zero or nil, on values of a model and on zero
// ones, and with values of another model or length: it returns, and where it panics the message is the package's own.
func TestConvex(t *testing.T) {
	m := convex.NewModel()
	x, p := m.Vector("x", 3), m.Parameter("p", make([]float64, 3))
	c := m.Le("", x, p)
	m.Minimize(convex.SumSquares(x))
	prog := must.Of(m.Compile())(t)
	s := must.Of(prog.Solver(convex.SolverOptions{Backend: must.Of(backends.Open("native"))(t)}))(t)
	r := must.Of(s.Solve(t.Context()))(t)
	other := convex.NewModel()
	y, q := other.Vector("y", 2), other.Parameter("q", make([]float64, 2))
	receivers := []any{
		convex.Scale(2, x), convex.SumSquares(x), convex.GeoMean(x), m, new(convex.Model), x, new(convex.Variable),
		p, new(convex.Parameter), c, new(convex.Constraint), prog, new(convex.Program), r, new(convex.Result),
		s, new(convex.Solver),
	}
	// Arguments of a type: the zero value, and those here.
	wrong := []any{
		y, q, convex.Norm1(y), other.Le("", y, q), new(convex.Variable), new(convex.Parameter),
		new(convex.Constraint), -1, 7, []float64{1}, []int{-1, 9}, [][]int{{5}}, convex.Point{y: {1}}, convex.Point{x: {1}},
		convex.Point{nil: {1}}, convex.Change{p: {1}}, convex.Change{q: {1, 1}}, convex.Change{nil: {1}},
	}
	tryAll(t, "convex", convexFunctions, receivers, wrong)
}

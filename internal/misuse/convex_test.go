package misuse

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// convexFunctions are those of the package that are no methods. The test fails where one is missing.
var convexFunctions = map[string]any{
	"Abs": convex.Abs, "Const": convex.Const, "Equal": convex.Equal, "Exp": convex.Exp,
	"GreaterEqual": convex.GreaterEqual,
	"GroupNorms":   convex.GroupNorms, "Huber": convex.Huber, "LessEqual": convex.LessEqual, "Linear": convex.Linear,
	"LogSumExp": convex.LogSumExp,
	"Logistic":  convex.Logistic, "Max": convex.Max, "NewModel": convex.NewModel, "Norm1": convex.Norm1,
	"Norm2":   convex.Norm2,
	"NormInf": convex.NormInf, "NuclearNorm": convex.NuclearNorm, "Pos": convex.Pos, "Stack": convex.Stack,
	"SumSquares": convex.SumSquares,
	"In":         convex.In, "PSD": convex.PSD, "NegLog": convex.NegLog, "NegEntropy": convex.NegEntropy,
	"Inverse": convex.Inverse, "Power": convex.Power, "NegPower": convex.NegPower,
	"RelativeEntropy": convex.RelativeEntropy, "QuadOverLin": convex.QuadOverLin, "QuadForm": convex.QuadForm,
	"Norm": convex.Norm, "NegGeoMean": convex.NegGeoMean, "SumLargest": convex.SumLargest,
	"TotalVariation": convex.TotalVariation, "TotalVariation2D": convex.TotalVariation2D,
	"Symmetric": convex.Symmetric, "Transpose": convex.Transpose, "Trace": convex.Trace,
	"LambdaMax": convex.LambdaMax, "NegLogDet": convex.NegLogDet, "TraceInverse": convex.TraceInverse,
	"MatrixFrac": convex.MatrixFrac, "SpectralNorm": convex.SpectralNorm,
}

// Every function and method of the package, with arguments that are zero or nil, on values of a model and on zero
// ones, and with values of another model or length: it returns, and where it panics the message is the package's own.
func TestConvex(t *testing.T) {
	m := convex.NewModel()
	x, p := m.Variable("x", 3), m.Parameter("p", 3)
	c := convex.LessEqual(convex.Linear(x.Expr()), p.Expr())
	m.Minimize(convex.SumSquares(x.Expr()))
	m.Constrain(c)
	prog, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	be, err := backends.Open("native")
	if err != nil {
		t.Fatal(err)
	}
	s, err := prog.Solver(convex.SolverOptions{Backend: be})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := convex.NewModel()
	y, q := other.Variable("y", 2), other.Parameter("q", 2)
	receivers := []any{
		x.Expr(), convex.Affine{}, convex.SumSquares(x.Expr()), convex.Convex{}, m, new(convex.Model), x,
		new(convex.Variable), (*convex.Variable)(nil),
		p, new(convex.Parameter), (*convex.Parameter)(nil), c, new(convex.Constraint), (*convex.Constraint)(nil), prog,
		new(convex.Program), r, new(convex.Result),
		s, new(convex.Solver),
	}
	// Arguments of a type: the zero value, and those here.
	wrong := []any{
		y, q, y.Expr(), q.Expr(), convex.Norm1(y.Expr()), convex.LessEqual(convex.Linear(y.Expr()), q.Expr()),
		new(convex.Variable), new(convex.Parameter),
		new(convex.Constraint), -1, 7, []float64{1}, []int{-1, 9}, [][]int{{5}}, convex.Point{y: {1}}, convex.Point{x: {1}},
		convex.Point{nil: {1}},
	}
	tryAll(t, "convex", convexFunctions, receivers, wrong)
}
